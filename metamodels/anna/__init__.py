"""ANNA: data products, and manual corrections of them that are kept, and applied again whenever they are computed.

`docs/anna.md` is the guide to processes and runs, `docs/anna-actions.md` that to actions. The paper is by Kricke,
Grimmer and Schmeißer, 2017.
"""

from metamodels.anna.actions import Action, Actions
from metamodels.anna.failures import Failure, Failures
from metamodels.anna.operations import Operation
from metamodels.anna.processes import Process
from metamodels.anna.quality import between, holds, matches, not_null, refers, reported, row_count, unique
from metamodels.anna.run_records import Check, FailingCell, Outcome, Run, State, Step, anna_runs
from metamodels.anna.runs import Runs, failing
from metamodels.anna.store import AnnaStore, open  # noqa: A004  anna.open, as it is called

__all__ = [
    "Action",
    "Actions",
    "AnnaStore",
    "Check",
    "FailingCell",
    "Failure",
    "Failures",
    "Operation",
    "Outcome",
    "Process",
    "Run",
    "Runs",
    "State",
    "Step",
    "anna_runs",
    "between",
    "failing",
    "holds",
    "matches",
    "not_null",
    "open",
    "refers",
    "reported",
    "row_count",
    "unique",
]
