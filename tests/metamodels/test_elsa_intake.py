"""Messages come into a system once, in the order of their source, whatever fails and however they come."""

import json
import time
from pathlib import Path
from random import Random
from typing import Any

import pytest

import neomodel as nm
from metamodels import elsa
from metamodels.elsa.intake import Intake
from metamodels.elsa.messages import Message, Reader, plain
from neomodel.operations import Applied, Operation
from neomodel.repository import Repository
from neomodel.stores import open_store
from neomodel.stores.wrappers import Counting, Faulty
from tests.metamodels.conftest import settled, url_of
from tests.metamodels.queue_oracle import Told, check, delivered, random_source

LEASE = 0.1


@pytest.fixture(params=["memory", "lmdb"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return url_of(request.param, tmp_path, request)


on_every_store = pytest.mark.parametrize("url", ["memory", "lmdb", "hbase"], indirect=True)


def operations(system: elsa.ExternalSystem, told: list[Told]) -> list[Operation]:
    reader = Reader(system.writable(), plain)
    found = [reader.read(Message("q", f"{place:09}", None, one.line())) for place, one in enumerate(told)]
    assert all(isinstance(one, Operation) for one in found)
    return found  # type: ignore[return-value]


def lines(system: elsa.ExternalSystem, texts: list[bytes], first: int = 0) -> list[Any]:
    reader = Reader(system.writable(), plain)
    return [reader.read(Message("q", f"{place:09}", None, text)) for place, text in enumerate(texts, first)]


def round_of(intake: Intake, some: list[Operation], parts: int = 2) -> list[Applied]:
    begun = intake.begin()
    try:
        done = [
            intake.write(begun, part, [one for one in some if sum(one.row) % parts == part]) for part in range(parts)
        ]
        intake.end()
        return done
    finally:
        intake.leave()


def total(done: list[Applied]) -> tuple[int, int, int]:
    return (
        sum(one.written for one in done),
        sum(one.doubled for one in done),
        sum(one.superseded for one in done),
    )


@on_every_store
def test_doubled_and_shuffled_messages_change_no_answer(store: elsa.ElsaStore, crm: elsa.ExternalSystem) -> None:
    random = Random(11)
    told = random_source(random, 400)
    queue = delivered(random, told)
    intake = Intake(crm)
    for first in range(0, len(queue), 180):
        round_of(intake, operations(crm, queue[first : first + 180]))
        round_of(intake, operations(crm, queue[first : first + 180]))  # again, as after a crash

    assert check(store, crm, told, settled(store)) > 1000


def test_what_was_written_is_not_written_again_and_what_came_too_late_is_told(crm: elsa.ExternalSystem) -> None:
    told = [Told(number, "a", 1, "insert", number) for number in range(4)]
    intake = Intake(crm)

    assert total(round_of(intake, operations(crm, [told[1], told[2]]))) == (2, 0, 0)
    assert total(round_of(intake, operations(crm, told))) == (1, 2, 1)
    assert [one.value for one in crm.history("a", ingest=settled(crm.store))] == [1, 2, 3]


def test_without_a_sequence_the_order_of_the_queue_counts_and_an_id_is_taken_once(crm: elsa.ExternalSystem) -> None:
    def line(value: str, name: str) -> bytes:
        return b'{"key": "a", "event": 1, "value": "%b"%b}' % (value.encode(), name.encode())

    intake = Intake(crm)
    round_of(intake, lines(crm, [line("x", ', "id": "1"'), line("y", ', "id": "2"')]))
    assert total(round_of(intake, lines(crm, [line("x", ', "id": "1"')], first=2))) == (0, 1, 0)
    assert total(round_of(intake, lines(crm, [line("x", "")], first=3))) == (
        1,
        0,
        0,
    )  # a correction, as far as is known
    assert total(round_of(intake, lines(crm, [line("y", ', "id": "3"'), line("z", ', "id": "3"')], first=4))) == (
        1,
        1,
        0,
    )

    assert [one.value for one in crm.history("a", ingest=settled(crm.store))] == ["x", "y", "x", "y"]


def test_of_different_queues_what_came_later_is_newer_whether_it_is_looked_up_or_not(crm: elsa.ExternalSystem) -> None:
    reader, intake = Reader(crm.writable(), plain), Intake(crm)

    def told(queue: str, place: int, value: str, key: str) -> Operation:
        line = b'{"key": "%b", "event": 1, "value": "%b"}' % (key.encode(), value.encode())
        found = reader.read(Message(queue, f"{place:09}", None, line))
        assert isinstance(found, Operation)
        return found

    for first, second in (("p", "q"), ("q", "p")):
        key = first + second
        round_of(intake, [told(first, 1, "first", key)])
        round_of(intake, [told(second, 1, "second", key), told(second, 9, "x", "other")])
        round_of(intake, [told(first, 2, "third", key)])
        round_of(intake, [told(first, 1, "first", key), told(second, 1, "second", key)])
        assert [one.value for one in crm.history(key, ingest=settled(crm.store))] == ["first", "second", "third"]


def test_of_one_sequence_the_content_decides_and_the_same_content_is_one(crm: elsa.ExternalSystem) -> None:
    def told(value: str) -> bytes:
        return b'{"key": "a", "event": 1, "value": "%b", "sequence": "tx-1"}' % value.encode()

    there, back = Intake(crm), Intake(crm.store.system("other"))
    values = [b"x", b"y", b"z"]
    for value in values:
        round_of(there, lines(crm, [told(value.decode())] * 2))
    for value in reversed(values):
        round_of(back, lines(crm.store.system("other"), [told(value.decode())]))

    now = settled(crm.store)
    assert crm.get("a", ingest=now) == crm.store.system("other").get("a", ingest=now)


@pytest.mark.parametrize("odd", [0, pytest.param(1, marks=pytest.mark.soak)])
def test_whichever_call_fails_doing_it_again_makes_it_whole(tmp_path: Path, odd: int) -> None:
    """One after the other every call of a round fails, every second one after it was done; then it is done again."""
    random = Random(5)
    told = random_source(random, 60, keys=6, events=3)
    calls = [0]
    deadly = [-1]

    def broken(operation: str, key: bytes | None) -> Any:
        calls[0] += 1
        return ("refused", "lost")[(deadly[0] + odd) % 2] if calls[0] == deadly[0] else None

    failed = 0
    for number in range(1, 60):
        inner = open_store(f"memory:{tmp_path}/{number}")
        store = elsa.open(Repository(Faulty(inner, broken)), "e")
        crm = store.system("crm")
        queue = delivered(random, told)
        halves = [operations(crm, queue[:40]), operations(crm, queue[40:])]
        round_of(Intake(crm, lease=LEASE), halves[0])
        calls[0], deadly[0] = 0, number
        try:
            round_of(Intake(crm, lease=LEASE), halves[1])
        except (nm.StoreUnavailable, nm.OutcomeUnknown, nm.BatchExpired, nm.Conflict):
            failed += 1
            deadly[0] = -1
            store = elsa.open(Repository(inner), "e")
            crm = store.system("crm")
            round_of(Intake(crm, lease=LEASE), halves[1])
        over, deadly[0] = calls[0] < number, -1
        store.check_stable(now := store.catalogue.table.now(), wait=5)  # a batch may be open that nobody knows of
        check(store, crm, told, now)
        if over:
            break
    assert failed > 8
    assert over


def test_a_part_that_is_tried_again_in_its_round_writes_what_is_missing(crm: elsa.ExternalSystem) -> None:
    told = operations(crm, [Told(number, "a", 1 + number % 2, "insert", number) for number in range(20)])
    intake = Intake(crm)
    begun = intake.begin()
    intake.write(begun, 0, told[:10])
    assert total([intake.write(begun, 0, told)]) == (10, 10, 0)
    intake.end()

    assert [one.value for one in crm.history("a", ingest=settled(crm.store))] == [*range(0, 20, 2), *range(1, 20, 2)]


def test_a_round_waits_for_one_that_is_at_work_and_goes_on_where_it_died(store: elsa.ElsaStore) -> None:
    crm = store.system("crm")
    told = random_source(Random(3), 50)
    first, second = Intake(crm, lease=1.0), Intake(crm, lease=1.0)
    begun = first.begin()
    first.write(begun, 0, operations(crm, told[:30]))
    first.leave()
    sentences: list[str] = []
    began = time.monotonic()

    joined = second.begin(sentences.append)
    assert time.monotonic() - began > 0.3
    assert "another sync of crm is at work" in sentences[0]
    assert joined.batch == begun.batch
    second.write(joined, 1, operations(crm, told))
    second.end()
    second.leave()
    check(store, crm, told, settled(store))


def test_what_comes_in_order_costs_no_look_and_few_calls(tmp_path: Path) -> None:
    counting = Counting(open_store(f"lmdb:{tmp_path}/db"))
    crm = elsa.open(nm.Repository(counting)).system("crm")
    intake = Intake(crm)
    told = [Told(number, f"k{number}", 1, "insert", number) for number in range(3000)]
    round_of(intake, operations(crm, told[:100]), parts=1)
    counting.reset()

    round_of(intake, operations(crm, told[100:]), parts=1)
    assert "histories" not in counting.calls
    assert sum(counting.calls.values()) < 25
    counting.reset()
    assert total(round_of(intake, operations(crm, told), parts=1)) == (0, 3000, 0)
    assert counting.calls["histories"] == 3


@pytest.mark.parametrize("kind", ["memory", "lmdb"])
def test_however_many_are_looked_at_in_one_call_the_operations_of_a_cell_are_taken_together(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = Random(8)
    told = random_source(random, 120, keys=9, events=3)
    queues = [delivered(random, told) for _ in range(2)]
    found = []
    for page, at_once in ((1, 1), (2, 3), (7, 20), (7, 1000), (1000, 1000)):
        monkeypatch.setattr("neomodel.operations._PAGE", page)
        monkeypatch.setattr("neomodel.operations._AT_ONCE", at_once)
        store = elsa.open(nm.connect(f"{kind}:{tmp_path}/{page}-{at_once}"))
        crm, intake = store.system("crm"), Intake(store.system("crm"))
        found.append([total(round_of(intake, operations(crm, queue))) for queue in queues])
        check(store, crm, told, settled(store))

    assert len({*map(str, found)}) == 1


@pytest.mark.parametrize("kind", ["memory", "lmdb"])
def test_what_is_written_by_column_is_what_would_be_written_one_by_one(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rounds in order, each with operations on cells of their own, some of a row; the last has one of them twice."""
    values = [None, "", "a\0b", [1, {}], "long" * 500]
    keys = ["k", "\1\0", "ü"]
    rounds = [
        [
            json.dumps(
                {
                    "key": f"{keys[number % 3]}{number % 30}",
                    "event": number,
                    "sequence": first + number,
                    **({"operation": "delete"} if number % 7 == 0 else {"value": values[number % 5]}),
                }
            ).encode()
            for number in range(60)
        ]
        for first in (0, 100, 200)
    ]
    rounds[-1].append(rounds[-1][11])
    found = []
    for page, at_once in ((10_000, 10_000), (1, 8), (5, 40_000)):  # the first: pages are never as large
        monkeypatch.setattr("neomodel.operations._PAGE", page)
        monkeypatch.setattr("neomodel.operations._AT_ONCE", at_once)
        store = elsa.open(nm.connect(f"{kind}:{tmp_path}/{page}"))
        crm, intake = store.system("crm"), Intake(store.system("crm"))
        counts = [total(round_of(intake, lines(crm, texts))) for texts in rounds]
        table = store.repository.store.table(crm.model_name)
        versions = [one for one in table.history() if one.key.startswith(b"elsa.Record#")]
        assert len({one.time for one in versions}) == len(versions)
        found.append((counts, [(one.key, one.column, one.value) for one in versions]))

    assert found[0] == found[1] == found[2]
    assert found[0][0] == [(60, 0, 0), (60, 0, 0), (60, 1, 0)]


BAD = {
    b"{": "expected JSON",
    b"[1]": "expected an object with",
    b"\xff": "expected UTF-8",
    b"null": "expected an object",
    b'{"key": "a", "event": 1, "value": NaN}': "expected JSON",
    b'{"key": "a", "event": 1, "value": 1e999}': "",
    b'{"key": "a", "event": 1}': "the value of an insert",
    b'{"key": "a", "value": 1}': "the field 'event'",
    b'{"event": 1, "value": 1}': "the field 'key'",
    b'{"key": 7, "event": 1, "value": 1}': "text that is not empty",
    b'{"key": "", "event": 1, "value": 1}': "text that is not empty",
    b'{"key": "a", "event": "noon", "value": 1}': "a time",
    b'{"key": "a", "event": "2024-05-01T12:00:00", "value": 1}': "",
    b'{"key": "a", "event": 1.5, "value": 1}': "microseconds",
    b'{"key": "a", "event": true, "value": 1}': "microseconds",
    b'{"key": "a", "event": 99999999999999999999, "value": 1}': "",
    b'{"key": "a", "event": 1, "operation": "upsert"}': "an operation is 'upsert'",
    b'{"key": "a", "event": 1, "operation": "delete", "value": 1}': "the value of a delete",
    b'{"key": "a", "event": 1, "value": 1, "sequence": 1.5}': "the sequence of a message",
    b'{"key": "a", "event": 1, "value": 1, "sequence": 99999999999999999999}': "the sequence of a message",
    b'{"key": "a", "event": 1, "value": 1, "id": 5}': "the id of a message",
    b'{"key": "a", "event": 1, "value": 1, "ide": "x"}': "expected an object with",
    b'{"key": "a", "event": 1, "value": "\\ud800"}': "",
    b'{"key": "\\ud800", "event": 1, "value": 1}': "",
    b"[" * 100_000: "",
    b'{"key": "' + b"k" * 500 + b'", "event": 1, "value": 1}': "row key is not longer",
}


@pytest.mark.parametrize("text", BAD)
def test_a_bad_message_is_told_in_one_sentence(tmp_path: Path, text: bytes) -> None:
    crm = elsa.open(nm.connect(f"memory:{tmp_path}")).system("crm")
    (reason,) = lines(crm, [text])

    assert isinstance(reason, str)
    assert BAD[text] in reason
    assert "\n" not in reason
    assert len(reason) < 600


@on_every_store
def test_dead_letters_are_kept_byte_for_byte_and_replayed_where_they_were(
    store: elsa.ElsaStore, crm: elsa.ExternalSystem
) -> None:
    intake = Intake(crm)
    begun = intake.begin()
    intake.write(begun, 0, lines(crm, [b'{"key": "a", "event": 1, "value": "second"}'], first=5))
    intake.end()
    large = b'{"key": "large", "event": 1, "value": "%b"}' % (b"x" * 2_000_000)
    bad = [
        Message("q", "000000001", None, b'{"key": "a", "event": 1, "value": "first"'),
        Message("q", "000000002", b"\0\xff", b"\xff\0'" * 100),
        Message("q", "000000003", b"k", None),
        Message("q", "000000004", None, large),
        Message("q", "000000006", None, b'{"key": "a", "event": 1, "value": "third"'),
    ]
    for _ in range(2):
        assert intake.dead_letters.put((message, "it is bad") for message in bad) == 5

    letters = list(intake.dead_letters.find())
    pages = [pair for page in intake.dead_letters.messages(letters) for pair in page]
    assert [message for _, message in pages] == bad
    assert {letter.reason for letter in letters} == {"it is bad"}
    reader = Reader(crm.writable(), plain)
    assert intake.replay(reader) == (1, 4)
    assert [letter.place[-1] for letter in intake.dead_letters.find()] == ["1", "2", "3", "6"]
    after = list(intake.dead_letters.find(ended=True))
    assert [letter.ended for letter in after] == [None, None, None, "replayed", None]
    assert [letter.seen for letter in after] == [letter.seen for letter in letters]  # when they were put aside first
    mended = {("q", bad[n].place): (bad[n].value or b"") + b"}" for n in (0, 4)}
    assert intake.replay(reader, mended) == (2, 0)
    now = settled(store)
    assert [one.value for one in crm.history("a", ingest=now)] == ["second", "third"]  # the first was outdated
    assert len(crm.get("large", ingest=now)) == 2_000_000
