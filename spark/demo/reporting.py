"""The demo's second half: a report from two external systems, a wrong cell in it, what becomes of the correction."""

import datetime
from pathlib import Path
from typing import Any

import attrs
from pyspark.sql import DataFrame, SparkSession

import neomodel as nm
import spark
from metamodels import anna, elsa
from spark.demo.telling import Teller

CITIES = ("Leipzig", "Dresden", "Halle", "Jena", "Erfurt")
PEOPLE = 200
BOSS = "100"

income = anna.Process("income report")
income.system("payroll", schema="name string, department string, income long")
income.system("departments", schema="city string, allowance long")


@income.step(
    key="id",
    schema="id long, name string, department string, income long",
    origin={"payroll": {"id": "key"}},
    checks=[anna.between("income", 1000), anna.not_null("name")],
)
def people(payroll: DataFrame) -> DataFrame:
    return payroll.selectExpr("cast(key as long) id", "name", "department", "income")


@income.step(
    key="city",
    schema="city string, people long, total long",
    checks=[anna.row_count(len(CITIES)), anna.between("total", 1)],
)
def by_city(people: DataFrame, departments: DataFrame) -> DataFrame:
    paid = people.join(departments, people.department == departments.key)
    return (
        paid.groupBy("city")
        .agg({"id": "count", "income": "sum", "allowance": "sum"})
        .selectExpr("city", "`count(id)` as people", "`sum(income)` + `sum(allowance)` as total")
    )


@attrs.frozen
class Reported:
    """What came of it, for the page."""

    first: anna.Run
    corrected: anna.Run
    renewed: anna.Run
    again: anna.Run
    proved: str
    diff: Any
    versions: list[elsa.Version]
    """Of the boss, in the payroll."""
    asked: tuple[int, int]


def reported(repository: nm.Repository, session: SparkSession, folder: Path, tell: Teller) -> Reported:
    """Do it, telling each step and what it took. What is returned reads from the repository."""
    store = elsa.open(repository)
    payroll = _mirrored(store, tell)
    process = spark.Pipeline(income, repository, folder / "products", session=session)
    with tell.step("computed the income report, as of a token"):
        first = process.run(token=store.token(event=_day(28), ingest=_settled(store, payroll)))
    cell = anna.failing(first)[0]
    tell.more(f"token {first.token}", f"a quality check fails: {cell[1].name}, row {cell[2].row}")

    with tell.step("an expert corrects that cell, once: multiply by 10 where the income is below 1,000"):
        anna.open(repository).actions(income.name).add(
            run=str(first.number),
            step="people",
            row=BOSS,
            column="income",
            operation=("multiply", 10),
            precondition="income < 1000",
            who="domain expert",
            why="a digit is missing",
        )
    known = None, _settled(anna.open(repository), payroll)
    with tell.step("computed it again, with the correction"):
        corrected = process.recompute(first, actions=known).run
    tell.more(_said(corrected))

    payroll.insert(BOSS, _day(20), {"name": "Ada", "department": "board", "income": 9000})
    renewed_at = {"payroll": _settled(store, payroll)}
    with tell.step("took in what the payroll has told since, and nothing of the other system"):
        renewed = process.recompute(first, ingest=renewed_at, actions=known).run
    tell.more(_said(renewed))
    with tell.step("compared the two, with the cause of each change"):
        diff = process.diff(corrected, renewed)
    tell.more(*(f"{row.kind}: {', '.join(map(str, row.causes))}" for row in diff.step("people").rows[:2]))

    with tell.step("computed the first report once more, and proved it by hash"):
        proof = process.recompute(first)
    tell.more(str(proof), *(f"{step.step}: {step.content}" for step in proof.run.steps))
    if not proof.same:
        raise AssertionError(str(proof))
    token = elsa.Token.parse(first.token or "")
    return Reported(
        first, corrected, renewed, proof.run, str(proof), diff, payroll.history(BOSS), (token.event, token.ingest)
    )


def _mirrored(store: elsa.ElsaStore, tell: Teller) -> elsa.ExternalSystem:
    payroll, departments = store.system("payroll"), store.system("departments")
    with tell.step("mirrored two external systems, with event and ingest times"):
        departments.ingest(
            ("board" if not number else f"team {number}", _day(1), "insert", {"city": city, "allowance": 50})
            for number, city in enumerate(CITIES)
        )
        payroll.ingest((str(100 + number), _day(1 + number % 9), "insert", _person(number)) for number in range(PEOPLE))
    tell.more(f"{PEOPLE} people of the payroll, {len(CITIES)} departments")
    return payroll


def _person(number: int) -> dict[str, Any]:
    if not number:
        return {"name": "Ada", "department": "board", "income": 500}  # a digit is missing
    return {"name": f"Person {number}", "department": f"team {number % 4 + 1}", "income": 2000 + 10 * number}


def _settled(store: elsa.ElsaStore | anna.AnnaStore, system: elsa.ExternalSystem) -> int:
    """A time that all which was written is below, once nobody can write under it: at once on LMDB."""
    now = store.repository.store.table(system.model_name).now()
    store.check_stable(now, wait=True)
    return now


def _said(run: anna.Run) -> str:
    outcomes = ", ".join(f"{count} {outcome}" for outcome, count in run.counts().items()) or "no actions"
    return f"{'all checks hold' if run.sound else 'a check fails'}; actions: {outcomes}"


def _day(number: int) -> datetime.datetime:
    return datetime.datetime(2024, 5, number, tzinfo=datetime.UTC)
