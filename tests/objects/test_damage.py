"""A row that holds what was never written."""

import pickle

import pytest

import neomodel as nm
from neomodel.stores import Mutation

things = nm.package("things", "http://example.org/things")


@things.define
class Thing:
    size: int
    marks: list[float]
    name: str


@pytest.mark.parametrize(("column", "cell"), [("size", b"much"), ("marks", b'["no"]'), ("name", b"\xff")])
def test_a_cell_that_is_no_value_of_its_feature_is_told_with_its_place_and_the_rest_reads_on(
    column: str, cell: bytes
) -> None:
    repo = nm.connect("memory:")
    repo.register(things)
    model = repo.create("m")
    thing = Thing(size=1, marks=[1.5], name="a")
    model.roots.append(thing)
    model.table.put_many([Mutation(nm.oid(thing).encode(), {b"p:" + column.encode(): cell})])

    with pytest.raises(nm.CorruptRow, match=f"things.Thing.{column} of object m/{nm.oid(thing)} holds") as caught:
        list(thing.eGet(column)) if column == "marks" else thing.eGet(column)

    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    others = {"size": 1, "marks": [1.5], "name": "a"}
    del others[column]
    assert {name: thing.eGet(name) for name in others} == others
