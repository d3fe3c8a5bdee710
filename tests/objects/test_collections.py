"""Many-valued features behave as Python lists do, and keep what makes them a feature: uniqueness, bounds, one swap."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import neomodel as nm
from neomodel.repository import Repository
from tests.objects.library import Book, Genre, stocked

indices = st.integers(-4, 4)
words = st.sampled_from(["a", "b", "c", "d"])
bounds = st.none() | indices
slices = st.builds(slice, bounds, bounds)
ADDING = ("append", "extend", "insert")
changes = st.one_of(
    st.tuples(st.just("append"), words),
    st.tuples(st.just("extend"), st.lists(words, max_size=3)),
    st.tuples(st.just("insert"), indices, words),
    st.tuples(st.just("pop"), indices),
    st.tuples(st.just("remove"), words),
    st.tuples(st.just("__delitem__"), indices | slices),
    st.tuples(st.just("__setitem__"), indices, words),
    st.tuples(st.just("__setitem__"), slices, st.lists(words, max_size=3)),
    st.tuples(st.just("reverse")),
    st.tuples(st.just("sort")),
    st.tuples(st.just("clear")),
)


def outcome(values: Any, change: tuple[Any, ...]) -> Any:
    """What a call on a list returns, or the kind of error it raises."""
    try:
        return getattr(values, change[0])(*change[1:])
    except (IndexError, ValueError) as exc:
        return IndexError if isinstance(exc, IndexError) else ValueError


def test_any_changes_do_to_a_list_of_values_what_they_do_to_a_python_list(model: nm.Model) -> None:
    _, stored = stocked(model, b={})

    @settings(max_examples=60)
    @given(st.lists(changes, max_size=8))
    def agrees(steps: list[tuple[Any, ...]]) -> None:
        loose, expected = Book(), []
        stored.tags = []
        for step in steps:
            answer = outcome(expected, step)
            assert outcome(loose.tags, step) == outcome(stored.tags, step) == answer
            assert loose.tags == stored.tags == expected
        read = Repository(model.repository.store).open("m")[nm.oid(stored)]
        assert (read.tags, len(read.tags), list(read.tags)) == (expected, len(expected), expected)

    agrees()


def test_any_changes_of_a_list_of_objects_keep_the_order_of_a_python_list(model: nm.Model) -> None:
    """Of a unique one: what is there already is not added, and what would be there twice is refused."""
    books = {name: Book(name=name) for name in "abcd"}
    model.roots.extend(books.values())
    stored = Book()
    model.roots.append(stored)

    @settings(max_examples=60)
    @given(st.lists(changes, max_size=8))
    def agrees(steps: list[tuple[Any, ...]]) -> None:
        stored.related, expected = [], []
        for step in steps:
            name, *arguments = step
            if name == "sort":
                continue
            after = list(expected)
            new = [one for one in dict.fromkeys(arguments[-1]) if one not in after] if name in ADDING else []
            if name in ("append", "extend"):
                after += new
            elif name == "insert":
                after[arguments[0] : arguments[0]] = new
            else:
                outcome(after, step)
            objects = [_objects(books, argument) for argument in arguments]
            if len(set(after)) < len(after):
                with pytest.raises(nm.InvalidValue, match="no value twice"):
                    getattr(stored.related, name)(*objects)
                continue
            outcome(stored.related, (name, *objects))
            expected = after
            assert [book.name for book in stored.related] == expected

    agrees()


def _objects(books: dict[str, Any], argument: Any) -> Any:
    if isinstance(argument, list):
        return [books[name] for name in argument]
    return books.get(argument) if isinstance(argument, str) else argument


@pytest.fixture(params=["transient", "stored"])
def book(request: pytest.FixtureRequest, model: nm.Model) -> Any:
    book = Book()
    if request.param == "stored":
        model.roots.append(book)
    return book


def test_a_unique_collection_takes_a_value_once(book: Any) -> None:
    book.marks.add("a")
    book.marks.update(["b", "a", "b"])
    book.marks.insert(0, "b")

    assert book.marks == ["a", "b"]
    with pytest.raises(nm.InvalidValue, match=r"library\.Book\.marks .* no value twice"):
        book.marks[0] = "b"
    assert book.marks == ["a", "b"]


def test_a_bound_holds_for_every_way_of_adding(book: Any) -> None:
    book.scores = [1, 2, 3]
    for attempt in (
        lambda: book.scores.append(4),
        lambda: book.scores.extend([4, 5]),
        lambda: book.scores.insert(0, 4),
        lambda: book.scores.__setitem__(slice(3, 3), [4]),
        lambda: setattr(book, "scores", [1, 2, 3, 4]),
    ):
        with pytest.raises(nm.InvalidValue, match=r"library\.Book\.scores is [45], expected at most 3"):
            attempt()
    assert book.scores == [1, 2, 3]


def test_move_brings_a_value_to_a_position_and_returns_it(book: Any) -> None:
    book.tags = ["a", "b", "c"]

    assert book.tags.move(0, 2) == "c"
    assert book.tags == ["c", "a", "b"]
    assert book.tags.move(2, 0) == "c"
    assert book.tags == ["a", "b", "c"]


def test_children_are_sorted_reversed_and_moved_in_their_container(repo: Repository, model: nm.Model) -> None:
    shelf, *_ = stocked(model, b={}, c={}, a={})
    shelf.books.sort(key=lambda book: book.name)
    shelf.books.reverse()
    shelf.books.move(0, 2)

    read = Repository(repo.store).open("m").roots[0]
    assert [book.name for book in shelf.books] == [book.name for book in read.books] == ["a", "c", "b"]


def test_what_is_not_there_is_refused_by_name(book: Any) -> None:
    with pytest.raises(ValueError, match=r"a value of library\.Book\.tags is 'x', expected one that it holds"):
        book.tags.remove("x")
    with pytest.raises(ValueError, match=r"library\.Book\.related"):
        book.related.index(Book())
    book.tags.discard("x")
    with pytest.raises(IndexError):
        book.tags.pop()


def test_a_collection_is_live_and_iterating_it_is_not_disturbed_by_changes(book: Any) -> None:
    tags = book.tags
    book.tags = ["a", "b"]
    assert tags == ["a", "b"]

    for tag in tags:
        tags.remove(tag)
    assert tags == []


def test_plus_equals_adds_to_the_collection(book: Any) -> None:
    book.tags += ["a"]
    book.tags += ["b"]

    assert book.tags == ["a", "b"]


def test_what_a_list_gives_out_is_no_part_of_it(book: Any) -> None:
    book.tags = ["a", "b"]
    book.tags[:].append("c")
    given = ["x"]
    book.genres = [Genre.CRIME]
    book.tags = given
    given.append("y")

    assert book.tags == ["x"]


def test_a_long_collection_shows_its_beginning(book: Any) -> None:
    book.tags = [str(number) for number in range(12)]

    assert repr(book.tags) == "['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', … 2 more]"


def test_a_refused_value_among_many_adds_none_of_them(book: Any) -> None:
    book.tags = ["a"]
    with pytest.raises(nm.InvalidValue, match=r"library\.Book\.tags is 5, expected text"):
        book.tags.extend(["b", 5])

    assert book.tags == ["a"]
