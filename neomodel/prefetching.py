"""Reading ahead by a hint, where the application knows better than `cohorts` can guess what it will ask for."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import attrs

from neomodel import ids, layout
from neomodel.cohorts import led_to
from neomodel.errors import InvalidValue, NeomodelError
from neomodel.kinds import EFeature
from neomodel.long_cells import is_long
from neomodel.metamodel import TypeName
from neomodel.model import Model
from neomodel.objects import Element
from neomodel.stores import Row


@contextmanager
def prefetch(start: "Model | Element", *features: EFeature, rows: int = 100_000) -> Iterator[None]:
    """Inside the block, read objects with all they contain, or, if features are named, with what those lead to.

    Whenever objects of the model are met for the first time, what they lead to is read along, and what that leads to,
    to the end or so many `rows`: 500 in a call, and nothing else. If it starts with an object, that is met when the
    block begins. So a walk over n objects costs about n / 500 calls, whatever its order and however often it is done.
    What was read ahead makes no objects; so many rows are kept, beside the 5,000 that always are, to the block's end.

    Where a store can't tell what others write (HBase), what was read in the block is believed until it ends, unless
    this process changes it. Blocks may nest; the inner one holds.
    """
    model = _home(start)
    hint = Hint(tuple(_checked(feature) for feature in features), _positive(rows))
    before = model.hint
    model.expect(hint)
    try:
        if isinstance(start, Element):
            hint.follow(model, model.read_ahead([start._neo.oid], 1))
        yield
    finally:
        model.expect(before)


@attrs.frozen
class Hint:
    """Which way to read ahead, by which features (none: containment), and how many rows at a time."""

    features: tuple[EFeature, ...]
    rows: int

    def follow(self, model: Model, level: dict[str, Row]) -> None:
        """Have the rows that these lead to, and those that they lead to in turn, as far as they are not known."""
        room = self.rows
        while level and room > 0:
            level = model.read_ahead(
                dict.fromkeys(target for oid, row in level.items() for target in self._led_to(model, oid, row)), room
            )
            room -= len(level)

    def _led_to(self, model: Model, oid: str, row: Row) -> Iterator[str]:
        if layout.ECLASS not in row and oid != ids.ROOT:
            return
        try:
            kind = model.element(oid)._neo.kind if oid == ids.ROOT else model.kind_of(row)
            wanted = {_name(feature) for feature in self.features}
            for feature in kind.features.values() if wanted else kind.containments:
                if wanted and _name(feature) not in wanted:
                    continue
                if feature.many and is_long(row.get(feature.column, b"")):
                    yield from ids.local(model.element(oid)._neo.raw(feature))
                else:
                    yield from led_to(row, None if feature.container else feature)
        except (NeomodelError, ValueError):
            return  # damage, or a class that is not known here: whoever touches the object is told


def _name(feature: EFeature) -> tuple[TypeName, str]:
    """A feature is the same one in every package that was made of one metamodel."""
    return feature.eContainingClass.type_name, feature.name


def _home(start: Any) -> Model:
    found = start._neo.model if isinstance(start, Element) else start  # asked for first, which costs no read
    if not isinstance(found, Model):
        raise InvalidValue("where to prefetch", start, "a model, or an object that is stored in one")
    return found


def _checked(feature: Any) -> EFeature:
    if not isinstance(feature, EFeature) or not feature.reference or not feature.kept:
        raise InvalidValue("a feature to prefetch", feature, "a reference that is stored, such as Order.customer")
    return feature


def _positive(rows: Any) -> int:
    if not isinstance(rows, int) or rows < 1:
        raise InvalidValue("rows to prefetch", rows, "a number of 1 or more")
    return rows
