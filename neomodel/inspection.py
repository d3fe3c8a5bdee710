"""What is wrong with rows: each looked at by itself, with its container, and with all that it refers to."""

from collections import defaultdict
from collections.abc import Generator, Iterator
from itertools import islice
from typing import Any

import attrs

from neomodel import codecs, ids, layout
from neomodel.ancestry import Ancestry
from neomodel.checks import same
from neomodel.findings import Change, Choice, Mend, Removal, Suspect, Touch
from neomodel.holdings import PAGE, Holdings, held, is_object, place_of, whole
from neomodel.kinds import EClass, EFeature
from neomodel.long_cells import is_long
from neomodel.stores import VERSION, Row


@attrs.frozen(eq=False)
class _Seen:
    """An object as its row has it."""

    oid: str
    row: Row
    kind: EClass | str
    place: tuple[str, str] | None
    tokens: dict[EFeature, list[str]]

    @property
    def version(self) -> bytes | None:
        return self.row.get(VERSION)


class Inspection:
    """Looks at rows of one model, some hundred at a time. Other rows are read when they are needed, 500 in a call."""

    def __init__(self, holdings: Holdings) -> None:
        self._holdings = holdings
        self._name = holdings.model.name
        self._ancestry = Ancestry(holdings)
        self._columns: dict[EClass, dict[bytes, EFeature]] = {}

    def inspect(self, page: list[tuple[bytes, Row]]) -> Iterator[Suspect]:
        """What is wrong with these rows, of which there are up to 500."""
        objects = []
        for key, row in page:
            try:
                oid = key.decode()
            except UnicodeDecodeError:
                sentence = f"the row {key!r} has a key that is no text, so nobody can read it"
                yield Suspect("cell", key.decode(errors="surrogateescape"), None, None, sentence)
                continue
            if is_object(oid, row):
                row = whole(self._holdings.model, oid, row)
            if row.keys() == {VERSION}:  # of a ledger
                continue
            self._holdings.keep(self._name, oid, row)
            if not is_object(oid, row):
                columns = ", ".join(column.decode(errors="backslashreplace") for column in row)
                sentence = f"the row {oid} holds {columns}, but no class; so it is no object"
                yield Suspect("remnant", oid, None, None, sentence, Removal(self._name, oid, row.get(VERSION)))
            else:
                objects.append((oid, row))
        ends = self._ancestry.ends({oid: row for oid, row in objects if oid != ids.ROOT})
        sound = []
        for oid, row in objects:
            if oid in ends and ends[oid].kind == "lost":
                sentence = f"{oid} lies in nothing: its containers end at {ends[oid].at}, which is not there"
                yield Suspect("lost", oid, None, None, sentence, Removal(self._name, oid, row.get(VERSION)))
                continue
            if oid in ends and ends[oid].kind == "cycle":
                yield Suspect("cycle", oid, None, None, f"{oid} lies in itself, so nobody can find it from the roots")
            seen = yield from self._alone(oid, row)
            sound.append(seen)
        yield from self._placed(sound)
        yield from self._referring(sound)
        yield from self._moved(sound)

    # between models

    def _moved(self, sound: list[_Seen]) -> Iterator[Suspect]:
        """Objects that came from another model and are there still: whoever moved them did not come to the end."""
        coming: dict[str, dict[str, tuple[_Seen, bytes]]] = defaultdict(dict)
        for seen in sound:
            name, told = ids.split_ref(seen.row.get(layout.FROM, b"").decode(errors="replace"))
            if name is not None and self._holdings.there(name):
                coming[name][seen.oid] = seen, told.encode()
        for name, found in coming.items():
            for oid, row in self._holdings.load(name, found).items():
                seen, version = found[oid]
                if row is None or not is_object(oid, row):
                    continue
                mend: Mend = Touch(name, oid, version)  # first: whoever is still about to erase it then can't
                if row.get(VERSION) != version:
                    if self._was_erased(name, oid, version):
                        continue  # and this is another one
                    mend = Removal(self._name, oid, seen.version)
                sentence = f"{oid} was copied here from model {name!r} to be moved, and is there still"
                yield Suspect("twofold", oid, None, name, sentence, mend)

    def _was_erased(self, name: str, oid: str, version: bytes) -> bool:
        """Whether an object was erased after it had that version, or nobody can tell."""
        key = oid.encode()
        written = list(self._holdings.home(name).table.history(key, key + b"\0", columns=[layout.ECLASS, VERSION]))
        then = next((one.time for one in written if one.value == version), None)
        return then is None or any(one.value is None and one.time > then for one in written)

    # a row by itself

    def _alone(self, oid: str, row: Row) -> Generator[Suspect, None, _Seen]:
        kind = self._holdings.kind(oid, row)
        place = None
        try:
            place = place_of(row)
            if place is None and oid != ids.ROOT:
                yield Suspect("orphan", oid, None, None, f"{oid} has no container and is no root")
        except ValueError:
            yield Suspect("cell", oid, None, None, f"what {oid} says of its container can't be read")
        tokens: dict[EFeature, list[str]] = {}
        if isinstance(kind, str):
            yield Suspect("type", oid, None, None, f"the class of {oid} is not known: {kind}")
            return _Seen(oid, row, kind, place, tokens)
        if kind.abstract:
            yield Suspect("type", oid, None, None, f"{oid} is of the class {kind}, which is abstract")
        stored = self._stored(kind)
        for column, cell in row.items():
            if column[:2] != layout.column(""):
                continue
            feature = stored.get(column)
            if feature is None:
                name = column[2:].decode(errors="backslashreplace")
                yield Suspect("cell", oid, name, None, f"{oid} has a cell for {name}, which {kind} does not store")
                continue
            if feature.timeline:
                continue
            try:
                values = held(row, feature) if feature.reference else _values(feature, cell)
            except ValueError as exc:
                reason = "a part of the list is missing, or damaged" if feature.many and is_long(cell) else exc
                yield Suspect("cell", oid, feature.name, None, f"{feature} of {oid} can't be read: {reason}")
                continue
            if feature.reference:
                tokens[feature] = values
            yield from self._counted(oid, row, feature, values)
        yield from _keyed(oid, row, kind)
        return _Seen(oid, row, kind, place, tokens)

    def _stored(self, kind: EClass) -> dict[bytes, EFeature]:
        """The features that have cells in a row, by those."""
        if kind not in self._columns:
            self._columns[kind] = {feature.column: feature for feature in kind.features.values() if feature.stored}
        return self._columns[kind]

    def _counted(self, oid: str, row: Row, feature: EFeature, values: list[Any]) -> Iterator[Suspect]:
        if feature.upperBound > 1 and len(values) > feature.upperBound:
            sentence = f"{feature} of {oid} holds {len(values)} values, at most {feature.upperBound} are allowed"
            yield Suspect("bound", oid, feature.name, None, sentence)
        if not feature.many or not feature.unique:
            return
        known = set()
        for value in values:
            one = same(feature, value)
            if one in known and feature.containment:
                once = Change(self._name, oid, row.get(VERSION), feature, value, 1)
                yield Suspect("entry", oid, feature.name, value, f"{feature} of {oid} lists {value} twice", once)
            elif one in known:
                sentence = f"{feature} of {oid} is unique and holds {value!r} twice"
                yield Suspect("twice", oid, feature.name, str(value), sentence)
            known.add(one)

    # with its container

    def _placed(self, page: list[_Seen]) -> Iterator[Suspect]:
        containers = self._holdings.load(self._name, (seen.place[0] for seen in page if seen.place))
        for seen in page:
            if seen.place is None:
                continue
            container, name = seen.place
            row = containers[container] or {}
            if not is_object(container, row):
                continue  # a way up that ends there was told of, unless it is being changed
            kind = self._holdings.kind(container, row)
            if isinstance(kind, str):
                continue  # told of at the container
            feature = kind.features.get(name)
            if feature is None or not feature.containment or not feature.kept:
                sentence = f"{seen.oid} says that it lies in {name} of {container}, but {kind} has no such containment"
                yield Suspect("place", seen.oid, None, None, sentence)
                continue
            if not _fits(feature, seen.kind):
                sentence = f"{seen.oid}, a {seen.kind}, lies in {feature} of {container}, which takes {feature.eType}"
                yield Suspect("place", seen.oid, None, None, sentence)
            if self._holdings.holds(self._name, container, row, feature, seen.oid) is False:
                yield self._unlisted(seen, container, row, feature)  # what can't be read is told of at the container

    def _unlisted(self, seen: _Seen, container: str, row: Row, feature: EFeature) -> Suspect:
        other = None
        if not feature.many:
            named = (oid for oid in _readable(row, feature) if ids.split_ref(oid)[0] is None)
            rows = self._holdings.load(self._name, named)
            other = next((oid for oid in rows if _lies_in(oid, rows[oid], container, feature)), None)
        if other is not None:
            sentence = f"{seen.oid} lies in {feature} of {container}, which holds {other} by now"
            removal = Removal(self._name, seen.oid, seen.version)
            return Suspect("displaced", seen.oid, feature.name, None, sentence, removal)
        sentence = f"{seen.oid} lies in {feature} of {container}, which does not list it"
        change = Change(self._name, container, row.get(VERSION), feature, seen.oid, 1)
        return Suspect("unlisted", seen.oid, feature.name, None, sentence, change)

    # with what it refers to

    def _referring(self, page: list[_Seen]) -> Iterator[Suspect]:
        all_tokens = (
            (seen, feature, token)
            for seen in page
            for feature, found in seen.tokens.items()
            for token in found
            if not token.startswith(ids.ELSEWHERE)  # it waits for a file to be imported
        )
        while some := list(islice(all_tokens, PAGE)):
            wanted: dict[str, set[str]] = {}
            for _, _, token in some:
                model, oid = ids.split_ref(token)
                wanted.setdefault(model or self._name, set()).add(oid)
            rows = {
                model: self._holdings.load(model, oids) for model, oids in wanted.items() if self._holdings.there(model)
            }
            for seen, feature, token in some:
                model, oid = ids.split_ref(token)
                home = model or self._name
                if feature.containment:
                    yield from self._entry(seen, feature, token, rows.get(home, {}).get(oid))
                elif home not in rows:
                    sentence = f"{feature} of {seen.oid} refers to {token}, but there is no model {model!r}"
                    yield Suspect("dangling", seen.oid, feature.name, token, sentence)
                else:
                    yield from self._reference(seen, feature, token, rows[home][oid])

    def _entry(self, seen: _Seen, feature: EFeature, token: str, row: Row | None) -> Iterator[Suspect]:
        model, oid = ids.split_ref(token)
        if model is None and _lies_in(oid, row, seen.oid, feature):
            return
        where = "is not there"
        if model is not None:
            where = "is in another model"
        elif row is not None and is_object(oid, row):
            where = "lies elsewhere"
        change = Change(self._name, seen.oid, seen.version, feature, token, 0)
        sentence = f"{feature} of {seen.oid} lists {token}, which {where}"
        yield Suspect("entry", seen.oid, feature.name, token, sentence, change)

    def _reference(self, seen: _Seen, feature: EFeature, token: str, row: Row | None) -> Iterator[Suspect]:
        model, oid = ids.split_ref(token)
        opposite = feature.eOpposite if feature.eOpposite is not None and feature.eOpposite.stored else None
        go = Change(self._name, seen.oid, seen.version, feature, token, 0)
        if row is None or not is_object(oid, row):
            sentence = f"{feature} of {seen.oid} refers to {token}, which is not there"
            yield Suspect("dangling", seen.oid, feature.name, token, sentence, go if opposite else None)
            return
        kind = self._holdings.kind(oid, row)
        if isinstance(kind, str):
            return  # told of at the target
        if not _fits(feature, kind):
            sentence = f"{feature} of {seen.oid} refers to {token}, a {kind}, and takes {feature.eType}"
            yield Suspect("type", seen.oid, feature.name, token, sentence)
        elif opposite is not None:
            home = model or self._name
            back = ids.ref(seen.oid, None if model is None else self._name)
            far = kind.features[opposite.name]
            if self._holdings.holds(home, oid, row, far, back) is False:  # as above
                follow = Change(home, oid, row.get(VERSION), far, back, 1)
                sentence = f"{feature} of {seen.oid} refers to {token}, whose {far} does not refer back"
                yield Suspect("opposite", seen.oid, feature.name, token, sentence, Choice(go, follow))


def _values(feature: EFeature, cell: bytes) -> list[Any]:
    if feature.many:
        return codecs.decode_many(feature.codec, cell)
    return [codecs.decode_single(feature.codec, cell)]


def _readable(row: Row, feature: EFeature) -> list[str]:
    try:
        return held(row, feature)
    except ValueError:
        return []


def _lies_in(oid: str, row: Row | None, container: str, feature: EFeature) -> bool:
    if row is None or not is_object(oid, row):
        return False
    try:
        return place_of(row) == (container, feature.name)
    except ValueError:
        return False


def _fits(feature: EFeature, kind: EClass | str) -> bool:
    """Whether the feature takes objects of that class. Of one that is not known, nothing can be said."""
    expected = feature.eType
    return isinstance(kind, str) or (isinstance(expected, EClass) and expected.takes(kind))


def _keyed(oid: str, row: Row, kind: EClass) -> Iterator[Suspect]:
    parts = []
    try:
        for feature in kind.key:
            cell = row.get(feature.column)
            value = feature.default if cell is None else codecs.decode_single(feature.codec, cell)
            parts.append(codecs.key_text(feature.codec, value))
    except ValueError as exc:
        yield Suspect("key", oid, None, None, f"{oid}, a {kind}, has no whole key: {exc}")
        return
    if parts and (expected := ids.natural(kind.ePackage.nsPrefix, kind.name, parts)) != oid:
        yield Suspect("key", oid, None, None, f"{oid}, a {kind}, has the key of {expected}")
