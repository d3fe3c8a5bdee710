"""What is left when all parts are written: results to which other parts contributed are folded again, and the model
lists its roots."""

from collections.abc import Iterable, Iterator
from itertools import islice

import attrs

from neomodel import ids, layout
from neomodel.errors import InvalidValue, RuleFailed
from neomodel.long_cells import MANY, Growing
from neomodel.model import Model
from neomodel.roots import ROOTS
from neomodel.rules.folding import ROOT, Contribution, Result, unfolded
from neomodel.rules.origins import traced
from neomodel.rules.part import MADE, READER, Nested, Said, Unplaced, told_of, written
from neomodel.rules.plan import Plan
from neomodel.states import encode
from neomodel.stores import VERSION, Cells, Mutation, Row
from neomodel.trees import LIMITS

_PAGE = 500  # rows

Gathered = tuple[str, list[Said]]
"""What parts say of one result."""


@attrs.define(eq=False)
class Settling:
    """Brings together what parts say of the results of others."""

    plan: Plan
    target: Model
    failures: list[RuleFailed] = attrs.field(factory=list)
    """Why nothing is to come of it: contributions that contradict one another, or lead nowhere."""
    nested: set[str] = attrs.field(factory=set)
    """Results from which there may be a circle of containers; `circles` tells, when all parts are settled."""

    def settle(self, gathered: Iterable[Gathered]) -> Iterator[Unplaced]:
        """Fold again what others contributed to; the roots among these. A read and a write for 500 results that
        anything was contributed to, nothing for others. Done twice, it is as done once. Nothing is written of what
        failures concern."""
        remaining = iter(gathered)
        while page := list(islice(remaining, _PAGE)):
            lying = self._folded(page)
            for oid, said in page:
                unplaced = next((one for one in said if isinstance(one, Unplaced)), None)
                if unplaced is not None and not self.failures and (oid not in lying or lying[oid].lies == ROOT):
                    yield unplaced
                if self.plan.nesting and any(isinstance(one, Nested) for one in said):
                    self.nested.add(oid)

    def _folded(self, page: list[Gathered]) -> dict[str, Result]:
        concerned = {oid: said for oid, said in page if any(isinstance(one, Contribution) for one in said)}
        rows = self.target.table.get_many([oid.encode() for oid in concerned], columns=ALL)
        mutations: list[Mutation] = []
        lying: dict[str, Result] = {}
        for oid, said in concerned.items():
            row = rows.get(oid.encode(), {})
            if layout.ECLASS not in row:
                self.failures.append(_unmade(oid, said))
                continue
            result = lying[oid] = read_result(self.plan, self.target, oid, row)
            result.take(one for one in said if isinstance(one, Contribution))
            try:
                mutations += rewritten(result, row)
            except InvalidValue as exc:
                self.failures.append(RuleFailed(*told_of(result), str(exc)))
                continue
            if self.plan.nesting and result.lies != ROOT and result.kind.type_name in self.plan.nesting:
                self.nested.add(result.lies[0])
        self.target.put(mutations)
        return lying


ALL = (*layout.OBJECT, layout.extent(b""))
"""The columns that a result is read by."""


def order_of(plan: Plan, target: Model, oid: str) -> str:
    """The order that a result has among others. One read."""
    row = target.table.get(oid.encode(), columns=(layout.TRACE,)) or {}
    return _order(plan, row[layout.TRACE])


def _order(plan: Plan, trace: bytes) -> str:
    rule, output, source = traced(trace)
    return plan.rules[rule].order(source, output)


def read_result(plan: Plan, target: Model, oid: str, row: Row) -> Result:
    """The result in a row, all of whose cells are at hand."""
    own, beside = layout.split(row)
    order = _order(plan, row[layout.TRACE])
    return unfolded(oid, target.kind_of(row), own, beside, order)  # type: ignore[arg-type]


def rewritten(result: Result, row: Row) -> Iterator[Mutation]:
    """What makes a row that of a result."""
    made = written(result)
    after = {column for mutation in made for column in mutation.cells}
    gone = {column: None for column in row if column not in after and not column.startswith(_NOTES)}
    *more, last = made
    yield from more
    cells = {column: value for column, value in last.cells.items() if row.get(column) != value}
    yield Mutation(last.key, {**gone, **cells, VERSION: result.version})


_NOTES = (READER, MADE)


def list_roots(target: Model, roots: Iterable[Unplaced], version: bytes) -> int:
    """Let a new model list its roots, which come in their order; how many there are. Memory does not grow with them."""
    key = ids.ROOT.encode()
    remaining = (one.target for one in roots)
    first = list(islice(remaining, LIMITS.inline + 1))
    if not first:
        return 0
    count = len(first)
    cells: dict[bytes, bytes | None]
    if count <= LIMITS.inline:
        cells = encode(ROOTS, first)
    else:
        held: dict[bytes, bytes | None] = {}

        def write(some: Cells) -> None:
            held.update(some)
            if len(held) >= MANY:  # one by one, each would be a write of its own that all wait for
                target.put([Mutation(key, dict(held))])
                held.clear()

        growing = Growing(ROOTS, write, seed=version)
        growing.extend(first)
        growing.extend(remaining)
        count = len(growing)
        cells = {ROOTS.column: growing.root()}
        if held:
            target.put([Mutation(key, held)])
    kind = target.element(first[0])._neo.kind
    cells |= layout.typed(kind.ePackage.nsURI, layout.ROOT_CLASS)
    target.put([Mutation(key, {**cells, VERSION: version})])
    return count


def _unmade(oid: str, said: list[Said]) -> RuleFailed:
    """Only where an application failed: others refer to what it was to make."""
    one = next(one for one in said if isinstance(one, Contribution))
    return RuleFailed("of this run", f"what {one.by} refers to", one.feature or "its place", f"none has made {oid}")
