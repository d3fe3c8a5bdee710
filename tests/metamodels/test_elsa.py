"""ELSA: the papers' examples, and what systems promise."""

import datetime
from typing import Any

import pytest

import neomodel as nm
from metamodels import elsa
from tests.metamodels.conftest import settled
from tests.objects.library import Book, Genre, Shelf, library

TABLE_1 = [  # of the 2017 papers: key, event, ingest, operation, value
    ("x", 5, 10, "insert", "v1"),
    ("x", 10, 30, "delete", None),
    ("x", 12, 20, "insert", "v2"),
    ("x", 35, 40, "insert", "v3"),
]


def test_the_papers_queries_on_their_table_1_come_out_as_printed(crm: elsa.ExternalSystem) -> None:
    assert crm.load(TABLE_1) == 4

    assert crm.get("x", event=15, ingest=35) == "v2"  # q1
    assert crm.get("x", event=11, ingest=40) is None  # q2
    assert crm.get("x", event=15, ingest=15) == "v1"  # q3


def test_both_bounds_are_included_and_a_late_event_does_not_end_later_ones(crm: elsa.ExternalSystem) -> None:
    crm.load(TABLE_1)

    assert [crm.get("x", event=event, ingest=40) for event in (4, 5, 9, 10, 12, 34, 35)] == [
        None, "v1", "v1", None, "v2", "v2", "v3",
    ]  # fmt: skip
    assert [crm.get("x", event=40, ingest=ingest) for ingest in (9, 10, 19, 20, 30, 39, 40)] == [
        None, "v1", "v1", "v2", "v2", "v2", "v3",
    ]  # fmt: skip


def test_the_last_position_of_the_car_depends_on_what_was_known(crm: elsa.ExternalSystem) -> None:
    def clock(text: str) -> datetime.datetime:
        return datetime.datetime.fromisoformat(f"2017-03-06T{text}:00+01:00")

    crm.load([("car", clock("09:00"), clock("09:30"), "insert", "51.34 N 12.37 E")])

    assert crm.get("car", event=clock("09:10"), ingest=clock("09:15")) is None
    assert crm.get("car", event=clock("09:10"), ingest=clock("09:45")) == "51.34 N 12.37 E"
    assert crm.get("car", event=clock("09:00"), ingest=clock("09:30")) == "51.34 N 12.37 E"


def test_the_queries_of_the_papers_figure_2_find_what_its_text_says(crm: elsa.ExternalSystem) -> None:
    """The figure has no scale: any times that lie as its text says."""
    crm.load([("x", 10, 15, "insert", "i1"), ("x", 20, 30, "insert", "i2"), ("x", 30, 35, "delete", None),
              ("x", 40, 45, "insert", "i3")])  # fmt: skip

    assert crm.get("x", event=25, ingest=25) == "i1"  # q1: the event of i2 would do, its ingest time does not
    assert crm.get("x", event=25, ingest=50) == "i2"  # q2: known are the delete and i3 as well, of later events
    assert crm.get("x", event=45, ingest=50) == "i3"  # q3: the last event of all
    assert crm.get("x", event=35, ingest=50) is None  # the delete itself


def test_a_delete_ends_what_came_before_it_and_nothing_later(crm: elsa.ExternalSystem) -> None:
    crm.load([("a", 1, 11, "insert", "v"), ("a", 2, 12, "insert", "v'"), ("a", 4, 13, "insert", "v''"),
              ("a", 3, 14, "delete", None)])  # fmt: skip

    assert [crm.get("a", event=event, ingest=14) for event in (1, 2, 3, 4)] == ["v", "v'", None, "v''"]
    assert crm.get("a", event=3, ingest=13) == "v'"


def test_of_versions_of_one_event_the_newest_counts_also_if_it_is_a_delete(crm: elsa.ExternalSystem) -> None:
    crm.load([("a", 1, 10, "insert", "old"), ("a", 2, 10, "insert", "wrong"), ("a", 2, 20, "insert", "right"),
              ("a", 2, 30, "delete", None)])  # fmt: skip

    assert [crm.get("a", event=2, ingest=ingest) for ingest in (10, 20, 29, 30)] == ["wrong", "right", "right", None]


def test_what_is_inserted_is_read_as_of_the_stable_time(store: elsa.ElsaStore, crm: elsa.ExternalSystem) -> None:
    crm.insert("a", 100, {"name": "Ann"})
    first = settled(store)
    crm.insert("a", 100, {"name": "Anna"})
    crm.delete("a", 200)
    settled(store)

    assert crm.get("a", event=150) == {"name": "Anna"}
    assert crm.get("a") is None
    assert crm.get("a", ingest=first) == {"name": "Ann"}
    versions = crm.history("a")
    assert [(v.event, v.operation, v.value) for v in versions] == [
        (100, "insert", {"name": "Ann"}),
        (100, "insert", {"name": "Anna"}),
        (200, "delete", None),
    ]
    assert versions[0].ingest <= first < versions[1].ingest < versions[2].ingest
    assert crm.version("a") == versions[2]
    assert crm.history("a", event=150, ingest=first) == versions[:1]


def test_many_are_ingested_read_and_scanned(store: elsa.ElsaStore, crm: elsa.ExternalSystem) -> None:
    crm.ingest([(f"k{number:02}", 10, "insert", number) for number in range(30)])
    crm.ingest([("k03", 20, "delete", None), ("k04", 20, "insert", "x"), ("k04", 20, "insert", "y")])
    token = store.token(ingest=settled(store))

    assert crm.get_many(["k01", "k03", "k04", "none"], token=token) == {"k01": 1, "k04": "y"}
    assert list(crm.scan("k0", token=token)) == [
        ("k00", 0), ("k01", 1), ("k02", 2), ("k04", "y"), *((f"k0{n}", n) for n in range(5, 10)),
    ]  # fmt: skip
    assert [key for key, _ in crm.scan(("k27", None), token=token)] == ["k27", "k28", "k29"]
    assert list(crm.scan(("k03", "k05"), event=10, ingest=token.ingest)) == [("k03", 3), ("k04", 4)]
    assert crm.ingest([]) == 0


def test_values_are_bytes_text_json_and_elements(store: elsa.ElsaStore, crm: elsa.ExternalSystem) -> None:
    store.repository.register(library)
    values: list[Any] = [b"", b"\0\xff", "", "ä", "{}", {"a": [1, 2.5, None, True]}, [], None, 7, "\0"]
    crm.ingest([(f"k{number}", 1, "insert", value) for number, value in enumerate(values)])
    crm.insert("element", 1, Shelf(name="s", books=[Book(name="T", pages=7, genre=None), Book()]))
    ingest = settled(store)

    found = [crm.get(f"k{number}", ingest=ingest) for number in range(len(values))]
    assert found == values
    assert [type(one) for one in found] == [type(one) for one in values]
    shelf = crm.get("element", ingest=ingest)
    assert (type(shelf), shelf.name, shelf.eResource) == (Shelf, "s", None)
    assert [(book.name, book.pages, book.genre) for book in shelf.books] == [("T", 7, None), (None, 100, Genre.POETRY)]


def test_keys_are_any_text_and_come_in_order(store: elsa.ElsaStore, crm: elsa.ExternalSystem) -> None:
    keys = ["#", "$", "%2C", "a", "a b", "a#b", "a,b", "a~", "a\x7f", "aä", "a\x00", "Z", "日本", "x" * 140, " "]
    crm.ingest([(key, 1, "insert", key) for key in keys])
    ingest = settled(store)

    assert list(crm.scan(ingest=ingest)) == [(key, key) for key in sorted(keys)]
    assert [key for key, _ in crm.scan("a", ingest=ingest)] == sorted(key for key in keys if key[0] == "a")
    assert crm.get_many(keys, ingest=ingest) == {key: key for key in keys}


def test_an_event_of_the_future_is_found_as_others_are(store: elsa.ElsaStore, crm: elsa.ExternalSystem) -> None:
    settled(store)
    crm.insert("a", 1, "now")
    assert crm.get("a", ingest=settled(store)) == "now"
    later = datetime.datetime.now(datetime.UTC) + datetime.timedelta(days=4000)
    crm.insert("a", later, "contract ends")
    crm.insert("b", 1, "b")
    ingest = settled(store)

    assert crm.get("a", ingest=ingest) == "contract ends"
    assert crm.get("a", event=later - datetime.timedelta(seconds=1), ingest=ingest) == "now"


def test_an_operation_that_is_tried_again_is_applied_once(store: elsa.ElsaStore, crm: elsa.ExternalSystem) -> None:
    assert crm.insert("a", 1, "v", operation="1")
    assert crm.insert("a", 1, "w", operation="2")
    assert not crm.insert("a", 1, "v", operation="1")
    assert crm.delete("a", 2, operation="1")  # another event, so another operation

    assert crm.get("a", event=1, ingest=settled(store)) == "w"
    assert len(crm.history("a", ingest=settled(store))) == 3


def test_nothing_is_loaded_into_a_system_whose_past_may_have_been_read(
    store: elsa.ElsaStore, crm: elsa.ExternalSystem
) -> None:
    crm.insert("a", 1, "v")

    with pytest.raises(nm.InvalidValue, match="the system to load into is 'crm', expected one without records"):
        crm.load(TABLE_1)


def test_a_load_that_fails_leaves_nothing(store: elsa.ElsaStore, crm: elsa.ExternalSystem) -> None:
    with pytest.raises(nm.InvalidValue, match="an operation is 'upsert'"):
        crm.load([*TABLE_1, ("y", 1, 2, "upsert", "v")])
    with pytest.raises(nm.InvalidValue, match="the number of entries to load is 2"):
        crm.load([("y", 1, 2, "insert", "v"), ("y", 1, 2, "insert", "w")])
    assert store.systems() == []

    assert crm.load(TABLE_1) == 4
    assert store.systems() == ["crm"]


def test_a_store_whose_name_begins_with_that_of_another_is_no_system_of_it() -> None:
    repository = nm.connect("memory:")
    store, old = elsa.open(repository), elsa.open(repository, "elsa.old")
    for one in (store, old):
        one.system("crm").insert("a", 1, "v")

    assert (store.systems(), old.systems()) == (["crm"], ["crm"])
