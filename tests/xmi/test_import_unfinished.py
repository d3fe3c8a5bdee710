"""An import that fails, or whose process is killed, leaves no half model."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import neomodel as nm
from neomodel.cli import main
from neomodel.errors import InvalidFile, UnfinishedImport
from tests.objects.crashing import Crash, Crashing
from tests.objects.library import library
from tests.xmi.files import new_repository, told, written

BODY = "<l:Library NS><shelves>{}</shelves></l:Library>"


def large(path: Path, count: int = 40_000) -> Path:
    return written(path, BODY.format("".join(f'<books name="{n}"/>' for n in range(count))))


def test_what_fails_late_leaves_nothing(tmp_path: Path) -> None:
    path = large(tmp_path / "a.xmi")
    path.write_text(path.read_text().replace("</shelves>", '</shelves><director lent="_x"/>'))
    repository = new_repository()

    with pytest.raises(InvalidFile, match="'_x', which is not there"):
        repository.import_xmi(path, model="m")
    assert (repository.models(), repository.imports.names()) == ([], [])
    assert "m" not in repository.store.tables()
    with pytest.raises(nm.ModelNotFound):
        repository.open("m")


def test_who_comes_second_to_an_import_that_has_ended_by_then_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    repository = new_repository()
    table = type(repository.imports._table)
    swap = table.swap

    def overtaken(self: Any, *arguments: Any) -> bool:
        monkeypatch.setattr(table, "swap", swap)
        with repository.importing("m"):
            pass
        repository.drop("m")
        return swap(self, *arguments)

    with nm.batch(repository) as opened:
        monkeypatch.setattr(table, "swap", overtaken)
        repository.imports.begin("m", opened)

    assert repository.imports.names() == ["m"]


def test_progress_is_told_while_rows_wait_for_the_end_of_the_file(tmp_path: Path) -> None:
    roots = "".join(f'<l:Library name="{n:040}"/>' for n in range(50_000))
    told_of: list[tuple[int, float]] = []

    new_repository().import_xmi(
        written(tmp_path / "a.xmi", f"<xmi:XMI NS>{roots}</xmi:XMI>"),
        model="m",
        progress=lambda *now: told_of.append(now),
    )

    shares = [share for _, share in told_of]
    assert shares == sorted(shares)
    assert 0 < told_of[0][0] < 50_000
    assert (shares[0] < 0.5, shares[-1]) == (True, 1.0)


def test_an_interrupt_leaves_nothing(tmp_path: Path) -> None:
    repository = new_repository()

    def interrupt(elements: int, share: float) -> None:
        if share > 0.5:  # some of it is written
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        repository.import_xmi(large(tmp_path / "a.xmi"), model="m", progress=interrupt)
    assert (repository.models(), repository.imports.names()) == ([], [])


SCRIPT = """
import sys, time
import neomodel as nm
from tests.objects.library import library

def slowly(elements, share):
    print(elements, flush=True)
    time.sleep(60)

repository = nm.connect(sys.argv[1])
repository.register(library)
repository.import_xmi(sys.argv[2], model="m", progress=slowly)
"""


def test_a_killed_import_is_recognised_harmless_and_done_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    url, path = f"lmdb:{tmp_path / 'store'}", large(tmp_path / "a.xmi")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen([sys.executable, "-c", SCRIPT, url, str(path)], stdout=subprocess.PIPE, env=environment)
    assert process.stdout is not None
    assert int(process.stdout.readline()) > 0  # some of it is written
    with nm.connect(url) as repository:
        assert (repository.models(), repository.imports.names()) == ([], ["m"])
        assert "m" in repository.store.tables()
        with pytest.raises(UnfinishedImport, match="wait for it"):
            repository.open("m")
        with pytest.raises(UnfinishedImport, match="wait for it"):
            repository.import_xmi(path, model="m")
        process.send_signal(signal.SIGKILL)
        process.wait(60)
        process.stdout.close()

        for attempt in (repository.open, repository.create):
            with pytest.raises(UnfinishedImport, match="import it again, or drop it"):
                attempt("m")
        assert main(["models", "--store", url]) == 0
        assert capsys.readouterr() == ("", "neomodel: m is an unfinished import; import it again, or drop it\n")
        assert main(["show", "m", "--store", url]) == 2
        assert "unfinished import" in capsys.readouterr().err

        done = repository.import_xmi(path, model="m")
        assert (done.elements, repository.models(), repository.imports.names()) == (40_002, ["m"], [])
        assert len(repository.open("m").roots[0].shelves[0].books) == 40_000
        assert nm.check(repository.open("m")).findings == ()


def test_a_killed_import_can_be_dropped(tmp_path: Path) -> None:
    url = f"lmdb:{tmp_path / 'store'}"
    script = SCRIPT.replace("time.sleep(60)", "import os; os.kill(os.getpid(), 9)")
    run = [sys.executable, "-c", script, url, str(large(tmp_path / "a.xmi"))]
    subprocess.run(run, env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}, check=False, timeout=60)
    with nm.connect(url) as repository:
        assert repository.imports.names() == ["m"]
        repository.drop("m")
        assert (repository.imports.names(), "m" in repository.store.tables()) == ([], False)
        repository.create("m")


def test_wherever_an_import_ends_there_is_no_half_model_and_the_next_one_does_it(tmp_path: Path) -> None:
    path = written(tmp_path / "a.xmi", BODY.format('<books name="a"/>'))
    whole = Crashing(nm.connect("memory:").store, None, "before")
    repository = nm.Repository(whole)
    repository.register(library)
    before = len(whole.writes)
    repository.import_xmi(path, model="m")
    wanted, writes = told(repository.open("m")), len(whole.writes)
    assert writes > before + 5

    for point in range(before, writes):
        inner = nm.connect(f"memory:{tmp_path}{point}").store
        crashing = nm.Repository(Crashing(inner, point, "before"))
        crashing.register(library)
        with pytest.raises(Crash):
            crashing.import_xmi(path, model="m")
        after = nm.Repository(inner)
        if after.models():
            assert told(after.open("m")) == wanted
            continue
        if after.imports.names():  # the importer's process is this one, and lives: so it has to be dropped
            after.drop("m")
        after.import_xmi(path, model="m")
        assert told(after.open("m")) == wanted
