"""Backups and restores killed at every point, and gone on with: ``python -m tests.backups.killed WHAT FOLDER STEP``.

Each is done by a process of its own, which kills itself with -9: before and after every file that it puts into its
place, and before and after every write to the store; or some of these, STEP apart. Another one does the same again, and
compares. Printed is how many were killed. This process itself opens nothing, so that it can fork.
"""

import itertools
import os
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import neomodel as nm
from metamodels import elsa
from neomodel.backups import making, restoring, verifying
from neomodel.backups.chain import Chain
from neomodel.repository import Repository
from neomodel.stores import open_store
from tests.backups.shelves import cells, changed, filled, told
from tests.objects.crashing import Crashing

MODELS = ["elsa", "elsa.crm", "elsa.erp", "m"]
FEW = 150  # cells in a file


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def in_child(work: Callable[[], object]) -> bool:
    """Whether it came to its end; False if it was killed."""
    child = os.fork()
    if not child:
        status = 1
        try:
            work()
            status = 0
        except BaseException as exc:  # noqa: BLE001  told to who waits
            print(f"{type(exc).__name__}: {exc}", file=sys.stderr, flush=True)
        finally:
            os._exit(status)
    _, status = os.waitpid(child, 0)
    if os.WIFEXITED(status) and os.WEXITSTATUS(status):
        raise AssertionError("it failed")
    return os.WIFEXITED(status)


def deadly(function: Any, point: int) -> Any:
    """A function that is the end at call number `point` // 2, before it does anything or after."""
    calls = itertools.count()

    def called(*arguments: Any) -> Any:
        number = next(calls)
        if number == point / 2:
            die()
        found = function(*arguments)
        if number == (point - 1) / 2:
            die()
        return found

    return called


def source(folder: Path) -> Repository:
    return nm.connect(f"lmdb:{folder}/source")


def made(folder: Path) -> None:
    """What is backed up: a model and an ELSA, of which something was purged, and erased."""
    repository = source(folder)
    store = elsa.open(repository)
    told(store, operations=100)
    early = store.stable()
    told(store, 2, operations=100)
    store.system("crm").retain(early)
    store.system("crm").erase("k0001")
    filled(repository)


def backed_up(folder: Path, since: str | None = None) -> None:
    making.backup(source(folder), folder / "b", since=since, file_cells=FEW)


def whole(folder: Path) -> None:
    """Go on, and see that what is there is as it would be."""
    numbers = len(Chain(folder / "b").load())
    if numbers == 0 or Chain(folder / "b").numbers()[-1] > numbers:
        backed_up(folder)
    found = verifying.verify(folder / "b")
    assert (found.damage, found.unfinished, len(found.backups)) == ([], [], 1), found
    other = nm.connect("memory:")
    restoring.restore(other, folder / "b")
    assert cells(other.store, *MODELS) == cells(source(folder).store, *MODELS)


def kill_backups(folder: Path, step: int) -> int:
    assert in_child(lambda: made(folder))
    for point in itertools.count(0, step):

        def work(point: int = point) -> None:
            os.replace = deadly(os.replace, point)
            backed_up(folder)

        if in_child(work):
            return point // step
        assert in_child(lambda: whole(folder))
        shutil.rmtree(folder / "b")
    raise AssertionError


def kill_restores(folder: Path, step: int) -> int:
    assert in_child(lambda: made(folder))
    assert in_child(lambda: backed_up(folder))

    def more() -> None:
        changed(source(folder).open("m"), 9)
        backed_up(folder, "last")

    assert in_child(more)
    target = f"lmdb:{folder}/target"
    for point in itertools.count(0, step):

        def work(point: int = point) -> None:
            store = Crashing(open_store(target), point // 2, "after" if point % 2 else "before", die)
            restoring.restore(Repository(store), folder / "b")

        def again() -> None:
            repository = nm.connect(target)
            if sorted(repository.models()) != MODELS:  # or it was killed when all was done
                restoring.restore(repository, folder / "b")
            assert sorted(repository.models()) == MODELS
            assert cells(repository.store, *MODELS) == cells(source(folder).store, *MODELS)
            assert elsa.open(repository).mark == elsa.open(source(folder)).mark
            assert elsa.open(repository).system("crm").audit() == elsa.open(source(folder)).system("crm").audit()
            assert repository.imports.names() == []

        if in_child(work) and not point % 2:  # after a write that was refused nobody is killed
            return point // step
        assert in_child(again)
        shutil.rmtree(folder / "target")
    raise AssertionError


if __name__ == "__main__":
    print({"backup": kill_backups, "restore": kill_restores}[sys.argv[1]](Path(sys.argv[2]), int(sys.argv[3])))
