"""models, metamodels, drop: what they print and what they change."""

import datetime
import json
from pathlib import Path
from typing import Any

import pytest

import neomodel as nm
from neomodel.errors import near
from neomodel.metamodel import Class, DataType, Package
from neomodel.stores import open_store

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


def test_models_are_listed_one_a_line_and_the_table_of_metamodels_is_none(repository: nm.Repository, run: Any) -> None:
    repository.create("jdt")
    repository.create("empty")

    assert repository.store.tables() == ["_metamodels", "_models", "empty", "jdt"]
    assert run("models") == "empty\njdt\n"
    assert json.loads(run("models", "--json")) == ["empty", "jdt"]


@pytest.mark.parametrize("command", ["models", "metamodels"])
def test_a_store_with_nothing_in_it_lists_nothing(command: str, run: Any) -> None:
    open_store("memory:without")

    assert run(command, "--store", "memory:without") == ""
    assert run(command, "--json", "--store", "memory:without") == "[]\n"


# metamodels


def grow(repository: nm.Repository) -> None:
    """A metamodel of two classes, one in a sub-package, in its second version."""
    inner = Package("inner", "http://shop/inner", classifiers=[Class("Item")])
    repository.register(Package("shop", "http://shop", packages=[inner]))
    repository.register(
        Package("shop", "http://shop", packages=[inner], classifiers=[Class("Order"), DataType("Money")])
    )


def test_metamodels_are_listed_with_classes_and_version_and_since_when(repository: nm.Repository, run: Any) -> None:
    before = datetime.datetime.now(datetime.UTC)
    grow(repository)

    lines = [line.split() for line in run("metamodels").splitlines()]

    assert lines[0] == ["ns_uri", "name", "classes", "version", "registered"]
    assert [line[:4] for line in lines[1:]] == [
        ["http://library", "library", "5", "1"],
        ["http://shop", "shop", "2", "2"],
    ]
    registered = datetime.datetime.fromisoformat(lines[2][4])
    assert abs(registered - before) < datetime.timedelta(minutes=5)


def test_metamodels_as_json_say_the_same(repository: nm.Repository, run: Any) -> None:
    grow(repository)

    library, shop = json.loads(run("metamodels", "--json"))

    assert datetime.datetime.fromisoformat(shop.pop("registered")).tzinfo is not None
    assert shop == {"ns_uri": "http://shop", "name": "shop", "classes": 2, "version": 2}
    assert (library["ns_uri"], library["classes"]) == ("http://library", 5)


# drop, and what all have in common


@pytest.mark.parametrize("command", ["stats", "show", "drop"])
def test_a_model_that_is_not_there_is_refused_with_the_nearest_that_is(
    repository: nm.Repository, refused: Any, command: str
) -> None:
    repository.create("jdt")

    assert "there is no model 'jtd' in memory:" in refused(command, "jtd")
    assert "did you mean 'jdt'?" in refused(command, "jtd")
    assert "`neomodel models` lists those there are" in refused(command, "zzzzz")


@pytest.mark.parametrize("command", ["stats", "show", "drop"])
def test_the_table_of_metamodels_is_not_taken_for_a_model(
    repository: nm.Repository, refused: Any, command: str
) -> None:
    assert "there is no model '_metamodels'" in refused(command, "_metamodels")

    assert repository.metamodels() == ["http://library"]


def test_drop_with_yes_removes_that_model_only(city: nm.Model, repository: nm.Repository, run: Any) -> None:
    repository.create("other")

    assert run("drop", "city", "--yes") == ""

    assert repository.models() == ["other"]
    assert repository.metamodels() == ["http://library"]


def test_drop_without_yes_is_refused_where_nobody_can_be_asked(
    city: nm.Model, repository: nm.Repository, refused: Any
) -> None:
    assert "say --yes" in refused("drop", "city")

    assert repository.models() == ["city"]


def test_a_file_in_place_of_a_store_is_told_as_such(refused: Any, tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    assert "that is a file, not a folder" in refused("models", "--store", f"lmdb:{tmp_path / 'file'}")


def test_a_name_that_is_far_from_all_is_not_told_for_one() -> None:
    assert near("articles", ["price"]) == ""
    assert near("prise", ["price"]) == "; did you mean 'price'?"


def test_a_store_without_runs_has_an_empty_list_of_them(repository: nm.Repository, run: Any) -> None:
    assert run("anna", "runs", said="neomodel: there are no runs\n") == ""
    assert run("anna", "runs", "--json") == "[]\n"
