"""models, stats, show, drop: what they print and what they change."""

import json
from typing import Any

import pytest

from neomodel.cli import main
from neomodel.stores import Mutation, Store, open_store

BINARY = b"\xff\x00"


@pytest.fixture
def store(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Store:
    """A store with an empty table and `jdt`, which has two regions; $NEOMODEL_STORE names it."""
    store = open_store(f"memory:{request.node.name}")
    monkeypatch.setenv("NEOMODEL_STORE", store.url)
    store.table("empty").create(["p"])
    table = store.table("jdt")
    table.create(["p", "t"], splits=[b"b"])
    table.put_many(
        [
            Mutation(b"a1", {b"p:name": b"main", b"t:eclass": b"Method"}),
            Mutation(b"a2", {b"p:name": "größe\n".encode(), b"p:" + BINARY: BINARY, b"p:gone": None}),
            Mutation(BINARY, {b"p:name": b""}),
        ]
    )
    return store


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Any:
    """Runs a command, which must succeed; returns what it printed."""

    def run(*arguments: str, said: str = "") -> str:
        status = main(arguments)
        captured = capsys.readouterr()
        assert (status, captured.err) == (0, said)
        return captured.out

    return run


@pytest.fixture
def refused(capsys: pytest.CaptureFixture[str]) -> Any:
    """Runs a command, which must fail for its input; returns its sentence."""

    def refused(*arguments: str) -> str:
        assert main(arguments) == 2
        captured = capsys.readouterr()
        assert captured.out == ""
        assert captured.err.count("\n") == 1
        return captured.err

    return refused


# --store


def test_the_store_is_given_after_the_command_or_before_it_or_by_the_environment(
    run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("after", "before", "environment"):
        open_store(f"memory:{name}").table(name).create(["p"])
    monkeypatch.setenv("NEOMODEL_STORE", "memory:environment")

    assert run("models") == "environment\n"
    assert run("--store", "memory:before", "models") == "before\n"
    assert run("--store", "memory:before", "models", "--store", "memory:after") == "after\n"


# models


def test_models_are_listed_one_a_line(store: Store, run: Any) -> None:
    assert run("models") == "empty\njdt\n"
    assert json.loads(run("models", "--json")) == ["empty", "jdt"]


def test_a_store_without_models_lists_nothing(run: Any) -> None:
    open_store("memory:without")

    assert run("models", "--store", "memory:without") == ""
    assert run("models", "--json", "--store", "memory:without") == "[]\n"


# stats


def test_stats_count_rows_cells_and_bytes_by_region(store: Store, run: Any) -> None:
    lines = [line.split() for line in run("stats", "jdt").splitlines()]

    assert lines == [
        ["from", "to", "served", "by", "rows", "cells", "bytes"],
        ["-", "b", "-", "2", "4", "48"],
        ["b", "-", "-", "1", "1", "8"],
        ["total", "3", "5", "56"],
    ]


def test_stats_as_json_have_the_same_figures(store: Store, run: Any) -> None:
    served = {"host": None, "port": None}

    assert json.loads(run("stats", "jdt", "--json")) == {
        "model": "jdt",
        "regions": [
            {"start": "", "stop": "b", **served, "rows": 2, "cells": 4, "bytes": 48},
            {"start": "b", "stop": None, **served, "rows": 1, "cells": 1, "bytes": 8},
        ],
        "rows": 3,
        "cells": 5,
        "bytes": 56,
    }


def test_stats_of_an_empty_model_are_zero(store: Store, run: Any) -> None:
    assert run("stats", "empty").splitlines()[-1].split() == ["total", "0", "0", "0"]


def test_a_long_key_is_not_cut_where_nobody_looks(store: Store, run: Any) -> None:
    store.table("long").create(["p"], splits=[b"k" * 240])

    assert "k" * 240 in run("stats", "long")


# show


def test_rows_are_shown_as_text_where_they_are_text_and_as_hex_where_not(store: Store, run: Any) -> None:
    assert run("show", "jdt") == (
        "a1\n"
        "  p:name = main\n"
        "  t:eclass = Method\n"
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
def test_no_value_is_shown_like_another_one_nor_obeyed(store: Store, run: Any, value: bytes, shown: str) -> None:
    store.table("empty").put_many([Mutation(b"k", {b"p:v": value})])

    assert run("show", "empty") == f"k\n  p:v = {shown}\n"


def test_one_row_is_shown_by_its_key_as_it_was_printed(store: Store, run: Any) -> None:
    assert run("show", "jdt", "a1") == "a1\n  p:name = main\n  t:eclass = Method\n"
    assert run("show", "jdt", "0xff00") == '0xff00\n  p:name = ""\n'
    assert run("show", "jdt", "0x6131") == run("show", "jdt", "a1")


def test_a_limit_is_kept_and_what_is_left_out_is_said(store: Store, run: Any) -> None:
    said = "neomodel: only the first 2 rows are shown; --limit N shows more\n"

    assert run("show", "jdt", "--limit", "2", said=said).count("\n\n") == 1
    assert run("show", "jdt", "--limit", "3").count("\n\n") == 2


def test_twenty_rows_are_shown_unless_told_otherwise(store: Store, run: Any) -> None:
    store.table("empty").put_many(Mutation(b"%02d" % n, {b"p:n": b""}) for n in range(21))
    said = "neomodel: only the first 20 rows are shown; --limit N shows more\n"

    assert len(run("show", "empty", "--json", said=said).splitlines()) == 20


def test_rows_as_json_are_one_a_line_and_lose_nothing(store: Store, run: Any) -> None:
    store.table("empty").put_many([Mutation(b"\xff", {b"p:\xff": b"v" * 1000 + b"\x00"})])

    rows = [json.loads(line) for line in run("show", "jdt", "--json").splitlines()]
    long = json.loads(run("show", "empty", "0xff", "--json"))

    assert rows[0] == {
        "key": "a1",
        "cells": [{"column": "p:name", "value": "main"}, {"column": "t:eclass", "value": "Method"}],
    }
    assert [row["key"] for row in rows] == ["a1", "a2", {"hex": "ff00"}]
    assert long["cells"] == [{"column": {"hex": "703aff"}, "value": "v" * 1000 + "\x00"}]


@pytest.mark.parametrize(
    ("oid", "said"),
    [("zz", "there is no row 'zz' in model 'jdt' of memory:"), ("0xz", "not hex digits"), ("", "row key")],
)
def test_an_id_that_is_not_there_is_refused(store: Store, refused: Any, oid: str, said: str) -> None:
    assert said in refused("show", "jdt", oid)


# drop, and what all have in common


@pytest.mark.parametrize("command", ["stats", "show", "drop"])
def test_a_model_that_is_not_there_is_refused_with_the_nearest_that_is(
    store: Store, refused: Any, command: str
) -> None:
    assert "there is no model 'jtd' in memory:" in refused(command, "jtd")
    assert "did you mean 'jdt'?" in refused(command, "jtd")
    assert "`neomodel models` lists those there are" in refused(command, "zzzzz")


def test_drop_with_yes_removes_that_model_only(store: Store, run: Any) -> None:
    assert run("drop", "jdt", "--yes") == ""

    assert store.tables() == ["empty"]


def test_drop_without_yes_is_refused_where_nobody_can_be_asked(store: Store, refused: Any) -> None:
    assert "say --yes" in refused("drop", "jdt")

    assert store.tables() == ["empty", "jdt"]
