"""Commands that compute: run, recompute, diff."""

import json
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import neomodel as nm
from metamodels import anna, elsa
from neomodel.cli import main
from spark.examples.income import PAYROLL, TABLE_2

REPORT = "spark.examples.income:report"


def test_the_income_report_by_commands(
    session: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    url = f"lmdb:{tmp_path}/db"
    repo = nm.connect(url)
    elsa.open(repo).system("payroll").ingest([(key, 1, "insert", value) for key, value in PAYROLL.items()])
    monkeypatch.setenv("NEOMODEL_STORE", url)
    monkeypatch.chdir(tmp_path)

    def command(*arguments: str) -> tuple[int, str]:
        status = main(["anna", *arguments])
        captured = capsys.readouterr()
        assert "neomodel:" not in captured.err  # how far it is, if the machine is slow
        return status, captured.out

    status, out = command("run", REPORT)
    assert (status, out.splitlines()[0]) == (1, "run 1 of 'income report' is done, and 2 checks fail")
    anna.open(repo).actions("income report").add_many(TABLE_2)
    assert command("recompute", REPORT, "1") == (0, "run 2 of 'income report' is run 1 again, byte for byte\n")
    status, out = command(
        "recompute", REPORT, "1", "--actions-ingest", "stable", "--ingest", "payroll=stable", "--json"
    )
    assert (status, json.loads(out)["same"]) == (0, False)
    status, out = command("diff", REPORT, "1", "3")
    assert status == 0
    assert "income 500 → 5000" in out
    assert command("diff", REPORT, "1", "3", "--html", "diff.html") == (0, "")
    assert "income 500 → 5000" in (tmp_path / "diff.html").read_text()
    status, out = command("diff", REPORT, "1", "3", "--json")
    told: Any = json.loads(out)
    assert [step["counts"] for step in told["steps"]] == [{"changed": 1}, {"changed": 1}, {"changed": 2}]
    assert command("diff", REPORT, "1", "2") == (0, "runs 1 and 2 of income report are the same\n")
    assert main(["anna", "recompute", REPORT, "9"]) == 2
    assert main(["anna", "recompute", REPORT, "1", "--ingest", "crm=stable"]) == 2
    assert main(["anna", "run", REPORT, "--run", "1"]) == 2
    said = [line for line in capsys.readouterr().err.splitlines() if line.startswith("neomodel: ")]
    assert [line.partition(",")[0] for line in said] == [
        "neomodel: a run of 'income report' is 9",
        "neomodel: a source of process 'income report' is 'crm'",
        "neomodel: run 1 of 'income report' is 'done'",
    ]
