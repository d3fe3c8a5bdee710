"""show, of what is no model or can't be read as one: the rows as they lie in the store, and why."""

import json
from typing import Any

import pytest

import neomodel as nm
from neomodel.cli import main
from neomodel.stores import Mutation

BINARY = b"\xff\x00"
NO_MODEL = "neomodel: 'jdt' has no roots: it was not written as a model, so its rows are shown\n"
NO_OBJECT = "neomodel: {!r} is no object of a model, so the row is shown\n"


@pytest.fixture
def table(repository: nm.Repository) -> Any:
    """A table `jdt` whose rows were written as rows."""
    table = repository.store.table("jdt")
    table.create(["p", "t"])
    table.put_many(
        [
            Mutation(b"a1", {b"p:name": b"main", b"t:version": b"1"}),
            Mutation(b"a2", {b"p:name": "größe\n".encode(), b"p:" + BINARY: BINARY, b"p:gone": None}),
            Mutation(BINARY, {b"p:name": b""}),
        ]
    )
    return table


def test_rows_are_shown_as_text_where_they_are_text_and_as_hex_where_not(table: Any, run: Any) -> None:
    assert run("show", "jdt", said=NO_MODEL) == (
        "a1\n"
        "  p:name = main\n"
        "  t:version = 1\n"
        "\n"
        "a2\n"
        '  p:name = "größe\\n"\n'
        "  0x703aff00 = 0xff00\n"
        "\n"
        "0xff00\n"
        '  p:name = ""\n'
    )


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (b"0x12", '"0x12"'),
        (b'"quoted"', '"\\"quoted\\""'),
        (b" indented", '" indented"'),
        (b"escape \x1b[31m", "0x657363617065201b5b33316d"),
        (b"v" * 201, "v" * 200 + "… (201 bytes)"),
    ],
)
def test_no_value_is_shown_like_another_one_nor_obeyed(table: Any, run: Any, value: bytes, shown: str) -> None:
    table.put_many([Mutation(b"k", {b"p:v": value})])

    assert run("show", "jdt", "k", said=NO_OBJECT.format("k")) == f"k\n  p:v = {shown}\n"


def test_one_row_is_shown_by_its_key_as_it_was_printed(table: Any, run: Any) -> None:
    shown = "a1\n  p:name = main\n  t:version = 1\n"

    assert run("show", "jdt", "a1", said=NO_OBJECT.format("a1")) == shown
    assert run("show", "jdt", "0x6131", said=NO_OBJECT.format("0x6131")) == shown
    assert run("show", "jdt", "0xff00", said=NO_OBJECT.format("0xff00")) == '0xff00\n  p:name = ""\n'


def test_a_limit_is_kept_and_what_is_left_out_is_said(table: Any, run: Any) -> None:
    said = NO_MODEL + "neomodel: only the first 2 rows are shown; --limit N shows more\n"

    assert run("show", "jdt", "--limit", "2", said=said).count("\n\n") == 1
    assert run("show", "jdt", "--limit", "3", said=NO_MODEL).count("\n\n") == 2


def test_rows_as_json_lose_nothing(table: Any, run: Any) -> None:
    table.put_many([Mutation(b"a2", {b"p:long": b"v" * 1000 + b"\x00"})])

    found = json.loads(run("show", "jdt", "--json", said=NO_MODEL))

    name = {"column": "p:name", "value": "main"}
    assert (found["model"], found["objects"]) == ("jdt", [])
    assert found["rows"][0] == {"key": "a1", "cells": [name, {"column": "t:version", "value": "1"}]}
    assert [row["key"] for row in found["rows"]] == ["a1", "a2", {"hex": "ff00"}]
    assert {"column": "p:long", "value": "v" * 1000 + "\x00"} in found["rows"][1]["cells"]
    assert {"column": {"hex": "703aff00"}, "value": {"hex": "ff00"}} in found["rows"][1]["cells"]


def test_the_row_that_lists_the_roots_is_shown_as_a_row(city: nm.Model, run: Any) -> None:
    assert "  p:eContents = id0\n" in run("show", "city", "ROOT", said=NO_OBJECT.format("ROOT"))


def test_a_row_of_that_name_that_lists_no_roots_is_no_model(table: Any, run: Any) -> None:
    table.put_many([Mutation(b"ROOT", {b"p:eContents": BINARY})])
    said = "neomodel: the row ROOT of 'jdt' does not list the roots of a model, so rows are shown\n"

    assert run("show", "jdt", said=said).startswith("ROOT\n  p:eContents = 0xff00\n")


# objects of a model that can't be read as such

SPOILT = [
    ({b"t:nsuri": b"http://gone"}, "http://gone#Book", "there is no metamodel 'http://gone' in memory:"),
    ({b"t:nsuri": None}, "?#Book", "there is no metamodel '' in memory:"),
    ({b"t:eclass": b"Boat"}, "http://library#Boat", "a class of http://library is 'Boat', expected one that"),
    ({b"t:eclass": BINARY}, "http://library#0xff00", "a class of http://library is"),
    ({b"p:pages": b"many"}, "http://library#Book", "many"),
]


@pytest.mark.parametrize(("cells", "kind", "said"), SPOILT)
def test_an_object_that_cant_be_read_is_shown_as_its_row_and_the_others_are_not(
    cells: Any, kind: str, said: str, city: nm.Model, capsys: pytest.CaptureFixture[str]
) -> None:
    city.table.put_many([Mutation(b"id2", cells)])

    assert main(["show", "city"]) == 0

    captured = capsys.readouterr()
    assert f"    {kind} id2  (as its row)\n      c:container = id0\n" in captured.out
    assert f"      sequel -> {kind} id2\n" in captured.out
    assert '    library.Book id1  title="Dune"\n' in captured.out
    assert captured.err.startswith("neomodel: some objects are shown as rows: ")
    assert said in captured.err
    assert captured.err.count("\n") == 1


@pytest.mark.parametrize(("cells", "said"), [(cells, said) for cells, _, said in SPOILT])
def test_as_json_such_an_object_has_why_and_cells(
    cells: Any, said: str, city: nm.Model, capsys: pytest.CaptureFixture[str]
) -> None:
    city.table.put_many([Mutation(b"id2", cells)])

    assert main(["show", "city", "--json"]) == 0

    found = json.loads(capsys.readouterr().out)["objects"][0]["children"]["books"][1]
    assert found.keys() == {"class", "ns_uri", "id", "why", "cells"}
    assert said in found["why"]
    assert {"column": "c:container", "value": "id0"} in found["cells"]
