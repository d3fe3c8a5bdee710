"""`neomodel elsa …`."""

import json
import os
import threading
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

import neomodel as nm
from metamodels import elsa

CSV = """key,event,ingest,operation,value
x,5,10,insert,v1
x,10,30,delete,
x,12,20,insert,v2
x,35,40,insert,v3
"""
LINES = """
{"key": "car", "event": "2017-03-06T09:00:00+01:00", "ingest": "2017-03-06T09:30:00+01:00", "operation": "insert", "value": {"at": [51, 12]}}

{"key": "car", "event": -5, "ingest": 10, "operation": "delete"}
"""  # noqa: E501


@pytest.fixture
def loaded(repository: nm.Repository, run: Any, tmp_path: Path) -> nm.Repository:
    (tmp_path / "crm.csv").write_text(CSV)
    (tmp_path / "cars.jsonl").write_text(LINES)
    assert run("elsa", "load", "crm", str(tmp_path / "crm.csv")).startswith("crm: 4 versions loaded in ")
    assert run("elsa", "load", "cars", str(tmp_path / "cars.jsonl")).startswith("cars: 2 versions")
    return repository


def test_a_record_is_printed_as_of_two_times(loaded: nm.Repository, run: Any) -> None:
    assert run("elsa", "get", "crm", "x") == "v3\n"
    assert run("elsa", "get", "crm", "x", "--event", "15", "--ingest", "35") == "v2\n"
    assert run("elsa", "get", "cars", "car", "--ingest", "2017-03-06T09:45:00+01:00") == '{"at": [51, 12]}\n'


def test_the_token_of_an_answer_gives_it_again(loaded: nm.Repository, run: Any) -> None:
    first = json.loads(run("elsa", "get", "crm", "x", "--event", "15", "--json"))
    elsa.open(loaded).system("crm").insert("x", 15, "late")

    assert first["version"] == {"key": "x", "event": 12, "ingest": 20, "operation": "insert", "value": "v2"}
    assert run("elsa", "get", "crm", "x", "--token", first["token"]) == "v2\n"
    assert run("elsa", "get", "crm", "x", "--event", "15") == "late\n"


def test_where_there_is_no_record_the_exit_status_tells(
    loaded: nm.Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    from neomodel.cli import main

    assert main(["elsa", "get", "crm", "x", "--event", "11"]) == 1
    assert capsys.readouterr() == ("", "neomodel: there is no record 'x' in crm then\n")
    assert main(["elsa", "get", "crm", "y", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["version"] is None


def test_the_history_of_a_record_is_listed(loaded: nm.Repository, run: Any) -> None:
    lines = run("elsa", "history", "crm", "x").splitlines()

    assert [line.split() for line in lines] == [
        ["event", "ingest", "operation", "value"],
        ["5", "10", "insert", "v1"],
        ["10", "30", "delete"],
        ["12", "20", "insert", "v2"],
        ["35", "40", "insert", "v3"],
    ]
    assert [one["value"] for one in json.loads(run("elsa", "history", "crm", "x", "--ingest", "20", "--json"))] == [
        "v1",
        "v2",
    ]


def test_systems_are_counted(loaded: nm.Repository, run: Any) -> None:
    elsa.open(loaded).system("crm").erase("x", by="Ann")

    cars, crm = json.loads(run("elsa", "stats", "--json"))
    assert (cars["system"], cars["keys"], cars["versions"], cars["deletes"], cars["first event"]) == (
        "cars",
        1,
        2,
        1,
        -5,
    )
    assert (crm["keys"], crm["versions"], crm["last event"], crm["forgotten"]) == (0, 0, None, 1)
    assert run("elsa", "stats", "cars").splitlines()[1].split()[:4] == ["cars", "1", "2", "1"]


def test_a_history_is_drawn_with_its_versions_and_the_question(loaded: nm.Repository, run: Any, tmp_path: Path) -> None:
    out = tmp_path / "x.svg"
    run("elsa", "timeline", "crm", "x", "--event", "15", "--ingest", "35", "--out", str(out))

    tree = ET.parse(out)
    texts = [element.text for element in tree.iter("{http://www.w3.org/2000/svg}text")]
    assert {"v1", "v2", "v3", "crm: x"} <= set(texts)
    assert "Asked for event 15, as known at 35: v2" in texts
    run("elsa", "timeline", "cars", "car", "--out", str(out))
    assert "Asked" not in out.read_text()


def test_a_picture_of_text_that_can_not_be_seen_is_one(repository: nm.Repository, run: Any, tmp_path: Path) -> None:
    elsa.open(repository).system("crm").insert("x", 1, "a\x01b\x00")
    out = tmp_path / "x.svg"
    run("elsa", "timeline", "crm", "x", "--out", str(out))

    (tip,) = [element.text or "" for element in ET.parse(out).iter("{http://www.w3.org/2000/svg}title")]
    assert tip.startswith("a�b�, event 1")


def test_what_a_picture_says_ends_within_it(repository: nm.Repository, run: Any, tmp_path: Path) -> None:
    elsa.open(repository).system("crm").insert("x", 1, "a long answer " * 20)
    out = tmp_path / "x.svg"
    run("elsa", "timeline", "crm", "x", "--event", "15", "--out", str(out))

    width = float(ET.parse(out).getroot().attrib["width"])
    for element in ET.parse(out).iter("{http://www.w3.org/2000/svg}text"):
        x, letters, anchor = float(element.attrib["x"]), len(element.text or ""), element.attrib.get("text-anchor")
        if anchor == "end":
            assert x - 6.2 * letters > 0
        elif anchor != "middle":
            assert x + 7 * letters < width


BAD = {
    "no such system": (["get", "crn", "x"], "expected one that has records, or had; did you mean 'crm'?"),
    "no such elsa": (["get", "crm", "x", "--elsa", "elza"], "nothing was written to ELSA there yet"),
    "naive time": (["get", "crm", "x", "--event", "2024-05-01"], "a time is '2024-05-01', expected one such as"),
    "not stable": (["get", "crm", "x", "--ingest", "9000000000000000"], "others may still write under that time"),
    "token and time": (["get", "crm", "x", "--token", "a", "--event", "1"], "leave out --event and --ingest"),
    "no token": (["get", "crm", "x", "--token", "a"], "a token is 'a', expected one that a store has given"),
    "load again": (["load", "crm", "crm.csv"], "expected one without records"),
    "no file": (["load", "new", "nowhere.csv"], "nowhere.csv"),
    "no history": (["history", "crm", "y"], "nothing is known of a record 'y' in crm then"),
    "no history by then": (["history", "crm", "x", "--event", "1"], "nothing is known of a record 'x' in crm then"),
    "nothing to draw": (["timeline", "crm", "y", "--out", "y.svg"], "there is nothing to draw"),
    "no folder": (["timeline", "crm", "x", "--out", "no/y.svg"], "a name in a folder that is there"),
    "no time for an event": (["get", "crm", "x", "--event", "stable"], "stable is an ingest time"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_sentence(
    loaded: nm.Repository, refused: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    arguments, sentence = BAD[name]

    assert sentence in refused("elsa", *arguments)


@pytest.mark.parametrize(
    ("file", "content", "sentence"),
    [
        ("a.csv", "key,event\nx,1\n", "a.csv, line 1: the columns are ['key', 'event'], expected"),
        ("a.csv", "k" * 200_000, "a.csv, line 1: it can't be read: field larger than field limit"),
        ("a.csv", CSV + "y,1,2,insert\n", "a.csv, line 6: expected 5 columns"),
        ("a.csv", CSV + "y,1,2,upsert,v\n", "a.csv, line 6: an operation is 'upsert', expected 'insert' or 'delete'"),
        ("a.csv", CSV + "y,yesterday,2,insert,v\n", "a.csv, line 6: a time is 'yesterday', expected one such as"),
        ("a.csv", CSV + f"y,{'9' * 5000},2,insert,v\n", "a.csv, line 6: a time is '999"),
        ("a.csv", CSV + f"y,-{'9' * 5000},2,insert,v\n", "a.csv, line 6: a time is '-999"),
        (
            "a.csv",
            CSV + "y,1,99999999999999999,insert,v\n",
            "a time of history is 99999999999999999, expected a past one",
        ),
        (
            "a.csv",
            CSV + "x,5,10,insert,other\n",
            "the number of entries to load is 5, expected as many of different key",
        ),
        ("a.csv", CSV + f"y,1,2,insert,{'v' * 200_000}\n", "a.csv, line 6: it can't be read: field larger than"),
        ("a.jsonl", "{]\n", "a.jsonl, line 1: it is no JSON"),
        ("a.jsonl", f"{'[' * 100_000}\n", "a.jsonl, line 1: it is no JSON"),
        ("a.jsonl", "[]\n", "a.jsonl, line 1: expected an object with key, event"),
        ("a.jsonl", '{"key": "x"}\n', "a.jsonl, line 1: the ingest time of 'x' is None, expected an aware datetime"),
    ],
)
def test_a_file_that_is_wrong_is_told_with_its_line_and_leaves_nothing(
    repository: nm.Repository, refused: Any, tmp_path: Path, file: str, content: str, sentence: str
) -> None:
    (tmp_path / file).write_text(content)

    assert sentence in refused("elsa", "load", "new", str(tmp_path / file))
    assert elsa.open(repository).systems() == []


@pytest.mark.parametrize("content", ["key,event\nx,1\n", "key,event,ingest,operation,value\nx,yesterday,2,insert,v\n"])
def test_no_elsa_is_made_for_a_file_that_begins_wrong(
    repository: nm.Repository, refused: Any, tmp_path: Path, content: str
) -> None:
    (tmp_path / "a.csv").write_text(content)

    refused("elsa", "load", "new", str(tmp_path / "a.csv"))
    refused("elsa", "load", "new", str(tmp_path / "a.csv"), "--store", f"lmdb:{tmp_path}/db")

    assert repository.models() == []
    assert not (tmp_path / "db").exists()


def test_a_history_is_loaded_from_a_pipe(repository: nm.Repository, run: Any, tmp_path: Path) -> None:
    pipe = tmp_path / "history.csv"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=(CSV,))
    writer.start()

    assert run("elsa", "load", "new", str(pipe)).startswith("new: 4 versions loaded")

    writer.join()
