"""Runs on record as a pipeline would leave them, without a Spark."""

import json
from typing import Any

import attrs

import neomodel as nm
from metamodels import anna, elsa
from metamodels.anna.runs import Arguments, Claim, Runs

NASTY = "<script>alert('x')</script> & \x00 \u202e"


def arguments(repo: nm.Repository) -> Arguments:
    token = elsa.open(repo).token()
    return Arguments(str(token), 2**63 - 1, token.ingest, 100)


def begun(repo: nm.Repository, process: str = "report", **more: Any) -> Claim:
    return Runs(repo).begin(process, arguments(repo), "products", **more)


def step(claim: Claim, name: str = "boss", *, failing: int = 0, actions: dict[str, str] | None = None) -> Any:
    """A step with two checks, of which the first fails for some rows, and actions with these outcomes."""
    named = {"process": claim.run.process, "number": claim.run.number, "step": name}
    made = anna.anna_runs.Step(**named, key='["id"]', rows=7, content="c" * 64, code="d" * 64, seconds=1.5)
    cells = [anna.FailingCell(f"{n}", "income", NASTY, {"id": n, "income": NASTY}) for n in range(failing)]
    found = json.dumps([attrs.astuple(cell, recurse=False) for cell in cells])
    made.checks.append(anna.anna_runs.Check(**named, name="income is enough", failed=failing, found=found))
    made.checks.append(anna.anna_runs.Check(**named, name="rows", severity="warning"))
    cell = {"row": "42", "column": "income"}
    told = (actions or {}).items()
    made.outcomes.extend([anna.anna_runs.Outcome(**named, **cell, action=one, outcome=what) for one, what in told])
    return made


def finished(repo: nm.Repository, process: str = "report", **more: Any) -> anna.Run:
    claim = begun(repo, process)
    claim.commit(step(claim, **more))
    claim.end(anna.State.DONE, libraries=json.dumps({"pyspark": "4.3"}))
    return claim.run
