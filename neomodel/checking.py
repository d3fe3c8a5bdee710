"""A model looked through for what an interrupted change has left, or nothing of ours can have written.

A pass is one scan of the table, with the rows that its rows refer to read 500 in a call: for n objects with e entries
and references, at most 1 + (2n + e) / 500 calls, most of which find what they want in what was just read, and one for
each level of containers that was not met before. Memory does not grow with the model. What looks wrong is looked at
once more: who was in the middle of a change then is done by now. What a repair changes may leave something else to mend
(a row that is removed, the references to it), so a repair passes over the model until there is nothing to mend.
"""

import time
from collections.abc import Callable, Iterable
from itertools import islice

from neomodel import ids, layout
from neomodel.findings import LIMIT, Finding, Report, Suspect
from neomodel.holdings import PAGE, Holdings
from neomodel.inspection import Inspection
from neomodel.model import Model
from neomodel.repairing import mend
from neomodel.stores import Row

_PASSES = 12
_MOMENT = 0.2  # seconds in which a change that was seen in its middle will be over
_PATIENCE = 2.0  # seconds in which one is, if its process lives, where the store has no longer time limit of its own


def check(
    model: Model,
    *,
    repair: bool = False,
    patience: float | None = None,
    progress: Callable[[int], None] | None = None,
) -> Report:
    """Look through a model, and mend what a crash can leave if `repair`. Safe while others write.

    What is mended was wrong for `patience` seconds: two, or as long as the store waits for a write to end (see
    `Store.settling`). Each repair is a compare-and-swap against the row that was looked at, so a change that comes
    between is never undone. Rows that nobody can find are removed only while no more of their kind come: a large
    subtree is stored from below. `progress` is called with numbers of rows. Of a model as of a time: `ReadOnly` if
    `repair`.
    """
    if repair:
        model.writable()
    settling = model.repository.store.settling / 1_000_000
    waiting = patience if patience is not None else max(_PATIENCE, settling) if repair else _MOMENT
    mended: list[Finding] = []
    for _ in range(_PASSES):
        began = model.table.now()
        objects, suspects, number = _pass(model, progress or _unseen)
        if suspects and model.as_of is None:
            time.sleep(waiting)
            still = _still(model, suspects)
            number -= len(suspects) - len(still)
            suspects = still
        done = mend(model, suspects, began) if repair else set()
        mended += [suspect.finding(mended=True) for suspect in suspects if suspect in done]
        left = [suspect.finding(mended=False) for suspect in suspects if suspect not in done]
        if not done:
            break
    findings = sorted([*mended, *left], key=lambda finding: (finding.oid, finding.kind, finding.feature or ""))
    return Report(model.name, objects, tuple(findings), len(mended) + number - len(done))


def _pass(model: Model, progress: Callable[[int], None]) -> tuple[int, list[Suspect], int]:
    """How many objects there are; what looks wrong, up to a limit; how much looks wrong."""
    inspection = Inspection(Holdings(model))
    objects = number = 0
    suspects: list[Suspect] = []
    rows = model.table.scan(at=model.as_of, columns=layout.OBJECT)
    while page := list(islice(rows, PAGE)):
        objects += sum(layout.ECLASS in row and key != ids.ROOT.encode() for key, row in page)
        for suspect in inspection.inspect(page):
            number += 1
            if len(suspects) < LIMIT:
                suspects.append(suspect)
        progress(len(page))
    return objects, suspects, number


def _still(model: Model, suspects: Iterable[Suspect]) -> list[Suspect]:
    """Those that still look wrong, as they do now. Reads the rows in question again, and those around them."""
    known = set(suspects)
    inspection = Inspection(Holdings(model))
    oids = iter(dict.fromkeys(suspect.oid for suspect in suspects))
    found: dict[Suspect, None] = {}
    while page := [oid.encode(errors="surrogateescape") for oid in islice(oids, PAGE)]:
        rows: list[tuple[bytes, Row]] = sorted(model.table.get_many(page, columns=layout.OBJECT).items())
        found |= dict.fromkeys(suspect for suspect in inspection.inspect(rows) if suspect in known)
    return list(found)


def _unseen(_rows: int) -> None:
    """For who does not ask for progress."""
