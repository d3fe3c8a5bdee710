"""Filters that are pushed down: the same result, of fewer cells."""

import datetime
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import datasource as ds
from pyspark.sql import functions as f

import neomodel as nm
from neomodel.sharing import shared
from neomodel.stores.wrappers import Counting
from spark import ModelSource
from tests.spark.things import Colour, Thing, things

COUNT = 3000


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    url = f"lmdb:{tmp_path_factory.mktemp('filters')}/db"
    with nm.connect(url) as repo:
        repo.register(things)
        model = repo.create("m")
        day = datetime.datetime(2024, 1, 1, tzinfo=datetime.UTC)
        for start in range(0, COUNT, 100):
            some = [
                Thing(
                    name=None if number % 7 == 0 else f"n{number:05}",
                    number=number % 50,
                    ratio=float("nan") if number % 11 == 0 else -0.0 if number % 13 == 0 else number / 10,
                    price=Decimal(number) / 4,
                    on=number % 2 == 0,
                    when=day + datetime.timedelta(hours=number),
                    colour=(Colour.RED, Colour.GREEN, None)[number % 3],
                )
                for number in range(start, start + 100)
            ]
            some[0].parts.extend([things.Special(name=f"s{start}", extra="x"), Thing(name=f"p{start}")])
            model.roots.extend(some)
    return url


def loaded(session: SparkSession, store: str, *, pushdown: bool, **options: str) -> DataFrame:
    session.conf.set("spark.sql.python.filterPushdown.enabled", str(pushdown).lower())
    return session.read.format("neomodel").options(store=store, model="m", type="Thing", **options).load()


CONDITIONS: list[Callable[[], Any]] = [
    lambda: f.col("number") == 3,
    lambda: (f.col("number") >= 10) & (f.col("number") < 12),
    lambda: f.col("name").isNull(),
    lambda: f.col("name").isNotNull() & (f.col("number") == 0),
    lambda: f.col("name").startswith("n000"),
    lambda: f.col("name").endswith("7"),
    lambda: f.col("name").contains("11"),
    lambda: f.col("name") > "n02990",
    lambda: f.col("name").isin("n00001", "n00002", "nobody"),
    lambda: f.col("ratio") > 299.0,
    lambda: f.col("ratio") == float("nan"),
    lambda: f.col("ratio").isin(0.0, 5.5),
    lambda: f.col("price") < 1,
    lambda: f.col("on"),
    lambda: ~f.col("on") & (f.col("number") != 5),
    lambda: f.col("when") < datetime.datetime(2024, 1, 2, tzinfo=datetime.UTC),
    lambda: f.col("colour") == "GREEN",
    lambda: f.col("colour").eqNullSafe(None),
    lambda: f.col("_class") == "Special",
    lambda: f.col("_feature") == "parts",
    lambda: f.col("_container").isNull() & (f.col("number") == 1),
    lambda: (f.col("number") == 1) | (f.col("number") == 2),
    lambda: f.col("number") == f.length("name"),
]


@pytest.mark.parametrize("number", range(len(CONDITIONS)))
def test_the_result_is_the_same_with_and_without(session: SparkSession, store: str, number: int) -> None:
    condition = CONDITIONS[number]()

    pushed = loaded(session, store, pushdown=True).where(condition).select("_id").collect()

    plain = loaded(session, store, pushdown=False).where(condition).select("_id").collect()
    assert sorted(row[0] for row in pushed) == sorted(row[0] for row in plain)


def test_ids_are_looked_up(session: SparkSession, store: str) -> None:
    some = sorted(row[0] for row in loaded(session, store, pushdown=False, columns="_id").collect())[100:103]
    frame = loaded(session, store, pushdown=True)

    assert sorted(row["_id"] for row in frame.where(f.col("_id").isin(*some, "nobody")).collect()) == some
    assert [row["_id"] for row in frame.where(f.col("_id") == some[0]).collect()] == some[:1]
    between = frame.where((f.col("_id") > some[0]) & (f.col("_id") <= some[2])).collect()
    assert sorted(row["_id"] for row in between) == some[1:]
    assert frame.where(f.col("_id") == "nobody").count() == 0


def counted(store: str, filters: list[ds.Filter], **options: str) -> tuple[list[dict[str, Any]], int]:
    """The rows that a reader in this process makes, and how many cells it reads for them."""
    source = ModelSource({"store": store, "model": "m", "type": "Thing", **options})
    reader = source.reader(source.schema())
    reader.pushFilters(filters)
    repo = shared(store)
    counting = Counting(repo.store)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(repo, "store", counting)
        rows = [row for part in reader.partitions() for batch in reader.read(part) for row in batch.to_pylist()]
    return rows, counting.cells_read


@pytest.mark.parametrize(
    ("one", "least"),
    [
        (ds.EqualTo(("number",), 3), 3),
        (ds.LessThan(("when",), datetime.datetime(2024, 1, 2, tzinfo=datetime.UTC)), 3),
        (ds.EqualTo(("_class",), "Special"), 3),
        (ds.StringStartsWith(("name",), "n0001"), 3),
    ],
)
def test_a_pushed_filter_reads_fewer_cells(store: str, one: Any, least: int) -> None:
    everything, all_cells = counted(store, [])

    some, cells = counted(store, [one])

    assert 0 < len(some) < len(everything) / 10
    assert cells * least < all_cells


def test_ids_cost_no_more_than_their_rows(store: str) -> None:
    everything, _ = counted(store, [])
    ids = tuple(row["_id"] for row in everything[:5])

    some, cells = counted(store, [ds.In(("_id",), ids)])

    assert len(some) == 5
    assert cells < 5 * 15


def test_fewer_columns_are_fewer_cells(store: str) -> None:
    everything, _ = counted(store, [])

    some, cells = counted(store, [], columns="number")

    assert len(some) == len(everything)
    assert cells <= 2 * len(some) + 1024 + 1  # and those that were looked at to see that all are wanted


tests = st.one_of(
    st.builds(ds.EqualTo, st.just(("number",)), st.integers(-1, 51)),
    st.builds(ds.GreaterThan, st.just(("number",)), st.integers(-1, 51)),
    st.builds(ds.LessThanOrEqual, st.just(("price",)), st.integers(0, 800).map(Decimal)),
    st.builds(ds.In, st.just(("colour",)), st.lists(st.sampled_from(["RED", "GREEN", "BLUE"])).map(tuple)),
    st.builds(ds.EqualTo, st.just(("_class",)), st.sampled_from(["Thing", "Special", "Other"])),
    st.builds(ds.IsNull, st.sampled_from([("name",), ("colour",), ("_container",)])),
)


def holds(row: dict[str, Any], one: Any) -> bool:
    """A filter as Spark's documentation has it, on one row."""
    value = row[one.attribute[0]]
    if isinstance(one, ds.IsNull):
        return value is None
    if value is None:
        return False
    if isinstance(one, ds.In):
        return value in one.value
    if isinstance(one, ds.EqualTo):
        return bool(value == one.value)
    return bool(value > one.value) if isinstance(one, ds.GreaterThan) else bool(value <= one.value)


def check_filters(store: str, filters: list[Any]) -> None:
    everything, _ = counted(store, [])

    some, _ = counted(store, filters)

    wanted = [row["_id"] for row in everything if all(holds(row, one) for one in filters)]
    assert sorted(row["_id"] for row in some) == sorted(wanted)


@settings(max_examples=20)
@given(filters=st.lists(tests, max_size=3))
def test_several_filters_leave_the_rows_that_pass_them_all(store: str, filters: list[Any]) -> None:
    check_filters(store, filters)


@pytest.mark.soak
@settings(max_examples=1000)
@given(filters=st.lists(tests, max_size=3))
def test_several_filters_leave_the_rows_that_pass_them_all_at_length(store: str, filters: list[Any]) -> None:
    check_filters(store, filters)
