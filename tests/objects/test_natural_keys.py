"""Classes with a natural key: the id is made from the key, so the same key is the same object."""

import enum
from collections.abc import Callable
from typing import Any

import pytest

import neomodel as nm
from neomodel.repository import Repository
from neomodel.stores.wrappers import Counting

shop = nm.package("shop", "http://shop")


@shop.define
class Region(enum.Enum):
    NORTH = 1
    SOUTH = 2


@shop.define(key=["region", "number"])
class Order:
    region: Region | None = None
    number: int
    note: str | None = None
    place: str | None = None
    lines: list["Line"] = nm.contains()
    tags: list[str] = nm.attribute()


@shop.define
class Line:
    text: str | None = None


@shop.define
class Ledger:
    orders: list[Order] = nm.contains()


@shop.define
class Desk:
    order: Order | None = nm.reference()


@pytest.fixture
def model(repo: Repository) -> nm.Model:
    repo.register(shop)
    return repo.create("orders")


def order(number: int, region: Any = Region.NORTH, **features: Any) -> Any:
    return Order(number=number, region=region, **features)


def test_the_id_is_made_from_the_key(model: nm.Model) -> None:
    made = order(42)
    model.roots.append(made)

    assert nm.oid(made) == "shop.Order#NORTH#b42"
    assert model["shop.Order#NORTH#b42"] is made


def test_the_same_key_twice_is_the_same_row_with_the_features_of_both(repo: Repository, model: nm.Model) -> None:
    first = order(1, note="a", place="here", tags=["x"], lines=[Line(text="one")])
    model.roots.append(first)
    second = order(1, note="b", lines=[Line(text="two")])
    model.roots.append(second)

    (read,) = Repository(repo.store).open("orders").all(Order)
    assert (read.note, read.place, read.tags) == ("b", "here", ["x"])
    assert [line.text for line in read.lines] == ["one", "two"]
    assert (first.note, second.place, len(model.roots)) == ("b", "here", 1)


def test_an_object_made_again_is_the_live_one_if_nobody_holds_the_first(model: nm.Model) -> None:
    model.roots.append(order(1, note="a"))
    again = order(1)
    model.roots.append(again)

    assert model[nm.oid(again)] is again
    assert again.note == "a"
    again.note = "b"
    assert next(model.all(Order)).note == "b"


def test_two_new_objects_with_one_key_are_one_also_if_they_are_stored_at_once(
    repo: Repository, model: nm.Model
) -> None:
    first, second = order(1, note="a", place="here"), order(1, note="b")
    model.roots.extend([first, order(2), second])
    second.tags = ["x"]

    assert (first.note, second.place, first.tags, len(model.roots)) == ("b", "here", ["x"], 2)
    assert [one.number for one in Repository(repo.store).open("orders").roots] == [1, 2]


def test_making_the_same_again_changes_no_row(repo: Repository, model: nm.Model) -> None:
    model.roots.append(order(1, note="a"))
    before = list(model.table.scan())

    Repository(repo.store).open("orders").roots.append(order(1, note="a"))

    assert list(model.table.scan()) == before


def test_an_object_made_again_elsewhere_is_moved_there(repo: Repository, model: nm.Model) -> None:
    one, two = Ledger(orders=[order(1)]), Ledger()
    model.roots.extend([one, two])

    two.orders.append(order(1))

    assert (len(one.orders), [found.number for found in two.orders]) == (0, [1])
    read = Repository(repo.store).open("orders").roots
    assert [[found.number for found in ledger.orders] for ledger in read] == [[], [1]]


def test_objects_are_found_by_a_prefix_of_the_key_in_its_order_by_one_scan() -> None:
    with Counting(nm.connect("memory:").store) as counting:
        repo = Repository(counting)
        repo.register(shop)
        model = repo.create("orders")
        numbers = [100, 7, -3, 20, 0]
        model.roots.extend([order(number, region) for number in numbers for region in Region])
        counting.reset()

        found = list(model.find(Order, region=Region.SOUTH))

        assert [(one.region, one.number) for one in found] == [(Region.SOUTH, number) for number in sorted(numbers)]
        assert counting.calls == {"scan": 1}


def test_objects_are_found_by_the_whole_key_and_by_none_of_it(model: nm.Model) -> None:
    model.roots.extend([order(1), order(11), order(1, Region.SOUTH)])

    assert [one.region for one in model.find(Order, region="NORTH", number=1)] == [Region.NORTH]
    assert len(list(model.find(Order))) == 3
    assert list(model.find(Order, region="SOUTH", number=11)) == []


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ({"number": 1}, r"what to find shop\.Order by .*'number'.* expected the first ones of its key"),
        ({"note": "a"}, r"what to find shop\.Order by"),
        ({"region": "EAST"}, r"shop\.Order\.region is 'EAST', expected one of NORTH, SOUTH"),
        ({"region": "NORTH", "number": "x"}, r"shop\.Order\.number is 'x', expected an integer"),
        ({"region": None}, r"shop\.Order\.region .* is None"),
    ],
)
def test_what_is_no_prefix_of_the_key_is_refused(model: nm.Model, key: dict[str, Any], message: str) -> None:
    with pytest.raises(nm.InvalidValue, match=message):
        list(model.find(Order, **key))


def test_a_class_without_a_key_is_not_found_by_one(model: nm.Model) -> None:
    with pytest.raises(nm.InvalidValue, match=r"what to find shop\.Line by"):
        list(model.find(Line))


def test_a_key_can_not_be_changed_once_the_object_is_stored(model: nm.Model) -> None:
    made = order(1)
    made.number = 2
    model.roots.append(made)

    for attempt in (lambda: setattr(made, "number", 3), lambda: made.eUnset("region"), lambda: made.eSet("number", 3)):
        with pytest.raises(nm.InvalidValue, match=r"shop\.Order\.\w+ of .* .part of its key"):
            attempt()
    made.note = "this can"
    assert (made.number, nm.oid(made)) == (2, "shop.Order#NORTH#a2")


def test_a_key_can_not_be_changed_once_something_refers_to_it(model: nm.Model) -> None:
    """A stored object that refers to one holds the id that its key makes."""
    made, ledger = order(1), Ledger()
    model.roots.append(ledger)
    with nm.edit(ledger):
        ledger.orders.append(made)
        with pytest.raises(nm.InvalidValue, match="part of its key"):
            made.number = 5

    assert [(nm.oid(one), one.number) for one in model.all(Order)] == [("shop.Order#NORTH#a1", 1)]


@pytest.mark.parametrize("missing", [{"region": None, "number": 1}, {"region": Region.NORTH}])
def test_an_object_without_a_value_in_its_key_is_not_stored(model: nm.Model, missing: dict[str, Any]) -> None:
    made = Order(**missing)

    with pytest.raises(nm.InvalidValue, match=r"shop\.Order\.\w+ of .* is None, expected a value"):
        model.roots.append(made)

    assert (list(model.roots), list(model.all(Order)), made.eResource) == ([], [], None)


def test_what_another_client_stored_is_found_though_one_of_its_key_waits_here(
    repo: Repository, model: nm.Model, url: str, connect: Callable[[str], Repository]
) -> None:
    mine = order(1, note="mine")
    desk = Desk()
    model.roots.append(desk)
    desk.order = mine  # it has its id now, and is not stored
    connect(url).open("orders").roots.append(order(1, note="theirs"))

    (found,) = model.find(Order, region=Region.NORTH, number=1)

    assert (found.note, mine.note) == ("theirs", "mine")
    assert list(model.all(Order)) == [found]
    model.roots.append(mine)
    assert found.note == mine.note == "mine"
