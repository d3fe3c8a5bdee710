"""The values of `metamodel` that the elements of `.ecore` files stand for, each by itself."""

import json
import re
from typing import Any

from neomodel.metamodel import (
    ECORE,
    MANY,
    Annotation,
    Attribute,
    Class,
    Classifier,
    DataType,
    Enum,
    Feature,
    Literal,
    Package,
    Reference,
    Timeline,
    TypeName,
)
from neomodel.xmi.ecore_kept import KEY, KIND, MARKS, SOURCE, TIMELINE, annotation, kept
from neomodel.xmi.ecore_links import Links, Target
from neomodel.xmi.ecore_names import free
from neomodel.xmi.ecore_tree import Node
from neomodel.xmi.notices import Notices
from neomodel.xmltype import EXTENDED

FEATURE_MAP = TypeName(ECORE, "EFeatureMapEntry")
_FLAGS = {"true": True, "false": False, "1": True, "0": False}
_NUMBER = re.compile(r"[+-]?[0-9]{1,10}")
_FEATURE_MARKS = ("volatile", "transient", "derived")
_OWN = {"EClass": KEY, "EAttribute": TIMELINE}
_ANYTHING = {True: "objects of every class are taken", False: "its values are read as text"}
_ERASED = re.compile(r"[<\s].*", re.DOTALL)


class Reader:
    """Makes values of elements, with notices of what was odd about them."""

    def __init__(self, links: Links, notices: Notices) -> None:
        self._links = links
        self._notices = notices
        self.nodes: dict[TypeName, Node] = {}
        """The elements of classifiers."""
        self.features: dict[tuple[TypeName, str], Node] = {}
        """The elements of features, by class and name."""

    def say(self, node: Node, text: str) -> None:
        self._notices.add(node.file.name, node.line, f"{node}: {text}")

    def package(self, node: Node) -> Package:
        below = [child for child in node.inside("eSubpackages") if child.href is None]
        inside = [child for child in node.inside("eClassifiers") if child.href is None]
        return Package(
            node.name,
            node.ns_uri,
            ns_prefix=node.values.get("nsPrefix", node.name),
            classifiers=[self._classifier(child) for child in inside],
            packages=[self.package(child) for child in below],
            annotations=self._annotations(node),
        )

    def _classifier(self, node: Node) -> Classifier:
        self.nodes[TypeName(node.package.ns_uri, node.name)] = node
        if node.kind == "EClass":
            return self._class(node)
        if node.kind == "EEnum" and node.first("eLiterals") is not None:
            return self._enum(node)
        if node.kind == "EEnum":
            self.say(node, "an enum without literals has no values; it is read as a data type, whose values are text")
            node.changed[KIND] = node.kind
        return DataType(
            node.name,
            instance_class=_instance_class(node),
            serializable=flag(node, "serializable", True),
            annotations=self._annotations(node),
        )

    def _enum(self, node: Node) -> Enum:
        if not flag(node, "serializable", True):
            node.changed["serializable"] = "false"
        literals = [
            Literal(
                child.name,
                number(child, "value", 0),
                text=child.values.get("literal", child.changed.get("name", child.name)),
                annotations=self._annotations(child),
            )
            for child in node.inside("eLiterals")
        ]
        return Enum(
            node.name,
            literals=self._distinct(node, literals),
            instance_class=_instance_class(node),
            annotations=self._annotations(node),
        )

    def _distinct(self, node: Node, literals: list[Literal]) -> list[Literal]:
        """Literals with texts of their own: of two with one text, EMF reads the first. What is made is no text that a
        literal has in the file, which may be in models."""
        seen: set[str] = set()
        taken = {literal.text for literal in literals}
        for number_, (child, literal) in enumerate(zip(node.inside("eLiterals"), literals, strict=True)):
            if literal.text in seen:
                usual = (literal.name, f"{literal.name}_{number_}")
                text = next((text for text in usual if text not in taken), None) or free(usual[1], taken, "_")
                taken.add(text)
                self.say(child, f"another literal has the text {literal.text!r} too; this one has {text!r} here")
                child.changed["literal"] = child.values.get("literal", "")
                literals[number_] = Literal(
                    literal.name, literal.value, text=text, annotations=self._annotations(child)
                )
            seen.add(literals[number_].text)
        return literals

    def _class(self, node: Node) -> Class:
        supers = self._supers(node)
        features = [self._feature(child, node) for child in node.inside("eStructuralFeatures")]
        key = _own(node)
        return Class(
            node.name,
            features=features,
            supers=supers,
            abstract=flag(node, "abstract", False),
            interface=flag(node, "interface", False),
            key=() if key is None else _names(node, key),
            instance_class=_instance_class(node),
            annotations=self._annotations(node),
        )

    def _supers(self, node: Node) -> list[TypeName]:
        found: list[TypeName] = []
        given = [*self._links.targets(node, "eSuperTypes")]
        for generic in node.inside("eGenericSuperTypes"):
            given += [(text, target) for text, target in self._raw(generic) if (text, target) not in given]
        for text, target in given:
            if target is None:
                self._missing(node, "eSuperTypes", "super type", text)
            elif target.type is None or target.kind != "EClass":
                raise node.fault(f"{node}: its super type {text} is no class")
            elif target.type in found:
                if node.first("eGenericSuperTypes") is None:
                    self.say(node, f"its super type {text} is named twice")
            else:
                found.append(target.type)
        return found

    def _missing(self, node: Node, name: str, what: str, text: str) -> None:
        beside = self._links.beside(node, text)
        if beside:
            raise node.fault(f"{node}: its {what} {text} is in another file; give {beside} too")
        made = _ANYTHING[node.kind == "EReference"] if name == "eType" else "it is left out"
        self.say(node, f"its {what} {text} is not found; {made}")
        node.dropped.append((name, text))

    # features

    def _feature(self, node: Node, owner: Node) -> Feature:
        self.features[TypeName(owner.package.ns_uri, owner.name), node.name] = node
        reference = node.kind == "EReference"
        type_ = self._type(node, reference=reference)
        lower, upper = self._bounds(node)
        options: dict[str, Any] = {
            "lower": lower,
            "upper": upper,
            "ordered": flag(node, "ordered", True),
            "unique": flag(node, "unique", True),
            "changeable": flag(node, "changeable", True),
            "unsettable": flag(node, "unsettable", False),
            "default": node.values.get("defaultValueLiteral"),
            **{mark: flag(node, mark, False) for mark in _FEATURE_MARKS},
        }
        if type_ != FEATURE_MAP and all(options[mark] for mark in _FEATURE_MARKS) and _told_by_map(node, owner):
            options |= dict.fromkeys(_FEATURE_MARKS, False)
            node.changed[MARKS] = " ".join(_FEATURE_MARKS)
        if type_ == FEATURE_MAP:  # a list in any case, in which each feature may come often
            for name, option, made in (("upperBound", "upper", MANY), ("unique", "unique", False)):
                if options[option] != made:
                    options[option] = made
                    node.change(name, str(made).lower())
        if not reference and _own(node) is not None:
            return Timeline(node.name, type_, annotations=self._annotations(node))
        if not reference:
            return Attribute(
                node.name, type_, **options, id=flag(node, "iD", False), annotations=self._annotations(node)
            )
        return Reference(
            node.name,
            type_,
            **options,
            containment=flag(node, "containment", False),
            opposite=self._opposite(node, type_),
            resolve_proxies=flag(node, "resolveProxies", True),
            keys=self._keys(node),
            annotations=self._annotations(node),
        )

    def _type(self, node: Node, *, reference: bool) -> TypeName:
        anything = TypeName(ECORE, "EObject" if reference else "EString")
        generic = node.first("eGenericType")
        found = [*self._links.targets(node, "eType")] or ([] if generic is None else self._raw(generic))
        if not found:
            if generic is None:
                self.say(node, f"it has no type; {_ANYTHING[reference]}")
                node.dropped.append(("eType", ""))
            return anything
        text, target = found[0]
        if target is None:
            self._missing(node, "eType", "type", text)
            return anything
        if target.type is None:
            raise node.fault(f"{node}: {text} is no type")
        if (target.kind == "EClass") != reference:
            what = f"{'a reference' if reference else 'an attribute'} can't have the type {text}"
            self.say(node, f"{what}; {_ANYTHING[reference]}")
            node.dropped.append(("eType", target.text))
            return anything
        return target.type

    def _raw(self, generic: Node, seen: tuple[Node, ...] = ()) -> list[tuple[str, Target | None]]:
        """The classifier that a generic type is without its arguments; of a parameter, that of its first bound."""
        found = [*self._links.targets(generic, "eClassifier")]
        if found:
            return found[:1]
        for _, target in self._links.targets(generic, "eTypeParameter"):
            if target is not None and target.node is not None and target.node not in seen:
                bound = target.node.first("eBounds")
                return [] if bound is None else self._raw(bound, (*seen, target.node))
        return []

    def _bounds(self, node: Node) -> tuple[int, int]:
        lower, upper = number(node, "lowerBound", 0), number(node, "upperBound", 1)
        if lower < 0:
            self._bound(node, "lowerBound", lower, 0)
            lower = 0
        if upper == 0 or upper < -2:
            self._bound(node, "upperBound", upper, 1 if upper == 0 else MANY)
            upper = 1 if upper == 0 else MANY
        if 0 < upper < lower:
            self._bound(node, "lowerBound", lower, upper)
            lower = upper
        return lower, upper

    def _bound(self, node: Node, name: str, found: int, made: int) -> None:
        self.say(node, f"its {name} can't be {found}; it is read as {made}")
        node.change(name, str(made))

    def _opposite(self, node: Node, type_: TypeName) -> str | None:
        for text, target in self._links.targets(node, "eOpposite"):
            if target is None:
                self._missing(node, "eOpposite", "opposite", text)
            elif target.feature is None or target.type != type_:
                self.say(node, f"its opposite {text} is no feature of its type {type_}; it is left out")
                node.dropped.append(("eOpposite", target.text))
            else:
                return target.feature
        return None

    def written(self, node: Node, name: str) -> list[str]:
        """The references of an element, as they are written from anywhere."""
        return [text if found is None else found.text for text, found in self._links.targets(node, name)]

    def _keys(self, node: Node) -> list[str]:
        found = []
        for text, target in self._links.targets(node, "eKeys"):
            if target is None or target.feature is None:
                self._missing(node, "eKeys", "key", text)
            else:
                found.append(target.feature)
        return found

    # annotations

    def _annotations(self, node: Node) -> list[Annotation]:
        found = []
        for child in node.inside("eAnnotations"):
            if child.values.get("source") != SOURCE:
                found.append(self._annotation(child))
            elif any(entry.values.get("key") != _OWN.get(node.kind) for entry in child.inside("details")):
                raise child.fault(f"{node}: an annotation {SOURCE} has something that means nothing here")
        references = self.written(node, "references") if node.kind == "EAnnotation" else []
        return [*found, *annotation([*kept(node, self._links), *(("references", text) for text in references)])]

    def _annotation(self, node: Node) -> Annotation:
        details = tuple(
            (child.values.get("key", ""), child.values.get("value", "")) for child in node.inside("details")
        )
        return Annotation(node.values.get("source", ""), details, self._annotations(node))


def flag(node: Node, name: str, default: bool) -> bool:
    """A value that is true or false, or `InvalidFile`."""
    text = node.values.get(name)
    if text is None:
        return default
    found = _FLAGS.get(text.strip().lower())
    if found is None:
        raise node.fault(f"{node}: its {name} is {text!r}, expected true or false")
    return found


def number(node: Node, name: str, default: int) -> int:
    """A value that is an integer of 32 bits, or `InvalidFile`."""
    text = node.values.get(name, "").strip()
    if name not in node.values:
        return default
    found = int(text) if _NUMBER.fullmatch(text) else 2**31
    if not -(2**31) <= found < 2**31:
        raise node.fault(f"{node}: its {name} is {text!r}, expected an integer")
    return found


def _instance_class(node: Node) -> str | None:
    """The Java class, without type arguments; the type with them is kept."""
    name, full = node.values.get("instanceClassName"), node.values.get("instanceTypeName")
    if full is None:
        return name
    node.changed["instanceTypeName"] = full
    node.changed["instanceClassName"] = name or ""
    return name or _ERASED.sub("", full) or None


def _told_by_map(node: Node, owner: Node) -> bool:
    """Whether a feature map says in which order its values are among those of others."""
    of_feature, of_class = _extended(node), _extended(owner)
    return "group" in of_feature or (of_class.get("kind") == "mixed" and of_feature.get("kind") == "element")


def _extended(node: Node) -> dict[str, str]:
    found = (child for child in node.inside("eAnnotations") if child.values.get("source") == EXTENDED)
    return {
        entry.values.get("key", ""): entry.values.get("value", "") for one in found for entry in one.inside("details")
    }


def _own(node: Node) -> str | None:
    """What the file says to us alone: of a class its key, of an attribute that it is a timeline."""
    ours = (child for child in node.inside("eAnnotations") if child.values.get("source") == SOURCE)
    return next((entry.values.get("value", "") for child in ours for entry in child.inside("details")), None)


def _names(node: Node, text: str) -> list[str]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, list) or not all(isinstance(name, str) for name in found):
        raise node.fault(f"{node}: its key {text!r} is no JSON list of names")
    return found
