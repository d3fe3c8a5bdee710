"""A model on three region servers, one region on each, and what stands between a job and the gateways and listens."""

import re
import socket
import uuid
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from urllib.parse import urlsplit

import neomodel as nm
from neomodel.cluster import Cluster
from spark.snapshots import Snapshot
from tests.spark.things import Thing, things
from tests.stores.proxy import Proxy

TIMEOUT = 60  # seconds
READING = "&settling=0.01"  # whoever reads here knows that nobody writes any more


class Listening(Proxy):
    """Remembers all that a gateway has answered."""

    def __init__(self, target: int) -> None:
        super().__init__(target, TIMEOUT)
        self._heard: dict[socket.socket, bytearray] = defaultdict(bytearray)

    def passed(self, client: socket.socket, answer: bytes) -> None:
        self._heard[client] += answer

    def names(self) -> set[str]:
        """The names of things that were in its answers: Thrift has the value of a cell as field 1 with its length."""
        told = re.compile(rb"\x0b\x00\x01\x00\x00\x00[\x02-\x0f](t\d+)")
        return {name.decode() for answers in list(self._heard.values()) for name in told.findall(bytes(answers))}


@contextmanager
def spread(hbase3: Cluster, things_in_all: int) -> Iterator[tuple[str, nm.Model]]:
    """The URL to read by, and a model of so many things, whose regions are one on each server."""
    url = f"{hbase3.url}&prefix=spark{uuid.uuid4().hex[:8]}_&regions=3"
    with nm.connect(url) as repo:
        repo.register(things)
        model = repo.create("m")
        found = [Thing(name=f"t{number}", number=number) for number in range(things_in_all)]
        for number, thing in enumerate(found):
            thing.friend = found[(number + 1) % things_in_all]
        model.roots.extend(found)
        distribute(hbase3, table_of(url))
        yield url + READING, model
        repo.drop("m")


def table_of(url: str) -> str:
    """What HBase calls the table of the model."""
    prefix = next(part for part in urlsplit(url).query.split("&") if part.startswith("prefix=")).partition("=")[2]
    return f"{prefix}m"


def distribute(hbase3: Cluster, table: str) -> None:
    """Bring the regions of a table to the servers in turns."""
    for number, region in enumerate(hbase3.regions(table)):
        server = hbase3.servers[number % len(hbase3.servers)]
        if region.server != hbase3.address(server):
            hbase3.move(region, server)


@contextmanager
def listened_to(hbase3: Cluster, url: str) -> Iterator[tuple[str, dict[str, Listening]]]:
    """The URL of the same store by way of proxies, and each proxy by the server that its gateway stands beside."""
    with ExitStack() as stack:
        pairs = [hbase3.plan.gateway(number) for number in range(1, len(hbase3.servers) + 1)]
        proxies = [stack.enter_context(Listening(pair["thrift1"])) for pair in pairs]
        hosts = ",".join(f"127.0.0.1:{proxy.port}" for proxy in proxies)
        servers = [hbase3.address(server) for server in hbase3.servers]
        yield urlsplit(url)._replace(netloc=hosts).geturl(), dict(zip(servers, proxies, strict=True))


def snapshot(url: str) -> Snapshot:
    return Snapshot.taken(url, "m")
