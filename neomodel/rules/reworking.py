"""What a run that is done again has to write: which applications are concerned, and what that makes of the rows."""

import time
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import islice
from typing import Any

import attrs

from neomodel import layout
from neomodel.errors import InvalidValue
from neomodel.model import Model
from neomodel.rules.circles import Held, circles, stored
from neomodel.rules.differences import differences
from neomodel.rules.folding import MAKER, ROOT, Contribution, Result, contributed_by
from neomodel.rules.part import MADE, READER, Part, reader_of
from neomodel.rules.plan import Plan
from neomodel.rules.reads import CLASS, EXISTENCE, PLACE, WatchedModel
from neomodel.rules.running import carried_constants
from neomodel.rules.runs import Run, Token
from neomodel.rules.settling import ALL, read_result, rewritten
from neomodel.states import together
from neomodel.stores import VERSION, Mutation, Row

_PAGE = 500  # rows
_BESIDE = (layout.extent(b""),)

Key = tuple[str, str]
"""An application: the name of a rule, and the id of a source, or what a key is for a grouped rule."""


class Reworking:
    """Brings the results of a run from one state of the source to another."""

    def __init__(self, plan: Plan, before: Model, after: Model, target: Model, token: Token, last: Run) -> None:
        self._plan = plan
        self._target = target
        constants = carried_constants(plan.transformation, after)
        self.constants = {name: repr(value) for name, value in constants.items()}
        self._others = [name for name, text in self.constants.items() if last.constants.get(name) != text]
        self._version = b"%d-%s" % (time.time_ns() // 1000, token.row_version[2:])
        former = carried_constants(plan.transformation, before)
        self._before, self._after = _watched(before), _watched(after)
        self._former = Part(plan, self._before, target, former, self._version, recording=False)
        self._part = Part(plan, self._after, target, constants, self._version)
        self._rows: dict[str, Row] = {}
        self._held: dict[str, Held | None] = {}
        """What results will lie in that have lain elsewhere, or nowhere: None if that is the model itself."""
        self.results = 0
        """How many rows of results are written."""
        self.come: list[tuple[str, str]] = []
        self.gone: list[str] = []
        """Roots that there are now, by order and id, and that there are no more."""

    @cached_property
    def _changed(self) -> dict[str, set[str]]:
        return differences(self._before, self._after)

    @property
    def changed(self) -> int:
        """How many objects of the source have changed."""
        return len(self._changed)

    @property
    def applications(self) -> dict[str, int]:
        """How many were done again, by rule."""
        return self._part.tally.applications

    def mutations(self) -> Iterator[Mutation]:
        """All that has to be written."""
        concerned = self._concerned()
        former = self._results(self._made(concerned))
        self._apply(concerned)
        yield from self._folded(former, {f"{rule}/{source}" for rule, source in concerned})
        for failure in circles((one.container for one in self._held.values() if one), self._look):
            raise failure
        yield from self._notes(concerned)

    # which applications are concerned

    def _concerned(self) -> set[Key]:
        asked = {**self._changed, **{f"!{name}": {CLASS} for name in self._others}}
        inside = self._inside()
        found: set[Key] = set()
        matching = set(self._changed)
        for oid, cells in self._beside({*asked, *inside}):
            for column, names in cells.items():
                if (reader := reader_of(column)) is None:
                    continue
                rule, source = reader
                if _touched((inside if source == oid else asked).get(oid, set()), names):
                    if rule:
                        found.add(reader)
                    else:
                        matching.add(source)
        for model, part in ((self._before, self._former), (self._after, self._part)):
            for element in self._there(model, matching):
                oid = element._neo.oid
                found.update((one.name, source) for one, source in part.matched(element))
                found.update(
                    (one.name, oid) for one in self._plan.candidates(element._neo.kind) if one.rule.mode != "grouped"
                )
        return found

    def _inside(self) -> dict[str, set[str]]:
        """What has changed in objects, by the ids of these. What was moved is not in them any more, so who has read
        anything of it has to note that elsewhere. A call for 500 objects that changed."""
        found: dict[str, set[str]] = {}
        before = self._before
        for page in _pages(sorted(self._changed)):
            rows = before.table.get_many([oid.encode() for oid in page], at=before.as_of, columns=layout.PLACE)
            for key, row in rows.items():
                if (place := layout.place_of(row)) is not None:
                    names = self._changed[key.decode()]
                    found.setdefault(place[0], set()).update(names, EXISTENCE if PLACE in names else ())
        return found

    def _there(self, model: WatchedModel, oids: Iterable[str]) -> Iterator[Any]:
        """Those objects that there are. A call for 500 of them."""
        for page in _pages(sorted(oids)):
            rows = model.table.get_many([oid.encode() for oid in page], at=model.as_of, columns=layout.TYPE)
            elements = [model.element(oid) for oid in page if layout.ECLASS in rows.get(oid.encode(), {})]
            together(elements)
            yield from elements

    # what they made, and make

    def _made(self, concerned: set[Key]) -> set[str]:
        """The ids of what applications may have made."""
        found = {
            self._plan.oid(rule, output, source)
            for rule, source in concerned
            for output in self._plan.rules[rule].outputs
        }
        for source, cells in self._beside({source for _, source in concerned}):
            for column, oids in cells.items():
                if column.startswith(MADE) and (column[len(MADE) :].decode(), source) in concerned:
                    found.update(oids.decode().split(","))
        return found

    def _apply(self, concerned: set[Key]) -> None:
        """Do applications again, as far as there still are such."""
        rules, part = self._plan.rules, self._part
        members = self._members({key for key in concerned if rules[key[0]].rule.mode == "grouped"})
        for rule, source in sorted(concerned):
            bound = rules[rule]
            if (rule, source) in members:
                part.take(bound, members[rule, source], source)
            elif bound.rule.mode != "grouped" and source in self._after:
                element = self._after.element(source)
                if (bound, source) in part.matched(element):
                    part.take(bound, element, source)

    def _members(self, groups: set[Key]) -> dict[Key, list[Any]]:
        """What is in groups now, by id. One look at all objects of a class, however many groups there are of these."""
        found: dict[Key, list[Any]] = {}
        for kind in {self._plan.rules[rule].source for rule, _ in groups}:
            for element in self._after.all(kind):
                for bound, source in self._part.matched(element):
                    if bound.source is kind and (bound.name, source) in groups:
                        found.setdefault((bound.name, source), []).append(element)
        return {key: sorted(elements, key=lambda one: one._neo.oid) for key, elements in found.items()}

    # rows

    def _folded(self, former: dict[str, Result], again: set[str]) -> Iterator[Mutation]:
        """What makes rows those of a whole run. `again` are those who are done again, as makers."""
        made, contributions = self._part.taken()
        gone = {
            oid for oid, result in former.items() if oid not in made and not result.come.get(MAKER, {}).keys() - again
        }
        out = _by_target(
            one for oid, result in former.items() if oid in made or oid in gone for one in contributed_by(result)
        )
        come = _by_target(contributions)
        current = former | self._results({*out, *come} - {*former, *made})
        for oid in sorted({*former, *made, *out, *come}):
            now = current.get(oid)
            if oid in gone:
                yield self._erased(oid)
            elif now is not None or oid in made:
                result = made.get(oid) or now
                assert result is not None
                if now is not None:
                    result = attrs.evolve(result, come=_without(now.come, out.get(oid, ()), again))
                result.take(come.get(oid, ()))
                yield from self._written(result, now)
            elif oid in come:
                what = f"what {come[oid][0].by} refers to"
                raise InvalidValue(what, f"{oid}, which no rule has made", "a result of this run")

    def _written(self, result: Result, now: Result | None) -> Iterator[Mutation]:
        was_root = now is not None and self._is_root(result.oid)
        if (result.lies == ROOT) != was_root:
            if was_root:
                self.gone.append(result.oid)
            else:
                self.come.append((result.order, result.oid))
        if result.kind.type_name in self._plan.nesting and (now is None or now.lies != result.lies):
            self._held[result.oid] = None if result.lies == ROOT else Held(result.lies[0], result.trace)
        row = self._rows.get(result.oid, {})
        mutations = list(rewritten(attrs.evolve(result, version=self._version), row))
        if any(
            column != VERSION and row.get(column) != value for one in mutations for column, value in one.cells.items()
        ):
            self.results += 1
            yield from mutations

    def _look(self, oids: list[str]) -> dict[str, Held]:
        """What results will lie in."""
        found = {oid: held for oid in oids if (held := self._held.get(oid)) is not None}
        return {**found, **stored(self._target)([oid for oid in oids if oid not in self._held])}

    def _erased(self, oid: str) -> Mutation:
        if self._is_root(oid):
            self.gone.append(oid)
        self.results += 1
        return Mutation(oid.encode(), {c: None for c in self._rows[oid] if not c.startswith((READER, MADE))})

    def _is_root(self, oid: str) -> bool:
        return layout.place_of(self._rows[oid]) == ROOT

    def _notes(self, concerned: set[Key]) -> Iterator[Mutation]:
        """What the applications have read now, and, of what has changed, do not read any more."""
        notes = self._part.notes()
        for oid, cells in self._beside({*self._changed, *(source for _, source in concerned)}):
            for column in cells:
                reader = reader_of(column)
                if reader in concerned and (oid in self._changed or reader[1] == oid):
                    notes.setdefault(oid, {}).setdefault(column, None)
        yield from (Mutation(oid.encode(), cells) for oid, cells in notes.items())

    # reading

    def _beside(self, oids: Iterable[str]) -> Iterator[tuple[str, Row]]:
        """What is noted beside objects of the source. A call for 500 of them."""
        for page in _pages(sorted(oids)):
            rows = self._target.table.get_many([oid.encode() for oid in page], columns=_BESIDE)
            yield from ((key.decode(), row) for key, row in rows.items())

    def _results(self, oids: Iterable[str]) -> dict[str, Result]:
        """The results that there are of these. A call for 500 of them."""
        found = {}
        for page in _pages(sorted(oids)):
            rows = self._target.table.get_many([oid.encode() for oid in page], columns=ALL)
            for key, row in rows.items():
                if layout.ECLASS in row:
                    oid = key.decode()
                    self._rows[oid] = row
                    found[oid] = read_result(self._plan, self._target, oid, row)
        return found


def _without(
    come: dict[str, dict[str, str]], out: Iterable[Contribution], again: set[str]
) -> dict[str, dict[str, str]]:
    """What was contributed, less what was by those who are done again."""
    taken = {(one.feature, one.by) for one in out}
    left = {
        feature: {
            by: order
            for by, order in others.items()
            if (feature, by) not in taken and not (feature == MAKER and by in again)
        }
        for feature, others in come.items()
    }
    return {feature: others for feature, others in left.items() if others}


def _by_target(contributions: Iterable[Contribution]) -> dict[str, list[Contribution]]:
    found: dict[str, list[Contribution]] = {}
    for one in contributions:
        found.setdefault(one.target, []).append(one)
    return found


def _touched(changed: set[str], cell: bytes) -> bool:
    """Whether who read these features of an object is concerned by what changed of it."""
    return CLASS in changed or not changed.isdisjoint(cell.decode().split(","))


def _watched(model: Model) -> WatchedModel:
    made = model.repository.apart(model, model.repository.store, WatchedModel)
    assert isinstance(made, WatchedModel)
    return made


def _pages(oids: Iterable[str]) -> Iterator[list[str]]:
    remaining = iter(oids)
    while page := list(islice(remaining, _PAGE)):
        yield page
