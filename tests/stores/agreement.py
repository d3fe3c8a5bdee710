"""The agreement machine: the same calls to a subject and to the specification, and every answer compared.

Each store stamps its own times, so times are named, not shared. A *mark* is a pair of `now()`, one of each store,
taken at the same step. A *moment* is one time that lies between the steps before and after it in both stores. Times a
mutation brings along are moments and early times, and are the same in both. In answers, stamped times are compared by
their order and brought times as they are.
"""

import itertools
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test

from neomodel.errors import NeomodelError
from neomodel.stores import VERSION, Cell, Mutation, Store, Table, Version, open_store
from neomodel.stores.base import DURABLE
from tests.stores.kinds import Kind

INSTEAD = b"instead"
"""What is left in the place of what was erased."""
EARLY = range(8)
STEP = 2_000  # microseconds around a moment in which neither store stamps

# Few names, so that calls meet, and among them those that are hard to keep apart; now and then any bytes.
FAMILIES = [b"p:", b"t:", b"c:"]
any_bytes = st.lists(st.sampled_from(b"\x00\x01:a\xff"), min_size=1, max_size=4).map(bytes)
keys = st.sampled_from([b"a", b"a\x00", b"a\x01", b"ab", b"\xff"]) | st.sampled_from([b"a", b"a\x00"]) | any_bytes
qualifiers = st.sampled_from([b"x", b"x\x00", b"xx", b"y", b"\x00", b"version"])
columns = st.builds(lambda family, qualifier: family + qualifier, st.sampled_from(FAMILIES), qualifiers | any_bytes)
values = st.sampled_from([b"", b"\x00", b"\x01", b"v", b"x" * 3000]) | st.binary(max_size=4)
cells = st.dictionaries(columns, st.none() | values, min_size=1, max_size=8)
selections = st.none() | st.lists(columns | st.sampled_from(FAMILIES), max_size=4)
starts = st.just(b"") | keys
stops = st.none() | keys
past = st.sampled_from(EARLY) | st.tuples(st.sampled_from(["mark", "moment"]), st.integers(0, 5))
times = st.none() | past

Ask = Callable[[Table, int], object]


class Agreement(RuleBasedStateMachine):
    def __init__(self, kind: Kind, folder: Path) -> None:
        super().__init__()
        self.kind, self.folder = kind, folder
        self.stores: list[Store] = [kind.open(folder), open_store("memory:")]
        self.name = f"agree-{uuid.uuid4().hex}"

    @initialize()
    def begin(self) -> None:
        self.marks: list[tuple[int, int]] = []
        self.moments: list[int] = []
        self.wrote = False
        self.tables: list[Table] = []
        self.find_tables()
        for table in self.tables:
            table.create("cpt")

    def find_tables(self) -> None:
        self.tables = [store.table(self.name) for store in self.stores]

    def both(self, ask: Ask) -> Any:
        """The answer both gave to `ask(table, which)`: equal, or the same error."""
        answers = [self.answer(ask, which) for which in (0, 1)]
        assert answers[0] == answers[1], answers
        return answers[0]

    def answer(self, ask: Ask, which: int) -> object:
        try:
            answer = ask(self.tables[which], which)
            return self.timeless(list(answer)) if isinstance(answer, Iterator) else answer
        except NeomodelError as error:
            return type(error)

    def timeless(self, items: list[Any]) -> list[Any]:
        """The items with every stamped time replaced by its rank among them. What an erasure left is stamped at the
        horizon, which in some stores is the time of a write, and in others lies behind it."""
        timed = [item for item in items if isinstance(item, Cell | Version)]
        stamped = {item.time for item in timed if item.value != INSTEAD} - {*EARLY, *self.moments}
        ranks = {time: f"stamp {rank}" for rank, time in enumerate(sorted(stamped))}
        return [
            item._replace(time="horizon" if item.value == INSTEAD else ranks.get(item.time, item.time))
            if isinstance(item, Cell | Version)
            else item
            for item in items
        ]

    def when(self, named: Any, which: int) -> int | None:
        """A named time as this store knows it; the latest mark or moment if there are not that many."""
        if not isinstance(named, tuple):
            return named  # type: ignore[no-any-return]
        sort, index = named
        if sort == "mark":
            return self.marks[-1 - index % len(self.marks)][which] if self.marks else None
        return self.moments[-1 - index % len(self.moments)] if self.moments else None

    # time

    @precondition(lambda self: self.wrote)
    @rule()
    def mark(self) -> None:
        """Only after a write: between two marks without one, stores may or may not see time pass."""
        first, second = (table.now() for table in self.tables)
        self.marks.append((first, second))
        self.wrote = False

    @rule()
    def moment(self) -> None:
        moment = max(table.now() for table in self.tables) + STEP
        while time.time_ns() // 1000 < moment + STEP:
            time.sleep(STEP / 1e6)
        self.moments.append(moment)
        self.wrote = False

    # writing

    @rule(key=keys, cells=cells, which=st.sampled_from(["right", "none", "stale"]), version=st.none() | values)
    def swap(self, key: bytes, cells: dict[bytes, bytes | None], which: str, version: bytes | None) -> None:
        told = self.tables[1].history(key, key + b"\x00", columns=[VERSION])
        versions = [one.value for one in told]
        expected = {"right": versions[:1], "none": [], "stale": versions[1:2]}[which]
        self.wrote |= True is self.both(
            lambda table, _: table.swap(key, expected[0] if expected else None, cells | {VERSION: version})
        )

    @rule(
        mutations=st.lists(
            st.tuples(
                keys,
                cells,
                st.none() | st.none() | st.sampled_from(EARLY) | st.tuples(st.just("moment"), st.integers(0, 3)),
            ),
            min_size=1,
            max_size=4,
        )
    )
    def put_many(self, mutations: list[tuple[bytes, dict[bytes, bytes | None], Any]]) -> None:
        answer = self.both(
            lambda table, which: table.put_many(
                Mutation(key, cells, self.when(named, which)) for key, cells, named in mutations
            )
        )
        self.wrote |= answer is None and any(time is None for *_, time in mutations)

    @precondition(lambda self: self.marks)
    @rule(before=past)
    def purge(self, before: Any) -> None:
        if self.when(before, 0) is not None:
            self.both(lambda table, which: table.purge(self.when(before, which) or 0))

    @precondition(lambda self: self.marks)
    @rule(key=keys, until=past, bounds=st.tuples(qualifiers, qualifiers))
    def erase(self, key: bytes, until: Any, bounds: tuple[bytes, bytes]) -> None:
        start, stop = min(bounds), max(bounds) + b"\xff"
        if self.when(until, 0) is not None:
            self.both(
                lambda table, which: table.erase(
                    key, "p", start, stop, self.when(until, which) or 0, {b"p:" + start: INSTEAD}
                )
            )

    # reading

    @rule(key=keys, at=times, columns=selections)
    def get(self, key: bytes, at: Any, columns: list[bytes] | None) -> None:
        self.both(lambda table, which: in_order(table.get(key, at=self.when(at, which), columns=columns)))

    @rule(keys=st.lists(keys, max_size=6), at=times, columns=selections)
    def get_many(self, keys: list[bytes], at: Any, columns: list[bytes] | None) -> None:
        self.both(lambda table, which: table.get_many(keys, at=self.when(at, which), columns=columns))

    @rule(
        key=keys,
        family=st.sampled_from("ppt"),
        start=st.just(b"") | qualifiers,
        stop=st.none() | qualifiers,
        at=times,
        limit=st.none() | st.integers(0, 4),
        reverse=st.booleans(),
    )
    def slice(self, key: bytes, family: str, start: bytes, stop: bytes | None, at: Any, **more: Any) -> None:
        self.both(lambda table, which: table.cells(key, family, start, stop, at=self.when(at, which), **more))

    @rule(
        keys=st.lists(keys, max_size=4),
        start=st.just(b"") | qualifiers,
        stop=st.none() | qualifiers,
        rows=st.tuples(starts, stops),
        at=times,
    )
    def firsts(self, keys: list[bytes], start: bytes, stop: bytes | None, rows: Any, at: Any) -> None:
        self.both(lambda table, which: cells_of(table.firsts(keys, "p", start, stop, at=self.when(at, which)).items()))
        self.both(
            lambda table, which: cells_of(
                table.scan_firsts(rows, "p", start, stop, at=self.when(at, which) or table.now())
            )
        )

    @rule(start=starts, stop=stops, at=times, columns=selections)
    def scan(self, start: bytes, stop: bytes | None, at: Any, columns: list[bytes] | None) -> None:
        self.both(
            lambda table, which: (
                (key, in_order(row)) for key, row in table.scan(start, stop, at=self.when(at, which), columns=columns)
            )
        )
        if columns and all(len(column) > 2 for column in columns):
            self.both(
                lambda table, which: (
                    (key, in_order(row))
                    for block in table.blocks(columns, start, stop, at=self.when(at, which))
                    for key, row in block.rows()
                )
            )

    @rule(start=starts, stop=stops, columns=selections, since=times, until=times)
    def history(self, start: bytes, stop: bytes | None, columns: list[bytes] | None, since: Any, until: Any) -> None:
        self.both(
            lambda table, which: table.history(
                start, stop, columns=columns, since=self.when(since, which), until=self.when(until, which)
            )
        )

    @rule()
    def everything(self) -> None:
        """All rows, now and at every mark and moment, and all history: nothing goes wrong unseen."""
        for named in (None, *(("mark", n) for n in range(len(self.marks))), *(("moment", n) for n in range(9))):
            self.scan(b"", None, named, None)
        self.history(b"", None, None, None, None)
        regions = self.tables[0].regions()
        by_region = [row for region in regions for row in self.tables[0].scan(region.start, region.stop)]
        assert by_region == list(self.tables[0].scan())

    @rule(number=st.integers(0, 9), at=times)
    def look_closely(self, number: int, at: Any) -> None:
        """One row that is there, with every bound, column, time and version that it has."""
        told = list(self.tables[1].history())
        keys = sorted({version.key for version in told}) or [b"a"]
        key = keys[number % len(keys)]
        mine = [version for version in told if version.key == key]
        columns = sorted({version.column for version in mine})
        for family in "pt":
            bounds = [column[2:] for column in columns if column[:1] == family.encode()][:4]
            for start, stop, reverse in itertools.product([b"", *bounds], [*bounds, None], [False, True]):
                self.slice(key, family, start, stop, at, limit=None, reverse=reverse)
                self.slice(key, family, start, stop, at, limit=1, reverse=reverse)
        for column in columns:
            self.get(key, at, [column])
            self.scan(key, key + b"\x00", at, [column])
        for brought in {version.time for version in mine} & {*EARLY, *self.moments}:
            self.get(key, brought, None)
            self.history(key, None, None, brought, None)
            self.history(key, None, None, None, brought)
        for version in mine:
            if version.column == VERSION:
                self.both(lambda table, _, past=version.value: table.swap(key, past, {VERSION: b"again"}))  # type: ignore[misc]

    # the table and the store

    @precondition(lambda self: DURABLE in self.stores[0].capabilities)
    @rule()
    def reopen(self) -> None:
        self.stores[0].close()
        self.stores[0] = self.kind.open(self.folder)
        self.find_tables()

    @precondition(lambda self: len(self.marks) > 1)
    @rule()
    def drop(self) -> None:
        self.both(lambda table, _: table.drop())
        self.both(lambda table, _: table.get(b"a"))
        self.both(lambda table, _: table.create("cpt"))
        self.marks, self.wrote = [], False

    def teardown(self) -> None:
        self.everything()
        self.tables[0].drop()
        for store in self.stores:
            store.close()


def cells_of(found: Iterable[tuple[bytes, Cell]]) -> list[tuple[bytes, bytes, bytes]]:
    return [(key, cell.qualifier, cell.value) for key, cell in found]


def in_order(row: dict[bytes, bytes] | None) -> list[tuple[bytes, bytes]] | None:
    return None if row is None else list(row.items())


def agree(kind: Kind, place: Path, *, times_as_many: int = 1, steps: int) -> None:
    """Run the machine with the examples that the kind of store has time for, or so many times as many."""
    run_state_machine_as_test(
        lambda: Agreement(kind, place),
        settings=settings(
            max_examples=kind.examples * times_as_many,
            stateful_step_count=steps,
            deadline=None,
            phases=set(Phase) - ({Phase.shrink, Phase.explain} if kind.cluster else set()),  # minutes on a cluster
            suppress_health_check=list(HealthCheck),
        ),
    )
