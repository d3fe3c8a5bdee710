"""Two exports compared, and what changed brought in."""

import json
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

import neomodel as nm
from metamodels import elsa
from neomodel.errors import InvalidValue
from spark.exports import diff_load, differences, read_export
from spark.synchronizing import Target
from tests.metamodels.conftest import settled

SCHEMA = "number int, name string, city string"


def frame(session: SparkSession, rows: dict[int, Any]) -> DataFrame:
    return session.createDataFrame([(number, *row) for number, row in rows.items()], SCHEMA)


@pytest.fixture
def target(tmp_path: Path) -> Target:
    return Target(f"lmdb:{tmp_path}/db", "hr", lease=2.0)


def test_every_export_can_be_asked_for_by_its_time(session: SparkSession, target: Target) -> None:
    """Three exports at random, brought in one after the other; the second one twice."""
    dice = Random(2)
    exports = [
        {n: (f'n"\\ü\n{dice.randrange(3)}', dice.choice([None, "x"])) for n in range(40) if dice.random() < 0.7}
        for _ in range(3)
    ]
    frames = [frame(session, export) for export in exports]
    first = diff_load(None, frames[0], ["number"], 1_000_000, target)
    second = diff_load(frames[0], frames[1], ["number"], 2_000_000, target)
    again = diff_load(frames[0], frames[1], ["number"], 2_000_000, target)
    diff_load(frames[1], frames[2], ["number"], 3_000_000, target)

    assert first.written == len(exports[0])
    assert second.written == sum(exports[0].get(n) != exports[1].get(n) for n in range(40))
    assert (again.written, again.doubled) == (0, second.written)
    store = elsa.open(nm.connect(target.store))
    hr = store.system("hr")
    now = settled(store)
    for number, export in enumerate(exports, 1):
        expected = {
            str(n): {"number": n, "name": name} | ({} if city is None else {"city": city})
            for n, (name, city) in export.items()
        }
        assert dict(hr.scan(event=number * 1_000_000, ingest=now)) == expected


def test_exports_of_files_are_read_and_a_key_of_several_columns_is_an_object(
    session: SparkSession, target: Target, tmp_path: Path
) -> None:
    (tmp_path / "a.csv").write_text('country,number,name\nde,1,"Ann, or ""A"""\nat,1,Bob\n')
    (tmp_path / "b.csv").write_text("number,country,name\n1,de,Ann\n")
    before, after = (read_export(session, str(tmp_path / name)) for name in ("a.csv", "b.csv"))
    before.write.parquet(str(tmp_path / "a.parquet"))
    found = differences(read_export(session, str(tmp_path / "a.parquet")), after, ["country", "number"], 5)

    told = sorted((json.loads(row.value) for row in found.collect()), key=lambda one: one["key"])
    keys = ['{"country":"at","number":"1"}', '{"country":"de","number":"1"}']
    assert told == [
        {"key": keys[0], "event": 5, "sequence": 5, "operation": "delete"},
        {
            "key": keys[1],
            "event": 5,
            "sequence": 5,
            "operation": "insert",
            "value": {"country": "de", "name": "Ann", "number": "1"},
        },
    ]
    assert differences(before, before, ["country", "number"], 5).count() == 0
    with pytest.raises(InvalidValue, match=r"ends in \.csv or \.parquet"):
        read_export(session, "a.xlsx")


def test_a_time_counts_to_the_microsecond_wherever_the_session_is(session: SparkSession) -> None:
    texts = ("2024-05-01T12:00:00.123456Z", "2024-05-01T12:00:00.123457Z")
    one, other = (
        session.sql(f"select 1 number, timestamp'{text}' at, timestamp_ntz'{text[:-1]}' local") for text in texts
    )
    told = []
    before = session.conf.get("spark.sql.session.timeZone")
    for place in ("UTC", "Asia/Tokyo"):
        session.conf.set("spark.sql.session.timeZone", place)
        told += [json.loads(row.value)["value"] for row in differences(one, other, ["number"], 5).collect()]
        told += [json.loads(row.value)["key"] for row in differences(None, one, ["number", "at"], 5).collect()]
    session.conf.set("spark.sql.session.timeZone", before)

    assert told[:2] == told[2:] == [
        {"number": 1, "at": texts[1], "local": texts[1][:-1]},
        json.dumps({"at": texts[0], "number": 1}, separators=(",", ":")),
    ]  # fmt: skip


def test_a_time_as_key_is_the_same_wherever_the_session_is(session: SparkSession) -> None:
    """Two of them are one hour of the clock in Berlin; one is before the epoch."""
    times = ["2024-10-27T00:30:00Z", "2024-10-27T01:30:00.000001Z", "1969-12-31T23:00:00.5Z", "0001-01-01T00:00:00Z"]
    listed = ", ".join(f"timestamp'{time}'" for time in times)
    export = session.sql(f"select explode(array({listed})) `a b`")
    told = []
    before = session.conf.get("spark.sql.session.timeZone")
    for place in ("UTC", "Europe/Berlin"):
        session.conf.set("spark.sql.session.timeZone", place)
        told.append([json.loads(row.value)["key"] for row in differences(None, export, ["a b"], 5).collect()])
    session.conf.set("spark.sql.session.timeZone", before)

    expected = ["2024-10-27 00:30:00", "2024-10-27 01:30:00.000001", "1969-12-31 23:00:00.5", "0001-01-01 00:00:00"]
    assert told == [expected, expected]


def test_tables_of_a_database_are_compared_and_long_decimals_lose_no_digit(
    session: SparkSession, target: Target, tmp_path: Path
) -> None:
    """The database is Derby, which comes with Spark."""
    session._jvm.System.setProperty("derby.stream.error.file", f"{tmp_path}/derby.log")  # or it lies where tests run
    url = f"jdbc:derby:{tmp_path}/hr;create=true"
    driver = {"driver": "org.apache.derby.iapi.jdbc.AutoloadedDriver"}
    schema = "number int, share decimal(5,2), total decimal(30,12)"
    exact, other = Decimal("123456789012345678.123456789012"), Decimal("123456789012345678.123456789013")
    tables = {
        "april": [(1, Decimal("0.25"), exact), (2, None, exact)],
        "may": [(1, Decimal("0.25"), other), (3, Decimal("1.50"), exact)],
    }
    for name, rows in tables.items():
        session.createDataFrame(rows, schema).coalesce(1).write.jdbc(url, name, properties=driver)
    april, may = (session.read.jdbc(url, name, properties=driver) for name in tables)
    key = ["number"]

    loaded = diff_load(None, april, key, 1_000_000, target)
    changed = diff_load(april, may, key, 2_000_000, target)

    assert (loaded.written, changed.written) == (2, 3)
    store = elsa.open(nm.connect(target.store))
    found = dict(store.system("hr").scan(event=2_000_000, ingest=settled(store)))
    assert found == {
        "1": {"number": 1, "share": 0.25, "total": "123456789012345678.123456789013"},
        "3": {"number": 3, "share": 1.5, "total": "123456789012345678.123456789012"},
    }


def test_exports_that_can_not_be_compared_are_refused(session: SparkSession) -> None:
    one = frame(session, {1: ("a", "b")})
    for bad, key, sentence in [
        (one.union(one), ["number"], "one that is there once, not 2 times"),
        (one, ["nummer"], "some of its columns: number, name, city"),
        (one, [], "some of its columns"),
        (one.selectExpr("cast(null as int) number", "name", "city"), ["number"], "one that is not null"),
        (one.drop("city"), ["number"], r"the columns of two exports is \['city'\]"),
    ]:
        with pytest.raises(InvalidValue, match=sentence):
            differences(one, bad, key, 5)


def test_a_key_may_have_any_name(session: SparkSession) -> None:
    export = session.createDataFrame([(1, 2), (2, 2)], "count int, _times int")
    (first, second) = sorted(json.loads(row.value)["key"] for row in differences(None, export, ["count"], 1).collect())

    assert (first, second) == ("1", "2")
    with pytest.raises(InvalidValue, match=r"\{'_times': 2\}, expected one that is there once, not 2 times"):
        differences(None, export, ["_times"], 1)
