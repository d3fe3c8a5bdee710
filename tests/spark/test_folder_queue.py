"""Lines of files as messages, whatever pieces they are read in."""

from itertools import pairwise
from pathlib import Path
from random import Random

import pytest

from neomodel.errors import InvalidFile, InvalidValue
from spark import folder_queue
from spark.folder_queue import Arrival, FolderReader, FolderSource, Piece, batches, shares
from spark.queues import messages, place

_LINES = (b'{"a": 1}', b"", b" ", b"\t \r", b"\x0b\x0c", b"x" * 70, "é\u2028".encode(), b"a\0b", b"q\r\r", b" a ")


def told(folder: Path, piece: Piece) -> list[tuple[str, str, bytes]]:
    rows = [row for batch in batches(folder, "q", piece) for row in batch.to_pylist()]
    return [
        (row["queue"], place(row["file"], at), line)
        for row in rows
        for at, line in messages(row["start"], row["lines"])
    ]


@pytest.mark.parametrize("chunk", [1, 16, 2**20])
def test_however_a_file_is_cut_each_line_comes_once_with_the_byte_it_begins_at(
    tmp_path: Path, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder_queue, "_BYTES", chunk)
    random = Random(7)
    for number in range(60):
        lines = [random.choice(_LINES) + random.choice([b"\n", b"\r\n"]) for _ in range(random.randrange(9))]
        data = b"".join(lines)[: -1 if number % 3 == 0 else None]  # some without an end of the last line
        (tmp_path / "f.jsonl").write_bytes(data)
        expected, at = [], 0
        for line in data.split(b"\n"):
            if line.strip():
                expected.append(("q", f"f.jsonl/{at:015}", line.rstrip(b"\r")))
            at += len(line) + 1

        cuts = sorted({0, len(data), *(random.randrange(len(data) + 1) for _ in range(3))})
        pieces = [Piece("f.jsonl", start, stop, start == 0) for start, stop in pairwise(cuts)]
        assert [one for piece in pieces for one in told(tmp_path, piece)] == expected


def test_short_files_are_read_by_one_task_and_a_long_one_by_several(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder_queue, "_OF_A_TASK", 100)
    queue = tmp_path / "queue"
    queue.mkdir()
    for number, size in enumerate([30, 30, 30, 30, 250, 10]):
        (queue / f"{number}.jsonl").write_bytes(b"x" * (size - 1) + b"\n")
    reader = FolderReader({"folder": str(queue), "log": str(tmp_path / "log")})
    reader.prepareForTriggerAvailableNow()

    found = reader.partitions({"arrival": 0, "byte": 0}, {"arrival": 6, "byte": 0})

    tasks = [[(piece.file[0], piece.start, piece.stop, piece.whole) for piece in one.pieces] for one in found]
    assert tasks == [
        [("0", 0, 30, True), ("1", 0, 30, True), ("2", 0, 30, True), ("3", 0, 5, True)],
        [("3", 5, 30, False), ("4", 0, 70, True)],
        [("4", 70, 165, False)],
        [("4", 165, 250, False), ("5", 0, 10, True)],
    ]
    assert [batch.to_pylist()[0]["file"][0] for one in found for batch in reader.read(one)] == [*"012345"]


def test_tasks_read_as_much_as_one_another_and_no_core_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder_queue, "_OF_A_TASK", 100)
    random = Random(3)
    for _ in range(200):
        sizes = [random.randrange(1, 400) for _ in range(random.randrange(1, 9))]
        arrivals = [Arrival(str(number), 7, 7 + size) for number, size in enumerate(sizes)]

        found = list(shares(arrivals))

        total, tasks = sum(sizes), [sum(piece.stop - piece.start for piece in some) for some in found]
        assert len(tasks) == 1 << (-(-total // 100) - 1).bit_length()
        assert max(tasks) <= 100
        assert max(tasks) - min(tasks) < len(tasks)
        bytes_ = [(piece.file, at) for some in found for piece in some for at in range(piece.start, piece.stop)]
        assert bytes_ == [(one.file, at) for one in arrivals for at in range(one.start, one.stop)]
        assert all(piece.whole == (piece.start == 7) for some in found for piece in some)
    assert list(shares([])) == []


def test_a_whole_micro_batch_is_read_by_four_tasks_wherever_its_last_line_ends() -> None:
    for rest in (0, 150, 2**20):
        assert len(list(shares([Arrival("f", 0, folder_queue._AT_ONCE + rest)]))) == 4


def test_a_file_that_is_shorter_than_it_was_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "f.jsonl").write_bytes(b"{}\n")

    with pytest.raises(InvalidFile, match=r"f\.jsonl.*ends at byte 3, and had more"):
        told(tmp_path, Piece("f.jsonl", 0, 10, True))


@pytest.mark.parametrize("option", [{"messages": "many"}, {"bytes": "0"}, {"messages": "1.5"}])
def test_an_option_that_is_no_number_is_refused(option: dict[str, str]) -> None:
    with pytest.raises(InvalidValue, match="expected a number above 0"):
        FolderSource({"folder": "queue", "log": "x", **option}).schema()
