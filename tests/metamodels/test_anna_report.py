"""The report of a run: a page that needs nothing else, and the same as text."""

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import neomodel as nm
from metamodels import anna
from metamodels.anna.differences import Cause, Diff, RowChange, StepChange
from metamodels.anna.report_html import page
from tests.metamodels.finished_runs import NASTY, begun, finished

VOID = {"meta", "br"}


class Page(HTMLParser):
    """What a page says: all text, tables by title, tags that are not closed, and whatever it would load."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.loads: list[tuple[str, str]] = []
        self.tables: dict[str, list[list[str]]] = {}
        self.tags: set[str] = set()
        self._title = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.loads += [(tag, name) for name, _ in attrs if name in ("src", "href", "srcset", "action", "style")]
        if tag not in VOID:
            self.open.append(tag)
        if tag == "table":
            self.tables[self._title] = []
        elif tag == "tr":
            self.tables[self._title].append([])
        elif tag in ("td", "th"):
            self.tables[self._title][-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "h2":
            self._title = data
        elif self.open and self.open[-1] in ("td", "th"):
            self.tables[self._title][-1][-1] += data


@pytest.fixture
def repo(request: pytest.FixtureRequest) -> nm.Repository:
    return nm.connect(f"memory:{request.node.name}")


def diff() -> Diff:
    row = RowChange("42", {"id": 42, "income": 500}, {"id": 42, "income": NASTY}, (Cause("action", "a1", "applied"),))
    return Diff("report", 1, 2, [StepChange("boss", {"changed": 3}, [row])])


def test_the_page_has_checks_failing_rows_outcomes_and_differences(repo: nm.Repository) -> None:
    run = finished(repo, failing=3, actions={"a1": "applied", "a2": "error"})

    found = Page(page(run, diff()))

    assert found.open == []
    assert found.tables["Checks"][1][:4] == ["boss", "income is enough", "error", "3"]
    assert found.tables["Checks"][2][:4] == ["boss", "rows", "warning", "holds"]
    assert [row[:3] for row in found.tables["Failing rows"][1:]] == [["boss", str(n), "income"] for n in range(3)]
    assert found.tables["Actions"][1:] == [["applied", "1"], ["error", "1"], ["all", "2"]]
    assert [row[-1] for row in found.tables["What became of each action"][1:]] == [
        "a2",
        "a1",
    ]  # what needs a look first
    assert found.tables["From run 1 to run 2"][1] == ["boss", "0", "0", "3", ""]
    assert found.tables["Changed rows"][1][-1] == "action a1: applied"


def test_the_page_loads_nothing_and_text_of_data_stays_text(repo: nm.Repository) -> None:
    text = page(finished(repo, failing=1), diff())

    found = Page(text)

    assert found.loads == []
    assert found.tags.isdisjoint({"script", "link", "img", "iframe", "base", "object"})
    assert not re.search(r"url\(|@import|https?:|//", text)
    assert "\x00" not in text
    assert "\u202e" not in text
    assert any("<script>alert('x')</script> & \\x00 \\u202e" in cell for cell in found.tables["Failing rows"][1])
    assert "prefers-color-scheme: dark" in text


def test_a_long_table_ends_and_says_so(repo: nm.Repository) -> None:
    run = finished(repo, failing=30, actions={f"a{n:03}": "applied" for n in range(50)})

    text = page(run, most=20)

    assert len(Page(text).tables["Failing rows"]) == 21
    assert "and 10 more" in text
    assert "and 30 more" in text


@pytest.mark.parametrize("failing", [0, 2])
def test_the_report_is_printed(failing: int, repo: nm.Repository, run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEOMODEL_STORE", repo.store.url)
    finished(repo, failing=failing, actions={"a1": "applied"})

    out = run("anna", "report", "report")

    said = "all checks hold" if not failing else "1 check fails"
    assert out.splitlines()[0] == f"run 1 of 'report' is done, and {said}"
    assert re.search(r"^boss +42 +income +applied +a1 *$", out, re.MULTILINE)
    assert ("Failing rows" in out) == bool(failing)


def test_runs_are_listed_and_a_page_is_written(
    repo: nm.Repository, run: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("NEOMODEL_STORE", repo.store.url)
    finished(repo, failing=1)
    begun(repo).end(anna.State.FAILED, reason="it was late")

    lines = run("anna", "runs").splitlines()
    run("anna", "report", "report", "2", "--html", str(tmp_path / "r.html"))

    assert [line.split()[:3] for line in lines] == [
        ["process", "run", "state"],
        ["report", "1", "done"],
        ["report", "2", "failed"],
    ]
    assert "run 2 of &#x27;report&#x27; failed: it was late" in (tmp_path / "r.html").read_text()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["report", "nothing"], "there is no run of 'nothing'; processes with runs: report"),
        (["report", "report", "9"], "a run of 'report' is 9, expected one that there is, such as the latest: 1"),
        (["run", "nowhere"], "'nowhere' names no process; write it as MODULE:PROCESS"),
        (["run", "nowhere:x"], "module nowhere cannot be loaded"),
        (["run", "spark.examples.income:boss"], "has no process 'boss'; it has report"),
        (["diff", "spark.examples.income:wrong", "1", "2"], "it has report"),
    ],
)
def test_bad_input_is_one_sentence(
    arguments: list[str], told: str, repo: nm.Repository, refused: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NEOMODEL_STORE", repo.store.url)
    finished(repo)

    assert told in refused("anna", *arguments)


def test_a_cell_that_was_no_number_and_is_none_has_not_changed() -> None:
    row = RowChange("1", {"a": float("nan"), "b": 1.0}, {"a": float("nan"), "b": float("nan")})

    assert list(row.cells) == ["b"]
