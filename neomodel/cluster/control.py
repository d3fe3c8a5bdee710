"""Questions to the HBase master: which servers and regions there are, and commands to move them about.

Asked of the program `Control.java`, which lives in the master's JVM; an answer takes milliseconds.
"""

import socket

import attrs

from neomodel.cluster.plan import HOST
from neomodel.errors import ClusterFailed

PATIENCE = 150.0  # longer than HBase's own time limits, so that the reason is its own


@attrs.frozen
class HostedRegion:
    """A key range (start, stop) of a table, HBase's name for it, and the address of the region server that holds it.

    An empty `stop` is the end of the table; `server` is None while the region is on its way.
    """

    name: str
    start: bytes
    stop: bytes
    server: str | None


def ask(port: int, *words: str, patience: float = PATIENCE) -> list[str]:
    """The lines of the answer. Raises `ClusterFailed` with HBase's reason if it refuses, or if nobody answers."""
    question = " ".join(words)
    where = f"{HOST}:{port}"
    try:
        with socket.create_connection((HOST, port), timeout=patience) as connection:
            connection.sendall(question.encode() + b"\n")
            with connection.makefile(encoding="utf-8") as answer:
                lines = answer.read().splitlines()
    except OSError as exc:
        remedy = "see with status whether the master is alive"
        raise ClusterFailed(f"ask for {question!r}", where, f"no answer: {exc}", remedy) from exc
    if not lines or lines[0] != "ok":
        reason = lines[0].removeprefix("error ") if lines else "the answer broke off"
        raise ClusterFailed(f"ask for {question!r}", where, reason, "mend that and ask again")
    return lines[1:]


def online(port: int) -> dict[str, str]:
    """The region servers that the master counts as alive: address to start code. Empty until it is ready."""
    return dict(line.split(" ") for line in ask(port, "servers", patience=10))


def regions(port: int, table: str) -> list[HostedRegion]:
    found = []
    for line in ask(port, "regions", table):
        name, start, stop, server = line.split(" ")
        found.append(HostedRegion(name, unhex(start), unhex(stop), None if server == "-" else server))
    return found


def unhex(word: str) -> bytes:
    return bytes.fromhex(word.removeprefix("x"))
