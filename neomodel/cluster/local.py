"""Bring a cluster up and down, and tell what runs.

A cluster lives in one folder: `cluster.json` the plan, `conf` the settings, `data` what HBase keeps, `logs` what its
processes wrote, `run` their process ids, `tls` their key and certificate, `tmp` what they need not keep. All that is
known of a cluster is there, so any process can work on one that another brought up.
"""

import re
import shutil
import signal
import time
from os import PathLike
from pathlib import Path

import attrs

from neomodel.cluster import control, processes, starting
from neomodel.cluster.certificate import make_certificate
from neomodel.cluster.handle import Cluster
from neomodel.cluster.jars import Progress, locked
from neomodel.cluster.java import find_java
from neomodel.cluster.plan import HOST, Plan, load, make_plan
from neomodel.cluster.settings import write_settings
from neomodel.errors import ClusterFailed, InvalidValue

FOLDERS = ("conf", "data", "logs", "run", "tmp")
CLEAN_STOP = 30.0  # seconds for closing all regions; a few are usual


@attrs.frozen
class Status:
    """One process: its name, what it hosts on which ports of which host, and its process id if it is alive."""

    name: str
    host: str
    roles: dict[str, int]
    pid: int | None

    @property
    def alive(self) -> bool:
        return self.pid is not None


def up(
    folder: str | PathLike[str],
    *,
    servers: int | None = None,
    ports: int | None = None,
    tls: bool | None = None,
    progress: Progress = starting.quiet,
) -> Cluster:
    """Start the HBase of this folder, and return when a table can be made, written and read through its gateways.

    `servers` is 1, or as many region servers as the folder had the last time. `ports` is the first of the consecutive
    ports to take, the gateways' come first; without it they are those of the last time, or any free ones. With `tls`
    the gateways speak TLS, as they do without it if they did the last time; the URL then names their certificate. What
    already runs is left running, so a second `up` is cheap, and one after a crash mends what is missing and finds all
    data that was acknowledged. `progress` is called with a line of text whenever there is something new to tell.

    Raises `ClusterFailed`; then what this call had started is stopped again.
    """
    home = Path(folder).resolve()
    progress = changes_only(progress)
    if not re.fullmatch(r"[\w ./+@=~-]+", str(home), re.ASCII):
        raise InvalidValue(
            "folder", str(home), "a path of ASCII letters, digits, spaces and _./+@=~- (HBase takes no other)"
        )
    for name in FOLDERS:
        (home / name).mkdir(parents=True, exist_ok=True)
    with locked(home / "lock", lambda: progress(f"another process is at work on {home}, waiting for it")):
        plan = settle(home, servers, ports, tls)
        before = [process.name for process in plan.processes if processes.running(home, process.name)]
        try:
            bring_up(home, plan, progress)
        except ClusterFailed:
            if all(processes.running(home, name) for name in before):
                raise
            bring_up(home, plan, progress)  # what seemed to run was about to end; now it is known to be missing
    return Cluster(home, plan)


def bring_up(home: Path, plan: Plan, progress: Progress) -> None:
    """Start what is missing and wait until all does its work; if it does not, stop again what was started."""
    missing = [process for process in plan.processes if not processes.running(home, process.name)]
    try:
        if missing:
            starting.start(home, missing, progress)
        starting.wait_for_servers(home, plan, progress)
        starting.wait_for_gateways(home, [process for process in plan.processes if "thrift1" in process.roles])
        control.ask(plan.ports["control"], "balancer", "off")
        starting.prove(home, plan)
    except BaseException:
        stop_all(home, [process.name for process in missing])
        raise


def changes_only(progress: Progress) -> Progress:
    """Tell a line once, however often it is said in a row."""
    last = ""

    def tell(line: str) -> None:
        nonlocal last
        if line != last:
            progress(line)
        last = line

    return tell


def settle(home: Path, servers: int | None, ports: int | None, tls: bool | None) -> Plan:
    """The plan to work by: the one in force if anything runs, else a new one, saved and written into the settings."""
    old = load(home)
    if servers is None:
        servers = old.servers if old else 1
    if tls is None:
        tls = old.tls if old else False
    if old and any(processes.running(home, process.name) for process in old.processes):
        if Plan(servers, old.first_port if ports is None else ports, tls) != old:
            how = "with TLS" if old.tls else "without TLS"
            reason = f"it runs already, with {old.servers} servers on ports from {old.first_port} on, {how}"
            raise ClusterFailed("start the HBase in", str(home), reason, "stop it first, or name another folder")
        return old
    if old and any((home / "data").iterdir()) and (servers == 1) != (old.servers == 1):
        reason = f"its data is that of {old.servers} servers, which those of {servers} can't read"
        remedy = "ask for as many as before, or name another folder"
        raise ClusterFailed("start the HBase in", str(home), reason, remedy)
    plan = make_plan(servers, ports, old, tls=tls)
    if tls:
        make_certificate(find_java(), home)
    plan.save(home)
    for left in (home / "tmp").iterdir():  # by processes that were killed
        shutil.rmtree(left) if left.is_dir() else left.unlink()
    write_settings(home, plan)
    return plan


def down(folder: str | PathLike[str]) -> list[str]:
    """Stop the processes of this folder's HBase, cleanly if that can be, and return the names of those that ran.

    Only processes that `up` started are touched. All have ended when this returns; data and settings stay.
    """
    home = Path(folder).resolve()
    plan = load(home)
    if plan is None:
        return []
    with locked(home / "lock", lambda: None):
        names = [process.name for process in plan.processes]
        alive = [name for name in names if processes.running(home, name)]
        stop_all(home, [name for name in alive if name.startswith("gateway")])
        rest = [name for name in alive if not name.startswith("gateway")]
        if rest and starting.listens(plan.ports["control"]):
            shut_down(home, plan, rest)
        stop_all(home, rest)
        for name in names:
            processes.forget(home, name)
        return alive


def shut_down(home: Path, plan: Plan, names: list[str]) -> None:
    """Let the master close all regions and end with its servers, as far as it does so in time."""
    try:
        control.ask(plan.ports["control"], "shutdown", patience=CLEAN_STOP)
    except ClusterFailed:
        return  # a master that can't: its processes will be told to end one by one
    deadline = time.monotonic() + CLEAN_STOP
    while any(processes.running(home, name) for name in names) and time.monotonic() < deadline:
        time.sleep(0.1)


def stop_all(home: Path, names: list[str]) -> None:
    """End these processes, the ones started last first: they are asked to, and killed if they don't in time."""
    alive = [process for name in reversed(names) if (process := processes.running(home, name))]
    for process in alive:
        process.signal(signal.SIGTERM)
    deadline = time.monotonic() + CLEAN_STOP
    for process in alive:
        if not process.ended_within(max(0, deadline - time.monotonic())):
            process.signal(signal.SIGKILL)
            process.ended_within(CLEAN_STOP)


def status(folder: str | PathLike[str]) -> list[Status]:
    """What there is of this folder's HBase, alive or not; nothing if it never was brought up."""
    home = Path(folder).resolve()
    plan = load(home)
    found = []
    for process in plan.processes if plan else []:
        running = processes.running(home, process.name)
        found.append(Status(process.name, HOST, dict(process.roles), running.pid if running else None))
    return found


def url(folder: str | PathLike[str]) -> str:
    """The store URL of this folder's HBase. Raises `ClusterFailed` if it does not run."""
    home = Path(folder).resolve()
    plan = load(home)
    if plan is None or not all(process.alive for process in status(home)):
        raise ClusterFailed("tell the URL of the HBase in", str(home), "it does not run", "bring it up first")
    return plan.url(home)
