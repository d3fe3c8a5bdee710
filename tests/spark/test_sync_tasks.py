"""What the tasks of a synchronization hand to one another."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest

from spark import synchronizing
from spark.queues import ARROW
from spark.synchronizing import Target, _made, _read, _write
from tests.metamodels.queue_oracle import Told

MESSAGES, PARTS = 500, 3


@pytest.fixture
def target(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Target:
    task = SimpleNamespace(partitionId=lambda: 1)
    monkeypatch.setattr(synchronizing, "TaskContext", SimpleNamespace(get=lambda: task))
    return _made(Target(f"lmdb:{tmp_path}/db", "crm"), None)


def batch(lines: list[Any]) -> pa.RecordBatch:
    places = [f"{number:09}" for number in range(len(lines))]
    columns = [["q"] * len(lines), places, [None] * len(lines), lines]
    return pa.RecordBatch.from_arrays([pa.array(*one) for one in zip(columns, ARROW.types, strict=True)], schema=ARROW)


def test_messages_become_a_row_for_each_part_and_every_one_is_counted_once(target: Target) -> None:
    intake = target.intake()
    begun = intake.begin()
    told = [Told(number, f"k{number}", 1, "insert", number).line() for number in range(MESSAGES)]

    (read,) = _read(target, [None] * PARTS, [batch([*told, b"{bad", b"\xff"])])

    assert len(read) == PARTS + 1  # what could not be read has one of its own
    assert read.column("messages").to_pylist()[-1] == read.column("dead").to_pylist()[-1] == 2
    counts = [0] * 5
    for part in range(PARTS):
        own = read.filter(pa.array([one == part for one in read.column("part").to_pylist()]))
        (done,) = _write(target, begun, [own])
        counts = [count + column.to_pylist()[0] for count, column in zip(counts, done.columns, strict=True)]
    intake.end()
    assert counts == [MESSAGES + 2, MESSAGES, 0, 0, 2]
    assert dict(target.open().scan()) == {f"k{number}": number for number in range(MESSAGES)}


def test_where_nothing_can_be_read_it_is_counted_all_the_same(target: Target) -> None:
    intake = target.intake()
    begun = intake.begin()

    (read,) = _read(target, [None] * PARTS, [batch([b"", b"{"])])

    (done,) = _write(target, begun, [read])
    assert [column.to_pylist() for column in done.columns] == [[2], [0], [0], [0], [2]]
    intake.end()
