"""`neomodel transform`, as a shell sees it."""

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

import neomodel as nm

RULES = """
import neomodel as nm

shelf = nm.package("{name}", "http://{name}")

@shelf.define
class Item:
    label: str | None

items = nm.Transformation("Items")

@items.rule(when=lambda book: book.title != "missing")
def item(book: "library.Book", item: Item):
    item.label = book.title

@items.rule
def reader(person: "library.Person", item: Item):
    item.label = person.name

broken = nm.Transformation("Broken")

@broken.rule
def wrong(book: "library.Book", item: Item):
    item.label = book.titel

number = 1
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> str:
    """A module in the current folder, with the transformations `items` and `broken`."""
    name = re.sub(r"\W", "_", request.node.name)[:50]
    (tmp_path / f"{name}.py").write_text(RULES.format(name=name))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", "")
    return name


def labels(repository: nm.Repository, model: str) -> list[str]:
    return sorted(item.label for item in repository.open(model).roots)


def test_a_run_ends_with_what_it_did(repository: nm.Repository, city: nm.Model, module: str, run: Any) -> None:
    out = run("transform", f"{module}:items", "city", "shelf")

    assert re.search(r"^item +2$", out, re.MULTILINE)
    assert re.search(r"^reader +1$", out, re.MULTILINE)
    assert re.search(r"^shelf: 3 objects of 4 in city, \d+\.\d s, [\d,]+ objects/s$", out, re.MULTILINE)
    assert labels(repository, "shelf") == ["Ann", "Dune", "Heretics"]
    assert str(Path.cwd()) not in sys.path


def test_what_it_did_as_json(city: nm.Model, module: str, run: Any) -> None:
    told = json.loads(run("transform", f"{module}:items", "city", "shelf", "--json"))

    assert (told["target"], told["engine"], told["elements"], told["results"]) == ("shelf", "local", 4, 3)
    assert told["applications"] == {"item": 2, "reader": 1}
    assert (told["remote_share"], len(told["parts"])) == (None, 1)


def test_a_model_is_brought_up_to_date(repository: nm.Repository, city: nm.Model, module: str, run: Any) -> None:
    run("transform", f"{module}:items", "city", "shelf")
    city.roots[0].books[1].title = "Chapterhouse"

    told = json.loads(run("transform", f"{module}:items", "city", "shelf", "--incremental", "--json"))
    assert told["applications"] == {"item": 1}
    assert labels(repository, "shelf") == ["Ann", "Chapterhouse", "Dune"]


def test_that_nothing_has_changed_is_said(city: nm.Model, module: str, run: Any) -> None:
    run("transform", f"{module}:items", "city", "shelf")

    out = run("transform", f"{module}:items", "city", "shelf", "--incremental")
    assert out == "shelf: nothing has changed in city since the last run\n"


def test_a_rule_that_fails_is_told_in_one_sentence(
    repository: nm.Repository, city: nm.Model, module: str, refused: Any
) -> None:
    sentence = refused("transform", f"{module}:broken", "city", "shelf")

    assert "rule wrong failed on library.Book" in sentence
    assert "at item.label" in sentence
    assert repository.models() == ["city"]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["{}", "city", "out"], "write it as MODULE:NAME"),
        (["{}:", "city", "out"], "write it as MODULE:NAME"),
        (["nowhere:items", "city", "out"], "module nowhere cannot be loaded"),
        (["{}:itmes", "city", "out"], "has no transformation 'itmes'; it has items, broken"),
        (["{}:number", "city", "out"], "has no transformation 'number'"),
        (["{}:items", "town", "out"], "there is no model 'town'"),
        (["{}:items", "city", "city"], "'city'"),
        (["{}:items", "city", "out", "--incremental"], "leave --incremental out to make it"),
        (["{}:items", "city", "out", "--incremental", "--engine", "spark"], "--engine spark"),
        (["{}:items", "city", "out", "--engine", "hadoop"], "hadoop"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(
    repository: nm.Repository, city: nm.Model, module: str, refused: Any, given: list[str], told: str
) -> None:
    before = repository.metamodels()

    assert told in refused("transform", *(one.format(module) for one in given))
    assert repository.models() == ["city"]
    assert "spark" not in given or repository.metamodels() == before


def test_a_module_that_does_not_load_is_told_with_why(city: nm.Model, module: str, refused: Any) -> None:
    Path("unloadable.py").write_text("1 / 0\n")

    assert "module unloadable cannot be loaded (ZeroDivisionError" in refused(
        "transform", "unloadable:x", "city", "out"
    )
