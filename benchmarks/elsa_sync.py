"""Synchronization beside raw batch writes: ``python -m benchmarks.elsa_sync [lmdb|hbase]``.

Messages lie in a folder of files, and come into a new system by `synchronize`. Two peers. One has all rows at hand and
writes them, in large batches, each on disk, in one process: nothing is read or parsed, and no Spark is there. The other
is what one would write in a quarter of an hour: Spark reads the files as text, and two tasks parse each line and write
a plain row of one cell for it; what comes twice, too late, malformed or is killed is nobody's business. Tables are
there before, of the peers as of the system: HBase takes a second or two to make one.

What was written is counted after each round, which is not timed. Then four times as many messages are brought in, and
the memory of Spark's Python processes at its peak is compared.
"""

import itertools
import json
import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import happybase
import lmdb
from pyspark.sql import SparkSession

import neomodel as nm
import spark
from benchmarks.measure import QUICK, WARMING, Case, Comparison, Figure, Figures, Measured, Result, show, sized
from benchmarks.places import hbase
from benchmarks.places import session as spark_session
from metamodels import elsa
from metamodels.elsa.intake import Intake
from neomodel.stores.hbase_url import parse

MESSAGES = sized({"lmdb": 2_000_000, "hbase": 400_000}, {"lmdb": 10_000, "hbase": 4_000})
"""As many as make the start of a query, a second or two whatever comes, a small part of it: a stream runs for days."""
MEMORY = 200_000
FILES = 4
ROUNDS = sized(3, 1)
STORES = ("lmdb", "hbase")
CELLS = 40_000  # of a transaction
BATCH = 1000
_SPARE = 1 << 34

Pair = tuple[bytes, bytes]


def _message(number: int) -> dict[str, Any]:
    value = {"name": f"customer {number}", "city": "Leipzig", "number": number}
    return {"key": f"customer-{number:08}", "event": 1_700_000_000_000_000 + number, "value": value, "sequence": number}


def _queue(folder: Path, count: int) -> Path:
    folder.mkdir()
    for file in range(FILES):
        numbers = range(file * count // FILES, (file + 1) * count // FILES)
        (folder / f"{file}.jsonl").write_text("".join(json.dumps(_message(n)) + "\n" for n in numbers))
    return folder


def _pair(line: str) -> Pair:
    told = json.loads(line)
    return told["key"].encode(), json.dumps(told["value"]).encode()


def _synchronized(session: SparkSession, queue: Path, url: str, system: str) -> float:
    with nm.connect(url) as repository:
        intake = Intake(elsa.open(repository).system(system))
        intake.begin()  # which makes what is not there
        intake.end()
    with tempfile.TemporaryDirectory() as checkpoint:
        options = {"folder": str(queue), "log": f"{checkpoint}/queue"}
        frame = session.readStream.format("elsa-folder").options(**options).load()
        start = time.perf_counter()
        spark.wait(spark.synchronize(frame, spark.Target(url, system), checkpoint, once=True))
        return time.perf_counter() - start


def _own(session: SparkSession, queue: Path, write: Callable[[Any], None]) -> float:
    start = time.perf_counter()
    session.read.text(str(queue)).coalesce(2).foreachPartition(partial(_own_task, write))
    return time.perf_counter() - start


def _own_task(write: Callable[[Any], None], rows: Iterator[Any]) -> None:
    write(_pair(row.value) for row in rows)


def _plain(pairs: list[Pair], write: Callable[[Any], None]) -> float:
    start = time.perf_counter()
    write(iter(pairs))
    return time.perf_counter() - start


# the raw drivers; what runs in tasks is a function with arguments that pickle


def _put_lmdb(folder: str, pairs: Iterator[Pair]) -> None:
    with lmdb.open(folder, map_size=_SPARE, max_spare_txns=1) as raw:
        while some := list(itertools.islice(pairs, CELLS)):
            with raw.begin(write=True) as txn:
                txn.cursor().putmulti(sorted(some))


def _put_hbase(host: str, port: int, name: str, pairs: Iterator[Pair]) -> None:
    with closing(happybase.Connection(host, port)) as raw, raw.table(name).batch(batch_size=BATCH) as batch:
        for key, value in pairs:
            batch.put(key, {b"p:value": value})


def _measured(
    session: SparkSession, url: str, queue: Path, count: int, made: Callable[[], Callable[[Any], None]]
) -> tuple[float, float, float]:
    """Seconds with rows at hand, of a writer of one's own, and of neomodel."""
    pairs = [_pair(line) for file in sorted(queue.iterdir()) for line in file.read_text().splitlines()]
    numbers = itertools.count()
    times: tuple[list[float], ...] = ([], [], [])
    for number in range(WARMING + ROUNDS):
        system = f"made{next(numbers)}"
        found = [
            _plain(pairs, made()),
            _own(session, queue, made()),
            _synchronized(session, queue, url, system),
        ]
        with nm.connect(url) as repository:
            written = sum(1 for _ in repository.store.table(f"elsa.{system}").scan(b"elsa.Record#"))
        if written != count:
            raise AssertionError(f"{written} records were written, not {count}")
        if number >= WARMING:
            for some, seconds in zip(times, found, strict=True):
                some.append(seconds)
    plain, own, ours = map(median, times)
    return plain, own, ours


def _compared(where: str, driver: str, count: int, plain: float, own: float, ours: float) -> list[Measured]:
    """The job as another does it on Spark, and as it is where rows are at hand."""
    case = Case("messages of a queue", "messages", count, list, list, 0.5)
    return [
        Comparison(
            f"Synchronization {where}, {count:,}",
            f"a writer of one's own on Spark, {driver}",
            [Result(case, own, ours)],
        ),
        Comparison(
            f"The same beside rows at hand {where}, {count:,}", f"raw {driver}, no Spark", [Result(case, plain, ours)]
        ),
    ]


def _memory(session: SparkSession, url: str, folder: Path, count: int) -> Figures:
    """The peak of all Python processes below this one, for as many messages and for four times as many."""
    peaks = []
    for times in (1, 4):
        queue = _queue(folder / f"memory{times}", count * times)
        with _Peak() as peak:
            _synchronized(session, queue, url, f"memory{times}")
        peaks.append(peak.bytes)
    grown = peaks[1] / peaks[0]
    sizes = " and ".join(f"{one / 2**20:,.0f} MB" for one in peaks)
    figure = Figure(f"{count:,} and {4 * count:,} messages", f"{sizes}: {grown:.2f}", "at most 1.25", grown <= 1.25)
    return Figures("Memory of Spark's Python processes in a synchronization", [figure])


class _Peak:
    """The most memory that Python processes below this one have had in the block."""

    def __enter__(self) -> "_Peak":
        self.bytes = 0
        self._ended = threading.Event()
        self._watching = threading.Thread(target=self._watch, daemon=True)
        self._watching.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._watching.join()

    def _watch(self) -> None:
        while not self._ended.wait(0.1):
            self.bytes = max(self.bytes, sum(_python_below(os.getpid())))


def _python_below(pid: int) -> Iterator[int]:
    """Bytes that each has for itself."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        children += [
            one for task in Path(f"/proc/{pid}/task").iterdir() for one in (task / "children").read_text().split()
        ]
    except OSError:
        return  # it has ended meanwhile
    for child in set(map(int, children)):
        try:
            if "python" in Path(f"/proc/{child}/cmdline").read_text().split("\0")[0]:  # Java names folders of Python
                for line in Path(f"/proc/{child}/smaps_rollup").read_text().splitlines():
                    if line.startswith("Private_Dirty"):
                        yield int(line.split()[1]) * 1024
        except OSError:
            continue
        yield from _python_below(child)


def _on_lmdb(session: SparkSession) -> list[Measured]:
    with tempfile.TemporaryDirectory() as folder:
        numbers, count = itertools.count(), MESSAGES["lmdb"]
        queue, url = _queue(Path(folder, "queue"), count), f"lmdb:{folder}/ours"

        def made() -> Callable[[Any], None]:
            return partial(_put_lmdb, f"{folder}/raw{next(numbers)}")

        found = _compared("into LMDB", "py-lmdb", count, *_measured(session, url, queue, count, made))
        return found if QUICK else [*found, _memory(session, url, Path(folder), MEMORY)]


def _on_hbase(session: SparkSession) -> list[Measured]:
    with tempfile.TemporaryDirectory() as folder, hbase() as url, nm.connect(url) as repository:
        address = parse(url).gateways[0]
        numbers, count = itertools.count(), MESSAGES["hbase"]
        queue = _queue(Path(folder, "queue"), count)

        def made() -> Callable[[Any], None]:
            name = f"raw{next(numbers)}"
            repository.store.table(name).create("p")
            return partial(_put_hbase, address.host, address.port1, name)

        elsa.open(repository)
        measured = _measured(session, url, queue, count, made)
        return _compared("into HBase, one server", "happybase", count, *measured)


def report(stores: Collection[str] = STORES) -> list[Measured]:
    jobs = {"lmdb": _on_lmdb, "hbase": _on_hbase}
    with spark_session() as session:
        return [one for name in stores for one in jobs[name](session)]


if __name__ == "__main__":
    show(report(sys.argv[1:] or STORES))
