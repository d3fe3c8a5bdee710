"""The same token gives the same rows: after the source has changed, and however it is cut into parts."""

import subprocess
import sys
from functools import partial

import pytest

import neomodel as nm
from metamodels.transformations.class2relational import class2relational
from neomodel.rules import part
from tests.rules.shapes import Label, Leaf, Node, Special, Thing, cut_at, everywhere, made, named, rows

MANY = 300  # more than a cell holds of a collection

EVERYTHING = nm.Transformation("Everything")


@EVERYTHING.helper
def path(node: Node) -> str:
    return node.name if node.parent is None else f"{path(node.parent)}/{node.name}"


@EVERYTHING.constant
def roots(model: nm.Model) -> int:
    return len(model.roots)


@EVERYTHING.lazy
def label(node: Node, label: Label):
    label.text = node.name


@EVERYTHING.lazy(unique=True)
def origin(node: Node, thing: Special):
    thing.name = f"origin {node.name}"
    thing.labels = [label(node)]


@EVERYTHING.rule
def thing(node: Node, thing: Thing, core: Thing):
    thing.name = path(node)
    thing.core = core
    thing.number = roots()
    thing.sees = [nm.trace(other, "thing") for other in node.knows]
    thing.likes = nm.trace(node.next, "thing")
    thing.labels = [label(node), *(label(other) for other in node.known)]
    core.far = [origin(node.parent)] if node.parent is not None else []


@EVERYTHING.rule(extends=thing, when=lambda node: node.parent is not None)
def inner(node: Leaf, thing: Special):
    thing.whole = nm.trace(node.parent, "thing")


@EVERYTHING.rule(key=lambda node: node.name[0])
def letter(nodes: Node, group: Thing):
    group.name = nodes[0].name[0]
    group.words = [node.name for node in nodes]
    group.fans = [nm.trace(node, rule="inner") for node in nodes if node.name in ("a1", "b")]


def first_rows(source: nm.Model) -> tuple[str, dict]:
    model = made(EVERYTHING, source, "first")
    return nm.runs(model)[0].token, rows(model)


def test_the_same_token_gives_the_same_rows_after_the_source_has_changed(source: nm.Model) -> None:
    token, expected = first_rows(source)
    named(source, "a", Node).name = "changed"
    named(source, "top", Node).children.append(Leaf(name="new"))
    nm.delete(named(source, "a1", Node))

    assert rows(made(EVERYTHING, source, "again", token=token)) == expected
    assert rows(made(EVERYTHING, source, "now")) != expected


@pytest.mark.parametrize("cuts", [[b"a1"], [b"b", b"t"], [b"a", b"a1", b"b", b"other", b"top"]])
def test_the_same_token_gives_the_same_rows_however_the_source_is_cut(source: nm.Model, cuts: list[bytes]) -> None:
    token, expected = first_rows(source)

    engines = [cut_at(cuts), cut_at(cuts, range(len(cuts), -1, -1))]
    for number, engine in enumerate(engines):
        assert rows(made(EVERYTHING, source, f"again{number}", token=token, engine=engine)) == expected


def test_the_same_token_gives_the_same_rows_however_many_are_written_at_once(
    source: nm.Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    token, expected = first_rows(source)
    monkeypatch.setattr(part, "WINDOW", 1)

    assert rows(made(EVERYTHING, source, "again", token=token)) == expected


def test_two_runs_without_a_token_differ_in_versions_only(source: nm.Model) -> None:
    token, expected = first_rows(source)
    second = made(EVERYTHING, source, "second")
    assert nm.runs(second)[0].token != token

    without = [
        {key: {c: v for c, v in row.items() if c != b"t:version"} for key, row in found.items()}
        for found in (expected, rows(second))
    ]
    assert without[0].keys() == without[1].keys()
    assert without[0] == without[1]


def test_a_token_is_for_its_transformation_and_its_source(source: nm.Model) -> None:
    token, _ = first_rows(source)
    other = source.repository.create("other")
    for wrong in ("", "x", "[]", '["a","b","c","d"]', token.replace("Everything", "Something")):
        with pytest.raises(nm.InvalidValue, match="token"):
            nm.transform(EVERYTHING, source, "again", token=wrong)
    with pytest.raises(nm.InvalidValue, match="on model other"):
        nm.transform(EVERYTHING, other, "again", token=token)


def test_a_source_of_a_time_is_read_as_of_it(source: nm.Model) -> None:
    token, expected = first_rows(source)
    named(source, "b", Node).name = "changed"
    before = source.repository.open("in", as_of=int(token.split(",")[-1].rstrip("]")))

    assert rows(made(EVERYTHING, before, "again")) == expected


# long collections and many roots


LONG = nm.Transformation("Long")


@LONG.rule
def long(node: Node, thing: Thing):
    thing.name = node.name
    thing.words = list(node.tags)
    thing.sees = [nm.trace(other, "thing") for other in node.knows]
    thing.likes = nm.trace(node.parent, "thing")


@LONG.rule
def leaf(node: Leaf, part: Special):
    part.name = f"{node.name} part"
    part.whole = nm.trace(node.parent, "thing")
    part.far = [nm.trace(other, rule="long") for other in node.parent.children] if node.size == 7 else []


def test_long_collections_and_many_roots_are_the_same_rows_too(repo: nm.Repository) -> None:
    source = repo.create("in")
    top = Node(name="top", tags=[f"tag {number}" for number in range(MANY)])
    nm.identify(top, "m")
    for number in range(MANY):
        child = Leaf(name=f"{number:03}", size=number)
        nm.identify(child, f"{'az'[number % 2]}{number:03}")
        top.children.append(child)
    source.roots.append(top)
    top.knows.extend(list(top.children))
    model = made(LONG, source, "first")
    token, expected = nm.runs(model)[0].token, rows(model)
    found = named(model, "top")

    order = [f"{number:03}" for number in (*range(0, MANY, 2), *range(1, MANY, 2))]
    assert len(model.roots) == MANY + 1
    assert [part.name for part in found.parts] == [f"{name} part" for name in order]
    assert [fan.name for fan in found.fans] == order
    assert [one.name for one in found.sees] == [f"{number:03}" for number in range(MANY)]
    assert list(found.words) == [f"tag {number}" for number in range(MANY)]
    assert len(named(model, "007 part").far) == MANY
    top.tags.clear()
    nm.delete(top.children[0])
    for number, engine in enumerate([cut_at([b"b"]), cut_at([b"a150", b"m", b"z200"], [2, 0, 3, 1])]):
        again = made(LONG, source, f"again{number}", token=token, engine=engine)
        assert rows(again) == expected


def test_every_object_in_a_part_of_its_own(source: nm.Model) -> None:
    token, expected = first_rows(source)

    assert rows(made(EVERYTHING, source, "again", token=token, engine=everywhere(source))) == expected


def test_a_version_is_the_same_in_every_process() -> None:
    asked = "from metamodels.transformations.class2relational import class2relational as c; print(c.version, end='')"
    told = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True).stdout

    assert told == class2relational.version


def test_a_guard_without_text_is_part_of_the_version_but_not_where_it_lies_in_memory() -> None:
    def guarded(asked: str) -> nm.Transformation:
        def is_it(name: str, node: Node) -> bool:
            return bool(node.name == name)

        made = nm.Transformation("guarded")
        made.rule(when=partial(is_it, asked))(_copied)
        return made

    one, same, other = guarded("a"), guarded("a"), guarded("b")

    assert one.version == same.version != other.version


def _copied(node: Node, label: Label) -> None:
    label.text = node.name
