"""Messages at random, and what must be known when all of them have come, however they came."""

import json
from random import Random
from typing import Any, NamedTuple

from metamodels import elsa
from tests.metamodels.elsa_oracle import Row, answer


class Told(NamedTuple):
    """An operation of a source, that numbers them."""

    sequence: int
    key: str
    event: int
    operation: str
    value: Any

    def line(self) -> bytes:
        fields = self._asdict()
        if self.operation == "delete":
            del fields["value"]
        return json.dumps(fields).encode()


def random_source(random: Random, size: int, *, keys: int = 20, events: int = 6) -> list[Told]:
    """What a source tells: several operations for most keys and events."""
    told = []
    for number in range(size):
        key, event, deletion = f"k{random.randrange(keys):03}", random.randrange(events), random.random() < 0.25
        told.append(Told(number, key, event, "delete" if deletion else "insert", None if deletion else number))
    return told


def delivered(random: Random, told: list[Told]) -> list[Told]:
    """The same as a bad queue hands it over: some of them twice, and in another order."""
    doubled = told + random.sample(told, len(told) // 3)
    random.shuffle(doubled)
    return doubled


def check(store: elsa.ElsaStore, system: elsa.ExternalSystem, told: list[Told], now: int) -> int:
    """That `now` all is known that was told, with every event; that each past answers as its versions say; and that
    nothing was applied twice. Returns how many questions were asked."""
    by_source = [Row(one.key, one.event, one.sequence, one.operation, one.value) for one in told]
    keys = sorted({one.key for one in told})
    events = sorted({one.event for one in told})
    versions = [one for key in keys for one in system.history(key, ingest=now)]
    rows = [Row(one.key, one.event, one.ingest, one.operation, one.value) for one in versions]
    asked = 0
    for ingest in [*sorted({row.ingest for row in rows})[:: max(1, len(rows) // 40)], now]:
        for event in [events[0] - 1, *events]:
            token = store.token(event=event, ingest=ingest)
            found = system.get_many(keys, token=str(token))
            assert found == {key: value for key in keys if (value := answer(rows, key, event, ingest)) is not None}, (
                event,
                ingest,
            )
            asked += len(keys)
    for event in [events[0] - 1, *events]:
        found = system.get_many(keys, event=event, ingest=now)
        assert found == {key: v for key in keys if (v := answer(by_source, key, event, 2**62)) is not None}, event
        asked += len(keys)
    _check_once(versions, told)
    return asked


def _check_once(versions: list[elsa.Version], told: list[Told]) -> None:
    """Each insertion was written once at most; of a key and event, in the order of the source, up to the last."""
    numbers: dict[tuple[str, int], list[int]] = {}
    deletions: dict[tuple[str, int], int] = {}
    for one in versions:
        if one.operation == "insert":
            numbers.setdefault((one.key, one.event), []).append(one.value)
        else:
            deletions[one.key, one.event] = deletions.get((one.key, one.event), 0) + 1
    for found in numbers.values():
        assert found == sorted(set(found)), found
    for cell, count in deletions.items():
        assert count <= sum((one.key, one.event, one.operation) == (*cell, "delete") for one in told)
