"""Many clients, and answers that get lost at random: nobody sees anything wrong, nothing acknowledged is missing."""

import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from neomodel.cluster import Cluster
from neomodel.errors import OutcomeUnknown, StoreUnavailable
from neomodel.stores import VERSION, successor
from tests.stores.line import KEYS, Line, proxied
from tests.stores.proxy import Fault
from tests.stores.rows import checked, mutations, number_of, resolve, swapped_versions

CLIENTS = 3


@pytest.fixture(scope="module")
def line(hbase: Cluster) -> Iterator[Line]:
    with proxied(hbase) as line:
        yield line


class Client:
    """Reads and writes at random, and knows what must be true: its own rows are written by nobody else."""

    def __init__(self, line: Line, name: bytes, seed: str) -> None:
        self.line = line
        self.random = random.Random(seed)
        self.ended: Counter[str] = Counter()
        self.keys = [b"client-%s-%d" % (name, number) for number in range(10)]
        self.swapped: dict[bytes, list[bytes]] = {key: [] for key in self.keys}
        self.numbers: dict[bytes, set[int]] = {}
        self.count = 0
        for key in self.keys:
            self.swapped[key].append(successor(None))
            assert line.truth.swap(key, None, {VERSION: self.swapped[key][0], **checked(key, 0)})
            self.numbers[key] = {0}

    def run(self, seconds: float) -> None:
        works = [self.swap, self.swap, self.put, self.read, self.read_many, self.read_cells, self.read_all]
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            work = self.random.choice(works)
            try:
                work()
                self.ended[f"{work.__name__} ok"] += 1
            except StoreUnavailable:
                self.ended[f"{work.__name__} failed"] += 1
            except OutcomeUnknown:
                self.ended[f"{work.__name__} unknown"] += 1

    def swap(self) -> None:
        key = self.random.choice(self.keys)
        before = self.swapped[key][-1]
        self.count += 1
        new = successor(before)
        try:
            assert self.line.table.swap(key, before, {VERSION: new, **checked(key, self.count)}), "nobody else swaps"
        except OutcomeUnknown:
            if resolve(self.line.truth, key, new):
                self.numbers[key] = {self.count}
            self.swapped[key] = swapped_versions(self.line.truth, key)[::-1]  # type: ignore[assignment]
            raise
        except StoreUnavailable:
            assert new not in swapped_versions(self.line.truth, key)
            raise
        self.swapped[key].append(new)
        self.numbers[key] = {self.count}

    def put(self) -> None:
        """What is not acknowledged may be there, now or later."""
        self.count += 1
        some = self.random.sample(self.keys, 3)
        try:
            self.line.table.put_many(mutations(some, self.count))
        except OutcomeUnknown:
            for key in some:
                self.numbers[key].add(self.count)
            raise
        for key in some:
            self.numbers[key] = {self.count}

    def read(self) -> None:
        key = self.random.choice(self.keys)
        self.check(key, self.line.table.get(key) or {})

    def read_many(self) -> None:
        some = self.random.sample(self.keys, 4) + self.random.sample(KEYS, 20)
        found = self.line.table.get_many(some)
        assert list(found) == some
        for key, row in found.items():
            self.check(key, row)

    def read_cells(self) -> None:
        key = self.random.choice(self.keys)
        found = {b"p:" + cell.qualifier: cell.value for cell in self.line.table.cells(key, "p")}
        self.check(key, found)

    def read_all(self) -> None:
        seen = []
        for key, row in self.line.table.scan(b"r1", b"r2"):
            number_of(key, row)
            seen.append(key)
        assert seen == KEYS[1000:2000]

    def check(self, key: bytes, row: dict[bytes, bytes]) -> None:
        assert number_of(key, row) in self.numbers.get(key, {0}), (key, row, self.numbers[key])

    def verify(self) -> None:
        """Afterwards: nothing acknowledged is missing, and nothing is there that was said not to be."""
        for key in self.keys:
            self.check(key, self.line.truth.get(key) or {})
            assert swapped_versions(self.line.truth, key)[::-1] == self.swapped[key]


@pytest.mark.parametrize("seconds", [8, pytest.param(240, marks=pytest.mark.soak)])
def test_whatever_happens_to_answers_clients_see_nothing_wrong_and_lose_nothing(
    line: Line, seconds: int, figures: Callable[[str], None]
) -> None:
    line.heal()
    seed = random.randrange(10**9)
    print(f"seed {seed}")
    chance, done = random.Random(seed), threading.Event()
    clients = [Client(line, b"%d" % number, f"{seed}-{number}") for number in range(CLIENTS)]

    def disturb() -> None:
        while not done.wait(chance.uniform(0.01, 0.3)):
            proxy = chance.choice(line.proxies)
            if chance.random() < 0.1:
                proxy.refuse()
                done.wait(chance.uniform(0.01, 0.5))
            proxy.heal()
            proxy.inflict(chance.choice(list(Fault)), chance.randint(1, 4))

    with ThreadPoolExecutor(CLIENTS + 1) as pool:
        disturbing = pool.submit(disturb)
        try:
            running = [pool.submit(client.run, seconds) for client in clients]
            for one in running:
                one.result(seconds + 120)
        finally:
            done.set()
        disturbing.result(60)
    line.heal()
    line.calm()
    time.sleep(0.2)
    for client in clients:
        client.verify()
    ended = sum((client.ended for client in clients), Counter())
    figures(f"lost answers, {seconds} s: " + ", ".join(f"{count} {what}" for what, count in sorted(ended.items())))
    assert {what.rpartition(" ")[2] for what in ended} == {"ok", "failed", "unknown"}
