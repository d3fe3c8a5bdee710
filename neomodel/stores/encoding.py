"""The stored form of values, keys and times. `tests/stores/test_golden_bytes.py` pins it.

A value is stored as it is, so that a person can read it, with two exceptions: a tombstone is stored as nothing
at all, and a value that is empty or starts with a zero byte gets a zero byte in front. An HBase check for "must not
exist" takes an empty cell for an absent one, so a tombstoned version is free to be created again.

A sorted store that has only keys and values, such as LMDB, keeps one entry for each version under ::

    escaped row key | 00 | escaped column | 00 | inverted time, 8 bytes big-endian

where escaping writes 00 as 01 01 and 01 as 01 02. So 00 ends a part and sorts before everything that continues it,
and of the versions of a cell the newest comes first. The value of a cell whose column was escaped gets a zero byte in
front, whatever it is: so a value that starts with none is plain, and its column too.
"""

from neomodel.stores.base import MAX_TIME


def encode_value(value: bytes | None) -> bytes:
    if value is None:
        return b""
    return value if value[:1] > b"\0" else b"\0" + value


def decode_value(stored: bytes) -> bytes | None:
    return decode_live(stored) if stored else None


def decode_live(stored: bytes) -> bytes:
    """The value, of what is known to be no tombstone."""
    return stored if stored[:1] > b"\0" else stored[1:]


def escape(data: bytes) -> bytes:
    if 0 in data or 1 in data:  # asked by number: ten times as fast as by bytes
        return data.replace(b"\1", b"\1\2").replace(b"\0", b"\1\1")
    return data


def unescape(data: bytes) -> bytes:
    if 1 in data:
        return data.replace(b"\1\1", b"\0").replace(b"\1\2", b"\1")
    return data


def encode_time(time: int) -> bytes:
    return (MAX_TIME - time).to_bytes(8, "big")


def decode_time(stored: bytes) -> int:
    return MAX_TIME - int.from_bytes(stored, "big")
