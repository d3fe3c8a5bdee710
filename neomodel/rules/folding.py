"""The row of a result, made of what all applications say of it.

The application that makes an object says what it holds. Others contribute to it: what refers to it by a reference with
an opposite, what contains it. A row is the *fold* of its own values and these contributions, which does not depend on
the order in which they come, nor on who brings them together: so results are the same however a model was cut into
parts, and a row to which something is contributed later is folded again.

An explicit collection keeps its order, what others contribute comes after it, sorted by rule, source and output. Two
that contribute different values to what takes one are an error.

What can't be told from the row itself lies beside it, in cells ``x:00`` + feature + ``00`` + contributor: of others,
the order; of none (`OWN`), what the object holds by its own account. They are there only for features to which others
contribute (of the place of an object, only if the object itself says where it lies).
"""

from collections.abc import Iterable, Mapping
from hashlib import blake2b
from typing import Any, NamedTuple

import attrs

from neomodel import codecs, ids, layout
from neomodel.checks import check_bound
from neomodel.errors import InvalidValue
from neomodel.kinds import EClass, EFeature
from neomodel.long_cells import Growing, tokens_in
from neomodel.rules.drafts import Draft, raw
from neomodel.states import encode_inline
from neomodel.stores import VERSION, Row
from neomodel.trees import LIMITS
from neomodel.unstored import UNSET

Place = tuple[str, str]
"""The id of a container, and the name of a feature."""
ROOT: Place = (ids.ROOT, layout.ROOT_CONTENTS)
PLACE = ""
"""The feature of a contribution that says where an object lies."""
MAKER = "+"
"""The feature of a contribution that says that an application makes an object which others make as well."""
OWN = ""
"""In place of a contributor: the object itself, which may also contribute to itself as others do."""


class Contribution(NamedTuple):
    """What one object says of another: that it refers to it, so `feature` of the other has to refer back, and in which
    `order` it comes there; or that it contains it (`PLACE`), by the feature that `order` names."""

    target: str
    feature: str
    by: str
    order: str


def is_maker(message: Any) -> bool:
    """Whether it says that what it is about may be made by several parts."""
    return isinstance(message, Contribution) and message.feature == MAKER


@attrs.define(eq=False)
class Result:
    """An object that a run makes: what it holds by its own account, and what is contributed to it."""

    oid: str
    kind: EClass
    version: bytes
    trace: bytes
    order: str
    own: dict[str, Any]
    """References with opposites, stored ones: ids, or one id."""
    cells: dict[bytes, bytes | None]
    """All else that it holds, as cells."""
    extents: dict[bytes, bytes | None]
    place: Place | None = None
    """Where it lies by its own account."""
    come: dict[str, dict[str, str]] = attrs.field(factory=dict)
    """Contributions: their order, by feature and then by contributor."""
    second: Place | None = None
    """Another place of which it says so itself, or the container that has it already; which is one too many."""

    def take(self, contributions: Iterable[Contribution]) -> None:
        for target, feature, by, order in contributions:
            assert target == self.oid
            found = self.come.get(feature)
            if found is None:
                self.come[feature] = {by: order}
                continue
            if feature == PLACE and found.get(by, order) != order:
                self.second = by, found[by]
            found[by] = order

    @property
    def lies(self) -> Place:
        """Where it lies; `InvalidValue` if that is in two places, or in itself. Longer circles no row can tell."""
        found = self.come.get(PLACE)
        if self.place is None and self.second is None and (not found or len(found) == 1):
            place = next(iter(found.items())) if found else ROOT
        else:
            place = self._only_place(found or {})
        if place[0] == self.oid:
            raise InvalidValue(f"the container of {self.kind} {self.oid}", "itself", "another object")
        return place

    def _only_place(self, found: Mapping[str, str]) -> Place:
        places = {*found.items(), *(one for one in (self.place, self.second) if one is not None)}
        if len(places) > 1:
            told = " and ".join(f"{feature} of {container}" for container, feature in sorted(places))
            raise InvalidValue(f"the container of {self.kind} {self.oid}", told, "one")
        return places.pop()

    def row(self) -> tuple[dict[bytes, bytes | None], dict[bytes, bytes | None]]:
        """The cells of the object, and what lies beside them. The same for the same account and contributions."""
        cells = {**self.kind.cells, **self.cells, **layout.placed(*self.lies), VERSION: self.version}
        cells[layout.TRACE] = self.trace
        beside = dict(self.extents)
        if self.place is not None:
            beside[_cell(PLACE, OWN)] = "\0".join(self.place).encode()
            beside |= {_cell(PLACE, by): name.encode() for by, name in self.come.get(PLACE, {}).items()}
        for name in dict.fromkeys([*self.own, *self.come]):
            others = self.come.get(name, {})
            if name == PLACE:
                continue
            if name == MAKER:
                beside |= {_cell(MAKER, by): order.encode() for by, order in others.items()}
                continue
            feature = self.kind.features[name]
            own, extents = _encoded(self.oid, feature, self._held(feature, others))
            cells |= own
            beside |= extents
            if not others:
                continue
            beside |= {_cell(name, by): order.encode() for by, order in others.items()}
            if (account := self.own.get(name, UNSET)) not in (UNSET, []):
                beside[_cell(name, OWN)] = codecs.encode_refs(account if feature.many else [account or ""])
        return cells, beside

    def _held(self, feature: EFeature, others: Mapping[str, str]) -> Any:
        own = self.own.get(feature.name, [] if feature.many else UNSET)
        if not others:
            return own
        if feature.many:
            known = set(own)
            found = [*own, *sorted((by for by in others if by not in known), key=lambda by: (others[by], by))]
            check_bound(feature, len(found))
            return found
        values = {*others, *(() if own in (UNSET, None) else (own,))}
        if len(values) > 1:
            raise InvalidValue(f"{feature} of {self.oid}", " and ".join(sorted(values)), "one object")
        return values.pop() if values else own


def drafted(draft: Draft, version: bytes, trace: bytes, order: str, refer: Any) -> tuple[Result, list[Contribution]]:
    """The result that a draft will be, and what it contributes to others."""
    own: dict[str, Any] = {}
    cells: dict[bytes, bytes | None] = {}
    extents: dict[bytes, bytes | None] = {}
    kind, oid = draft._kind, draft._oid
    place = second = None
    for name, value in draft._values.items():
        feature = kind.features[name]
        held = raw(feature, value, refer)
        if not feature.many and (not feature.reference or (not feature.containment and feature.eOpposite is None)):
            if (cell := encode_inline(feature, held)) is not None:
                cells[feature.column] = cell
        elif feature.reference and feature.container:
            if held not in (UNSET, None):
                assert feature.eOpposite is not None
                place, second = (held, feature.eOpposite.name), place
        elif feature.reference and (feature.containment or feature.eOpposite is not None):
            own[name] = held
        else:
            inline, more = _encoded(oid, feature, held)
            cells |= inline
            extents |= more
    result = Result(oid, kind, version, trace, order, own, cells, extents, place, second=second)
    return result, contributed_by(result)


def contributed_by(result: Result) -> list[Contribution]:
    """What a result contributes to others, by its own account."""
    found: list[Contribution] = []
    for name, held in result.own.items():
        feature = result.kind.features[name]
        targets = held if feature.many else [] if held in (UNSET, None) else [held]
        if feature.containment:
            found += [Contribution(target, PLACE, result.oid, name) for target in targets]
        elif feature.eOpposite is not None:
            opposite = feature.eOpposite.name
            found += [Contribution(target, opposite, result.oid, result.order) for target in targets]
    if result.place is not None:
        found.append(Contribution(result.place[0], result.place[1], result.oid, result.order))
    return found


def unfolded(oid: str, kind: EClass, row: Row, beside: Mapping[bytes, bytes], order: str) -> Result:
    """The result that a row was made of; `beside` are its cells of contributions and of long collections."""
    come: dict[str, dict[str, str]] = {}
    accounts: dict[str, bytes] = {}
    for column, value in beside.items():
        if column.startswith(_CELLS):
            name, _, by = column[len(_CELLS) :].decode().partition("\0")
            if by == OWN:
                accounts[name] = value
            else:
                come.setdefault(name, {})[by] = value.decode()
    own: dict[str, Any] = {}
    cells: dict[bytes, bytes | None] = dict(row)
    extents: dict[bytes, bytes | None] = {c: v for c, v in beside.items() if not c.startswith(_CELLS)}
    for feature in kind.features.values():
        if feature.reference and feature.stored and (feature.containment or feature.eOpposite is not None):
            cell = cells.pop(feature.column, None)
            prefix = layout.extent(layout.collection(feature.name))
            lists = {c: extents.pop(c) for c in [c for c in extents if c.startswith(prefix)]}
            if feature.name in accounts:
                account = codecs.decode_refs(accounts[feature.name])
                own[feature.name] = account if feature.many else account[0] or None
            elif cell is not None and feature.name not in come:
                own[feature.name] = (
                    tokens_in(feature, {feature.column: cell, **lists})
                    if feature.many
                    else None
                    if cell == codecs.NULL
                    else cell.decode()
                )
    place: Place | None = None
    if PLACE in accounts:
        container, _, by_feature = accounts[PLACE].decode().partition("\0")
        place = container, by_feature
    lies = layout.place_of(row)
    if place is None and lies is not None and lies != ROOT:
        come.setdefault(PLACE, {})[lies[0]] = lies[1]
    for column in (*kind.cells, layout.CONTAINER, layout.FEATURE, VERSION, layout.TRACE):
        cells.pop(column, None)
    return Result(
        oid,
        kind,
        row[VERSION],
        row[layout.TRACE],
        order,
        own,
        cells,
        extents,
        place,
        come,
    )


_CELLS = layout.extent(b"\0")


def _cell(feature: str, by: str) -> bytes:
    return _CELLS + feature.encode() + b"\0" + by.encode()


def _encoded(oid: str, feature: EFeature, held: Any) -> tuple[dict[bytes, bytes | None], dict[bytes, bytes | None]]:
    """The cell of a feature that holds this, none for nothing, and its extents if it is long."""
    if feature.many and len(held) > LIMITS.inline:
        extents: dict[bytes, bytes | None] = {}
        content = blake2b(encode_inline(feature, held) or b"").digest()
        growing = Growing(feature, extents.update, seed=b"%s %s %s" % (oid.encode(), feature.tag, content))
        growing.extend(held)
        return {feature.column: growing.root()}, extents
    cell = encode_inline(feature, held)
    return {} if cell is None else {feature.column: cell}, {}
