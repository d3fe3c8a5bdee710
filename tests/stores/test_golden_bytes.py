"""What lies in an LMDB file, byte for byte. If this goes red, files written before can no longer be read: then the
format's name must change too, and something must convert old files."""

from pathlib import Path

import lmdb

from neomodel.stores import VERSION, Mutation, open_store
from neomodel.stores.base import MAX_TIME
from neomodel.stores.encoding import decode_time, decode_value, encode_time, encode_value, escape, unescape

TIME = 1_000_000_000_000_000  # in September 2001
INVERTED = bytes.fromhex("7ffc72815b397fff")


def stored(folder: Path) -> dict[bytes, bytes]:
    with lmdb.open(str(folder), readonly=True) as env, env.begin() as txn:
        return dict(txn.cursor())


def test_a_file_holds_exactly_these_bytes(tmp_path: Path) -> None:
    with open_store(f"lmdb:{tmp_path}") as store:
        table = store.table("jdt")
        table.create("pct")
        table.put_many(
            [
                Mutation(b"p1", {b"p:name": b"package1", b"c:feature": b"eContents", VERSION: b"1-abc"}, TIME),
                Mutation(b"\0\1\2", {b"p:\0\1\2": b"", b"p:\1": b"x", b"p:zero": b"\0\0"}, TIME),
                Mutation(b"p1", {b"p:name": None}, TIME + 1),
            ]
        )
        clock = table.now()
        store.table("other").create("x")
    found = stored(tmp_path)

    assert int.from_bytes(found.pop(b"\0clock"), "big") == clock
    assert found == {
        b"\0format": b"neomodel 1",
        b"\0next": b"\0\0\3",
        b"\0table\0jdt": b"\0\0\1" + bytes(8) + b"cpt",
        b"\0table\0other": b"\0\0\2" + bytes(8) + b"x",
        b"\1\0\0\1p1\0p:name\0" + INVERTED: b"package1",
        b"\1\0\0\1p1\0p:name\0" + bytes.fromhex("7ffc72815b397ffe"): b"",
        b"\1\0\0\1p1\0c:feature\0" + INVERTED: b"eContents",
        b"\1\0\0\1p1\0t:version\0" + INVERTED: b"1-abc",
        b"\1\0\0\1\1\1\1\2\2\0p:\1\1\1\2\2\0" + INVERTED: b"\0",
        b"\1\0\0\1\1\1\1\2\2\0p:\1\2\0" + INVERTED: b"\0x",
        b"\1\0\0\1\1\1\1\2\2\0p:zero\0" + INVERTED: b"\0\0\0",
    }


def test_a_sample_and_a_horizon_are_kept_in_these_bytes(tmp_path: Path) -> None:
    sampled = b"row 197"  # its CRC-32 is a multiple of 256
    with open_store(f"lmdb:{tmp_path}") as store:
        table = store.table("jdt")
        table.create("p")
        table.put_many([Mutation(sampled, {b"p:x": b"1"}, TIME)])
        table.purge(TIME)
    found = stored(tmp_path)

    assert found[b"\0table\0jdt"] == b"\0\0\1" + bytes.fromhex("00038d7ea4c68000") + b"p"
    assert found[b"\2\0\0\1" + sampled] == b""


def test_values_are_stored_as_they_are_where_that_is_unambiguous() -> None:
    forms = {None: b"", b"": b"\0", b"\0": b"\0\0", b"\0a": b"\0\0a", b"a": b"a", b"\1": b"\1", b"a\0": b"a\0"}
    for value, form in forms.items():
        assert encode_value(value) == form
        assert decode_value(form) == value


def test_escaped_parts_sort_as_the_parts_do() -> None:
    parts = [b"a", b"a\0", b"a\0\0", b"a\0\1", b"a\1", b"a\1\0", b"a\1\1", b"a\2", b"aa", b"a\xff", b"b"]
    ended = [escape(part) + b"\0" for part in parts]

    assert sorted(ended) == ended
    assert [unescape(form[:-1]) for form in ended] == parts


def test_later_times_are_stored_smaller() -> None:
    times = [0, 1, 255, 256, TIME, MAX_TIME]
    forms = [encode_time(time) for time in times]

    assert sorted(forms, reverse=True) == forms
    assert [decode_time(form) for form in forms] == times
    assert encode_time(TIME) == INVERTED
