"""A table as HBase has it on record: made, looked up and dropped, purged up to a time, in regions on servers.

**Dropping** takes two steps, disabling and deleting. A table whose drop was broken off in between is still there, like
one that an administrator has disabled: it is listed, `create` finds that it exists, `drop` drops it, and every other
call says that it is disabled.
"""

import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any, TypeVar

from neomodel.errors import InvalidStore, OutcomeUnknown, StoreUnavailable, TableNotFound
from neomodel.stores.base import Region
from neomodel.stores.hbase_calls import ALL_VERSIONS
from neomodel.stores.hbase_client import thrift2
from neomodel.stores.hbase_errors import DISABLED, Call, Subject, answers, partly_written
from neomodel.stores.hbase_gateways import Gateways
from neomodel.stores.hbase_knowledge import LEASE, Facts

OURS, _HORIZON = b"NEOMODEL", b"NEOMODEL_HORIZON"
_LAYOUT = b"1"
_PAUSE, _LONGEST_PAUSE = 0.05, 1.0  # seconds between two looks at regions on their way

T = TypeVar("T")


class Definition:
    def __init__(self, subject: Subject, gateways: Gateways) -> None:
        self._subject = subject
        self._gateways = gateways
        self._full_name = subject.full_name.encode()
        self._table_name = thrift2().TTableName(qualifier=self._full_name)

    def create(self, families: Iterable[bytes], splits: list[bytes]) -> None:
        api = thrift2()
        columns = [
            api.TColumnFamilyDescriptor(
                name=family[:1], maxVersions=ALL_VERSIONS, dataBlockEncoding=api.TDataBlockEncoding.FAST_DIFF
            )
            for family in sorted(families)
        ]
        attributes = {OURS: _LAYOUT, _HORIZON: b"0"}
        descriptor = api.TTableDescriptor(tableName=self._table_name, columns=columns, attributes=attributes)
        try:
            self._two("create", lambda client: client.createTable(descriptor, splits), writes=True, repeatable=False)
        except OutcomeUnknown:
            with suppress(StoreUnavailable, TableNotFound):
                self._look_up()  # tells a Thrift1 gateway, which knows a createTable of its own and fails
            raise

    def drop(self) -> None:
        self._look_up()
        try:
            self._two("drop", lambda client: client.disableTable(self._table_name), writes=True)
        except OutcomeUnknown as exc:
            if exc.reason != DISABLED:  # by a drop that came no further; or by this one, and the answer was lost
                raise
        with partly_written("drop"):
            self._two("drop", lambda client: client.deleteTable(self._table_name), writes=True, repeatable=False)

    def facts(self) -> Facts:
        """What it says of itself. Raises `StoreUnavailable` if it is disabled: what calls then do is anybody's guess,
        as a gateway tells only some of them and keeps others waiting."""
        found = self._look_up()
        if not self._two("looking up", lambda client: client.isTableEnabled(self._table_name)):
            raise Call("looking up", self._subject).failed(DISABLED, sent=False)
        return Facts(frozenset(column.name + b":" for column in found.columns), int(found.attributes[_HORIZON]))

    def raise_horizon(self, horizon: int) -> int:
        """When this returns, everybody refuses to read what was before the horizon, which is this or a later one.

        So it is also if others raise it at the same time, unless one takes longer than `LEASE` from looking to writing.
        """
        self._raise_horizon(horizon)
        with partly_written("purge"):
            time.sleep(LEASE)  # what anybody knew before is forgotten
            while (recorded := self._raise_horizon(horizon)) < horizon:  # another's lower one came between
                time.sleep(LEASE)
        return recorded

    def _raise_horizon(self, horizon: int) -> int:
        """The one on record, which was replaced if it was lower."""
        found = self._look_up()
        recorded = int(found.attributes[_HORIZON])
        if recorded < horizon:
            found.attributes[_HORIZON] = b"%d" % horizon
            self._two("purge", lambda client: client.modifyTable(found), writes=True)
        return recorded

    def regions(self) -> list[Region]:
        """As HBase has them on record. While one is between two servers, or being split, this waits until it is not,
        but not longer than for an answer."""
        self.facts()
        deadline, pause = time.monotonic() + self._gateways.timeout, _PAUSE
        while True:
            try:
                return self.regions_now()
            except StoreUnavailable as exc:
                unanswered = exc.__cause__ is not None and not isinstance(exc.__cause__, answers())
                if unanswered or time.monotonic() + pause > deadline:
                    raise
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)

    def regions_now(self) -> list[Region]:
        """As HBase has them on record at this moment, or `StoreUnavailable` if not all are somewhere."""
        call = Call("regions", self._subject)
        found = self._gateways.one(call, lambda connection: connection.client.getTableRegions(self._full_name))
        pairs = {pair.server: str(pair.one) for pair in self._gateways.pairs}
        regions = []
        for region in sorted(found, key=lambda region: region.startKey):
            host = (region.serverName or b"").decode()
            gateway = pairs.get(f"{host}:{region.port}")
            regions.append(Region(region.startKey, region.endKey or None, host, region.port, gateway))
        starts, stops = [region.start for region in regions], [region.stop for region in regions]
        if [*starts, None] != [b"", *stops] or not all(region.host for region in regions):
            raise call.failed("some are not on record as being on a server, as when one moves or splits", sent=False)
        return regions

    def _look_up(self) -> Any:
        """What HBase has on record of the table, or `TableNotFound`, or `InvalidStore` if it is not one of ours."""
        found = self._two("looking up", lambda client: client.getTableDescriptor(self._table_name))
        layout = (found.attributes or {}).get(OURS)
        if layout != _LAYOUT:
            told = "was not made by neomodel" if layout is None else f"has layout {layout.decode()}, not 1"
            raise InvalidStore(self._subject.url, f"its table {self._subject.full_name!r} {told}; name another")
        return found

    def _two(self, operation: str, ask: Callable[[Any], T], *, writes: bool = False, repeatable: bool = True) -> T:
        return self._gateways.two(Call(operation, self._subject, writes=writes, repeatable=repeatable), ask)
