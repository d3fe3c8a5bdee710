"""Repairs: rules that change the model they match in. What they match is looked for as of a time, a part after another;
each object is then looked at once more as it is, and changed."""

import time
from collections.abc import Iterator
from itertools import islice
from typing import Any

import attrs

from neomodel.editing import redo
from neomodel.errors import InvalidValue, ObjectNotFound
from neomodel.metamodel import ANYTHING
from neomodel.model import Model
from neomodel.prefilling import prefilled
from neomodel.rules.applying import tell_of
from neomodel.rules.definition import Transformation
from neomodel.rules.plan import BoundRule, Plan
from neomodel.rules.running import bound
from neomodel.states import together
from neomodel.times import STABLE

_PAGE = 500  # objects


@attrs.frozen
class Repairs:
    """What was repaired: how often each rule was applied, and what it took."""

    applications: dict[str, int]
    elements: int
    seconds: float


def repair(transformation: Transformation, model: Model, *, as_of: Any = STABLE) -> Repairs:
    """Apply the repairs of a transformation to what they match in a model, until nothing is left that was matched as of
    that time. Each application is done again if somebody else was first, and left out if its guard holds no more; so a
    repair that was cut short is just started again. What a repair itself makes wrong is left to the next one."""
    if model.as_of is not None:
        raise InvalidValue("a model to repair", f"one as of {model.as_of}", "one that can be changed")
    began = time.monotonic()
    snapshot = model.repository.open(model.name, as_of=as_of)
    plan = bound(transformation, snapshot, model.repository)
    applied: dict[str, int] = {}
    elements = 0
    for region in snapshot.table.regions():
        found, seen = repair_part(plan, snapshot, model, region.start, region.stop)
        elements += seen
        for rule, count in found.items():
            applied[rule] = applied.get(rule, 0) + count
    return Repairs(applied, elements, time.monotonic() - began)


def repair_part(
    plan: Plan, snapshot: Model, live: Model, start: bytes, stop: bytes | None
) -> tuple[dict[str, int], int]:
    """Repair what is matched in a range; how often each rule was applied, and how many objects were looked at."""
    applied: dict[str, int] = {}
    seen = 0

    def matches() -> Iterator[tuple[BoundRule, str]]:
        nonlocal seen
        own = snapshot.repository.apart(snapshot, snapshot.repository.store)
        for element in prefilled(own, ANYTHING, start, stop):
            seen += 1
            for one in plan.repairs(element._neo.kind):
                if _holds(one, element):
                    yield one, element._neo.oid

    remaining = matches()
    while page := list(islice(remaining, _PAGE)):
        elements = [live.element(oid) for _, oid in page]
        together(elements)
        for (one, _), element in zip(page, elements, strict=True):
            if redo(lambda one=one, element=element: _repaired(one, element)):  # type: ignore[misc]
                applied[one.name] = applied.get(one.name, 0) + 1
    return applied, seen


def _repaired(one: BoundRule, element: Any) -> bool:
    """Apply a repair to an object as it is now, if there is one and it still needs it."""
    try:
        element._neo.read()
    except ObjectNotFound:
        return False
    if not _holds(one, element):
        return False
    try:
        one.rule.function(element)
    except Exception as error:
        tell_of(error, one, element)
        raise
    return True


def _holds(one: BoundRule, element: Any) -> bool:
    try:
        return one.rule.guard is None or bool(one.rule.guard(element))
    except Exception as error:
        tell_of(error, one, element, "its guard")
        raise
