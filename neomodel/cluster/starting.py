"""Start processes of a cluster, and wait until HBase does what they are for."""

import os
import socket
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from neomodel.cluster import control, processes
from neomodel.cluster.jars import Progress, cache_folder, fetch, pinned
from neomodel.cluster.java import compile_programs, find_java
from neomodel.cluster.plan import HOST, Plan, Process
from neomodel.errors import ClusterFailed

PATIENCE = 180.0  # seconds; some 20 are usual
OPENED = ("lang", "lang.reflect", "nio", "util", "io", "net", "util.concurrent")
FLAGS = [
    *(f"--add-opens=java.base/java.{name}=ALL-UNNAMED" for name in OPENED),
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
    "--add-opens=java.base/jdk.internal.misc=ALL-UNNAMED",
    "--add-exports=java.base/jdk.internal.misc=ALL-UNNAMED",
    "-Djava.net.preferIPv4Stack=true",
    "-Xms32m",  # and grows with need; the default is a share of the machine's memory
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",  # on two cores the full compiler costs more than it gives
    "-XX:+UnlockDiagnosticVMOptions",
    "-XX:-BytecodeVerificationRemote",  # the jars are verified by checksum; it saves a fifth of the start
    "-XX:+ExitOnOutOfMemoryError",
    "-XX:-UsePerfData",
]


def quiet(line: str) -> None:
    """Tell nobody of any progress."""


def start(folder: Path, wanted: Sequence[Process], progress: Progress) -> None:
    """Start these processes, all at once; the jars are loaded before, if they are not there yet."""
    java = find_java()
    cache = cache_folder()
    jars = fetch(java, pinned(), cache, progress)
    programs = compile_programs(java, jars, cache)
    conf = folder / "conf"
    settings = [
        f"-Dneomodel.conf={conf}",
        f"-Dlog4j.configuration={(conf / 'log4j.properties').as_uri()}",
        f"-Djava.io.tmpdir={folder / 'tmp'}",
    ]
    # In a file, since 200 paths would make each command line unreadable.
    paths = os.pathsep.join(map(str, [programs, *jars])).replace("\\", "\\\\").replace('"', '\\"')
    (folder / "run" / "classpath").write_text(f'-cp "{paths}"\n')
    for process in wanted:
        roles = [f"{role}:{port}" for role, port in process.roles.items()]
        heap = [f"-Xmx{process.heap}m", f"@{folder / 'run' / 'classpath'}"]
        processes.spawn(folder, process.name, [java, *FLAGS, *settings, *heap, "Launcher", *roles])


def wait_for(folder: Path, watched: Sequence[Process], missing: Callable[[], str]) -> None:
    """Wait until nothing is missing any more; `missing` says what is.

    Raises `ClusterFailed`, with the reason and the log's path, if a watched process ends meanwhile or time runs out.
    """
    deadline = time.monotonic() + PATIENCE
    while lack := missing():
        for process in watched:
            if processes.running(folder, process.name) is None:
                reason = f"{process.name} ended: {processes.last_words(folder, process.name)}"
                raise failure(folder, process.name, reason)
        if time.monotonic() > deadline:
            raise failure(folder, watched[0].name, f"after {PATIENCE:.0f} s {lack}")
        time.sleep(0.1)


def failure(folder: Path, name: str, reason: str) -> ClusterFailed:
    return ClusterFailed("start the HBase in", str(folder), reason, f"its log is {processes.log_of(folder, name)}")


def wait_for_servers(folder: Path, plan: Plan, progress: Progress) -> None:
    """Until the master is ready and counts all region servers as alive."""

    def missing() -> str:
        count = len(online(plan))
        progress(f"starting HBase: {count} of {plan.servers} region servers")
        return "" if count == plan.servers else f"only {count} of {plan.servers} region servers had reported"

    wait_for(folder, plan.processes, missing)


def wait_for_gateways(folder: Path, gateways: Sequence[Process]) -> None:
    """Until both sides of each pair listen."""
    ports = [port for gateway in gateways for port in gateway.roles.values()]
    wait_for(folder, gateways, lambda: "" if all(map(listens, ports)) else "a gateway was not listening")


def prove(folder: Path, plan: Plan) -> None:
    """Until a table can be made, written and read through all gateways."""
    ports = [str(port) for n in range(1, plan.servers + 1) for port in plan.gateway(n).values()]

    def missing() -> str:
        try:
            control.ask(plan.ports["control"], "probe", *ports)
        except ClusterFailed as exc:
            return f"no table could be made, written and read: {exc.reason}"
        return ""

    wait_for(folder, plan.processes, missing)


def online(plan: Plan) -> dict[str, str]:
    """The region servers that the master counts as alive: address to start code; none while it does not answer."""
    try:
        return control.online(plan.ports["control"])
    except ClusterFailed:
        return {}


def listens(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex((HOST, port)) == 0
