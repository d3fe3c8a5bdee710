"""A machine that tells a system things at random, asks it, and compares with the oracle.

Things come late, are corrected, come at once, are tried again after answers got lost, are erased, cut off, and the
store is opened anew. What tokens answered once is asked again and again."""

import time
import uuid
from collections.abc import Callable
from random import Random
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

import neomodel as nm
from metamodels import elsa
from neomodel.repository import Repository
from neomodel.stores import Store
from neomodel.stores.wrappers import Faulty
from tests.metamodels.conftest import settled
from tests.metamodels.elsa_oracle import Row, answer

KEYS = ["a", "a b", "b", "ä"]
keys = st.sampled_from(KEYS)
events = st.integers(0, 8) | st.sampled_from([-1, 10**6, 4 * 10**15])
values = st.integers(0, 5) | st.sampled_from(["t", b"\0", None, {"k": [1]}])
operations = st.tuples(keys, events, st.sampled_from(["insert", "insert", "delete"]), values)
REFUSED = object()
LEASE = 1.0  # seconds


class ElsaMachine(RuleBasedStateMachine):
    def __init__(self, opened: Callable[[], Store]) -> None:
        super().__init__()
        self.opened = opened
        self.name = f"e{uuid.uuid4().hex[:12]}"
        self.rows: list[Row] = []
        self.erased: dict[str, int] = {}
        self.horizon = 0
        self.faults: list[Any] = []
        self.tokens: list[tuple[str, dict[str, Any]]] = []
        self.queries = 0
        self.random = Random(7)

    @initialize()
    def begin(self) -> None:
        self.reopen()

    @rule()
    def reopen(self) -> None:
        """As after a crash: nothing is known but what is stored."""
        if hasattr(self, "store"):
            self.store.repository.close()
        store = Faulty(self.opened(), lambda operation, key: self._fault(operation, key))
        self.store = elsa.open(Repository(store), self.name)
        self.system = self.store.system("s")

    def _fault(self, operation: str, key: bytes | None) -> Any:
        of_record = operation == "swap" and key is not None and key.startswith(b"elsa.Record#")
        return self.faults.pop() if self.faults and (of_record or operation == "put_many") else None

    # telling

    @rule(operation=operations, faults=st.lists(st.sampled_from(["lost", "refused"]), max_size=2))
    def tell(self, operation: tuple[Any, ...], faults: list[Any]) -> None:
        """One operation with an id, tried again until it is known to be done: it is done once."""
        key, event, what, value = operation
        name, self.faults = uuid.uuid4().hex, faults
        while True:
            try:
                if what == "insert":
                    self.system.insert(key, event, value, operation=name)
                else:
                    self.system.delete(key, event, operation=name)
                break
            except (nm.OutcomeUnknown, nm.StoreUnavailable):
                continue
        self.faults = []
        assert self._learn([operation]) == 1

    @rule(some=st.lists(operations, min_size=1, max_size=6), lost=st.integers(0, 5).map(lambda one: one == 5))
    def tell_many(self, some: list[tuple[Any, ...]], lost: bool) -> None:
        rows = [(key, event, what, None if what == "delete" else value) for key, event, what, value in some]
        self.faults = ["lost"] if lost else []
        try:
            with self.store.batch(lease=LEASE if lost else 60):
                self.system.ingest(rows)
        except (nm.OutcomeUnknown, nm.BatchExpired):
            time.sleep(LEASE)  # until then it is waited for what may still be on its way
        self.faults = []
        assert self._learn(some) in ((len(rows), 0) if lost else (len(rows),))

    def _learn(self, told: list[tuple[Any, ...]]) -> int:
        """What came in: for each operation a version more, in their order. How many."""
        if self.system.name not in self.store.systems():
            return 0  # nothing at all came in
        now = self._now()
        before = {(row.key, row.event, row.ingest) for row in self.rows}
        came = []
        for key in KEYS:
            if self._kept(key, now):
                came += [
                    Row(*(one.key, one.event, one.ingest, one.operation, one.value))
                    for one in self._versions(key, now)
                    if (one.key, one.event, one.ingest) not in before
                ]
        expected = sorted((key, event, what, repr(None if what == "delete" else v)) for key, event, what, v in told)
        assert not came or sorted((row.key, row.event, row.operation, repr(row.value)) for row in came) == expected
        latest = max((row.ingest for row in self.rows), default=0)
        assert all(row.ingest > latest for row in came)
        for key, event in {(key, event) for key, event, *_ in told}:
            of_event = [what for one, at, what, _ in told if (one, at) == (key, event)]
            inside = sorted((row for row in came if (row.key, row.event) == (key, event)), key=lambda row: row.ingest)
            assert not came or [row.operation for row in inside] == of_event
        self.rows += came
        return len(came)

    def _versions(self, key: str, now: int) -> list[elsa.Version]:
        return self.system.history(key, ingest=now)

    # forgetting

    @rule(key=keys)
    def erase(self, key: str) -> None:
        if self.rows:
            self.system.erase(key, by="a machine")
            self.erased[key] = self.system.audit()[-1].before
            self.rows = [row for row in self.rows if row.key != key]

    @rule(share=st.floats(0, 1))
    def retain(self, share: float) -> None:
        if self.rows:
            times = sorted(row.ingest for row in self.rows)
            self._now()
            self.horizon = max(self.horizon, times[int(share * (len(times) - 1))])
            self.system.retain(self.horizon, by="a machine")

    # asking

    @rule(event=events, back=st.integers(0, 5))
    def ask(self, event: int, back: int) -> None:
        if not self.rows and not self.erased:
            return
        times = sorted({row.ingest for row in self.rows})
        now = self._now()  # which has all of them stable, for a store that was opened anew as well
        ingest = times[-back] if 0 < back <= len(times) else now
        for at in (ingest, ingest - 1):
            self._compare(lambda **asked: self.system.get_many(KEYS, **asked), event, at)
            self._compare(lambda **asked: dict(self.system.scan(**asked)), event, at)
            for key in KEYS:
                expected = self._expected(key, event, at)
                found = self._answer(lambda key=key, at=at: self.system.get(key, event=event, ingest=at))
                assert found == expected, (key, at)

    def _compare(self, ask: Callable[..., Any], event: int, ingest: int) -> None:
        each = {key: self._expected(key, event, ingest) for key in KEYS}
        refused = REFUSED in each.values()
        whole = {key: value for key, value in each.items() if value is not None}
        found = self._answer(lambda: ask(event=event, ingest=ingest))
        assert {k: v for k, v in found.items() if v is not None} == whole if not refused else found is REFUSED

    def _expected(self, key: str, event: int, ingest: int) -> Any:
        self.queries += 1
        return answer(self.rows, key, event, ingest) if self._kept(key, ingest) else REFUSED

    def _kept(self, key: str, ingest: int) -> bool:
        return ingest >= self.horizon and ingest >= self.erased.get(key, 0)

    def _answer(self, ask: Callable[[], Any]) -> Any:
        try:
            return ask()
        except nm.Purged:
            return REFUSED

    @rule(event=events)
    def take_a_token(self, event: int) -> None:
        if self.rows:
            token = self.store.token(event=event, ingest=self._now())
            self.tokens.append((str(token), {key: self.system.get(key, token=token) for key in KEYS}))

    @rule()
    def ask_tokens_again(self) -> None:
        if self.tokens:
            self._now()  # a store that was opened anew has yet to find them stable
        for text, answers in self.tokens:
            ingest = elsa.Token.parse(text).ingest
            for key, before in answers.items():
                expected = before if self._kept(key, ingest) else REFUSED
                assert self._answer(lambda key=key, text=text: self.system.get(key, token=text)) == expected
                self.queries += 1

    def _now(self) -> int:
        return settled(self.store)

    def teardown(self) -> None:
        self.faults = []
        self.ask_tokens_again()
        repository = self.store.repository
        for model in repository.models():
            if model.startswith(self.name):
                repository.drop(model)
        repository.close()
