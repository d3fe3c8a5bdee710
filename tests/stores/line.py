"""A way to a table that goes through proxies, and one beside them that tells the truth."""

import time
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from unittest.mock import patch

import attrs

from neomodel.cluster import Cluster
from neomodel.stores import Table, hbase_knowledge, open_store
from tests.stores.proxy import Fault, Proxy
from tests.stores.rows import mutations

TIMEOUT = 1.0  # seconds that the client waits for an answer
ROWS = 2500  # so that a scan takes several exchanges
KEYS = [b"r%04d" % number for number in range(ROWS)]


@attrs.frozen
class Line:
    """A table as seen through the proxies of both gateways, and the same one seen directly."""

    table: Table
    truth: Table
    proxies: list[Proxy]
    url: str

    def inflict(self, fault: Fault, times: int = 1, *, after: int = 0) -> None:
        """On the next exchanges with each gateway."""
        self.heal()
        self.table.now()
        for proxy in self.proxies:
            proxy.inflict(fault, times, after=after)

    def refuse(self) -> None:
        self.table.now()
        for proxy in self.proxies:
            proxy.refuse()

    def heal(self) -> None:
        for proxy in self.proxies:
            proxy.heal()

    def calm(self) -> None:
        """Wait until nothing is under way any more."""
        deadline = time.monotonic() + 10 * TIMEOUT
        while not all(proxy.idle() for proxy in self.proxies):
            assert time.monotonic() < deadline, "a proxy holds something back"
            time.sleep(0.01)


@contextmanager
def few_questions() -> Iterator[None]:
    """What a table says of itself is asked once, so that each exchange is one that the test means."""
    with patch.object(hbase_knowledge, "LEASE", 3600.0):
        yield


@contextmanager
def proxied(hbase: Cluster, timeout: float = TIMEOUT) -> Iterator[Line]:
    """A new table of a cluster of one server, with the rows of `KEYS`, all with the number 0."""
    ports = hbase.plan.gateway(1)
    with ExitStack() as stack:
        proxies = [stack.enter_context(Proxy(ports[role], timeout)) for role in ("thrift1", "thrift2")]
        secure = "".join(hbase.url.partition("&tls=")[1:])
        url = f"hbase://127.0.0.1:{proxies[0].port}?thrift2={proxies[1].port}&timeout={timeout}{secure}"
        direct = stack.enter_context(open_store(hbase.url))
        store = stack.enter_context(open_store(url))
        truth = direct.table(f"lost-{uuid.uuid4().hex}")
        truth.create("pt")
        truth.put_many(mutations(KEYS, 0))
        yield Line(store.table(truth.name), truth, proxies, url)
        truth.drop()
