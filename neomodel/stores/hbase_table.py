"""A table of the HBase store; `hbase` has what holds for all of it."""

import itertools
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any

from neomodel.errors import OutcomeUnknown, StoreUnavailable
from neomodel.stores import hbase_calls as calls
from neomodel.stores import hbase_rows as rows
from neomodel.stores import hbase_wire as wire
from neomodel.stores.base import VERSION, Cells, Mutation, Region, Row, Version
from neomodel.stores.checks import check_cells, check_families, check_family, check_swap, check_time
from neomodel.stores.clock import LANES, Clock, Watch
from neomodel.stores.encoding import encode_value
from neomodel.stores.hbase_errors import Call, partly_written
from neomodel.stores.hbase_gateways import Pair, side_by_side
from neomodel.stores.hbase_reading import HBaseReading, check_length

_clock = Clock()


class HBaseTable(HBaseReading):
    # the table itself

    def create(self, families: Iterable[str], *, splits: Iterable[bytes] = ()) -> None:
        self._definition.create(check_families(families), sorted({check_length(split) for split in splits}))
        self._knowledge.forget()

    def drop(self) -> None:
        self._definition.drop()
        self._knowledge.forget()

    def families(self) -> frozenset[str]:
        return frozenset(family[:1].decode() for family in self._facts().families)

    def regions(self) -> list[Region]:
        return self._definition.regions()

    def now(self) -> int:
        self._facts()
        return _clock.tick()

    # writing

    def swap(self, key: bytes, expected: bytes | None, cells: Cells) -> bool:
        check_swap(expected, cells)
        check_cells(cells, self._facts().families)
        guard, new = encode_value(expected), encode_value(cells[VERSION])
        near = self._near(check_length(key))
        known = self._knowledge.remembered(key, guard)
        after = self._version(key, near)[1] if known is None else known
        stamped, stamp = Watch(), _clock.tick(after=after, every=LANES)
        arguments = calls.swap(self._full_name, key, guard, cells, stamp)
        call = Call("swap", self._subject, key, writes=True, repeatable=False)
        won: bool = self._gateways.two(
            call, lambda client: self._now(client, stamped).checkAndMutate(*arguments), near=near
        )
        if not won:  # a gateway that sends a swap again, since its server died, may be told that it lost to itself
            with partly_written("swap"):
                won = self._version(key, near, at=stamp) == (new, stamp)
        if won:
            self._knowledge.remember({key: (new, stamp)})
            self._check_settled(call, stamped)
        return won

    def put_many(self, mutations: Iterable[Mutation]) -> None:
        """Stamped here, so it does no harm to send it again, and it is, if a gateway fails."""
        untouched = True

        def write(stamped: Watch, pair: Pair, some: list[wire.Put]) -> None:
            nonlocal untouched
            call = Call("put_many", self._subject, writes=True)
            try:
                ready = wire.put_multiple(self._full_name, some)
                self._gateways.two(
                    call, lambda client: self._now(client, stamped).ask_ready("putMultiple", ready), near=pair
                )
            except OutcomeUnknown:
                untouched = False
                with suppress(StoreUnavailable):
                    self._definition.facts()  # of a table that is gone, a gateway says no more than that puts failed
                raise
            untouched = False

        for batch in rows.batches(mutations, self._at_once):
            try:
                stamped, puts = Watch(), self._puts(batch)
                jobs = [partial(write, stamped, pair, some) for pair, some in self._by_pair(puts, lambda put: put.row)]
                side_by_side(jobs, self._at_once)
            except StoreUnavailable as exc:
                if untouched:
                    raise
                raise OutcomeUnknown("put_many", exc.where, exc.reason) from exc

    def purge(self, before: int) -> int:
        self._definition.facts()
        horizon = self._definition.raise_horizon(check_time(before, _clock.tick()))
        self._knowledge.forget()
        return self._remove("purge", calls.useless(self.history(until=horizon)))

    def erase(self, key: bytes, family: str, start: bytes, stop: bytes, until: int, instead: Row) -> int:
        facts = self._definition.facts()
        head = check_family(family, facts.families)
        check_cells(instead, facts.families)
        put, call = calls.put(check_length(key), instead, facts.horizon), Call("erase", self._subject, key, writes=True)
        self._gateways.two(call, lambda client: client.putMultiple(self._full_name, [put]), near=self._near(key))
        versions = self.history(key, key + b"\0", columns=[head], until=max(until, facts.horizon))
        inside = (v for v in versions if head + start <= v.column < head + stop and v.time <= until)
        return self._remove("erase", (version for version in inside if version.column not in instead))

    # how

    def _remove(self, operation: str, versions: Iterator[Version]) -> int:
        removed = 0
        with partly_written(operation):
            while deletes := [calls.delete(version) for version in itertools.islice(versions, rows.ROWS)]:
                call, arguments = Call(operation, self._subject, writes=True), (self._full_name, deletes)
                self._gateways.two(call, lambda client, what=arguments: client.deleteMultiple(*what))  # type: ignore[misc]
                removed += len(deletes)
        return removed

    def _now(self, client: Any, stamped: Watch) -> Any:
        """The client, for a call with what was stamped then."""
        return client.within(stamped, self._gateways.latest)

    def _check_settled(self, call: Call, stamped: Watch) -> None:
        """Tell the writer if what it stamped then may have come under a time that others took for settled. A write of
        many is not looked at: those that others must not see in part are in a batch, which is waited for."""
        if (age := stamped.age()) > (settling := self._gateways.settling):
            told = f"none in the {settling / 1e6:g} s in which times settle, but after {age / 1e6:.1f} s"
            raise call.failed(f"{told}: who read as of stable meanwhile may have missed it", sent=True)

    def _puts(self, batch: list[Mutation]) -> list[wire.Put]:
        facts = self._facts()
        puts = []
        for stamp, (key, cells, own) in enumerate(batch, _clock.tick(len(batch))):
            check_cells(cells, facts.families)
            when = stamp if own is None else check_time(own, stamp, facts.horizon or -1)
            puts.append(wire.put(check_length(key), cells, when))
        return puts

    def _version(self, key: bytes, near: Pair, at: int | None = None) -> tuple[bytes, int]:
        """The row's newest version as it is stored, a tombstone too, or the one of time `at`; and its time."""
        call, get = Call("get", self._subject, key), calls.version_of(key, at)
        found = self._gateways.two(call, lambda client: client.get(self._full_name, get), near=near).columnValues
        return (found[0].value, found[0].timestamp) if found else (b"", 0)
