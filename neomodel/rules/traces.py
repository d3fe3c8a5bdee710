"""Where results come from, and what became of sources: read from what a run has left in its target."""

from typing import Any

import attrs

from neomodel import layout
from neomodel.errors import InvalidValue
from neomodel.model import Model
from neomodel.objects import Element
from neomodel.rules.definition import Transformation
from neomodel.rules.origins import GROUP, traced
from neomodel.rules.plan import Plan
from neomodel.rules.runs import Token, runs
from neomodel.states import Stored
from neomodel.unstored import state_of


@attrs.frozen
class Origin:
    """Why there is an object: the rule that made it, under which name, and of what. Of a grouped rule there is
    no `source` but a `key`."""

    rule: str
    output: str
    source: Any
    key: str | None
    token: str


def why(result: Element) -> Origin:
    """What an object was made of, as of the time of the last run that its model had seen. A scan and three reads.
    `InvalidValue` if no run made it."""
    state = state_of(result)
    row = (
        state.model.table.get(state.oid.encode(), at=state.model.as_of, columns=(layout.TRACE,))
        if isinstance(state, Stored)
        else None
    )
    if not row:
        raise InvalidValue("what to explain", result, "an object that a transformation has made")
    rule, output, source = traced(row[layout.TRACE])
    made = runs(state.model)
    if not made:
        expected = f"one of a model whose run is on record; make {state.model.name} anew"
        raise InvalidValue("what to explain", result, expected)
    token = made[-1].token
    told = Token.parse(token)
    if source.startswith(GROUP):
        return Origin(rule, output, None, source[len(GROUP) :], token)
    model = state.model.repository.open(told.source, as_of=told.at)
    return Origin(rule, output, model[source], None, token)


def what_became_of(source: Element, target: Model, transformation: Transformation) -> dict[tuple[str, str], Any]:
    """What rules made of an object: results by rule and output. Those of lazy rules that are not unique, and of grouped
    ones, belong to others. One read."""
    from neomodel.rules.running import bound

    state = state_of(source)
    if not isinstance(state, Stored):
        raise InvalidValue("what to look for", source, "an object of a model")
    plan: Plan = bound(transformation, state.model, state.model.repository)
    possible = {oid: (rule.name, output) for rule, output, oid in plan.results(state.oid)}
    rows = target.table.get_many([oid.encode() for oid in possible], at=target.as_of, columns=layout.TYPE)
    return {name: target[oid] for oid, name in possible.items() if layout.ECLASS in rows.get(oid.encode(), {})}
