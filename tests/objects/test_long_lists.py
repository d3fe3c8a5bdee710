"""Collections of any length: what they hold, what they cost, and what becomes of them when many write at once."""

import random
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import neomodel as nm
from neomodel import long_cells, long_lists, trees
from neomodel.cluster import Cluster
from neomodel.repository import Repository
from neomodel.stores import Mutation, Store
from neomodel.stores.wrappers import Counting
from tests.objects.library import Book, Person, Shelf, library, stocked
from tests.stores.processes import SPAWN, run_each

PATIENCE = 120  # seconds
LONG = 1000  # more than fits into one cell


@pytest.fixture
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trees, "LIMITS", trees.Limits(2, 4, 3))


@pytest.fixture
def cluster_model(hbase: Cluster) -> Iterator[nm.Model]:
    with nm.connect(hbase.url) as repo:
        repo.register(library)
        yield repo.create("long_lists")
        repo.drop("long_lists")


def names(count: int) -> list[str]:
    return [f"tag {number}" for number in range(count)]


# what they hold


def test_a_collection_goes_from_one_cell_to_many_and_reads_the_same(model: nm.Model) -> None:
    _, book = stocked(model, b={"tags": names(trees.LIMITS.inline)})
    assert not long_cells.is_long(book._neo.row.get(b"p:tags"))

    book.tags.append("one more")

    assert long_cells.is_long(book._neo.row.get(b"p:tags"))
    read = Repository(model.repository.store).open("m")[nm.oid(book)]
    assert list(read.tags) == [*names(trees.LIMITS.inline), "one more"]
    assert (read.tags[-1], read.tags[0], read.tags[3:5]) == ("one more", "tag 0", ["tag 3", "tag 4"])
    assert "one more" in read.tags
    assert "nothing" not in read.tags
    assert 7 not in read.tags
    assert read.tags.index("tag 200") == 200


def test_every_change_of_a_long_list_does_what_it_does_to_a_python_list(model: nm.Model) -> None:
    _, book = stocked(model, b={})
    expected = names(LONG)
    book.tags = expected
    chance = random.Random(7)
    for step in range(120):
        at, to, new = chance.randrange(len(expected)), chance.randrange(len(expected) - 1), f"new {step}"
        match step % 6:
            case 0:
                book.tags.append(new)
                expected.append(new)
            case 1:
                book.tags.insert(at, new)
                expected.insert(at, new)
            case 2:
                del book.tags[at]
                del expected[at]
            case 3:
                book.tags.remove(expected[at])
                expected.remove(expected[at])
            case 4:
                book.tags.move(to, at)
                expected.insert(to, expected.pop(at))
            case 5:
                book.tags.extend([new, f"{new} too"])
                expected += [new, f"{new} too"]
        assert len(book.tags) == len(expected)
        assert book.tags[at] == expected[at]
    assert list(Repository(model.repository.store).open("m")[nm.oid(book)].tags) == expected
    book.tags.reverse()
    assert list(book.tags) == expected[::-1]
    book.tags.clear()
    assert (list(book.tags), len(book.tags), "new 0" in book.tags) == ([], 0, False)
    book.tags.append("again")
    assert list(book.tags) == ["again"]


def test_many_children_come_and_go(model: nm.Model) -> None:
    shelf = Shelf(books=[Book(name=str(number)) for number in range(LONG)])
    model.roots.append(shelf)
    book, other = shelf.books[500], shelf.books[2]

    nm.delete(other)
    shelf.inner.append(Shelf(name="inside"))
    shelf.inner[0].books.append(book)

    read = Repository(model.repository.store).open("m")[nm.oid(shelf)]
    assert [one.name for one in read.books] == [str(n) for n in range(LONG) if n not in (2, 500)]
    assert len(read.books) == LONG - 2
    assert [one.name for one in read.inner[0].books] == ["500"]


def test_the_other_ends_of_many_references_are_kept(model: nm.Model) -> None:
    reader = Person(name="reader")
    model.roots.append(reader)
    books = [Book(name=str(number), reader=reader) for number in range(LONG)]
    model.roots.extend(books)
    assert len(reader.lent) == LONG

    books[3].reader = None
    reader.lent.remove(books[5])

    assert books[5].reader is None
    assert [book.name for book in reader.lent] == [str(n) for n in range(LONG) if n not in (3, 5)]
    reader.lent.append(books[7])
    assert len(reader.lent) == LONG - 2, "it is there already"


def test_an_object_with_a_long_list_leaves_and_comes_back(model: nm.Model) -> None:
    shelf, book = stocked(model, b={"tags": names(LONG)})
    oid = nm.oid(book)
    key = str(oid).encode()
    book.tags.append("at the end")

    shelf.books.remove(book)
    assert list(model.table.cells(key, "x")) == [], "nothing of it is left"
    assert list(book.tags) == [*names(LONG), "at the end"]
    book.tags = names(3)
    shelf.books.append(book)

    assert (nm.oid(book), list(book.tags)) == (oid, names(3))


def test_a_long_list_moves_to_another_model(model: nm.Model) -> None:
    shelf, book = stocked(model, b={"tags": names(LONG)})
    other = model.repository.create("other")
    other.roots.append(book)

    assert list(other[nm.oid(book)].tags) == names(LONG)
    assert list(shelf.books) == []


def test_an_edit_of_a_long_list_is_one_swap_with_the_rest(model: nm.Model) -> None:
    _, book = stocked(model, b={"tags": names(LONG)})
    rival = Repository(model.repository.store).open("m")[nm.oid(book)]

    with nm.edit(book):
        book.pages = 7
        book.tags.append("new")
        book.tags.remove("tag 5")
        assert (len(book.tags), book.tags[-1], book.tags[5]) == (LONG, "new", "tag 6")
        assert len(rival.tags) == LONG
        assert "new" not in rival.tags
    assert [*rival.tags] == [*names(LONG)[:5], *names(LONG)[6:], "new"]
    with pytest.raises(nm.Conflict), nm.edit(book):  # noqa: PT012  the edit is what is refused
        book.tags.append("lost")
        rival.pages = 8
    assert "lost" not in book.tags


def test_every_past_state_of_a_long_list_is_there(model: nm.Model) -> None:
    _, book = stocked(model, b={"tags": names(LONG)})
    expected, past = names(LONG), []
    for step in range(40):
        if step % 4 == 3:
            book.tags.remove(expected[step])
            expected.remove(expected[step])
        else:
            new = [f"{step} {number}" for number in range(200)]
            book.tags.extend(new)
            expected += new
        past.append((model.table.now(), list(expected)))

    for time, then in past:
        assert list(model.repository.open("m", as_of=time)[nm.oid(book)].tags) == then


def test_the_history_of_an_object_tells_what_its_long_list_held(model: nm.Model) -> None:
    _, book = stocked(model, b={"tags": names(LONG)})
    book.tags.append("appended")
    book.tags.insert(0, "first")
    book.pages = 7

    revisions = nm.history(book)
    assert [sorted(one.changes) for one in revisions[1:]] == [["tags"], ["pages"]], "an append is no version"
    assert revisions[0].changes["tags"].after == tuple(names(LONG))
    change = revisions[1].changes["tags"]
    assert (len(change.before), change.before[-1]) == (LONG + 1, "appended")
    assert (len(change.after), change.after[0]) == (LONG + 2, "first")


# what they cost


def test_appending_and_reading_a_page_costs_the_same_at_any_length(counting: Counting) -> None:
    model = Repository(counting).create("m")
    costs = {}
    for count in (LONG, 100_000):
        book, shelf = Book(), Shelf()
        model.roots.extend([book, shelf])
        book.tags = names(count)
        shelf.books.extend([Book() for _ in range(min(count, 10 * LONG))])
        costs[count] = [
            _cost(counting, lambda book=book: book.tags.append("one more")),
            _cost(counting, lambda shelf=shelf: shelf.books.append(Book())),
            _cost(counting, lambda book=book, at=count // 2: book.tags[at : at + 100]),
            _cost(counting, lambda book=book: len(book.tags)),
        ]
    few, many = costs.values()
    assert many[:2] == few[:2]
    append, child, page, length = many
    assert append[0] == {"get_many": 1, "put_many": 1}, "its row, with that of the shelf, which was stored with it"
    assert append[2] == 1
    assert child[0].total() == 4, "its row; whether it is there; the list and the child"
    assert child[0]["put_many"] == 2
    assert child[2] < 10
    assert page[0].total() <= 5
    assert page[1] < 20, "its row, a leaf or two and those above"
    assert length[0].total() <= 3


def _cost(counting: Counting, work: Callable[[], Any]) -> tuple[Any, int, int]:
    Repository(counting).open("m").roots.append(Book())  # so that nothing is known any more
    counting.reset()
    work()
    return Counter(counting.calls), counting.cells_read, counting.cells_written


def test_a_thousand_appends_cost_little_more_than_a_write_each(counting: Counting) -> None:
    model = Repository(counting).create("m")
    book = Book(tags=names(LONG))
    model.roots.append(book)
    counting.reset()
    for number in range(LONG):
        book.tags.append(f"new {number}")
    assert counting.calls["put_many"] == LONG
    assert counting.calls["get"] <= LONG + 20
    assert counting.calls["swap"] <= 10
    assert len(book.tags) == 2 * LONG


# many at once


def rivals(url: str, work: Callable[..., Any], *args: Any, count: int = 8, patience: float = PATIENCE) -> list[Any]:
    barrier = SPAWN.Barrier(count)
    return run_each([(work, (*args, number, barrier), {}) for number in range(count)], url, patience=patience)


@pytest.mark.parametrize("count", [300, pytest.param(10_000, marks=pytest.mark.soak)])
def test_of_eight_processes_that_append_at_once_all_entries_are_there(
    lmdb_url: str, connect: Callable[[str], Repository], count: int
) -> None:
    repo = connect(lmdb_url)
    repo.register(library)
    _appended(repo.create("m"), count)


@pytest.mark.parametrize("count", [100, pytest.param(10_000, marks=pytest.mark.soak)])
def test_of_eight_processes_that_append_at_once_all_entries_are_there_on_hbase(
    cluster_model: nm.Model, count: int
) -> None:
    _appended(cluster_model, count)


def _appended(model: nm.Model, count: int) -> None:
    shelf, book = stocked(model, b={"tags": names(LONG)})
    oids = nm.oid(shelf), nm.oid(book)

    rivals(model.repository.store.url, _append, model.name, *oids, count, patience=PATIENCE + count / 10)

    found = list(book.tags)
    assert len(found) == len(book.tags) == LONG + 8 * count
    assert found[:LONG] == names(LONG)
    for rival in range(8):
        mine = [tag for tag in found if tag.startswith(f"{rival}-")]
        assert mine == [f"{rival}-{number}" for number in range(count)], "in the order of their making"


def _append(store: Store, name: str, _shelf: str, oid: str, count: int, rival: int, barrier: Any) -> None:
    book = Repository(store).open(name)[oid]
    barrier.wait(PATIENCE)
    for number in range(count):
        book.tags.append(f"{rival}-{number}")


@pytest.mark.usefixtures("_small")
def test_those_who_change_a_long_list_at_once_lose_nothing(lmdb_url: str, connect: Callable[[str], Repository]) -> None:
    repo = connect(lmdb_url)
    repo.register(library)
    _, book = stocked(repo.create("m"), b={"tags": names(50)})

    rivals(lmdb_url, _change, "m", nm.oid(book), 25, count=4)

    found = list(book.tags)
    assert len(set(found)) == len(found)
    assert set(found) == set(names(50)) | {f"{rival}-{number}" for rival in range(4) for number in range(1, 25, 2)}


def _change(store: Store, name: str, oid: str, count: int, rival: int, barrier: Any) -> None:
    """Append, then take every other one out again, and move others about."""
    trees.LIMITS = trees.Limits(2, 4, 3)
    book = Repository(store).open(name)[oid]
    barrier.wait(PATIENCE)
    for number in range(count):
        value = f"{rival}-{number}"
        book.tags.append(value)
        if number % 2 == 0:
            nm.redo(lambda value=value: book.tags.remove(value), attempts=200)
        nm.redo(lambda: book.tags.move(3, 7), attempts=200)


def test_one_value_that_two_append_at_once_is_there_once(model: nm.Model) -> None:
    _, book = stocked(model, b={"marks": names(LONG)})
    rival = Repository(model.repository.store).open("m")[nm.oid(book)]
    mine, theirs = book._neo.raw(Book.marks), rival._neo.raw(Book.marks)

    mine.append(["both"])  # as if neither had seen the other
    theirs.append(["both"])

    assert list(book.marks) == list(rival.marks) == [*names(LONG), "both"]
    for number in range(LONG):
        book.marks.append(f"more {number}")
    book.marks.insert(3, "last")  # by now all is in the tree
    assert list(book.marks).count("both") == 1
    assert len(book.marks) == 2 * LONG + 2


def test_an_entry_whose_removal_is_hidden_by_a_clock_that_is_behind_counts_once(model: nm.Model) -> None:
    _, book = stocked(model, b={"tags": names(LONG)})
    book.tags.append("late")
    key = str(nm.oid(book)).encode()
    [entry] = [cell for cell in model.table.cells(key, "x") if cell.value == b"late"]

    book.tags.insert(0, "first")  # it is in the tree now
    model.table.put_many([Mutation(key, {b"x:" + entry.qualifier: entry.value})])

    read = Repository(model.repository.store).open("m")[nm.oid(book)]
    assert list(read.tags) == ["first", *names(LONG), "late"]
    assert len(read.tags) == LONG + 2


def test_a_change_that_depends_on_what_was_seen_is_refused_when_that_has_passed(model: nm.Model) -> None:
    _, book = stocked(model, b={"tags": names(LONG)})
    seen = book._neo.raw(Book.tags)
    rival = Repository(model.repository.store).open("m")[nm.oid(book)]
    rival.tags.insert(0, "before all")
    assert book.tags[0] == "before all"

    with pytest.raises(nm.Conflict):
        seen.apply([long_lists.Splice(0, 1)])
    assert book.tags[0] == "before all"
