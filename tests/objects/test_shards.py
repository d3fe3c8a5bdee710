"""Where objects lie: subtrees together, and the children of a container that grows without end apart."""

import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import neomodel as nm
from neomodel import ids
from neomodel.cli.sizes import count
from neomodel.ids import FANOUT, shard_of
from neomodel.repository import Repository
from neomodel.stores.wrappers import Counting
from neomodel.trees import LIMITS
from tests.objects.library import Book, Library, Person, Shelf, library
from tests.objects.test_natural_keys import Ledger, Line, Order, shop


@pytest.fixture(params=["memory", "lmdb", "hbase"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "hbase":
        return str(request.getfixturevalue("hbase").url)
    return f"memory:{tmp_path}" if request.param == "memory" else f"lmdb:{tmp_path / 'store'}"


@pytest.fixture
def model(repo: Repository) -> Iterator[nm.Model]:
    """A new model, dropped afterwards: a cluster is shared."""
    name = f"shards-{uuid.uuid4().hex}"
    yield repo.create(name)
    repo.drop(name)


def shard(obj: Any) -> str:
    found = shard_of(str(nm.oid(obj)))
    assert found is not None
    return found


def test_a_subtree_lies_in_the_shard_of_its_root_and_each_root_has_one_of_its_own(model: nm.Model) -> None:
    tops = [Library(shelves=[Shelf(books=[Book(), Book()], best=Book())]) for _ in range(4)]
    model.roots.extend(tops[:2])
    model.roots.extend(tops[2:])
    tops[0].shelves[0].books.append(Book())
    tops[0].people.append(Person())

    for top in tops:
        assert {shard(child) for child in top.eAllContents()} == {shard(top)}
    assert len({shard(top) for top in tops}) == 4


def test_children_attached_at_once_spread_over_shards_past_the_limit_with_what_they_contain(model: nm.Model) -> None:
    shelves = [Shelf(books=[Book()]) for _ in range(2 * FANOUT + 300)]
    top = Shelf(inner=shelves)
    model.roots.append(top)

    assert [shard(one) for one in shelves] == [ids.shard_for(str(nm.oid(top)), n) for n in range(len(shelves))]
    assert sorted(Counter(map(shard, shelves)).values()) == [300, FANOUT, FANOUT]
    assert all(shard(one.books[0]) == shard(one) for one in top.inner)


def test_children_of_a_stored_container_spread_by_how_many_there_are(model: nm.Model) -> None:
    top = Shelf()
    model.roots.append(top)
    top.books.extend(Book() for _ in range(FANOUT - 1))
    for _ in range(2 * LIMITS.leaf):
        top.books.append(Book(name="one by one"))
    top.books.insert(0, Book(name="inserted"))
    top.best = Book()

    shards = Counter(map(shard, top.books))
    assert shards[shard(top)] < FANOUT + 2 * LIMITS.leaf, "of a long list the newest may not be counted"
    assert shards[ids.shard_for(str(nm.oid(top)), FANOUT)] > 0
    assert shard(top.books[0]) != shard(top)
    assert shard(top.best) == shard(top), "it is held by a feature of its own"


def test_a_thousand_roots_lie_evenly(model: nm.Model) -> None:
    model.roots.extend(Book() for _ in range(1000))

    by_quarter = Counter(int(shard(root), 16) // (ids.SHARDS // 4) for root in model.roots)
    assert max(by_quarter.values()) <= 255, by_quarter


def test_an_object_that_moves_keeps_its_id(model: nm.Model) -> None:
    one, other, book = Shelf(), Shelf(), Book()
    model.roots.extend([one, other])
    one.books.append(book)
    oid = nm.oid(book)

    other.books.append(book)

    assert (nm.oid(book), shard(book)) == (oid, shard(one))
    assert shard(one) != shard(other)


def test_spreading_costs_no_call(counting: Counting) -> None:
    model = Repository(counting).create("m")
    top = Shelf(books=[Book() for _ in range(FANOUT)])
    model.roots.append(top)
    assert len(top.books) == FANOUT
    counting.reset()

    top.books.append(Book())

    assert counting.calls == {"get": 1, "put_many": 2}, "whether it is listed; the list and the child"
    assert shard(top.books[-1]) != shard(top)


def test_the_regions_of_a_new_model_are_about_equal_after_a_bulk_load(
    model: nm.Model, figures: Callable[[str], None], request: pytest.FixtureRequest
) -> None:
    """On a store of fixed regions the ids have to do it; LMDB cuts its ranges by what is stored."""
    classes = [Shelf(name=f"s{n}", books=[Book(name="a"), Book(name="b")]) for n in range(16 * FANOUT)]
    model.roots.append(Shelf(name="top", inner=classes))

    counted = count(model.table, lambda _: None)

    regions, rows = len(counted.regions), [size["rows"] for _, size in counted.regions]
    ratios = [counted.largest_over_mean(unit) for unit in ("rows", "bytes")]
    assert sum(rows) == 48 * FANOUT + 2  # and the top, and the row of the roots
    assert regions == {"memory": 1, "lmdb": 2, "hbase": 4}[request.node.callspec.params["url"]]
    assert ratios[0] is not None
    assert ratios[0] < 1.6, rows
    figures(
        f"{48 * FANOUT + 1:,} objects at once on {request.node.callspec.params['url']}: {regions} regions, largest over"
        f" mean {ratios[0]:.2f} by rows and {ratios[1]:.2f} by bytes; {counted.inside:.1%} of containments in one shard"
    )


def test_a_model_made_where_regions_are_fixed_is_split_evenly(connect: Callable[[str], Repository]) -> None:
    repo = connect("memory:")
    repo.store.breadth = 8
    repo.register(library)
    model = repo.create("m")
    model.roots.append(Shelf(name="top", inner=[Shelf() for _ in range(40 * FANOUT)]))

    counted = count(model.table, lambda _: None)

    assert len(counted.regions) == 8
    sizes = Counter(key[:4].decode() for key, _ in model.table.scan() if key != ids.ROOT.encode())
    assert sizes.pop(shard(model.roots[0])) >= FANOUT + 1, "the first ones lie beside their container, wherever that is"
    parts: Counter[int] = Counter()
    for part, size in sizes.items():
        parts[int(part, 16) * 8 // ids.SHARDS] += size
    assert max(parts.values()) * 8 / parts.total() < 1.25, "the others are spread evenly, wherever they begin"
    assert (counted.largest_over_mean("rows") or 0) < 1.41, "so no region has more than 7 of the 40 shards"


def test_natural_ids_stay_as_they_are_and_what_their_objects_contain_lies_together(
    repo: Repository, model: nm.Model
) -> None:
    repo.register(shop)
    ledger = Ledger(orders=[Order(number=n, lines=[Line(), Line()]) for n in range(3)])
    model.roots.append(ledger)
    ledger.orders[1].lines.append(Line())

    assert all(str(nm.oid(order)).startswith("shop.Order#NORTH#") for order in ledger.orders)
    assert [len({shard(line) for line in order.lines}) for order in ledger.orders] == [1, 1, 1]
    assert len({shard(order.lines[0]) for order in ledger.orders}) == 3
