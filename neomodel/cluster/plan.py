"""What a cluster consists of: its processes, what each hosts, and on which ports; kept in its folder.

One server is a process with everything in it, on plain files, and a process with its gateway pair. More servers are a
process with HDFS, ZooKeeper and the master, and for each region server one process of its own and one with its gateway
pair, so that each can be killed alone.
"""

import json
import os
import random
import socket
import time
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote

import attrs

from neomodel.cluster.certificate import certificate
from neomodel.errors import ClusterFailed, InvalidValue

HOST = "127.0.0.1"
FILE = "cluster.json"
MOST_SERVERS = 16
# Below the ports that systems give to outgoing connections: one of these could take a port before its daemon does.
FREE_RANGE = (10_000, 32_000)
RELEASE = 5.0  # seconds


_MOST_HEAP = 2048


def _heap(least: int, share: float) -> int:
    """The MB that a heap may reach: a share of the memory there is. HBase lets writers wait while what was written
    lately takes four tenths of it, until that is on disk."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**20
    return max(least, min(_MOST_HEAP, int(share * memory)))


@attrs.frozen
class Process:
    """One JVM: its name, the roles it hosts and their ports in the order of their start, the MB its heap may reach."""

    name: str
    roles: Mapping[str, int]
    heap: int


@attrs.frozen
class Plan:
    """A number of servers, the first of the consecutive ports they take, in the order of `port_names`, and whether
    the gateways speak TLS."""

    servers: int
    first_port: int
    tls: bool = False

    @property
    def ports(self) -> dict[str, int]:
        return {name: self.first_port + i for i, name in enumerate(port_names(self.servers))}

    @property
    def processes(self) -> list[Process]:
        """In the order of their start."""
        numbers = range(1, self.servers + 1)
        gateways = [Process(f"gateway{n}", self.gateway(n), 256) for n in numbers]
        if self.servers == 1:
            everything = self.roles("zookeeper", "master", "control", server="server1")
            return [Process("server1", everything, _heap(384, 1 / 16)), *gateways]
        servers = [Process(f"server{n}", self.roles(server=f"server{n}"), _heap(192, 1 / 48)) for n in numbers]
        base = self.roles("zookeeper", "namenode", "datanode", "master", "control")
        return [Process("master", base, 256), *servers, *gateways]

    def roles(self, *names: str, **named: str) -> dict[str, int]:
        ports = self.ports
        return {role: ports[name] for role, name in [*zip(names, names, strict=True), *named.items()]}

    def gateway(self, number: int) -> dict[str, int]:
        return self.roles(thrift1=f"gateway{number}.thrift1", thrift2=f"gateway{number}.thrift2")

    def server_at(self, address: str) -> str:
        """The name of the region server that HBase calls by this address."""
        return next(name for name, port in self.ports.items() if address == f"{HOST}:{port}")

    def process(self, name: str) -> Process:
        for process in self.processes:
            if process.name == name:
                return process
        raise InvalidValue("process", name, f"one of {', '.join(process.name for process in self.processes)}")

    def url(self, folder: Path) -> str:
        """The store URL, for the cluster in this folder; its form is told in `neomodel.cluster`."""
        pairs = [self.gateway(n) for n in range(1, self.servers + 1)]
        hosts = ",".join(f"{HOST}:{pair['thrift1']}" for pair in pairs)
        thrift2 = ",".join(str(pair["thrift2"]) for pair in pairs)
        servers = ",".join(f"{HOST}:{self.ports[f'server{n}']}" for n in range(1, self.servers + 1))
        secure = f"&tls=1&ca={quote(str(certificate(folder)))}" if self.tls else ""
        return f"hbase://{hosts}?thrift2={thrift2}&servers={servers}{secure}"

    def save(self, folder: Path) -> None:
        fresh = folder / f"{FILE}.new"
        fresh.write_text(json.dumps(attrs.asdict(self), indent=1))
        fresh.replace(folder / FILE)


def load(folder: Path) -> Plan | None:
    """The plan of the cluster in this folder; None if there never was one."""
    try:
        return Plan(**json.loads((folder / FILE).read_text()))
    except FileNotFoundError:
        return None
    except (ValueError, TypeError) as exc:
        remedy = "name another folder, or remove this one with the data in it"
        raise ClusterFailed("read the plan of", str(folder), f"{FILE} is damaged: {exc}", remedy) from exc


def port_names(servers: int) -> list[str]:
    """All ports there are, the ones a client needs first."""
    numbers = range(1, servers + 1)
    names = [f"gateway{n}.{role}" for n in numbers for role in ("thrift1", "thrift2")]
    names += [f"server{n}" for n in numbers] + ["master", "control", "zookeeper"]
    if servers > 1:
        names += ["namenode", "namenode.http", "datanode", "datanode.ipc", "datanode.http"]
    return names


def make_plan(servers: int, first_port: int | None, old: Plan | None, *, tls: bool = False) -> Plan:
    """A plan on the ports from `first_port` on; without one, on the old plan's, or on others if one of them is taken.

    Raises `InvalidValue` for a number that can't be, and `ClusterFailed` if a given port is taken.
    """
    if not 1 <= servers <= MOST_SERVERS:
        raise InvalidValue("servers", servers, f"1 to {MOST_SERVERS}")
    last = 65536 - len(port_names(servers))
    if first_port is not None and not 1024 <= first_port <= last:
        raise InvalidValue("ports", first_port, f"the first of {len(port_names(servers))} ports, 1024 to {last}")
    wanted = old.first_port if first_port is None and old else first_port
    if wanted is None:
        return any_plan(servers, tls)
    plan = Plan(servers, wanted, tls)
    # Killed processes may hold their ports for a moment. It is worth the wait: HBase takes a minute longer to recover
    # if its servers come back under other addresses.
    deadline = time.monotonic() + RELEASE
    while port := taken(plan):
        if time.monotonic() < deadline:
            time.sleep(0.1)
        elif first_port is None:
            return any_plan(servers, tls)
        else:
            where = f"{HOST}:{first_port} and the ports after it"
            raise ClusterFailed("listen on", where, f"port {port} is taken", "give others, or none")
    return plan


def any_plan(servers: int, tls: bool) -> Plan:
    """A plan on free ports."""
    while taken(plan := Plan(servers, random.randint(*FREE_RANGE), tls)):
        pass
    return plan


def taken(plan: Plan) -> int | None:
    """The first port of a plan that something listens on."""
    return next((port for port in plan.ports.values() if not free(port)), None)


def free(port: int) -> bool:
    with socket.socket() as probe:
        # As Java's listeners do: without it, a port counts as taken for a minute after its last connection.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
        return True
