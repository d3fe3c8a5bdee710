"""A row that holds what was never written."""

import pickle
from typing import Any

import pytest

import neomodel as nm
from neomodel.stores import Mutation

things = nm.package("things", "http://example.org/things")


@things.define
class Thing:
    size: int
    marks: list[float]
    name: str
    inner: list["Thing"] = nm.contains()
    friends: list["Thing"] = nm.reference(opposite="fans")
    fans: list["Thing"] = nm.reference(opposite="friends")


def stored(things_inside: list[Any], **features: Any) -> Any:
    """A thing that is the only root of a model."""
    repo = nm.connect("memory:")
    repo.register(things)
    thing = Thing(inner=things_inside, **features)
    repo.create("m").roots.append(thing)
    return thing


def spoil(thing: Any, column: bytes, cell: bytes | None) -> None:
    thing.eResource.table.put_many([Mutation(nm.oid(thing).encode(), {column: cell})])


@pytest.mark.parametrize(("column", "cell"), [("size", b"much"), ("marks", b'["no"]'), ("name", b"\xff")])
def test_a_cell_that_is_no_value_of_its_feature_is_told_with_its_place_and_the_rest_reads_on(
    column: str, cell: bytes
) -> None:
    thing = stored([], size=1, marks=[1.5], name="a")
    spoil(thing, b"p:" + column.encode(), cell)

    with pytest.raises(nm.CorruptRow, match=f"things.Thing.{column} of object m/{nm.oid(thing)} holds") as caught:
        list(thing.eGet(column)) if column == "marks" else thing.eGet(column)

    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    others = {"size": 1, "marks": [1.5], "name": "a"}
    del others[column]
    assert {name: thing.eGet(name) for name in others} == others


def part_of(thing: Any, feature: str, letter: bytes) -> Any:
    """The first cell of a long collection with that letter: see `long_lists`."""
    head = feature.encode() + b"\0"
    cells = thing.eResource.table.cells(nm.oid(thing).encode(), "x", head, head[:-1] + b"\1")
    return next(cell for cell in cells if cell.qualifier[len(head) + 6 :].startswith(letter))


@pytest.mark.parametrize(("letter", "cell"), [(b"n", b"\2\0"), (b"e", b"\x80")])
@pytest.mark.parametrize("feature", ["marks", "inner"])
def test_a_part_of_a_long_list_that_can_t_be_read_is_told_with_its_place(
    feature: str, letter: bytes, cell: bytes
) -> None:
    thing = stored([Thing(name=str(number)) for number in range(600)], marks=[1.5] * 600)
    thing.eGet(feature).append(2.5 if feature == "marks" else Thing(name="last"))
    spoil(thing, b"x:" + part_of(thing, feature, letter).qualifier, cell)
    again = nm.repository.Repository(thing.eResource.repository.store).open("m")[nm.oid(thing)]

    with pytest.raises(nm.CorruptRow, match=f"things.Thing.{feature} of object m/{nm.oid(thing)} holds"):
        list(again.eGet(feature))
    with pytest.raises(nm.CorruptRow, match=f"things.Thing.{feature} of object m/{nm.oid(thing)} holds"):
        again.eGet(feature).insert(0, 0.5 if feature == "marks" else Thing(name="first"))


@pytest.mark.parametrize("missing", [True, False])
def test_a_check_tells_of_a_long_list_that_lost_a_part_and_goes_on(missing: bool) -> None:
    thing = stored([Thing(name=str(number)) for number in range(600)], marks=[1.5] * 600)
    part = part_of(thing, "inner", b"n")
    spoil(thing, b"x:" + part.qualifier, None if missing else b"\2\0")
    spoil(thing, b"p:size", b"much")

    report = nm.check(thing.eResource, repair=True, patience=0)

    assert [(one.kind, one.feature) for one in report.findings] == [("cell", "inner"), ("cell", "size")]
    assert report.left == 2
    assert "a part of the list is missing, or damaged" in report.findings[0].sentence


@pytest.mark.parametrize("column", [b"p:inner", b"p:friends"])
def test_a_repair_changes_nothing_that_a_cell_which_can_t_be_read_may_say(column: bytes) -> None:
    friends = [Thing(name="b"), Thing(name="c")]
    thing = stored(friends, name="a")
    thing.friends.extend(friends)
    spoil(thing, column, b"\x80,")

    report = nm.check(thing.eResource, repair=True, patience=0)

    assert [(one.kind, one.feature, one.mended) for one in report.findings] == [("cell", column[2:].decode(), False)]
    assert [list(friend.fans) for friend in friends] == [[thing], [thing]]


@pytest.mark.parametrize(("column", "cell"), [("name", b"\xff"), ("marks", b'["no"]')])
def test_a_graph_of_what_can_t_be_read_is_refused_with_its_place(column: str, cell: bytes) -> None:
    thing = stored([], marks=[1.5], name="a")
    spoil(thing, b"p:" + column.encode(), cell)

    with pytest.raises(nm.CorruptRow, match=f"things.Thing.{column} of object m/{nm.oid(thing)} holds"):
        nm.to_networkx(thing.eResource, attributes=True)
