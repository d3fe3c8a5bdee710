"""`neomodel elsa sync`, `dead-letters` and `diff-load`."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import neomodel as nm
import spark
from metamodels import elsa
from neomodel.cli import main, queues
from tests.metamodels.queue_oracle import Told


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    url = f"lmdb:{tmp_path}/db"
    monkeypatch.setenv("NEOMODEL_STORE", url)
    monkeypatch.setattr("neomodel.cli.sync._LINE", 3600.0)  # on a slow machine it would say how far it is
    return url


@pytest.fixture
def queue(tmp_path: Path) -> Path:
    folder = tmp_path / "queue"
    folder.mkdir()
    lines = [Told(number, f"k{number}", 1, "insert", number).line() for number in range(5)]
    (folder / "a.jsonl").write_bytes(b"\n".join([*lines, b'{"key": "bad", "event": 1, "value": "x"', b"\xff"]))
    return folder


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Any:
    """Runs a command, which must succeed; returns what it printed. What takes long may say how far it is."""

    def run(*arguments: str) -> str:
        status = main(arguments)
        captured = capsys.readouterr()
        assert status == 0, captured.err
        return captured.out

    return run


def figures(printed: str) -> dict[str, str]:
    lines = (line.strip() for line in printed.replace("dead letters", "dead").splitlines())
    return dict(line.split(maxsplit=1) for line in lines if line)


def test_a_queue_is_brought_in_and_what_was_bad_is_mended(
    session: SparkSession, store: str, queue: Path, run: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    metrics = tmp_path / "crm.prom"
    sync = ["elsa", "sync", "--system", "crm", "--from", str(queue), "--once"]
    told = figures(run(*sync, "--metrics", str(metrics)))
    assert (told["system"], told["state"], told["messages"], told["written"], told["dead"]) == (
        "crm",
        "done",
        "7",
        "5",
        "2",
    )
    assert (told["lag"], told["waiting"]) == ("0 bytes", "2")
    text = metrics.read_text()
    assert 'neomodel_elsa_sync_written_total{system="crm"} 5\n' in text
    assert 'neomodel_elsa_sync_lag{system="crm",unit="bytes"} 0\n' in text
    assert 'neomodel_elsa_sync_dead_letters_waiting{system="crm"} 2\n' in text
    assert 'neomodel_elsa_sync_stable_behind_seconds{system="crm"} ' in text
    assert text.count("# TYPE") == 11
    assert figures(run(*sync))["messages"] == "0"
    assert run("elsa", "get", "crm", "k3") == "3\n"

    listed = json.loads(run("elsa", "dead-letters", "crm", "--json"))
    assert [(one["size"], one["place"].partition("/")[0]) for one in listed] == [(39, "a.jsonl"), (1, "a.jsonl")]
    assert "expected UTF-8" in run("elsa", "dead-letters", "crm")
    out = tmp_path / "bad.jsonl"
    assert run("elsa", "dead-letters", "crm", "--out", str(out)).startswith("2 dead letters written")
    mended = [json.loads(line) for line in out.read_text().splitlines()]
    assert mended[1]["hex"] == "ff"
    mended[0]["message"] += "}"
    out.write_bytes(b'{"queue": "\xff"}')
    assert main(["elsa", "dead-letters", "crm", "--with", str(out)]) == 2
    assert "bad.jsonl, line 1: expected an object with queue" in capsys.readouterr().err
    out.write_text(json.dumps(mended[0]))
    assert run("elsa", "dead-letters", "crm", "--with", str(out)) == "1 dead letters applied, 0 still can't be\n"
    assert run("elsa", "get", "crm", "bad") == "x\n"
    assert main(["elsa", "dead-letters", "crm", "--replay"]) == 1
    assert capsys.readouterr().out == "0 dead letters applied, 1 still can't be\n"
    assert run("elsa", "dead-letters", "crm", "--dismiss") == "1 dead letters of crm dismissed\n"
    assert main(["elsa", "dead-letters", "crm"]) == 0
    assert capsys.readouterr() == ("", "neomodel: there are no dead letters\n")
    assert [one["ended"] for one in json.loads(run("elsa", "dead-letters", "crm", "--all", "--json"))] == [
        "replayed",
        "dismissed",
    ]


def test_two_exports_are_compared(session: SparkSession, store: str, run: Any, refused: Any, tmp_path: Path) -> None:
    april, may = tmp_path / "april.csv", tmp_path / "may.csv"
    april.write_text("number,name\n1,Ann\n2,Bob\n")
    may.write_text("number,name\n1,Anna\n3,Cy\n")
    load = ["elsa", "diff-load", "--system", "hr", "--key", "number", "--event"]

    assert run(*load, "2024-04-01T00:00:00Z", str(april)).startswith("hr: 2 changes, 2 written, 0 there before")
    assert run(*load, "2024-05-01T00:00:00Z", str(may), "--before", str(april)).startswith("hr: 3 changes, 3 written")
    with nm.connect(store) as repository:
        hr = elsa.open(repository).system("hr")
        assert {key: value["name"] for key, value in hr.scan()} == {"1": "Anna", "3": "Cy"}
        then = 1_712_000_000_000_000
        assert {key: value["name"] for key, value in hr.scan(event=then)} == {"1": "Ann", "2": "Bob"}
    (tmp_path / "twice.csv").write_text("number,name\n1,a\n1,b\n")
    assert "there once, not 2 times" in refused(*load, "2024-06-01T00:00:00Z", str(tmp_path / "twice.csv"))
    (tmp_path / "torn.csv").write_text("number,name\n1,a,b\n")
    assert " has ended: " in refused(*load, "2024-06-01T00:00:00Z", str(tmp_path / "torn.csv"))


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("kafka://broker/orders", "names no server; it is kafka://HOST:PORT/TOPIC"),
        ("kafka://broker:0/orders", "names no server"),
        ("kafka://broker:65536/orders", "names no server"),
        ("kafka://one:9092,two/orders", "names no server"),
        ("kafka://me:secret@broker:9092/orders", "names no server"),
        ("kafka:///orders", "names no server"),
        ("kafka://broker:9092", "names no topic; it is kafka://HOST:PORT/TOPIC"),
        ("kafka://broker:9092/", "names no topic"),
        ("kafka://broker:9092/orders/1", "names no topic"),
        ("kafka://broker:9092/..", "names no topic"),
        ("amqp://broker:5672/orders", "a topic as kafka://HOST:PORT/TOPIC"),
    ],
)
def test_a_url_that_names_no_topic_is_refused_in_a_sentence(
    store: str, refused: Any, url: str, told: str, tmp_path: Path
) -> None:
    assert told in refused("elsa", "sync", "--system", "crm", "--once", "--from", url)
    assert not list(tmp_path.iterdir())


def test_a_topic_without_the_client_of_kafka_says_what_to_install(
    store: str, refused: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "spark.kafka_queue", raising=False)
    monkeypatch.setitem(sys.modules, "confluent_kafka", None)
    told = refused("elsa", "sync", "--system", "crm", "--from", "kafka://broker:9092/orders")
    assert "needs confluent-kafka; pip install 'neomodel-hbase[kafka]'" in told


def test_servers_and_topic_are_taken_from_the_url_and_each_topic_has_its_own_checkpoint() -> None:
    named = ["kafka://one:9092,[::1]:9093/orders.v1-x_y", "kafka://one:9092/a", "kafka://one:9092/b", "kafka://one:1/a"]
    found = [queues.queue(url) for url in named]
    assert found[0] == queues.Topic("one:9092,[::1]:9093", "orders.v1-x_y")
    checkpoints = {one.checkpoint(".sync-crm-1") for one in found}
    assert len(checkpoints) == 4
    assert all(str(one).startswith(".sync-crm-1-") and one.parent == Path() for one in checkpoints)


def test_with_once_a_broker_that_is_down_is_told_in_a_sentence(
    session: SparkSession, store: str, refused: Any, tmp_path: Path
) -> None:
    sync = ["elsa", "sync", "--system", "crm", "--once", "--checkpoint", str(tmp_path / "checkpoint")]
    assert "Kafka at 127.0.0.1:1" in refused(*sync, "--from", "kafka://127.0.0.1:1/orders")


def test_no_spark_is_started_for_a_store_or_a_system_that_can_not_be(
    queue: Path, refused: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spark, "session", lambda _: pytest.fail("a Spark is started"))
    sync = ("elsa", "sync", "--from", str(queue), "--once")

    assert "the URL must start with" in refused(*sync, "--system", "crm", "--store", "tape:x")
    assert "the name of a system is 'c/m'" in refused(*sync, "--system", "c/m", "--store", "memory:no-system")


def test_what_makes_no_sense_is_refused_in_a_sentence(store: str, queue: Path, refused: Any, tmp_path: Path) -> None:
    sync = ["elsa", "sync", "--system", "crm", "--from"]
    assert "is no folder" in refused(*sync, str(tmp_path / "none"))
    assert "--format xml is none; take one of plain, debezium" in refused(*sync, str(queue), "--format", "xml")
    assert "numbers above 0" in refused(*sync, str(queue), "--rate", "0")
    assert "there is no store" in refused("elsa", "dead-letters", "crm")
    with nm.connect(store) as repository:
        elsa.open(repository).system("crm").insert("k", 1, "v")
    assert "did you mean 'crm'" in refused("elsa", "dead-letters", "crn")
    assert "do one after the other" in refused("elsa", "dead-letters", "crm", "--replay", "--dismiss")
    (tmp_path / "with").write_text("{}\n")
    assert "with, line 1: expected an object" in refused(
        "elsa", "dead-letters", "crm", "--with", str(tmp_path / "with")
    )
    load = ["elsa", "diff-load", "--system", "hr", "--key", "number", "--event"]
    assert "there is no export none.csv" in refused(*load, "5", "none.csv")
    assert "--event stable makes no sense" in refused(*load, "stable", "none.csv")
    assert "--key names no column" in refused(*load, "5", "none.csv", "--key", ", ")
