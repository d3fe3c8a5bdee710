"""Programs for the crash test: one that writes and reports until it is killed, one that goes on beside it.

What is written follows from a seed and a number, so whoever knows these can tell what must be there. A row is whole if
its checksum is right.
"""

import hashlib
import random
from multiprocessing.connection import Connection

from neomodel.stores import VERSION, Mutation, Row, Table, open_store, successor

SWAPPED = b"swapped"
OPEN_SCANS = 20


def content(seed: int, number: int, part: int) -> Row:
    """The cells of a row: few or many, short or long (up to 200 kB), and their checksum."""
    dice = random.Random(f"{seed} {number} {part}")
    length = dice.choice([0, 1, 50, 50, 50, 3000, 200_000 if dice.random() < 0.2 else 9])
    row = {b"p:%d" % cell: dice.randbytes(length) for cell in range(dice.randint(1, 6))}
    return row | {b"c:number": b"%d" % number, b"t:sum": _sum(row)}


def parts(seed: int, number: int) -> int:
    """How many rows write `number` has. 0: it is a swap."""
    return random.Random(f"{seed} {number}").choice([0, 0, 1, 2, 5])


def whole(row: Row) -> bool:
    return row[b"t:sum"] == _sum({column: value for column, value in row.items() if column.startswith(b"p:")})


def _sum(row: Row) -> bytes:
    digest = hashlib.sha256()
    for column, value in sorted(row.items()):
        digest.update(b"%d %b %d %b" % (len(column), column, len(value), value))
    return digest.digest()


def row_key(prefix: bytes, number: int, part: int) -> bytes:
    return prefix + b"%06d-%d" % (number, part)


def write(url: str, name: str, prefix: bytes, seed: int, reports: Connection) -> None:
    """Write until killed, sending each number once its write has returned. Streams left open die with the process."""
    reports.send(-1)
    table = open_store(url).table(name)
    scans = [table.scan() for _ in range(OPEN_SCANS)]
    for scan in scans:
        next(scan, None)
    version, number = None, 0
    while True:
        count = parts(seed, number)
        if count:
            table.put_many(Mutation(row_key(prefix, number, p), content(seed, number, p)) for p in range(count))
        else:
            version, expected = successor(version), version
            gone = {b"p:%d" % cell: None for cell in range(6)}
            assert table.swap(prefix + SWAPPED, expected, {**gone, **content(seed, number, 0), VERSION: version})
        reports.send(number)
        number += 1


def stand_by(url: str, name: str, prefix: bytes, others: bytes, orders: Connection) -> None:
    """Write and read beside the others until told to stop; then send how often."""
    with open_store(url) as store:
        table, version, number = store.table(name), None, 0
        orders.send("ready")
        while not orders.poll():
            number += 1
            version, expected = successor(version), version
            assert table.swap(prefix + SWAPPED, expected, {VERSION: version, b"p:n": b"%d" % number})
            table.put_many([Mutation(prefix + b"%d" % number, {b"p:n": b"%d" % number})])
            assert table.get(prefix + b"%d" % number) == {b"p:n": b"%d" % number}
            if number % 20 == 0:
                _read_all(table, others)
        assert len(list(table.scan(prefix, prefix + SWAPPED))) == number
        orders.send(number)


def _read_all(table: Table, prefix: bytes) -> None:
    for key, row in table.scan(prefix, prefix + b"\xff"):
        assert whole(row), key
