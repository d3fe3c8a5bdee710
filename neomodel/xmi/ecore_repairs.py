"""Makes sense of packages that EMF would load all the same: what can't be is left out, said so, and kept.

What is left after that and makes no sense still is refused.
"""

from collections.abc import Iterable, Iterator

import attrs

from neomodel import soundness
from neomodel.errors import InvalidFile
from neomodel.kinds import data_codec
from neomodel.metamodel import (
    Annotation,
    Attribute,
    Class,
    Classifier,
    DataType,
    Enum,
    Feature,
    Package,
    Reference,
    TypeName,
)
from neomodel.scope import Known, Scope
from neomodel.xmi.ecore_kept import SOURCE
from neomodel.xmi.ecore_values import Reader


def repaired(packages: list[Package], reader: Reader, known: Known) -> list[Package]:
    """The packages, sound; `InvalidFile` with the line of what no sense can be made of."""
    draft = Draft(packages, known)
    _mend_defaults(draft, reader)
    _mend_keys(draft, reader)
    _complete_opposites(draft, reader)
    while _mend_opposites(draft, reader) or _mend_hidden(draft, reader):
        pass  # what was left out may have been the other end of another one
    _mend_ids(draft, reader)
    _hide(draft, reader)
    made = [draft.package(package) for package in packages]
    for where, reason in soundness.faults(made, known):
        raise _refused(where, reason, reader)
    return made


class Draft(Scope):
    """Classes on their way to making sense, found by name; the scope of what they refer to."""

    def __init__(self, packages: list[Package], known: Known) -> None:
        super().__init__(packages, known)
        self.classifiers: dict[TypeName, Classifier] = {
            TypeName(package.ns_uri, found.name): found
            for root in packages
            for package in root.with_subpackages()
            for found in package.classifiers
        }

    def classifier(self, type_: TypeName) -> Classifier | None:
        return self.classifiers.get(type_) or super().classifier(type_)

    def classes(self) -> list[tuple[TypeName, Class]]:
        return [(type_, found) for type_, found in self.classifiers.items() if isinstance(found, Class)]

    def references(self) -> Iterator[tuple[TypeName, Reference]]:
        """All that there are, as they are at that moment."""
        for type_, class_ in self.classes():
            for feature in class_.features:
                if isinstance(feature, Reference):
                    yield type_, feature

    def change(self, type_: TypeName, name: str, original: tuple[str, str], **fields: object) -> None:
        """Give a feature other fields, and keep what a file is to have instead."""
        class_ = self.classifiers[type_]
        assert isinstance(class_, Class)
        features = [
            attrs.evolve(found, **fields, annotations=_with(found.annotations, original))  # type: ignore[arg-type]
            if found.name == name
            else found
            for found in class_.features
        ]
        self.classifiers[type_] = attrs.evolve(class_, features=features)

    def package(self, package: Package) -> Package:
        """The package, with its classifiers as they are now."""
        return attrs.evolve(
            package,
            classifiers=[self.classifiers[TypeName(package.ns_uri, found.name)] for found in package.classifiers],
            packages=[self.package(below) for below in package.packages],
        )


def _with(annotations: Iterable[Annotation], detail: tuple[str, str]) -> list[Annotation]:
    found = [one for one in annotations if one.source == SOURCE] or [Annotation(SOURCE)]
    others = [one for one in annotations if one.source != SOURCE]
    return [*others, attrs.evolve(found[0], details=(*found[0].details, detail))]


# attributes


def _mend_defaults(draft: Draft, reader: Reader) -> None:
    for type_, class_ in draft.classes():
        for feature in class_.features:
            if feature.default is None:
                continue
            if isinstance(feature, Reference):
                reason = "a reference has none"
            elif feature.many:
                reason = "a feature of many values has none"
            elif not _readable(feature, draft.classifier(feature.type)):
                reason = f"it is no value of {feature.type}"
            else:
                continue
            reader.say(reader.features[type_, feature.name], f"its default {feature.default!r} is left out: {reason}")
            draft.change(type_, feature.name, ("defaultValueLiteral", feature.default), default=None)


def _readable(feature: Feature, found: Classifier | None) -> bool:
    text = feature.default or ""
    if isinstance(found, Enum):
        return any(text in (literal.name, literal.text) for literal in found.literals)
    if not isinstance(found, DataType):
        return True
    try:
        data_codec(found, feature.type.ns_uri).from_text(text)
    except ValueError:
        return False
    return True


def _mend_ids(draft: Draft, reader: Reader) -> None:
    """Of several attributes that would be the id of a class, let the first inherited one be it, else its first own."""
    memo: soundness.Visible = {}
    for type_, _ in draft.classes():
        found = [
            (declaring, feature)
            for declaring, feature in draft.visible(type_, memo).values()
            if isinstance(feature, Attribute) and feature.id
        ]
        found.sort(key=lambda one: one[0] == type_)
        for declaring, feature in found[1:]:
            if (declaring, feature.name) in reader.features:
                first = f"{found[0][0]}.{found[0][1].name}"
                reader.say(reader.features[declaring, feature.name], f"{type_} has another id, {first}; this is none")
                draft.change(declaring, feature.name, ("iD", "true"), id=False)
                memo.clear()


# references


def _mend_keys(draft: Draft, reader: Reader) -> None:
    for type_, reference in draft.references():
        for name in reference.keys:
            found = draft.feature(reference.type, name)
            if found is None or not isinstance(found[1], Attribute):
                node = reader.features[type_, reference.name]
                reader.say(node, f"its key {name!r} is no attribute of {reference.type}; its keys are left out")
                for text in reader.written(node, "eKeys"):
                    draft.change(type_, reference.name, ("eKeys", text), keys=())
                break


def _complete_opposites(draft: Draft, reader: Reader) -> None:
    """Of two ends of which one only names the other, let the other name it too, as whoever wrote the one meant."""
    for type_, reference in draft.references():
        found = draft.feature(reference.type, reference.opposite) if reference.opposite else None
        if found is None or found[0] not in draft.classifiers:
            continue
        declaring, other = found
        if (
            not isinstance(other, Reference)
            or other.opposite is not None
            or reader.features[found[0], other.name].dropped
        ):
            continue
        before = draft.classifiers[declaring]
        draft.change(declaring, other.name, ("eOpposite", ""), opposite=reference.name)
        if any(soundness.opposite_faults("", type_, reference, draft)):
            draft.classifiers[declaring] = before
        else:
            node = reader.features[declaring, other.name]
            reader.say(node, f"it names no opposite, but is that of {type_}.{reference.name}; so that is its own")


def _mend_opposites(draft: Draft, reader: Reader) -> bool:
    """Leave out the opposites that can't be; whether there were any."""
    wrong = [
        (type_, reference, fault[1])
        for type_, reference in draft.references()
        for fault in [*soundness.opposite_faults("", type_, reference, draft)][:1]
    ]
    for type_, reference, reason in wrong:
        _drop_opposite(type_, reference, reason, draft, reader)
    return bool(wrong)


def _mend_hidden(draft: Draft, reader: Reader) -> bool:
    """Leave out the opposites of features that others hide; whether there were any."""
    memo: soundness.Visible = {}
    wrong: dict[tuple[TypeName, str], tuple[TypeName, Reference]] = {}
    for type_, class_ in draft.classes():
        for _, *both in soundness.clashes(type_, class_, draft, memo):
            for declaring, hidden in both:
                if declaring != type_ and isinstance(hidden, Reference) and hidden.opposite is not None:
                    wrong[declaring, hidden.name] = (type_, hidden)
    for (declaring, _), (type_, hidden) in wrong.items():
        if declaring in draft.classifiers:
            reason = f"objects of {type_} have another feature of that name"
            _drop_opposite(declaring, hidden, reason, draft, reader)
    return any(declaring in draft.classifiers for declaring, _ in wrong)


def _drop_opposite(type_: TypeName, reference: Reference, reason: str, draft: Draft, reader: Reader) -> None:
    node = reader.features[type_, reference.name]
    reader.say(node, f"{reason}; the opposite is left out")
    for text in reader.written(node, "eOpposite") or [""]:
        draft.change(type_, reference.name, ("eOpposite", text), opposite=None)


def _hide(draft: Draft, reader: Reader) -> None:
    memo: soundness.Visible = {}
    for type_, class_ in draft.classes():
        names = dict.fromkeys(name for name, *_ in soundness.clashes(type_, class_, draft, memo))
        for name in names:
            first, _ = draft.visible(type_, memo)[name]
            reader.say(reader.nodes[type_], f"it inherits features {name!r} that differ; that of {first} counts")
        if names:
            draft.classifiers[type_] = attrs.evolve(class_, hides=tuple(names))


def _refused(where: str, reason: str, reader: Reader) -> InvalidFile:
    nodes = {str(node): node for node in (*reader.nodes.values(), *reader.features.values())}
    while where not in nodes and "." in where:
        where = where.rpartition(".")[0]
    node = nodes.get(where) or next(iter(nodes.values()))
    return node.fault(f"{where}: {reason}")
