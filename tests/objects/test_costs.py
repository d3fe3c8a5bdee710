"""What things cost, by counting calls of the store."""

import gc
from typing import Any

import neomodel as nm
from neomodel.repository import Repository
from neomodel.stores.wrappers import Counting
from tests.objects.library import Book, Person, Shelf, stocked

READS = ("get", "get_many", "scan", "cells", "history")
WRITES = ("swap", "put_many")


def opened(counting: Counting) -> nm.Model:
    """The model by a client that knows nothing of it yet but its metamodel."""
    repo = Repository(counting)
    repo.metamodel("http://library")
    model = repo.open("m")
    counting.reset()
    return model


def filled(counting: Counting, books: int) -> tuple[nm.Model, Any, list[str]]:
    """A fresh view of a model with a shelf of books: the model, the shelf, the ids of the books."""
    model = Repository(counting).create("m")
    shelf, *found = stocked(model, **{f"b{number:04}": {} for number in range(books)})
    oids = [str(nm.oid(book)) for book in found]
    fresh = opened(counting)
    return fresh, fresh[str(nm.oid(shelf))], oids


def total(counting: Counting, kinds: tuple[str, ...]) -> int:
    return sum(counting.calls[kind] for kind in kinds)


def test_an_object_that_is_not_touched_costs_nothing(counting: Counting) -> None:
    model, _, oids = filled(counting, 3)

    objects = [model[oid] for oid in oids]

    assert (len(objects), counting.calls) == (3, {})


def test_two_features_of_a_fresh_object_cost_one_get(counting: Counting) -> None:
    model, _, oids = filled(counting, 3)
    book = model[oids[1]]

    assert (book.name, book.pages) == ("b0001", 100)
    assert counting.calls == {"get": 1}


def test_an_assignment_costs_one_swap_and_what_is_known_stays_known(counting: Counting) -> None:
    model, _, oids = filled(counting, 3)
    one, two = model[oids[0]], model[oids[1]]
    assert one.name != two.name
    counting.reset()

    one.pages = 5

    assert (one.pages, two.pages) == (5, 100)
    assert counting.calls == {"swap": 1}


def test_an_edit_of_any_number_of_features_costs_one_swap(counting: Counting) -> None:
    model, _, oids = filled(counting, 3)
    book, other = model[oids[0]], model[oids[1]]
    assert (book.name, other.name) == ("b0000", "b0001")
    counting.reset()

    with nm.edit(book):
        book.name, book.pages, book.language, book.genre = "n", 1, None, "CRIME"
        book.tags = ["a"]
        book.tags.append("b")
        book.original = other

    assert counting.calls == {"swap": 1}


def test_an_edit_that_changes_nothing_costs_nothing(counting: Counting) -> None:
    model, _, oids = filled(counting, 1)
    book = model[oids[0]]
    assert book.name
    counting.reset()

    with nm.edit(book):
        assert book.pages == 100

    assert counting.calls == {}


def test_a_containment_move_costs_three_swaps(counting: Counting) -> None:
    """The list of the new container, the child's own row, which decides, and the list of the former container."""
    model, shelf, _ = filled(counting, 3)
    other = Shelf()
    model.roots.append(other)
    book = shelf.books[0]
    counting.reset()

    other.books.append(book)

    assert counting.calls == {"swap": 3}
    assert (len(shelf.books), list(other.books)) == (2, [book])


def test_a_reference_with_an_opposite_costs_a_swap_for_each_end(counting: Counting) -> None:
    model, _, oids = filled(counting, 2)
    one, two = model[oids[0]], model[oids[1]]
    assert (one.name, two.name) == ("b0000", "b0001")
    counting.reset()

    one.sequel = two

    assert counting.calls == {"swap": 2}


def test_storing_a_subtree_costs_one_swap_and_a_batch_for_each_5000_objects(counting: Counting) -> None:
    model = Repository(counting).create("m")
    inner = Shelf(books=[Book(name=str(number)) for number in range(999)])
    top = Shelf(inner=[inner], books=[Book(name=str(number)) for number in range(999)])
    counting.reset()

    model.roots.append(top)

    assert counting.calls == {"get": 2, "swap": 1, "put_many": 1}  # the metamodel, once; the roots; then 2000 rows
    assert 1 + sum(1 for _ in top.eAllContents()) == 2000


def test_iterating_a_thousand_children_costs_five_reads(counting: Counting) -> None:
    _, shelf, oids = filled(counting, 1000)

    assert [nm.oid(book) for book in shelf.books] == oids
    assert counting.calls == {"get": 2, "cells": 1, "get_many": 2}  # its row, the list and its tail, then 1000 rows

    counting.reset()
    gc.collect()
    assert [book.name for book in shelf.books][:2] == ["b0000", "b0001"]
    assert counting.calls == {}, "nobody has written since, so all rows are still known"


def test_the_features_of_a_thousand_children_come_with_them(counting: Counting) -> None:
    _, shelf, _ = filled(counting, 1000)

    assert sum(book.pages for book in shelf.books) == 100_000
    assert counting.calls == {"get": 2, "cells": 1, "get_many": 2}


def test_the_objects_of_a_collection_of_references_are_read_500_at_a_time(counting: Counting) -> None:
    model, shelf, _ = filled(counting, 1000)
    book = Book(related=list(shelf.books))
    model.roots.append(book)
    oid = str(nm.oid(book))
    fresh = opened(counting)

    assert sum(one.pages for one in fresh[oid].related) == 100_000
    assert counting.calls == {"get": 2, "cells": 1, "get_many": 2}


def test_references_to_another_model_cost_what_those_within_cost_and_opening_it_once(counting: Counting) -> None:
    model, shelf, _ = filled(counting, 600)
    book = Book(related=list(shelf.books))
    model.repository.create("other").roots.append(book)
    oid = str(nm.oid(book))
    fresh = opened(counting).repository.open("other")
    gc.collect()
    counting.reset()

    assert sum(one.pages for one in fresh[oid].related) == 60_000
    opening = {"now": 1, "get": 1}  # whether it is there, and no unfinished import
    assert counting.calls == {"get": 2 + opening["get"], "cells": 1, "get_many": 2, "now": opening["now"]}


def test_the_number_of_children_costs_the_container_alone(counting: Counting) -> None:
    _, shelf, _ = filled(counting, 1000)

    assert len(shelf.books) == 1000
    assert counting.calls == {"get": 1, "cells": 1}


def test_all_objects_of_a_class_cost_one_scan_and_their_features_a_read_for_each_500(counting: Counting) -> None:
    model, _, oids = filled(counting, 1000)

    assert sorted(str(nm.oid(book)) for book in model.all(Book)) == sorted(oids)
    assert counting.calls == {"scan": 1}

    counting.reset()
    assert sum(book.pages for book in model.all(Book)) == 100_000
    assert (counting.calls["scan"], total(counting, READS)) == (1, 3)


def test_another_client_s_write_costs_one_read_of_what_is_asked_again(counting: Counting) -> None:
    model, _, oids = filled(counting, 2)
    book = model[oids[0]]
    assert book.pages == 100
    Repository(counting).open("m")[oids[0]].pages = 7
    counting.reset()

    assert (book.pages, book.name) == (7, "b0000")
    assert counting.calls == {"get": 1}


def test_deleting_a_subtree_costs_one_swap_a_batch_and_the_container(counting: Counting) -> None:
    model, shelf, _ = filled(counting, 100)

    told = nm.delete(shelf)

    assert told.objects == 101
    assert {kind: counting.calls[kind] for kind in WRITES} == {"swap": 2, "put_many": 1}
    assert total(counting, READS) <= 3
    assert list(model.all(Person)) == []
