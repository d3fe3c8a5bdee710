"""Change events of Debezium."""

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

import neomodel as nm
from metamodels import elsa
from metamodels.elsa.debezium import debezium
from metamodels.elsa.intake import Intake
from metamodels.elsa.messages import Message, Reader
from tests.metamodels.conftest import settled

ROW = {"id": 7, "city": "Leipzig"}
POSTGRES = {"connector": "postgresql", "ts_ms": 1000, "lsn": 24023128, "table": "customers"}
MYSQL = {"connector": "mysql", "ts_ms": 1000, "file": "binlog.000003", "pos": 154, "row": 2}


def envelope(op: str, after: Any = ROW, source: Any = POSTGRES, **more: Any) -> dict[str, Any]:
    return {"before": None, "after": after, "source": source, "op": op, "ts_ms": 5000, **more}


def message(value: Any, key: Any = None, *, schema: bool = False, place: str = "1") -> Message:
    def packed(one: Any) -> bytes | None:
        if one is None:
            return None
        return json.dumps({"schema": {"type": "struct"}, "payload": one} if schema else one).encode()

    return Message("q", place, packed({"id": 7} if key is None else key), packed(value))


@pytest.mark.parametrize("schema", [True, False])
def test_every_operation_is_understood_with_a_schema_and_without(schema: bool) -> None:
    for op in "cur":
        change = debezium(message(envelope(op), schema=schema))
        assert change is not None
        assert (change.key, change.event, change.deletion, change.sequence) == ("7", 1_000_000, False, 24023128)
        assert change.value == b'j{"city":"Leipzig","id":7}'
    change = debezium(message(envelope("d", None), schema=schema))
    assert change is not None
    assert (change.deletion, change.value) == (True, None)
    assert debezium(message(None, schema=schema)) is None
    assert debezium(message(envelope("m", None), schema=schema)) is None


@pytest.mark.parametrize(
    ("key", "expected"),
    [({"id": 7}, "7"), ({"code": "x/1"}, "x/1"), ({"b": 1, "a": "x"}, '{"a":"x","b":1}'), ("plain", "plain")],
)
def test_a_key_is_its_column_or_an_object_of_several(key: Any, expected: str) -> None:
    change = debezium(message(envelope("c"), key))
    assert change is not None
    assert change.key == expected


def test_a_line_of_a_file_has_key_and_value() -> None:
    line = json.dumps({"key": {"schema": {}, "payload": {"id": 9}}, "value": envelope("c")}).encode()
    change = debezium(Message("q", "1", None, line))
    assert change is not None
    assert change.key == "9"
    assert debezium(Message("q", "1", None, b'{"key": {"id": 9}, "value": null}')) is None


def test_times_are_those_of_the_source_as_exact_as_they_are() -> None:
    def event(source: Any, **more: Any) -> int:
        change = debezium(message(envelope("c", source=source, **more)))
        assert change is not None
        return change.event

    assert event({"ts_ms": 3, "ts_us": 3141}) == 3141
    assert event({"ts_ms": 3}) == 3000
    assert event({}) == event(None) == 5_000_000
    assert event(None, ts_us=5_000_001) == 5_000_001


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        (POSTGRES, {**POSTGRES, "lsn": 124023128}),
        (MYSQL, {**MYSQL, "row": 3}),
        (MYSQL, {**MYSQL, "pos": 1000, "row": 0}),
        ({**MYSQL, "pos": 9999}, {**MYSQL, "file": "binlog.000004", "pos": 4}),
        (
            {"connector": "sqlserver", "commit_lsn": "00000027:00000ac0:0002", "change_lsn": None},
            {"connector": "sqlserver", "commit_lsn": "00000027:00000ac0:0002", "change_lsn": "00000027:00000ac0:0001"},
        ),
        ({"connector": "oracle", "scn": "999"}, {"connector": "oracle", "scn": "1000"}),
        ({"connector": "mongodb", "ts_ms": 1, "ord": 9}, {"connector": "mongodb", "ts_ms": 1, "ord": 10}),
    ],
)
def test_the_position_in_the_log_decides_in_whatever_order_they_come(tmp_path: Path, earlier: Any, later: Any) -> None:
    for number, order in enumerate([(0, 1), (1, 0), (0, 1, 0, 1)]):
        store = elsa.open(nm.connect(f"memory:{tmp_path}/{number}"))
        crm = store.system("crm")
        reader, intake = Reader(crm.writable(), debezium), Intake(crm)
        for place, which in enumerate(order):
            source = {"ts_ms": 1, **(earlier, later)[which]}
            told = reader.read(message(envelope("u", {"n": which}, source), place=str(place)))
            begun = intake.begin()
            intake.write(begun, 0, [told])  # type: ignore[list-item]
            intake.end()
        assert crm.get("7", ingest=settled(store)) == {"n": 1}


@pytest.mark.parametrize(
    "source",
    [
        {**MYSQL, "row": [2]},
        {"connector": "sqlserver", "commit_lsn": "27:ac0", "event_serial_no": {"n": 1}},
        {"connector": "oracle", "scn": "999", "ssn": "x"},
    ],
)
def test_where_the_position_in_the_log_makes_no_sense_the_order_of_the_queue_counts(source: Any) -> None:
    change = debezium(message(envelope("c", source=source)))

    assert change is not None
    assert change.sequence is None
    assert change.id is not None


def test_without_a_log_a_change_that_comes_twice_is_applied_once(tmp_path: Path) -> None:
    store = elsa.open(nm.connect(f"memory:{tmp_path}"))
    crm = store.system("crm")
    reader, intake = Reader(crm.writable(), debezium), Intake(crm)
    changes = [envelope("u", {"n": n}, {"ts_ms": 1}, transaction={"id": "t", "total_order": n}) for n in range(3)]
    queue = [*changes, *Random(1).sample(changes, 2), changes[0]]
    told = [reader.read(message(one, place=str(place))) for place, one in enumerate(queue)]
    begun = intake.begin()
    done = intake.write(begun, 0, told)  # type: ignore[arg-type]
    intake.end()

    assert (done.written, done.doubled) == (3, 3)
    assert crm.get("7", ingest=settled(store)) == {"n": 2}


@pytest.mark.parametrize(
    ("bad", "sentence"),
    [
        (message(envelope("t", None)), "a truncation names no record"),
        (message(envelope("x")), "the op of a change event is 'x'"),
        (message({"id": 1}), "an envelope with op"),
        (message([1]), "an envelope with op"),
        (message(envelope("c", None)), "has after is 'null', expected a row"),
        (message(envelope("c"), {}), "the table needs one"),
        (message(envelope("c"), {"id": None}), "the table needs one"),
        (message(envelope("c", source={}, ts_ms=None)), "the times of a change event"),
        (Message("q", "1", None, json.dumps(envelope("c")).encode()), "the table needs one"),
        (Message("q", "1", None, None), "a change event"),
        (Message("q", "1", b"{", b"{}"), "expected JSON"),
    ],
)
def test_what_can_not_be_applied_is_told_in_a_sentence(tmp_path: Path, bad: Message, sentence: str) -> None:
    crm = elsa.open(nm.connect(f"memory:{tmp_path}")).system("crm")
    reason = Reader(crm.writable(), debezium).read(bad)

    assert isinstance(reason, str)
    assert sentence in reason
