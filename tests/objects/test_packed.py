"""What is kept in memory of many objects: rows that share what they have alike, and references that don't pile up."""

import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from neomodel import layout
from neomodel.live import Live
from neomodel.packed import FORM, cell, compact, expanded, pack
from tests.objects.library import Book

ROW = {b"c:container": b"a", b"p:name": b"b", b"t:version": b"1-x"}
KIND = {b"c:feature": b"books", b"t:eclass": b"Book", b"t:nsuri": b"http://library"}


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


@pytest.mark.parametrize(
    "more",
    [
        {},
        {b"p:empty": b""},
        {b"p:text": b"x" * 255},
        {b"p:text": b"x" * 256, b"p:empty": b"", b"p:zz": b"\0\1"},
        {b"p:text": b"x" * 65_000},
        {b"p:text": b"x" * 70_000},
    ],
    ids=["few", "empty", "not quite long", "long", "very long", "too long"],
)
def test_a_compact_row_has_the_cells_it_was_made_of(more: dict[bytes, bytes]) -> None:
    cells = {**ROW, **KIND, **more}
    row = compact(pack(cells), layout.ALIKE, b"\xff")

    assert expanded(row).cells() == cells
    assert {column: cell(row, column) for column in (*cells, b"p:other")} == {**cells, b"p:other": None}
    assert (type(row) is bytes) == (b"p:text" not in more or len(more[b"p:text"]) < 1 << 16)


@pytest.mark.parametrize("cells", [{}, {b"t:eclass": b"Book"}, {b"p:name": b"b"}], ids=["none", "alike", "own"])
def test_a_row_of_hardly_any_cells_can_be_compact(cells: dict[bytes, bytes]) -> None:
    row = compact(pack(cells), layout.ALIKE, b"\xff")

    assert type(row) is bytes
    assert expanded(row).cells() == cells


def test_compact_rows_have_no_room_for_what_they_have_alike() -> None:
    one, two = (compact(pack({**ROW, **KIND, b"p:name": name}), layout.ALIKE, b"\xff") for name in (b"b", b"longer"))
    other = compact(pack({**ROW, **KIND, b"t:eclass": b"Shelf"}), layout.ALIKE, b"\xff")

    assert isinstance(one, bytes)
    assert isinstance(two, bytes)
    assert isinstance(other, bytes)
    assert one[FORM] == two[FORM] != other[FORM]
    assert len(two) - len(one) == len(b"longer") - len(b"b")
    assert not any(value in one for value in KIND.values())


def test_a_row_that_has_what_must_not_be_cut_stays_as_it_is() -> None:
    row = pack({**ROW, b"p:list": b"\xffroot"})

    assert compact(row, layout.ALIKE, b"\xff") is row


def test_there_are_only_so_many_forms_of_compact_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    known, new = (pack({**ROW, b"t:eclass": name}) for name in (b"Known", b"New"))
    before = compact(known, layout.ALIKE, b"\xff")
    monkeypatch.setattr("neomodel.packed._MOST_FORMS", 0)

    assert compact(known, layout.ALIKE, b"\xff") == before
    assert compact(new, layout.ALIKE, b"\xff") is new


def test_references_to_objects_that_are_gone_do_not_pile_up() -> None:
    live, held = Live(), [Book() for _ in range(100)]
    for number, book in enumerate(held):
        live.put(f"held{number}", book)
    for number in range(10_000):
        live.put(f"gone{number}", Book())

    assert len(live.references()) <= 2 * len(held) + 1000 + 1
    assert [live.get(f"held{number}") for number in range(100)] == held
    assert (live.get("gone0"), "gone0" in live, len(live)) == (None, False, 100)
    assert live.setdefault("held0", Book()) is held[0]
    live.drop("held0")
    assert live.get("held0") is None


@pytest.mark.parametrize("form", ["held{}", "3fa9000000000000000{:04d}"], ids=["given", "random"])
def test_an_object_is_found_by_its_id_whatever_form_that_has(form: str) -> None:
    live, oids = Live(), [form.format(number) for number in range(3000)]
    held = {oid: Book() for oid in oids}
    for oid, book in held.items():
        live.put(oid, book)

    assert all(found is held[oid] for oid, found in live.those(oids))
    assert {id(book) for book in live} == set(map(id, held.values()))
    for oid in oids[::2]:
        live.drop(oid)
        live.drop(oid)
    assert [oid in live for oid in oids[:4]] == [False, True, False, True]
    del held
    for number in range(6000):
        live.put(f"x{number}", Book())
    assert len(live.references()) <= 1000 + 1


def test_rows_that_threads_make_at_once_are_not_taken_for_one_another() -> None:
    def made(number: int) -> list[bool]:
        rows = [{b"p:%d-%d" % (number, at): b"%d" % number, b"t:eclass": b"C%d" % number} for at in range(200)]
        return [expanded(compact(pack(row), layout.ALIKE, b"\xff")).cells() == row for row in rows]

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as threads:
            assert all(map(all, threads.map(made, range(8))))
    finally:
        sys.setswitchinterval(before)
