"""Objects made and changed in bulk, by tasks that run in this process; and what each costs."""

import datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

import neomodel as nm
from neomodel import ids, layout
from neomodel.sharing import shared
from neomodel.stores import VERSION
from neomodel.stores.wrappers import Counting
from tests.spark.people import Firm, Person, people
from tests.spark.things import Colour, Thing
from tests.spark.writing import attempted, everything, planned, sound, unchanged, write


def rows(**columns: Any) -> pa.Table:
    return pa.table(columns)


def names(found: Any) -> list[Any]:
    return [one.name for one in found]


# ids


@pytest.mark.parametrize("second", ["other", "same"])
@pytest.mark.parametrize("size", [1, 100], ids=["batches", "partitions"])
def test_two_rows_of_one_id_are_refused_whatever_each_of_them_changes(model: nm.Model, second: str, size: int) -> None:
    model.roots.append(Thing(name="same"))
    oid = str(nm.oid(model.roots[0]))
    given = [rows(_id=[oid], name=["same"]), rows(_id=[oid], name=[second])]

    with unchanged(model), pytest.raises(nm.InvalidValue, match="one row for each object"):
        write(model, *([pa.concat_tables(given)] if size == 1 else given), size=size)


def test_two_rows_that_move_one_object_are_refused(model: nm.Model) -> None:
    model.roots.extend([Thing(name="a"), Thing(name="b"), Thing(name="moved")])
    first, other, moved = (str(nm.oid(one)) for one in model.roots)

    with unchanged(model), pytest.raises(nm.InvalidValue, match="one row for each object"):
        write(model, *(rows(_id=[moved], _container=[place], _feature=["parts"]) for place in (first, other)))


# creation


def test_a_row_makes_an_object_with_its_id_that_holds_what_the_row_says(model: nm.Model) -> None:
    when = datetime.datetime(2024, 2, 29, 12, 30, tzinfo=datetime.UTC)
    write(
        model,
        rows(
            _id=["one"],
            name=["ü\0"],
            number=pa.array([-5], pa.int32()),
            large=[2**60],
            price=pa.array([Decimal("1.50")], pa.decimal128(38, 18)),
            huge=pa.array([Decimal(10**37)], pa.decimal128(38, 0)),
            ratio=[1e300],
            narrow=pa.array([0.1], pa.float32()),
            on=[True],
            when=pa.array([when], pa.timestamp("us", "UTC")),
            raw=[b"\0\xff"],
            colour=["GREEN"],
            tags=[["a", "b,c", ""]],
            numbers=pa.array([list(range(300))], pa.list_(pa.int32())),
            friend=["one"],
            friends=[["one"]],
        ),
    )

    one = model.roots[0]
    assert nm.oid(one) == "one"
    assert (one.name, one.number, one.large, one.price, one.huge) == ("ü\0", -5, 2**60, Decimal("1.5"), 10**37)
    assert (one.ratio, one.on, one.when, one.raw, one.colour) == (1e300, True, when, b"\0\xff", Colour.GREEN)
    assert one.narrow == Thing(narrow=0.1).narrow
    assert (list(one.tags), list(one.numbers)) == (["a", "b,c", ""], list(range(300)))
    assert one.friend is one
    assert list(one.friends) == [one]
    assert sound(model)


def test_a_row_is_stored_as_the_object_would_be(model: nm.Model) -> None:
    obj = Thing(name="a", number=7, colour=None, on=False, tags=["x"], price=Decimal("2"))
    nm.identify(obj, "obj")
    model.roots.append(obj)

    price = pa.array([Decimal("2")], pa.decimal128(38, 18))
    write(model, rows(_id=["row"], name=["a"], number=[7], colour=[None], on=[False], tags=[["x"]], price=price))

    stored = {key: {c: v for c, v in row.items() if c != VERSION} for key, row in everything(model)}
    assert stored[b"row"] == stored[b"obj"]


def test_objects_without_an_id_get_one_beside_their_container(model: nm.Model) -> None:
    top = Thing(name="top")
    model.roots.append(top)
    oid = str(nm.oid(top))

    write(model, rows(_container=[oid] * 600, _feature=["parts"] * 600, number=list(range(600))))

    assert [part.number for part in top.parts] == list(range(600))
    shards = [ids.shard_of(str(nm.oid(part))) for part in top.parts]
    assert shards == [ids.shard_for(oid, number) for number in range(600)]
    assert sound(model)


def test_many_roots_spread_over_shards(model: nm.Model) -> None:
    write(model, rows(number=list(range(2000))), rows(number=list(range(2000))), size=1000)

    found = [str(nm.oid(one)) for one in model.roots]
    assert len(set(found)) == 4000
    assert len({ids.shard_of(oid) for oid in found}) == 8
    assert sound(model)


def test_natural_keys_make_the_ids_and_find_what_is_there(model: nm.Model) -> None:
    oslo = people.Place(country="no", city="oslo", size=1)
    model.roots.append(oslo)

    write(model, rows(country=["no", "no"], city=["oslo", "bergen"], size=[2, 3]), type="Place")

    assert [(place.city, place.size) for place in model.all(people.Place)] == [("bergen", 3), ("oslo", 2)]
    assert model.roots[0] is oslo
    assert sound(model)
    with unchanged(model), pytest.raises(nm.InvalidValue, match=r"expected what its key makes: people.Place#no#bodø"):
        write(model, rows(_id=["x"], country=["no"], city=["bodø"]), type="Place")


def test_the_class_is_the_one_that_the_row_names(model: nm.Model) -> None:
    write(model, rows(_class=["Special", None, "things.Thing"]))

    assert sorted(one.eClass.name for one in model.all(Thing)) == ["Special", "Thing", "Thing"]
    for name, told in (("Other", "that is things.Thing or a subclass"), ("Nothing", "a concrete class")):
        with unchanged(model), pytest.raises(nm.InvalidValue, match=told):
            write(model, rows(_class=[name]))


def test_objects_of_all_classes_can_be_made_in_one_job(model: nm.Model) -> None:
    table = rows(
        _id=["box", "item", "thing"],
        _class=["Box", "Item", "Thing"],
        _container=[None, "box", None],
        _feature=[None, "items", None],
    )

    write(model, table, type=None)

    assert model["item"].box is model["box"]
    assert sound(model)


# change


def test_a_row_whose_id_is_there_changes_what_it_says_and_nothing_else(model: nm.Model) -> None:
    one, two = Thing(name="one", number=1, tags=["a"]), Thing(name="two", number=2)
    model.roots.extend([one, two])
    versions = {key: row[VERSION] for key, row in everything(model)}

    write(model, rows(_id=[str(nm.oid(one))], number=[5], colour=pa.array([None], pa.string())))

    assert (one.name, one.number, one.colour, list(one.tags)) == ("one", 5, None, ["a"])
    assert (two.name, two.number) == ("two", 2)
    after = {key: row[VERSION] for key, row in everything(model)}
    assert {key for key in after if after[key] != versions[key]} == {str(nm.oid(one)).encode()}


def test_a_competing_change_is_noticed(model: nm.Model) -> None:
    one = Thing(name="one")
    model.roots.append(one)

    def compete() -> None:
        with nm.edit(one):
            one.name = "mine"
            write(model, rows(_id=[str(nm.oid(one))], name=["theirs"]))

    with pytest.raises(nm.Conflict):
        compete()
    assert one.name == "theirs"


def test_a_row_that_changes_nothing_writes_nothing(model: nm.Model) -> None:
    one = Thing(name="one", number=1)
    model.roots.append(one)

    with unchanged(model):
        write(
            model, rows(_id=[str(nm.oid(one))], name=["one"], number=[1], _container=pa.nulls(1), _feature=pa.nulls(1))
        )


def test_a_collection_that_is_long_can_be_changed_and_one_can_become_long(model: nm.Model) -> None:
    long, short = Thing(numbers=list(range(1000))), Thing()
    model.roots.extend([long, short])
    values = pa.array([[3, 2, 1], list(range(700))], pa.list_(pa.int32()))

    write(model, rows(_id=[str(nm.oid(long)), str(nm.oid(short))], numbers=values))

    assert list(long.numbers) == [3, 2, 1]
    assert list(short.numbers) == list(range(700))
    assert sound(model)


# places


def test_objects_are_moved_by_their_own_row(model: nm.Model) -> None:
    top, other, part = Thing(name="top"), Thing(name="other"), Thing(name="part")
    top.parts.append(part)
    model.roots.extend([top, other])

    write(model, rows(_id=[str(nm.oid(part))], whole=[str(nm.oid(other))]))

    assert (names(top.parts), names(other.parts)) == ([], ["part"])

    write(model, rows(_id=[str(nm.oid(part))], _container=pa.nulls(1), _feature=pa.nulls(1)))

    assert (names(other.parts), names(model.roots)) == ([], ["top", "other", "part"])
    assert sound(model)


def test_containers_list_children_in_the_order_that_is_given(model: nm.Model) -> None:
    place = {"_container": [None, "top", "top", "top"], "_feature": [None, "parts", "parts", "parts"]}
    write(model, rows(_id=["top", "a", "b", "c"], parts=[["c", "a"], [], [], []], **place))

    assert [nm.oid(part) for part in model["top"].parts] == ["c", "a", "b"]

    write(model, rows(_id=["top"], parts=[["b"]]))

    assert [nm.oid(part) for part in model["top"].parts] == ["b", "c", "a"]
    with unchanged(model), pytest.raises(nm.InvalidValue, match="parts of object m/a is 'b', expected what lies there"):
        write(model, rows(_id=["a"], parts=[["b"]]))


@pytest.mark.parametrize(
    ("columns", "told"),
    [
        ({"_id": ["a"], "_container": ["b"], "_feature": ["parts"]}, "container of object m/a is 'b', expected an obj"),
        ({"_id": ["a"], "_container": ["a"], "_feature": ["parts"]}, "expected no object that lies in itself"),
        (
            {"_id": ["a", "b"], "_container": ["b", "a"], "_feature": ["parts", "parts"]},
            "no object that lies in itself",
        ),
        (
            {"_id": ["a", "b"], "_container": [None, "a"], "_feature": [None, "friends"]},
            "a containment of things.Thing",
        ),
        ({"_id": ["a", "b"], "_container": [None, "a"], "_feature": [None, None]}, "both, or none of a root"),
        ({"_id": ["a", "a"]}, "an id that no other row has"),
        ({"_id": ["a,b"]}, "printable characters without spaces and commas"),
        (
            {"_id": ["a"], "number": pa.array([None], pa.int32())},
            "Thing.number of object m/a.* is None",
        ),
        ({"_id": ["a"], "colour": ["BLUE"]}, "Thing.colour of object m/a.* is 'BLUE'"),
        (
            {"_id": ["a"], "tags": pa.array([None], pa.list_(pa.string()))},
            "an array, if it is to hold nothing",
        ),
        ({"_id": ["a"], "friend": ["@m"]}, "Thing.friend of object m/a"),
    ],
)
def test_what_cannot_be_stored_is_told_with_its_object_and_nothing_is_left(
    model: nm.Model, columns: dict[str, Any], told: str
) -> None:
    model.roots.append(Thing(name="there"))

    with unchanged(model), pytest.raises(nm.InvalidValue, match=told):
        write(model, rows(**columns))


def test_an_id_in_two_partitions_is_refused(model: nm.Model) -> None:
    model.roots.append(Thing(name="there"))

    with unchanged(model), pytest.raises(nm.InvalidValue, match="two rows for model m is 'a'"):
        write(model, rows(_id=["a"], name=["x"]), rows(_id=["a"], name=["y"]))


# opposites


def test_far_ends_follow(model: nm.Model) -> None:
    firm, old = Firm(name="f"), Person(name="old")
    model.roots.extend([firm, old])
    firm_id, old_id = str(nm.oid(firm)), str(nm.oid(old))

    write(
        model,
        rows(
            _id=["a", "b", "c"],
            spouse=["b", None, old_id],
            friends=[["b", "c", old_id], [], []],
            employer=[firm_id, firm_id, None],
        ),
        type="Person",
    )

    a, b, c = (model[oid] for oid in "abc")
    assert (a.spouse, b.spouse, c.spouse, old.spouse) == (b, a, old, c)
    assert ([*a.friends], [*b.friends], [*c.friends], [*old.friends]) == ([b, c, old], [a], [a], [a])
    assert [*firm.staff] == [a, b]
    assert sound(model)


def test_far_ends_follow_a_change(model: nm.Model) -> None:
    a, b, c = (Person(name=name) for name in "abc")
    model.roots.extend([a, b, c])
    a.spouse = b
    a.friends.extend([b, c])

    changed = rows(_id=[str(nm.oid(a))], spouse=[str(nm.oid(c))], friends=[[str(nm.oid(c))]])
    write(model, changed, type="Person")

    assert (a.spouse, b.spouse, c.spouse) == (c, None, a)
    assert ([*a.friends], [*b.friends], [*c.friends]) == ([c], [], [a])
    assert sound(model)


def test_two_who_claim_one_are_refused(model: nm.Model) -> None:
    table = rows(_id=["a", "b", "c"], spouse=["c", "c", None])

    with unchanged(model), pytest.raises(nm.InvalidValue, match=r"spouse of object m/c .* one object at most"):
        write(model, table, type="Person")


def test_a_far_end_that_is_not_there_is_refused(model: nm.Model) -> None:
    with unchanged(model), pytest.raises(nm.ObjectNotFound, match="employer of a refers to it, but there is none"):
        write(model, rows(_id=["a"], employer=["nobody"]), type="Person")


# costs


def test_a_task_reads_and_writes_once_for_a_batch(model: nm.Model) -> None:
    table = rows(_id=[f"t{number}" for number in range(5000)], number=list(range(5000)))
    writer = planned(model, table.schema)
    counting = Counting(shared(model.repository.store.url).store)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shared(model.repository.store.url), "store", counting)
        message = attempted(writer, table, size=2500)
        ours = dict(counting.calls)
        writer.commit([message])

    assert ours["get_many"] == 2
    assert ours["put_many"] == 2 + 2  # and two that the attempt is on record by
    assert sum(counting.calls.values()) < 60
    assert len(model.roots) == 5000
    assert layout.ECLASS in (model.table.get(b"ROOT") or {})
