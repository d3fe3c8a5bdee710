"""The store on Apache HBase, through a Thrift1 and a Thrift2 gateway beside each region server.

happybase carries gets, multi-gets and scans. What Thrift1 can't do goes through Thrift2: swaps of several cells, writes
stamped one by one, tables with splits, slices of a row, versions. `hbase_url` has the URL.

**Times.** Cells are stamped by this process's clock, in microseconds and in the order of its writes. A swap is stamped
later than the version it replaces, whoever stamped that: so the versions of a row always grow, whatever the clocks of
the machines say. Times of different clients compare only as well as their clocks do.

**Settling.** A write is stored at most `settling` after it was stamped; what was then is complete. Sending it is
refused once three quarters of that have passed, however often it was tried and however long the process stood still.
The last quarter is for the way, for clocks that differ, and for a gateway that goes on trying by itself: where one may
do so for longer (`hbase.client.operation.timeout`), `settling` in the URL has to say more. A process that stops in the
very moment between looking at the age and sending may send late; its gateway closes a connection on which nothing comes
for 60 s, so that is bounded too. A swap that was answered later than `settling` raises `OutcomeUnknown`, which says so:
it is stored, under a time as of which others may have read. Who opens a batch (`neomodel.batches`) is waited for
however long it takes.

**A table** keeps all versions, and has on record that it is ours and what was purged. That is asked again after a
second; `purge` waits that long before it removes anything. Nothing else deletes.
"""

from neomodel.errors import InvalidStore
from neomodel.stores.base import DURABLE, SHARED, Store, Table
from neomodel.stores.checks import check_name
from neomodel.stores.hbase_definition import OURS
from neomodel.stores.hbase_errors import Call, Subject
from neomodel.stores.hbase_gateways import ROUNDS, Dial, Gateways, Pair, plain
from neomodel.stores.hbase_http import https
from neomodel.stores.hbase_knowledge import Knowledge
from neomodel.stores.hbase_sasl import sasl
from neomodel.stores.hbase_table import HBaseTable
from neomodel.stores.hbase_url import HBaseUrl, parse


class HBaseStore(Store):
    capabilities = frozenset({DURABLE, SHARED})

    def __init__(self, settings: HBaseUrl) -> None:
        self.url = settings.shown
        patience = settings.timeout * ROUNDS * len(settings.gateways)
        self.settling = int((settings.settling or patience) * 1_000_000)
        self.breadth = settings.regions
        self._prefix = settings.prefix.encode()
        dial = _dial(settings)
        self._gateways = Gateways(
            [Pair(gateway.host, gateway.port1, gateway.port2, gateway.server, dial) for gateway in settings.gateways],
            settings.timeout,
            self.settling,
        )
        self._knowledge: dict[str, Knowledge] = {}

    def table(self, name: str) -> Table:
        subject = Subject(self.url, name, self._prefix.decode() + check_name(name))
        knowledge = self._knowledge.setdefault(name, Knowledge(self._gateways))
        return HBaseTable(subject, self._gateways, knowledge)

    def tables(self) -> list[str]:
        call = Call("listing tables", Subject(self.url))
        found = self._gateways.two(call, lambda client: client.getTableDescriptorsByPattern(".*", False))
        names = [descriptor.tableName.qualifier for descriptor in found if OURS in (descriptor.attributes or {})]
        return sorted(name.removeprefix(self._prefix).decode() for name in names if name.startswith(self._prefix))

    def close(self) -> None:
        self._gateways.close()
        for knowledge in self._knowledge.values():
            knowledge.forget()  # or some of it would be told


def open_url(url: str, rest: str, *, create: bool) -> Store:  # noqa: ARG001  gateways are there or not
    return HBaseStore(parse(url))


def _dial(settings: HBaseUrl) -> Dial:
    if settings.sasl is not None:
        try:
            return sasl(plain(settings.timeout), settings.sasl)
        except OSError as exc:
            reason = (
                f"sasl=kerberos needs the MIT Kerberos library of the system ({exc}); install it (libgssapi-krb5-2)"
            )
            raise InvalidStore(settings.shown, reason) from exc
    if settings.tls is None:
        return plain(settings.timeout)
    try:
        return https(settings.tls, settings.timeout)
    except OSError as exc:
        reason = f"{settings.tls.ca!r} is no readable file of CA certificates ({exc.strerror or exc})"
        raise InvalidStore(settings.shown, reason) from exc
