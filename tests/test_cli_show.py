"""show: a model as a tree of objects."""

import json
from typing import Any

import pytest

import neomodel as nm
from neomodel import ids
from neomodel.cli import main, show
from neomodel.stores import Mutation
from neomodel.stores.wrappers import Counting
from tests.cli_fixture import library

MORE = "neomodel: objects shown: {}; --limit N shows more, `neomodel show city ID` what is in one\n"


@pytest.fixture
def ann(city: nm.Model) -> str:
    return nm.oid(city["id0"].people[0]) or ""


def test_an_object_is_a_line_and_below_it_what_it_holds_and_contains(city: nm.Model, ann: str, run: Any) -> None:
    assert run("show", "city") == (
        'library.Library id0  name="Town"\n'
        "  books: 2\n"
        '    library.Book id1  title="Dune"\n'
        "      pages = 412\n"
        '      tags = ["sand", "spice"]\n'
        f'      readers -> library.Person {ann}  email="ann@example.org"  name="Ann"\n'
        '      sequel -> library.Book id2  title="Heretics"\n'
        '    library.Book id2  title="Heretics"\n'
        "  people: 1\n"
        f'    library.Person {ann}  email="ann@example.org"  name="Ann"\n'
        '      reads -> library.Book id1  title="Dune"\n'
    )


def test_an_object_is_shown_by_its_id_with_where_it_lies(city: nm.Model, run: Any) -> None:
    assert run("show", "city", "id2") == (
        'in library.Library id0  name="Town", books\nlibrary.Book id2  title="Heretics"\n'
    )


def test_a_single_child_and_values_that_are_no_text_are_shown(city: nm.Model, run: Any) -> None:
    city["id0"].door = library.Door(width=2.5)
    city["id2"].cover = b"\x00\xff"

    out = run("show", "city")

    assert "      cover = 0x00ff\n" in out
    assert f"  door: 1\n    library.Door {nm.oid(city['id0'].door)}  width=2.5\n" in out


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("two\nlines", '"two\\nlines"'),
        ('"quoted"', '"\\"quoted\\""'),
        ("escape \x1b[31m\x9b\u202e", '"escape \\u001b[31m\\x9b\\u202e"'),
        ("größe", '"größe"'),
        ("", '""'),
    ],
)
def test_text_is_in_quotes_and_not_obeyed(city: nm.Model, run: Any, value: str, shown: str) -> None:
    city["id2"].title = value

    assert run("show", "city", "id2").splitlines()[1] == f"library.Book id2  title={shown}"


def test_a_long_value_is_cut_and_its_length_said(city: nm.Model, run: Any) -> None:
    city["id2"].title = "t" * 300
    city["id2"].tags.extend(f"tag{n}" for n in range(30))

    lines = run("show", "city", "id2").splitlines()

    assert lines[1] == f'library.Book id2  title="{"t" * 59}… (302 characters)'
    assert lines[2] == f'  title = "{"t" * 199}… (302 characters)'
    assert lines[3] == "  tags = [" + ", ".join(f'"tag{n}"' for n in range(10)) + ", … 20 more]"


# references


def test_a_reference_to_what_is_gone_is_marked(city: nm.Model, run: Any) -> None:
    nm.delete(city["id2"])

    assert "      sequel -> id2  (missing)\n" in run("show", "city")
    found = json.loads(run("show", "city", "id1", "--json"))["objects"][0]
    assert found["references"]["sequel"] == {"id": "id2", "missing": True}


def test_a_reference_to_another_model_names_it(city: nm.Model, repository: nm.Repository, run: Any) -> None:
    other = repository.create("other")
    book = library.Book(title="Elsewhere")
    nm.identify(book, "far")
    other.roots.append(book)
    city["id2"].sequel = book

    assert '  sequel -> library.Book @other/far  title="Elsewhere"\n' in run("show", "city", "id2")
    found = json.loads(run("show", "city", "id2", "--json"))["objects"][0]["references"]
    assert found == {"sequel": {"class": "Book", "ns_uri": "http://library", "id": "far", "model": "other"}}

    repository.drop("other")
    assert "  sequel -> @other/far  (missing)\n" in run("show", "city", "id2")


def test_a_reference_to_a_file_that_was_not_imported_names_it(city: nm.Model, run: Any) -> None:
    city.table.put_many([Mutation(b"id2", {b"p:sequel": ids.elsewhere("far.xmi", "//@books.0").encode()})])

    assert "  sequel -> far.xmi#//@books.0  (in no model)\n" in run("show", "city", "id2")
    found = json.loads(run("show", "city", "id2", "--json"))["objects"][0]["references"]
    assert found == {"sequel": {"uri": "far.xmi#//@books.0"}}


def test_of_many_references_the_first_five_are_shown(city: nm.Model, ann: str, run: Any) -> None:
    city["id0"].books.extend(library.Book(title=f"{n}") for n in range(9))
    city[ann].reads.extend(city["id0"].books)

    lines = run("show", "city", ann).splitlines()[2:]

    assert len(lines) == 6
    assert lines[0] == '  reads -> library.Book id1  title="Dune"'
    assert lines[1] == '        -> library.Book id2  title="Heretics"'
    assert lines[5] == "        … 6 more"


# how much


def test_of_a_large_collection_the_first_are_shown_and_how_many_more_there_are(city: nm.Model, run: Any) -> None:
    city["id0"].books.extend(library.Book(title=f"{n}") for n in range(198))

    out = run("show", "city", said=MORE.format(20))

    assert "  books: 200\n" in out
    assert out.count("library.Book ") - out.count("-> library.Book ") == 18
    assert "    … 182 more\n" in out
    assert "  people: 1\n    library.Person" in out  # the wide collection before it has not used up all


def test_deep_and_wide_parts_of_a_model_share_the_limit(city: nm.Model, run: Any) -> None:
    for book in city["id0"].books:
        book.chapters.extend(library.Chapter(name=f"{n}") for n in range(100))

    found = json.loads(run("show", "city", "--json", said=MORE.format(20)))["objects"][0]

    assert [len(book["children"]["chapters"]) for book in found["children"]["books"]] == [8, 8]
    assert [book["left_out"] for book in found["children"]["books"]] == [{"chapters": 92}] * 2


def test_a_limit_and_a_depth_are_kept(city: nm.Model, run: Any) -> None:
    assert run("show", "city", "--limit", "1", said=MORE.format(1)) == (
        'library.Library id0  name="Town"\n  books: 2, not shown\n  people: 1, not shown\n'
    )
    assert run("show", "city", "--depth", "0", said=MORE.format(1)) == run(
        "show", "city", "--limit", "1", said=MORE.format(1)
    )
    assert run("show", "city", "--limit", "4") == run("show", "city", "--depth", "1")


def test_a_model_deeper_than_can_be_shown_is_shown_in_part(city: nm.Model, run: Any) -> None:
    top = inner = library.Chapter(name="0")
    for number in range(1, 300):
        inner.inner.append(inner := library.Chapter(name=f"{number}"))
    city["id1"].chapters.append(top)

    said = MORE.format(103)
    assert '  name="98"\n' in run("show", "city", "--limit", "1000", said=said)
    assert len(run("show", "city", "--limit", "1000", "--json", said=said)) > 1000


def test_a_few_objects_of_a_large_model_cost_few_reads(
    city: nm.Model, repository: nm.Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    city["id0"].books.extend(library.Book(title=f"{n}") for n in range(3000))
    counting = Counting(repository.store)
    monkeypatch.setattr(show, "connect", lambda *_, **__: nm.Repository(counting))

    assert main(["show", "city"]) == 0

    assert sum(counting.calls.values()) < 20
    assert counting.calls["scan"] == 0
    assert counting.cells_read < 1000


# JSON


def test_json_is_nested_and_complete(city: nm.Model, ann: str, run: Any) -> None:
    city["id1"].cover = b"\x00" * 1000
    kind = {"ns_uri": "http://library"}
    nothing: dict[str, Any] = {"timelines": [], "references": {}, "children": {}, "left_out": {}}
    book = {"class": "Book", **kind}
    reader = {"class": "Person", **kind, "id": ann}

    assert json.loads(run("show", "city", "--json")) == {
        "model": "city",
        "rows": [],
        "objects": [
            {
                "class": "Library",
                **kind,
                "id": "id0",
                **nothing,
                "attributes": {"name": "Town"},
                "children": {
                    "books": [
                        {
                            **book,
                            "id": "id1",
                            **nothing,
                            "attributes": {
                                "title": "Dune",
                                "pages": 412,
                                "tags": ["sand", "spice"],
                                "cover": "00" * 1000,
                            },
                            "references": {"readers": [reader], "sequel": {**book, "id": "id2"}},
                        },
                        {**book, "id": "id2", **nothing, "attributes": {"title": "Heretics"}},
                    ],
                    "people": [
                        {
                            **reader,
                            **nothing,
                            "attributes": {"email": "ann@example.org", "name": "Ann"},
                            "references": {"reads": [{**book, "id": "id1"}]},
                        }
                    ],
                },
            }
        ],
    }


# what is not there


def test_a_model_without_objects_says_so(repository: nm.Repository, run: Any) -> None:
    model = repository.create("new")
    assert run("show", "new", said="neomodel: model 'new' has no objects\n") == ""

    model.roots.append(library.Book(title="a"))
    nm.delete(model.roots[0])
    assert run("show", "new", said="neomodel: model 'new' has no objects\n") == ""


@pytest.mark.parametrize(
    ("oid", "said"),
    [("zz", "there is no object 'zz' in model 'city' of memory:"), ("0xz", "not hex digits"), ("", "row key")],
)
def test_an_id_that_is_not_there_is_refused(city: nm.Model, refused: Any, oid: str, said: str) -> None:
    assert said in refused("show", "city", oid)
