"""The paper's example: an income report in which the boss earns too little, and what becomes of the correction.

``python -m spark.examples.income`` plays it in a temporary folder: section 4.3, Figure 6 and Table 2 of "Preserving
Recomputability of Results from Big Data Transformation Workflows". The paper says what the first action is; incomes,
and what the second one does, are ours.
"""

import tempfile
from typing import Any

from pyspark.sql import DataFrame

import neomodel as nm
import spark
from metamodels import anna, elsa

PAYROLL = {
    "42": {"name": "Ada", "role": "boss", "income": 500},
    "43": {"name": "Bob", "role": "worker", "income": 400},
}
TABLE_2: list[dict[str, Any]] = [
    {
        "run": "1",
        "step": "boss",
        "row": "42",
        "column": "income",
        "event": 1496746276031_000,
        "precondition": "income < 1000",
        "operation": ("multiply", 10),
        "who": "domain expert",
        "why": "a boss does not earn that little; a digit is missing",
    },
    {
        "run": "1",
        "step": "worker",
        "row": "43",
        "column": "income",
        "event": 1496746289028_000,
        "precondition": "income < 450",
        "operation": ("add", 50),
        "who": "domain expert",
        "why": "the allowance was left out",
    },
]

report = anna.Process("income report")
report.system("payroll", schema="name string, role string, income long")
PERSON = "id long, name string, income long"
ORIGIN = {"payroll": {"id": "key"}}


def of_role(payroll: DataFrame, role: str) -> DataFrame:
    return payroll.where(payroll.role == role).selectExpr("cast(key as long) id", "name", "income")


@report.step(key="id", schema=PERSON, origin=ORIGIN, checks=[anna.between("income", 1000)])
def boss(payroll: DataFrame) -> DataFrame:
    return of_role(payroll, "boss")


@report.step(key="id", schema=PERSON, origin=ORIGIN, checks=[anna.between("income", 450)])
def worker(payroll: DataFrame) -> DataFrame:
    return of_role(payroll, "worker")


@report.step(key="id", schema=PERSON, checks=[anna.row_count(2), anna.not_null("name")])
def income(boss: DataFrame, worker: DataFrame) -> DataFrame:
    return boss.unionByName(worker)


def play(url: str, folder: str, session: Any = None) -> list[tuple[str, dict[int, int], dict[str, int]]]:
    """Each scene: what it is, the incomes that come of it, and how many actions had which outcome."""
    repo = nm.connect(url)
    store = elsa.open(repo)
    store.system("payroll").ingest([(key, 1, "insert", value) for key, value in PAYROLL.items()])
    process = spark.Pipeline(report, repo, folder, session=session)
    scenes = []

    def scene(what: str, run: anna.Run) -> anna.Run:
        incomes = {row.id: row.income for row in process.frame(run, "income").collect()}
        scenes.append((what, incomes, run.counts()))
        return run

    first = scene("table X, whose checks fail", process.run())
    anna.open(repo).actions(report.name).add_many(TABLE_2)
    now = None, anna.open(repo).stable()
    scene("table X', with the actions of Table 2", process.recompute(first, actions=now).run)
    scene("the first run once more", process.recompute(first).run)
    store.system("payroll").insert("42", 2, {**PAYROLL["42"], "income": 1200})
    renewed = {"payroll": store.stable()}
    scene("new data: the boss earns 1200", process.recompute(first, ingest=renewed, actions=now).run)
    return scenes


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        for what, incomes, outcomes in play(f"lmdb:{folder}/db", f"{folder}/products"):
            told = ", ".join(f"{count} {outcome}" for outcome, count in outcomes.items()) or "no actions"
            print(f"{what}: boss {incomes[42]}, worker {incomes[43]} ({told})")


if __name__ == "__main__":
    main()
