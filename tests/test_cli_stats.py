"""stats: figures by class and by region."""

import json
from typing import Any

import pytest

import neomodel as nm
from neomodel.cli import main, sizes, stats
from neomodel.ids import FANOUT
from neomodel.stores import Mutation
from neomodel.stores.wrappers import Counting
from tests.cli_fixture import library

BINARY = b"\xff\x00"


@pytest.fixture
def rows(repository: nm.Repository) -> nm.Repository:
    """A table `jdt` of two regions, whose rows were written as rows."""
    table = repository.store.table("jdt")
    table.create(["p", "t"], splits=[b"b"])
    table.put_many(
        [
            Mutation(b"a1", {b"p:name": b"main", b"t:eclass": b"Method"}),
            Mutation(b"a2", {b"p:name": "größe\n".encode(), b"p:" + BINARY: BINARY, b"p:gone": None}),
            Mutation(BINARY, {b"p:name": b""}),
        ]
    )
    return repository


def split(out: str) -> list[list[str]]:
    return [line.split() for line in out.splitlines()]


def test_objects_are_counted_by_class_the_most_frequent_first(city: nm.Model, run: Any) -> None:
    assert split(run("stats", "city"))[:5] == [
        ["class", "metamodel", "objects"],
        ["Book", "http://library", "2"],
        ["Library", "http://library", "1"],
        ["Person", "http://library", "1"],
        ["total", "4"],
    ]


def test_rows_cells_and_bytes_are_counted_by_region(rows: nm.Repository, run: Any) -> None:
    assert split(run("stats", "jdt"))[4:] == [
        ["from", "to", "served", "by", "rows", "cells", "bytes"],
        ["-", "b", "-", "2", "4", "48"],
        ["b", "-", "-", "1", "1", "8"],
        ["total", "3", "5", "56"],
        [],
        ["containment", "edges", "inside", "one", "shard:", "0", "of", "0"],
        ["largest", "region", "over", "the", "mean:", "1.33", "by", "rows,", "1.71", "by", "bytes"],
    ]


def test_stats_as_json_have_the_same_figures(rows: nm.Repository, run: Any) -> None:
    served = {"host": None, "port": None}

    assert json.loads(run("stats", "jdt", "--json")) == {
        "model": "jdt",
        "objects": 1,
        "classes": [{"ns_uri": "", "class": "Method", "objects": 1}],
        "regions": [
            {"start": "", "stop": "b", **served, "rows": 2, "cells": 4, "bytes": 48},
            {"start": "b", "stop": None, **served, "rows": 1, "cells": 1, "bytes": 8},
        ],
        "containments": {"edges": 0, "inside": 0, "share": None},
        "largest_over_mean": {"rows": pytest.approx(2 / 1.5), "bytes": pytest.approx(48 / 28)},
        "rows": 3,
        "cells": 5,
        "bytes": 56,
    }


def test_the_row_of_the_roots_is_a_row_and_no_object(city: nm.Model, run: Any) -> None:
    found = json.loads(run("stats", "city", "--json"))

    assert (found["objects"], found["rows"]) == (4, 5)


def test_a_deleted_object_is_counted_no_more(city: nm.Model, run: Any) -> None:
    nm.delete(city["id2"])

    assert json.loads(run("stats", "city", "--json"))["objects"] == 3


def test_objects_whose_metamodel_is_not_there_are_counted_as_well(city: nm.Model, run: Any) -> None:
    city.table.put_many([Mutation(b"x", {b"t:nsuri": b"http://gone", b"t:eclass": b"Thing"})])

    assert ["Thing", "http://gone", "1"] in split(run("stats", "city"))


def test_stats_of_an_empty_model_are_zero(repository: nm.Repository, run: Any) -> None:
    repository.create("empty")

    assert split(run("stats", "empty")) == [
        ["class", "metamodel", "objects"],
        ["total", "0"],
        [],
        ["from", "to", "served", "by", "rows", "cells", "bytes"],
        ["-", "-", "-", "0", "0", "0"],
        ["total", "0", "0", "0"],
        [],
        ["containment", "edges", "inside", "one", "shard:", "0", "of", "0"],
        ["largest", "region", "over", "the", "mean:", "-", "by", "rows,", "-", "by", "bytes"],
    ]


def test_a_long_key_is_not_cut_where_nobody_looks(repository: nm.Repository, run: Any) -> None:
    repository.store.table("long").create(["p"], splits=[b"k" * 240])

    assert "k" * 240 in run("stats", "long")


def test_stats_read_the_table_once_whatever_is_in_it(
    city: nm.Model, repository: nm.Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    city["id0"].books.extend(library.Book(title=f"{n}") for n in range(50))
    counting = Counting(repository.store)
    monkeypatch.setattr(stats, "connect", lambda *_, **__: nm.Repository(counting))

    assert main(["stats", "city"]) == 0

    assert counting.calls == {"tables": 1, "families": 1, "regions": 1, "scan": 1, "history": 1}


def test_what_is_too_much_to_be_read_with_an_object_is_counted_cell_by_cell(
    city: nm.Model, repository: nm.Repository, run: Any
) -> None:
    before = json.loads(run("stats", "city", "--json"))
    wide = {b"x:books\0%02d" % number: b"12345" for number in range(40)}
    for cells in (wide, {**dict.fromkeys(wide, b"1"), b"x:books\x0000": None}):  # new versions of all, one is removed
        city.table.put_many([Mutation(b"id0", cells), Mutation(b"zzz", {b"x:alone": b""})])

    after = json.loads(run("stats", "city", "--json"))

    assert after["rows"] == before["rows"] + 1  # of which nothing is read with an object
    assert after["cells"] == before["cells"] + 39 + 1
    assert after["bytes"] == before["bytes"] + 39 * (len("x:books.00") + 1) + len("zzz" + "x:alone")
    assert after["objects"] == before["objects"]


def test_no_wide_row_is_read_whole(city: nm.Model, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    counting = Counting(city.repository.store)
    monkeypatch.setattr(counting, "count", lambda **told: seen.append(told.get("cells_read", 0)))
    city.table.put_many([Mutation(b"id0", {b"x:books\0%04d" % number: b"" for number in range(2000)})])

    counted = sizes.count(counting.table("city"), lambda _: None)

    assert counted.total["cells"] > 2000
    assert max(seen) < 20


def test_the_share_of_containments_inside_one_shard_is_told(repository: nm.Repository, run: Any) -> None:
    model = repository.create("spread")
    model.roots.append(library.Library(name="Town", books=[library.Book(title="t") for _ in range(FANOUT + 1000)]))
    model.roots[0].people.append(library.Person(email="ann@example.org"))  # her id has no shard

    assert json.loads(run("stats", "spread", "--json"))["containments"] == {
        "edges": FANOUT + 1001,
        "inside": FANOUT,
        "share": pytest.approx(FANOUT / (FANOUT + 1001)),
    }
    assert "inside one shard: 500 of 1,501 (33.3%)" in run("stats", "spread")
