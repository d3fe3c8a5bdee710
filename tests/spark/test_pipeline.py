"""Processes run on Spark: the same arguments give the same bytes; runs are claimed, carried on and repeated."""

import itertools
import threading
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

import neomodel as nm
import spark
from metamodels import anna, elsa
from spark.outputs import write
from spark.sources import settled
from tests.spark.products import SALES, SHOPS, expected, files, mirrored, rows, turnover


@pytest.fixture
def store(tmp_path: Path) -> elsa.ElsaStore:
    return mirrored(f"lmdb:{tmp_path}/db")


def pipeline(process: anna.Process, store: elsa.ElsaStore, session: SparkSession, **more: Any) -> spark.Pipeline:
    folder = Path(store.repository.store.url.removeprefix("lmdb:")).parent / "products"
    return spark.Pipeline(process, store.repository, folder, session=session, **more)


def table(run: anna.Run, step: str) -> list[dict[str, Any]]:
    """The rows of a step, as they are in its files."""
    paths = [Path(run.folder or "") / f"{run.number:06}" / step / one["name"] for one in run.step(step).written]
    return [row for path in paths for row in pq.read_table(path).to_pylist()]


def test_a_process_gives_what_its_steps_say_in_files_sorted_by_key(
    session: SparkSession, store: elsa.ElsaStore
) -> None:
    run = pipeline(turnover(), store, session, block=25).run()

    placed, by_city = expected(SALES, SHOPS)
    assert (table(run, "placed"), table(run, "by_city")) == (placed, by_city)
    assert [one["rows"] for one in run.step("placed").written] == [25, 25, 10]
    assert (run.state, [step.step for step in run.steps]) == (anna.State.DONE, ["placed", "by_city"])
    assert set(files(run)) == {*(f"placed/part-00000{n}.parquet" for n in range(3)), "by_city/part-000000.parquet"}


def test_the_same_arguments_give_the_same_bytes_whatever_partitions_there_are(
    session: SparkSession, store: elsa.ElsaStore
) -> None:
    made = pipeline(turnover(), store, session, block=25)
    token = store.token()
    first = made.run(token=token)
    store.system("sales").ingest(rows({"s000": None, "new": {"shop": "shop1", "amount": 1}}))
    before = session.conf.get("spark.sql.shuffle.partitions")
    try:
        for count in ("1", "5"):
            session.conf.set("spark.sql.shuffle.partitions", count)
            again = made.run(token=token, actions=(first.actions_event, first.actions_ingest))
            assert files(again) == files(first)
            assert again.hashes() == first.hashes()
    finally:
        session.conf.set("spark.sql.shuffle.partitions", before)


def test_files_of_tasks_and_files_of_the_driver_are_the_same(session: SparkSession, tmp_path: Path) -> None:
    """Rows of up to one file are written by the driver, more by tasks: the first file is the same."""
    odd = f.col("id") % 2 == 1
    frame = session.range(51).select(
        "id",
        f.when(odd, f.format_string("t%d", "id")).alias("text"),
        f.when(odd, f.array(f.lit("a"), f.col("id").cast("string"))).alias("part"),
        f.timestamp_micros(f.col("id") * 1_000_001).alias("at"),
        (f.col("id") / 3).cast("decimal(9,2)").alias("exact"),
        f.when(~odd, f.lit(True)).alias("flag"),
        f.encode(f.col("id").cast("string"), "utf-8").alias("data"),
    )
    with settled(session):
        mixed = frame.repartition(4, f.rand(3))
        many, _ = write(mixed, frame.schema, ("id",), tmp_path / "many", 50, lambda _: None)
        one, _ = write(mixed.where("id < 50"), frame.schema, ("id",), tmp_path / "one", 50, lambda _: None)

    assert [file["rows"] for file in many.files] == [50, 1]
    assert many.files[0] == one.files[0]
    assert (tmp_path / "many/part-000000.parquet").read_bytes() == (tmp_path / "one/part-000000.parquet").read_bytes()


def test_a_run_repeated_is_proved_to_be_the_same(session: SparkSession, store: elsa.ElsaStore) -> None:
    made = pipeline(turnover(), store, session)
    first = made.run()
    store.system("sales").ingest(rows({"s000": {"shop": "shop5", "amount": 77}}))

    again = made.recompute(first)

    assert again.same, str(again)
    assert str(again) == "run 2 of 'turnover' is run 1 again, byte for byte"
    assert (again.run.of, files(again.run)) == (1, files(first))


def test_what_has_changed_is_told_when_a_run_can_not_be_repeated(session: SparkSession, store: elsa.ElsaStore) -> None:
    first = pipeline(turnover(), store, session).run()

    again = pipeline(turnover(factor=2), store, session).recompute(first)

    assert not again.same
    placed, by_city = again.steps
    assert (placed.same, placed.reasons[0].partition(",")[0]) == (False, "its code has changed")
    assert by_city.reasons == ("step placed before it differs",)


def test_logic_that_goes_by_chance_is_found_out(session: SparkSession, store: elsa.ElsaStore) -> None:
    made = anna.Process("dice")
    made.system("shops")
    thrown = itertools.count()

    @made.step(key="key", schema="key string, luck int")
    def dice(shops: DataFrame) -> DataFrame:
        return shops.select("key", f.lit(next(thrown)).alias("luck"))

    process = pipeline(made, store, session)
    again = process.recompute(process.run())

    assert again.steps[0].reasons == (
        "nothing that is on record differs: its logic does not give the same result each time",
    )


def test_new_data_of_one_system_is_taken_in_and_the_cause_of_each_change_is_told(
    session: SparkSession, store: elsa.ElsaStore
) -> None:
    made = pipeline(turnover(), store, session)
    first = made.run()
    store.system("sales").ingest(rows({"s003": {"shop": "shop3", "amount": 1000}, "s010": None}))
    store.system("shops").ingest(rows({"shop1": {"city": "Weimar"}}))

    renewed = made.recompute(first, ingest={"sales": store.stable()}).run

    merged = {**SALES, "s003": {"shop": "shop3", "amount": 1000}}
    del merged["s010"]
    placed, by_city = expected(merged, SHOPS)  # by hand: new sales, old shops
    assert (table(renewed, "placed"), table(renewed, "by_city")) == (placed, by_city)

    diff = made.diff(first, renewed)
    sales, cities = diff.step("placed"), diff.step("by_city")
    assert [(row.row, row.kind) for row in sales.rows] == [("s003", "changed"), ("s010", "removed")]
    assert sales.rows[0].cells == {"amount": (9, 1000)}
    assert [[(c.kind, c.what) for c in row.causes] for row in sales.rows] == [
        [("record", "sales s003")], [("record", "sales s010")],
    ]  # fmt: skip
    found = {row.row: [c.what for c in row.causes] for row in cities.rows}
    assert found == {SHOPS["shop3"]["city"]: ["sales s003", "sales s010"]}  # shop3 both: 3 and 10 are 3 modulo 7
    assert cities.counts == {"changed": 1}


def test_a_run_that_failed_is_resumed_from_its_last_finished_step(session: SparkSession, store: elsa.ElsaStore) -> None:
    calls: list[str] = []
    made = anna.Process("fragile")
    made.system("shops", schema="city string")
    broken = [True]

    @made.step(key="key", schema="key string, city string")
    def first(shops: DataFrame) -> DataFrame:
        calls.append("first")
        return shops

    @made.step(key="city", schema="city string, count long")
    def second(first: DataFrame) -> DataFrame:
        calls.append("second")
        if broken.pop() if broken else False:
            raise ZeroDivisionError("by chance")
        return first.groupBy("city").count()

    process = pipeline(made, store, session)
    with pytest.raises(nm.StepFailed, match="step 'second' of process 'fragile' failed: ZeroDivisionError: by chance"):
        process.run()
    (failed,) = process.runs.of("fragile")
    assert (failed.state, [step.step for step in failed.steps]) == (anna.State.FAILED, ["first"])

    done = process.resume(failed)

    assert calls == ["first", "second", "second"]
    assert (done.number, done.state, done.reason) == (1, anna.State.DONE, None)
    assert files(done) == files(process.run(token=done.token, actions=(done.actions_event, done.actions_ingest)))


def test_of_two_who_start_one_run_one_wins_and_the_other_is_told(session: SparkSession, store: elsa.ElsaStore) -> None:
    """Each in a thread, with all of its own."""
    token = store.token()
    url = store.repository.store.url
    process = turnover()
    results: list[Any] = []

    def start() -> None:
        with nm.connect(url) as repo:
            made = spark.Pipeline(process, repo, Path(url.removeprefix("lmdb:")).parent / "p", session=session)
            try:
                results.append(made.run(token=token, actions=(None, token.ingest), number=1).state)
            except nm.RunTaken as taken:
                results.append(str(taken))

    threads = [threading.Thread(target=start) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    won, lost = sorted(results, key=lambda result: isinstance(result, str))
    assert won is anna.State.DONE
    assert lost.startswith("run 1 of 'turnover' is being computed by process ")


def test_columns_may_have_any_names_and_cells_are_found_by_them(session: SparkSession, store: elsa.ElsaStore) -> None:
    made = anna.Process("odd names")
    number = f.col("id")
    frame = session.range(5).select(number.alias("a.b"), number.cast("string").alias("c `d"), number.alias("e.f"))
    checks = [anna.between("e.f", 0, 3), anna.unique("c `d")]
    made.step(key="a.b", schema="`a.b` long, `c ``d` string, `e.f` long", checks=checks, name="step")(lambda: frame)
    process = pipeline(made, store, session, block=2)
    anna.open(store.repository).actions("odd names").add(
        run=1, step="step", row="4", column="e.f", operation=("add", 10), precondition='"e.f" = 4', why="to try it"
    )

    first, second = process.run(actions=(0, None)), process.run()

    assert [(cell.row, cell.column, cell.value) for _, _, cell in anna.failing(first)] == [("4", "e.f", "4")]
    assert second.counts() == {"applied": 1}
    assert [(row.row, row.cells) for row in process.diff(first, second).step("step").rows] == [("4", {"e.f": (4, 14)})]
    assert process.cell(second, "step", "4", "e.f") == process.cell(second, "step", (4,), "e.f") == 14


def test_a_cell_that_is_not_there_is_refused(session: SparkSession, store: elsa.ElsaStore) -> None:
    made = anna.Process("numbers")
    made.step(key="id", schema="id long", name="step")(lambda: session.range(2))
    process = pipeline(made, store, session)
    run = process.run()

    for row, column, told in [
        ("7", "id", "a row of step 'step' of run 1 of 'numbers' is '7', expected the key of one that there is"),
        ("nobody", "id", "is 'nobody', expected the key of one"),
        (("0", "1"), "id", r"is \('0', '1'\), expected the key of one"),
        ("0", "di", "is 'di', expected one that there is"),
    ]:
        with pytest.raises(nm.InvalidValue, match=told):
            process.cell(run, "step", row, column)


def test_runs_of_a_step_that_the_process_has_no_more_are_compared(session: SparkSession, store: elsa.ElsaStore) -> None:
    made = pipeline(turnover(), store, session)
    first = made.run()
    store.system("sales").ingest(rows({"s003": {"shop": "shop3", "amount": 1000}}))
    second = made.run()
    changed = anna.Process("turnover")
    changed.system("sales", schema="shop string, amount long")
    changed.step(key="key", schema="key string, shop string, amount long", name="other")(lambda sales: sales)

    (row,) = pipeline(changed, store, session).diff(first, second).step("placed").rows

    assert (row.row, [cause.what for cause in row.causes]) == ("s003", ["sales s003"])


def test_a_key_that_no_action_could_name_is_refused(session: SparkSession, store: elsa.ElsaStore) -> None:
    made = anna.Process("bytes")
    made.step(key="id", schema="id binary", name="step")(lambda: session.range(2))

    with pytest.raises(nm.InvalidValue, match=r"key column 'id' in .* is 'binary', expected text, a whole number"):
        pipeline(made, store, session)


BAD_STEPS: list[tuple[dict[str, Any], Any, str]] = [
    ({"key": "key", "schema": "key string, city long"}, lambda s: s, "its column 'city' is 'string', expected bigint"),
    ({"key": "key", "schema": "key string"}, lambda s: s, "its columns is 'key, city', expected those of its schema"),
    (
        {"key": "city", "schema": "key string, city string"},
        lambda s: s,
        "the key of a row is 'Gera', expected one that",
    ),
    (
        {"key": "city", "schema": "key string, city string"},
        lambda s: s.where("key = 'shop1'").withColumn("city", f.lit(None).cast("string")),
        "without null",
    ),
    (
        {"key": "key", "schema": "key string, city string"},
        lambda _: 7,
        "what it returned is 'int', expected a DataFrame",
    ),
    ({"key": "key", "schema": "key string"}, lambda s: s.select("kye"), "kye"),
    (
        {"key": "key", "schema": "key string"},
        lambda s: s.select(f.udf(lambda key: key[100], "string")("key").alias("key")),
        "failed: IndexError: string index out of range",
    ),
]


@pytest.mark.parametrize(("declared", "function", "told"), BAD_STEPS)
def test_a_step_that_breaks_its_promise_fails_with_one_sentence(
    declared: dict[str, Any], function: Any, told: str, session: SparkSession, store: elsa.ElsaStore
) -> None:
    made = anna.Process("bad")
    made.system("shops", schema="city string")
    made.step(**declared, name="wrong")(lambda shops: function(shops))

    with pytest.raises(nm.StepFailed) as failed:
        pipeline(made, store, session).run()

    assert told in str(failed.value)
    assert len(str(failed.value).splitlines()) == 1
