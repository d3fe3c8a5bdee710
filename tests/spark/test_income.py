"""The paper's example: section 4.3, Figure 6 and Table 2."""

from pathlib import Path

from pyspark.sql import SparkSession

import neomodel as nm
from metamodels import anna, elsa
from metamodels.anna.types import INTEGER, TEXT
from spark.examples import income


def test_the_boss_gets_ten_times_as_much_whenever_it_is_computed_until_the_data_is_right(
    session: SparkSession, tmp_path: Path
) -> None:
    scenes = income.play(f"lmdb:{tmp_path}/db", f"{tmp_path}/products", session)

    assert [(incomes, outcomes) for _, incomes, outcomes in scenes] == [
        ({42: 500, 43: 400}, {}),
        ({42: 5000, 43: 450}, {"applied": 2}),
        ({42: 500, 43: 400}, {}),  # as of the times of the first run there are no actions
        ({42: 1200, 43: 450}, {"applied": 1, "precondition not met": 1}),
    ]
    repo = nm.connect(f"lmdb:{tmp_path}/db")
    found = anna.Runs(repo).of("income report")
    assert [run.sound for run in found] == [False, True, False, True]
    cells = [(step, cell.row, cell.column, cell.value) for step, _, cell in anna.failing(found[0])]
    assert cells == [("boss", "42", "income", "500"), ("worker", "43", "income", "400")]
    first, second = anna.open(repo).actions("income report").as_of()  # Table 2
    assert (first.process, first.run, first.step, first.row, first.column) == (
        "income report", "1", "boss", ("42",), "income",
    )  # fmt: skip
    assert (first.event, second.event) == (1496746276031_000, 1496746289028_000)
    run, failures = anna.open(repo).failures("income report").last() or ("", [])
    assert (run, failures) == ("4", [])  # what `fix` walks through


def test_fix_walks_through_the_cells_that_failed_with_their_rows(session: SparkSession, tmp_path: Path) -> None:
    with nm.connect(f"lmdb:{tmp_path}/db") as repo:
        payroll = elsa.open(repo).system("payroll")
        payroll.ingest([(key, 1, "insert", value) for key, value in income.PAYROLL.items()])
        income.spark.Pipeline(income.report, repo, f"{tmp_path}/products", session=session).run()
        run, (boss, worker) = anna.open(repo).failures("income report").last() or ("", [])

    assert run == "1"
    assert (boss.step, boss.row, boss.column) == ("boss", ("42",), "income")
    assert (boss.keys, boss.values) == (("id",), {"id": 42, "name": "Ada", "income": 500})
    assert (worker.step, worker.row, worker.column) == ("worker", ("43",), "income")
    assert worker.values == {"id": 43, "name": "Bob", "income": 400}
    assert boss.types == worker.types == {"id": INTEGER, "name": TEXT, "income": INTEGER}


def test_the_difference_names_the_record_and_the_action(session: SparkSession, tmp_path: Path) -> None:
    income.play(f"lmdb:{tmp_path}/db", f"{tmp_path}/products", session)
    repo = nm.connect(f"lmdb:{tmp_path}/db")
    process = income.spark.Pipeline(income.report, repo, f"{tmp_path}/products", session=session)
    boss, worker = (action.id for action in anna.open(repo).actions("income report").as_of())

    corrected = process.diff(1, 2)
    renewed = process.diff(2, 4)

    assert [
        [(row.row, row.cells, [(c.kind, c.what) for c in row.causes]) for row in step.rows] for step in corrected.steps
    ] == [
        [("42", {"income": (500, 5000)}, [("action", boss)])],
        [("43", {"income": (400, 450)}, [("action", worker)])],
        [("42", {"income": (500, 5000)}, [("action", boss)]), ("43", {"income": (400, 450)}, [("action", worker)])],
    ]
    (row,) = renewed.step("income").rows
    assert (row.cells, [(c.kind, c.what) for c in row.causes]) == (
        {"income": (5000, 1200)},
        [("action", boss), ("record", "payroll 42")],
    )
    assert renewed.step("worker").same
