"""Who is killed while he backs up or restores is followed by somebody who goes on, and in the end all is as it was."""

import subprocess
import sys
from pathlib import Path

import pytest

import neomodel as nm
from neomodel.backups.chain import Chain
from neomodel.backups.writing import Write
from neomodel.repository import Repository
from tests.backups.shelves import cells, changed, filled

HERE = Path(__file__).parent.parent.parent


@pytest.mark.parametrize("what", ["backup", "restore"])
@pytest.mark.parametrize(("step", "points"), [(17, 3), pytest.param(1, 50, marks=pytest.mark.soak)])
def test_whatever_point_it_is_killed_at_it_is_gone_on_with(what: str, step: int, points: int, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.backups.killed", what, str(tmp_path), str(step)]
    done = subprocess.run(command, cwd=HERE, capture_output=True, text=True, timeout=300, check=False)

    assert done.returncode == 0, done.stderr
    assert int(done.stdout) >= points


def test_files_that_are_complete_are_not_written_again_and_the_time_stays(repo: Repository, tmp_path: Path) -> None:
    model = filled(repo)
    before = cells(repo.store, "m")

    def tired(store: object, parts: list, progress: object) -> list:  # type: ignore[type-arg]
        for part in parts:
            part.run(repo.store)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        nm.backup(repo, tmp_path / "b", "m", engine=tired, file_cells=200)
    written = {path: path.stat().st_mtime_ns for path in (tmp_path / "b").rglob("*.parquet")}
    changed(model, 2)

    made = nm.backup(repo, tmp_path / "b", "m", file_cells=200)

    assert len(written) > 2
    assert {path: path.stat().st_mtime_ns for path in written} == written
    assert sum(file.cells for file in made.models[0].files) == len(before["m"])
    with pytest.raises(nm.InvalidValue, match="this has backups already"):
        nm.backup(repo, tmp_path / "b", "m")


@pytest.mark.parametrize("damaged", ["*.parquet", "journal/m/*.json"])
@pytest.mark.parametrize("left", [slice(0), slice(100), slice(None, None, -1)])
def test_what_was_damaged_meanwhile_is_written_again(
    repo: Repository, other: Repository, tmp_path: Path, damaged: str, left: slice
) -> None:
    """Notes on files are not forced to disk: a machine that failed may have left anything of them."""
    filled(repo)

    def tired(store: object, parts: list, progress: object) -> list:  # type: ignore[type-arg]
        parts[0].run(repo.store)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        nm.backup(repo, tmp_path / "b", "m", engine=tired, file_cells=200)
    second = sorted((tmp_path / "b").rglob(damaged))[1]
    second.write_bytes(second.read_bytes()[left])

    nm.backup(repo, tmp_path / "b", "m", file_cells=200)

    assert nm.verify(tmp_path / "b").damage == []
    nm.restore(other, tmp_path / "b")
    assert cells(other.store, "m") == cells(repo.store, "m")


def test_another_backup_does_not_go_on_with_it(repo: Repository, tmp_path: Path) -> None:
    filled(repo)
    filled(repo, "n")
    with pytest.raises(ZeroDivisionError):
        nm.backup(repo, tmp_path / "b", "m", engine=lambda *_: 1 / 0)

    for names in (["n"], []):  # the last is that of all models
        with pytest.raises(nm.InvalidValue, match="full backup of m that was begun"):
            nm.backup(repo, tmp_path / "b", *names)
    assert nm.verify(tmp_path / "b").unfinished == [str(tmp_path / "b" / "00001")]


def test_who_restores_is_not_disturbed_and_who_reads_is_not_kept_waiting(
    repo: Repository, other: Repository, tmp_path: Path
) -> None:
    model = filled(repo)
    nm.backup(repo, tmp_path / "b", "m")
    aside = filled(other, "aside")
    seen: list[object] = []

    def watching(store: object, parts: list, progress: object) -> list:  # type: ignore[type-arg]
        if not any(isinstance(part, Write) for part in parts):
            return [part.run(other.store) for part in parts]
        before = other.stable("aside")
        changed(aside, 2)
        seen.extend([other.stable("aside") > before, other.models()])
        for attempt in (lambda: other.open("m"), lambda: nm.restore(other, tmp_path / "b")):
            with pytest.raises(nm.UnfinishedImport, match="wait for it"):
                attempt()
        return [part.run(other.store) for part in parts]

    nm.restore(other, tmp_path / "b", engine=watching)

    assert seen == [True, ["aside"]]
    assert cells(other.store, "m") == cells(model.repository.store, "m")


def test_tasks_of_a_restore_that_was_given_up_write_no_more(
    repo: Repository, other: Repository, tmp_path: Path
) -> None:
    filled(repo)
    nm.backup(repo, tmp_path / "b", "m")
    late: list[Write] = []

    def keeping(store: object, parts: list, progress: object) -> list:  # type: ignore[type-arg]
        late.extend(part for part in parts if isinstance(part, Write))
        return [part.run(other.store) for part in parts]

    nm.restore(other, tmp_path / "b", engine=keeping)
    before = cells(other.store, "m")

    for part in late:
        with pytest.raises(nm.JobEnded):
            part.run(other.store)
    assert cells(other.store, "m") == before


def test_two_processes_do_not_write_to_one_folder(repo: Repository, tmp_path: Path) -> None:
    filled(repo)
    with Chain(tmp_path / "b").alone(), pytest.raises(nm.InvalidValue, match="no other process"):
        nm.backup(repo, tmp_path / "b", "m")
