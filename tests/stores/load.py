"""Writers and readers that run while a test does something to the cluster, and hold it to what it acknowledged."""

import random
import threading
import time
from abc import ABC, abstractmethod
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Self

from neomodel.errors import OutcomeUnknown, StoreUnavailable
from neomodel.stores import VERSION, Store, open_store, successor
from tests.stores.rows import checked, mutations, number_of, resolve, swapped_versions

BATCH = 6  # rows of one write, all over the table
BACK_OFF = 0.05  # seconds


class Worker(ABC):
    """Works again and again until told to stop; knows its longest pause from one success to the next."""

    def __init__(self, url: str, table: str) -> None:
        self.store: Store = open_store(url)
        self.table = self.store.table(table)
        self.ended: Counter[str] = Counter()
        self.pause = 0.0

    @abstractmethod
    def work(self) -> None:
        """Once."""

    def run(self, stop: threading.Event) -> None:
        last = time.monotonic()
        while not stop.is_set():
            try:
                self.work()
                self.ended["ok"] += 1
                self.pause, last = max(self.pause, time.monotonic() - last), time.monotonic()
            except StoreUnavailable:
                self.ended["failed"] += 1
                time.sleep(BACK_OFF)
            except OutcomeUnknown:
                self.ended["unknown"] += 1
        self.pause = max(self.pause, time.monotonic() - last)


class Writer(Worker):
    """Puts rows nobody had before, spread over all keys, and swaps one row of its own."""

    def __init__(self, url: str, table: str, number: int) -> None:
        super().__init__(url, table)
        self.number = number
        self.key = b"%02x-swapped-%d" % (number * 85, number)
        self.acknowledged: list[bytes] = []
        self.swapped: list[bytes] = []
        self.count = 0

    def work(self) -> None:
        self.count += 1
        keys = [b"%02x-%d-%06d-%d" % (n * 256 // BATCH, self.number, self.count, n) for n in range(BATCH)]
        self.table.put_many(mutations(keys, self.count))
        self.acknowledged.extend(keys)
        before = self.swapped[-1] if self.swapped else None
        new = successor(before)
        try:
            assert self.table.swap(self.key, before, {VERSION: new, **checked(self.key, self.count)}), (
                "nobody else does"
            )
        except OutcomeUnknown:
            self.resolve(new)
            raise
        self.swapped.append(new)

    def resolve(self, version: bytes) -> None:
        """As long as it takes: the cluster may be as good as gone at first."""
        while True:
            try:
                resolve(self.table, self.key, version)
                self.swapped = swapped_versions(self.table, self.key)[::-1]  # type: ignore[assignment]
            except (StoreUnavailable, OutcomeUnknown):
                time.sleep(BACK_OFF)
            else:
                return

    def verify(self) -> None:
        """Every row that was acknowledged is there, and every swap, none twice and in order."""
        found = self.table.get_many(self.acknowledged)
        assert len(found) == len(self.acknowledged)
        for key, row in found.items():
            assert number_of(key, row) == int(key.split(b"-")[2])
        assert swapped_versions(self.table, self.key)[::-1] == self.swapped


class Reader(Worker):
    """Reads rows that a writer had acknowledged before: all of them must be there, at once and each time."""

    def __init__(self, url: str, table: str, writer: Writer) -> None:
        super().__init__(url, table)
        self.writer = writer
        self.random = random.Random(writer.number)

    def work(self) -> None:
        acknowledged = self.writer.acknowledged[-2000:]
        some = sorted(self.random.sample(acknowledged, min(20, len(acknowledged))))
        found = self.table.get_many(some)
        assert sorted(found) == some, set(some) - set(found)
        for key, row in found.items():
            number_of(key, row)
        if some:
            assert number_of(some[0], self.table.get(some[0]) or {})
        expected = {key for key in acknowledged if key.startswith(b"80")}
        seen = []
        for key, row in self.table.scan(b"80", b"81"):
            number_of(key, row)
            seen.append(key)
        assert seen == sorted(set(seen))
        assert expected <= set(seen)


class Watcher(Worker):
    """Asks where the regions are: whatever is going on, they cover all keys once, and each is on a server."""

    def work(self) -> None:
        regions = self.table.regions()
        assert [region.start for region in regions] == [b"", *(region.stop for region in regions[:-1])], regions
        assert regions[-1].stop is None
        assert all(region.host and region.port and region.gateway for region in regions), regions
        time.sleep(BACK_OFF)


class Load:
    """Several of each, each in a thread with a store of its own. Ends with the `with`, and fails if one of them did."""

    def __init__(self, urls: list[str], table: str, readers: int = 2) -> None:
        self.writers = [Writer(url, table, number) for number, url in enumerate(urls)]
        self.readers = [Reader(url, table, writer) for url, writer in zip(urls[:readers], self.writers, strict=False)]
        self.watcher = Watcher(urls[0], table)
        self._stop = threading.Event()
        self._pool = ThreadPoolExecutor(len(self.workers))

    def __enter__(self) -> Self:
        self._running = [self._pool.submit(worker.run, self._stop) for worker in self.workers]
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._pool.shutdown()
        for one in self._running:
            one.result()

    @property
    def workers(self) -> list[Worker]:
        return [*self.writers, *self.readers, self.watcher]

    def go_on(self, rounds: int = 3, patience: float = 90) -> None:
        """Wait until every worker has succeeded so many times more."""
        goals = [(worker, worker.ended["ok"] + rounds) for worker in self.workers]
        deadline = time.monotonic() + patience
        while any(worker.ended["ok"] < goal for worker, goal in goals):
            assert time.monotonic() < deadline, "a client does not go on"
            for one in self._running:
                if one.done():
                    one.result()
            time.sleep(0.05)

    def longest_pause(self) -> float:
        """Of those who read and write."""
        return max(worker.pause for worker in [*self.writers, *self.readers])

    def forget_pauses(self) -> None:
        for worker in self.workers:
            worker.pause = 0.0

    def verify(self) -> str:
        """Afterwards: nothing acknowledged is missing; what there was, in words."""
        for writer in self.writers:
            writer.verify()
        for worker in self.workers:
            worker.store.close()
        rows = sum(len(writer.acknowledged) for writer in self.writers)
        swaps = sum(len(writer.swapped) for writer in self.writers)
        ended = sum((worker.ended for worker in [*self.writers, *self.readers]), Counter())
        told = ", ".join(f"{count} {how}" for how, count in sorted(ended.items()))
        return f"0 of {rows:,} rows and {swaps:,} swaps lost ({told})"
