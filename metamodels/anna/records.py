"""The metamodel: what is kept of manual actions, and of what failed in the last run of a process.

All of it is in one model, `anna` if no other name is given. Both are ledgers: rows by natural key, with bitemporal
timelines, and no objects. The key of an action is made of its process, run, step and id, in this order, so that those
of a process, and of one run of it, are one range.
"""

import neomodel as nm

anna = nm.package("anna", "http://neomodel/anna")


@anna.define(key=["key"])
class ManualAction:
    """A manual action; its timeline has one entry, of the event time of the action. `actions` has the form of it."""

    key: str
    said: nm.Timeline[bytes]


@anna.define(key=["process"])
class LastRun:
    """The failing cells of the latest runs of a process. `failures` has the form of them."""

    process: str
    failures: nm.Timeline[bytes]


def compound(*parts: str) -> str:
    """A key made of parts, each ended by a stroke: so what begins with the key of run 1 is not of run 10."""
    return "".join(part.replace("=", "=3D").replace("/", "=2F") + "/" for part in parts)


def parts_of(key: str) -> list[str]:
    """The parts that `compound` made it of."""
    return [part.replace("=2F", "/").replace("=3D", "=") for part in key[:-1].split("/")]
