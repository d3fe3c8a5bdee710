"""A running cluster in a test's hands: kill and restart its processes, move and split its regions."""

import signal
from pathlib import Path

import attrs

from neomodel.cluster import control, processes, starting
from neomodel.cluster.control import HostedRegion
from neomodel.cluster.plan import HOST, Plan


@attrs.frozen
class Cluster:
    """A cluster that was brought up. Its processes go by name: `server1`, ..., `gateway1`, ..., and `master`.

    A cluster of one server has no `master`: `server1` hosts everything but the gateway pair. The balancer is off, so a
    region stays where it is until its server dies or `move` is called; a restarted server gets none back by itself.
    """

    folder: Path
    plan: Plan

    @property
    def url(self) -> str:
        """The store URL."""
        return self.plan.url(self.folder)

    @property
    def servers(self) -> list[str]:
        """The names of the region servers."""
        return [process.name for process in self.plan.processes if "server" in process.roles]

    @property
    def gateways(self) -> list[str]:
        """The names of the gateway pairs, each in the place of the server that it stands beside."""
        return [process.name for process in self.plan.processes if "thrift1" in process.roles]

    def address(self, server: str) -> str:
        """What HBase calls a region server: host and port."""
        return f"{HOST}:{self.plan.process(server).roles['server']}"

    def kill(self, name: str) -> None:
        """Kill a process (-9); it is dead when this returns. HBase takes some 6 s to notice that a server is."""
        process = processes.running(self.folder, self.plan.process(name).name)
        if process:
            process.signal(signal.SIGKILL)
            process.ended_within(10)

    def restart(self, name: str) -> None:
        """Start a process again that is dead, on its old ports; when this returns it does its work again.

        Regions that were taken over meanwhile stay where they are.
        """
        process = self.plan.process(name)
        if processes.running(self.folder, name):
            return
        before = starting.online(self.plan)
        starting.start(self.folder, [process], starting.quiet)
        if "server" in process.roles:
            address = self.address(name)
            starting.wait_for(self.folder, [process], lambda: self._unreported(address, before.get(address)))
        elif "control" in process.roles:
            starting.wait_for(self.folder, [process], lambda: "" if starting.online(self.plan) else "it was not ready")
        else:
            starting.wait_for_gateways(self.folder, [process])

    def _unreported(self, address: str, before: str | None) -> str:
        """What is missing as long as the master knows no server there, or only the one that died."""
        return "" if starting.online(self.plan).get(address, before) != before else "the master had not heard of it"

    def regions(self, table: str) -> list[HostedRegion]:
        """The regions of a table in key order, right at once after a move, a split or a death."""
        return control.regions(self.plan.ports["control"], table)

    def meta_server(self) -> str | None:
        """The name of the server that holds hbase:meta; None while it is on its way to one."""
        address = self.regions("hbase:meta")[0].server
        return None if address is None else self.plan.server_at(address)

    def move(self, region: HostedRegion, server: str) -> None:
        """Move a region to a server; it is open there when this returns."""
        self._ask("move", region.name, self.address(server))

    def split(self, table: str, key: bytes) -> None:
        """Split the region that holds a key, at that key; both halves are open when this returns."""
        self._ask("split", table, key.hex())

    def flush(self, table: str) -> None:
        """Write to files what a table has in memory."""
        self._ask("flush", table)

    def compact(self, table: str) -> None:
        """Merge the files of each region of a table into one; done when this returns."""
        self._ask("compact", table)

    def _ask(self, *words: str) -> None:
        control.ask(self.plan.ports["control"], *words)
