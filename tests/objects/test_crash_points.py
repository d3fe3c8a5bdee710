"""A process that ends at any write of any operation leaves what a repair makes whole.

Every operation is ended right before and right after each of its writes, and in the middle of each batch. Then the
model, repaired, is what it was before or what it is after; where an operation spans models, is an edit that children
follow, or a batch is torn, each object is. Nothing that was there before and is there after is ever missing, and
nothing is ever seen twice.
"""

import os
import shutil
import signal
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import neomodel as nm
from neomodel import row_access
from neomodel.cluster import Cluster
from neomodel.stores import Store, open_store
from tests.objects.crashing import OPERATIONS, Crash, Crashing, Scene, When, shape, stock
from tests.objects.crashing import found as found_objects
from tests.stores.processes import run

Shapes = list[dict[str, Any]]
NAMES = ("m", "n")
_BATCH = 500
ON_HBASE = [
    ("add a child", 1, "after"),
    ("add in place of another", 1, "after"),
    ("move", 1, "after"),
    ("move to another model", 1, "after"),
    ("delete", 0, "after"),
    ("edit", 2, "after"),
]


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """A large subtree takes several, without being that large."""
    monkeypatch.setattr(row_access, "WRITTEN", _BATCH)


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_crash_at_any_write_leaves_what_a_repair_makes_whole(name: str, figures: Callable[[str], None]) -> None:
    before, after, writes = _outcomes(name, _memory)
    mended = 0
    for point, when in _points(writes):
        store = _memory()
        stock(nm.Repository(store), NAMES)
        with pytest.raises(Crash):
            OPERATIONS[name].act(Scene(Crashing(store, point, when), NAMES))
        mended += _verify(store, NAMES, name, before, after, half=when == "half")
    figures(f"crash points: {name}: {len(writes)} writes, {mended} findings mended in all")
    assert mended or len(writes) == 1


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_kill_at_any_write_leaves_what_a_repair_makes_whole(name: str, tmp_path: Path) -> None:
    points = run(_kill_everywhere, f"lmdb:{tmp_path / 'template'}", name, str(tmp_path))

    assert points == 2 * len(_outcomes(name, _memory)[2])


def _kill_everywhere(template: Store, name: str, folder: str) -> int:
    """Kill a process at every write; how many there were. In a process of its own, which may be forked."""
    row_access.WRITTEN = _BATCH
    before, after, writes = _outcomes(name, _memory)
    stock(nm.Repository(template), NAMES)
    template.close()
    points = [(point, when) for point in range(len(writes)) for when in ("before", "after")]
    for point, when in points:
        place = f"{folder}/{point}-{when}"
        shutil.copytree(f"{folder}/template", place)
        pid = os.fork()
        if pid == 0:
            try:
                store = Crashing(open_store(f"lmdb:{place}"), point, when, lambda: os.kill(os.getpid(), signal.SIGKILL))  # type: ignore[arg-type]
                OPERATIONS[name].act(Scene(store, NAMES))
            finally:
                os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -signal.SIGKILL
        with open_store(f"lmdb:{place}") as store:
            _verify(store, NAMES, name, before, after)
        shutil.rmtree(place)
    return len(points)


@pytest.mark.parametrize(("name", "point", "when"), ON_HBASE)
def test_a_crash_leaves_what_a_repair_makes_whole_on_hbase(hbase: Cluster, name: str, point: int, when: When) -> None:
    _crash_on_hbase(hbase, name, [(point, when)])


@pytest.mark.soak
@pytest.mark.parametrize("name", OPERATIONS)
def test_a_crash_at_any_write_leaves_what_a_repair_makes_whole_on_hbase(hbase: Cluster, name: str) -> None:
    _crash_on_hbase(hbase, name, None)


def _crash_on_hbase(hbase: Cluster, name: str, points: list[tuple[int, When]] | None) -> None:
    before, after, writes = _outcomes(name, _memory)
    for point, when in points or _points(writes):
        names = uuid.uuid4().hex, uuid.uuid4().hex
        with open_store(f"{hbase.url}&regions=1") as store:
            stock(nm.Repository(store), names)
            with pytest.raises(Crash):
                OPERATIONS[name].act(Scene(Crashing(store, point, when), names))
        with open_store(f"{hbase.url}&regions=1") as store:
            _verify(store, names, name, before, after, half=when == "half")
            for model in names:
                nm.Repository(store).drop(model)


def test_every_operation_but_a_deciding_write_alone_takes_several(figures: Callable[[str], None]) -> None:
    counts = {name: len(_outcomes(name, _memory)[2]) for name in OPERATIONS}

    figures(f"crash points: {sum(counts.values())} writes, each ended before and after: {counts}")
    assert min(counts.values()) >= 2
    assert counts["add a large subtree"] == 1 + 3 + 1  # the list, three batches, the author's end


# what must hold


def _points(writes: list[str]) -> list[tuple[int, When]]:
    whole: list[tuple[int, When]] = [(at, when) for at in range(len(writes)) for when in ("before", "after")]
    return whole + [(at, "half") for at, write in enumerate(writes) if write.startswith("put_many")]


def _memory() -> Store:
    return open_store("memory:")


def _outcomes(name: str, make: Callable[[], Store]) -> tuple[Shapes, Shapes, list[str]]:
    """The models before and after an operation that nothing ends, and its writes."""
    store = make()
    stock(nm.Repository(store), NAMES)
    before = _shapes(store, NAMES)
    counting = Crashing(store, None, "before")
    OPERATIONS[name].act(Scene(counting, NAMES))
    return before, _shapes(store, NAMES), counting.writes


def _shapes(store: Store, names: tuple[str, ...]) -> Shapes:
    repo = nm.Repository(store)
    return [shape(repo.open(name)) for name in names]


def _verify(
    store: Store, names: tuple[str, str], name: str, before: Shapes, after: Shapes, *, half: bool = False
) -> int:
    """Look at the models as they were left, repair them, look again; how much was mended."""
    repo = nm.Repository(store)
    models = [repo.open(model) for model in names]
    for model in models:
        found_objects(model)
    reports = [nm.check(model, repair=True, patience=0) for model in (*models, models[0])]  # one leads to the other
    mended = [finding for report in reports for finding in report.findings if finding.mended]
    left = [finding for model in models for finding in nm.check(model, repair=True, patience=0).findings]
    assert left == []
    found = _shapes(store, names)
    if OPERATIONS[name].between or half:
        _check_between(found, before, after)
    else:
        assert found in (before, after)
    return len(mended)


def _check_between(found: Shapes, before: Shapes, after: Shapes) -> None:
    """Each object is where it was or where it should be, and as it was or should be but for references."""
    known = list(_objects(before) | _objects(after))
    for told in _objects(found):
        assert told in known
    names = [name for model in found for name in model]
    assert len(names) == len(set(names)), "an object in two models"
    everywhere = {told[0] for told in _objects(found)}
    assert everywhere >= {told[0] for told in _objects(before)} & {told[0] for told in _objects(after)}


def _objects(shapes: Shapes) -> set[tuple[Any, ...]]:
    return {
        (name, model, told["class"], told["in"], told.get("pages"))
        for model, objects in enumerate(shapes)
        for name, told in objects.items()
    }
