"""What is kept in memory of many objects: rows that share what they have alike, and references that don't pile up."""

import neomodel as nm
from neomodel import layout
from neomodel.live import Live
from neomodel.packed import PackedRow, pack, packed
from tests.objects.library import Book, Shelf

ROW = {b"c:container": b"a", b"p:name": b"b", b"t:version": b"1-x"}


def test_a_packed_row_has_the_cells_it_was_made_of() -> None:
    row = pack(ROW)

    assert row.cells() == ROW
    assert [*row] == [*ROW]
    assert len(row) == len(ROW)
    assert (row.get(b"p:name"), row.get(b"p:other"), row.get(b"p:other", b"?")) == (b"b", None, b"?")
    assert (b"p:name" in row, b"b" in row) == (True, False)
    assert (bool(row), bool(pack({}))) == (True, False)


def test_rows_of_the_same_columns_share_them_and_those_of_others_do_not() -> None:
    one, two = pack(ROW), pack({bytes(bytearray(column)): b"other" for column in ROW})
    fewer, another = pack({b"p:name": b"b"}), pack(dict(reversed(ROW.items())))

    assert one[0] is two[0]
    assert fewer.cells() == {b"p:name": b"b"}
    assert another.cells() == ROW


def test_rows_of_one_answer_share_the_values_that_they_have_alike_and_no_others() -> None:
    given = [{column: bytes(bytearray(b"12345")) for column in (layout.CONTAINER, b"p:name")} for _ in range(2)]
    one, two = packed(given, layout.ALIKE)

    assert isinstance(one, PackedRow)
    assert one.get(layout.CONTAINER) is two.get(layout.CONTAINER)
    assert one.get(b"p:name") is not two.get(b"p:name"), "a long collection is known by its very cell"


def test_siblings_that_are_read_share_the_name_of_their_container(model: nm.Model) -> None:
    model.roots.append(Shelf(books=[Book(name=str(number)) for number in range(9)]))
    books = [*nm.connect(model.repository.store.url).open("m").roots[0].books]

    assert len({id(book._neo.row.get(layout.CONTAINER)) for book in books}) == 1


def test_references_to_objects_that_are_gone_do_not_pile_up() -> None:
    live, held = Live(), [Book() for _ in range(100)]
    for number, book in enumerate(held):
        live.put(f"held{number}", book)
    for number in range(10_000):
        live.put(f"gone{number}", Book())

    assert len(live.refs) <= 2 * len(held) + 1000 + 1
    assert [live.get(f"held{number}") for number in range(100)] == held
    assert (live.get("gone0"), "gone0" in live, len(live)) == (None, False, 100)
    assert live.setdefault("held0", Book()) is held[0]
    live.drop("held0")
    assert live.get("held0") is None
