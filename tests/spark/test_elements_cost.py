"""What objects in a task cost: one scan of its part, no call inside it, few for what lies outside."""

import pickle
from pathlib import Path
from typing import Any

import pytest

import neomodel as nm
from spark.partitions import Part
from tests.spark.parts import counted, halves, ids, inside
from tests.spark.things import Other, Special, Thing, things

WHOLES = 1200  # roots of three shards, 500 in each but the last


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> nm.Model:
    """Things with two parts each; a thing's friend is the one with the next number, its friends two that lie far off,
    and the friend of every part the first part of the next thing."""
    repo = nm.connect(f"lmdb:{tmp_path_factory.mktemp('elements')}/db")
    repo.register(things)
    model = repo.create("m")
    kinds = [Special if number % 50 == 0 else Thing for number in range(WHOLES)]
    wholes = [kind(name=f"t{number}", number=number) for number, kind in enumerate(kinds)]
    for number, whole in enumerate(wholes):
        whole.parts.extend([Thing(name=f"p{number}"), Thing(name=f"q{number}")])
    for number, whole in enumerate(wholes):
        whole.friend = wholes[(number + 1) % WHOLES]
        whole.friends.extend([wholes[(number + 400) % WHOLES], wholes[(number + 800) % WHOLES]])
        whole.parts[0].friend = wholes[(number + 1) % WHOLES].parts[0]
    model.roots.extend([*wholes, Other(label="no thing")])
    return model


@pytest.fixture(scope="module")
def middle(model: nm.Model) -> bytes:
    """A key in the middle of a shard, so that much of what belongs together lies on both sides of it."""
    found = sorted(ids(model.all(Thing)))
    return found[len(found) // 2].encode()


def test_the_parts_together_are_the_model(model: nm.Model, middle: bytes) -> None:
    with counted(model) as tasks:
        found = [obj for part in halves(model, middle) for obj in tasks.objects(part)]

    assert ids(found) == ids(model.all(Thing))
    assert [obj.name for obj in found] == [obj.name for obj in model.all(Thing)]
    assert {type(obj) for obj in found} == {Thing, Special}


def test_inside_the_part_nothing_but_one_scan_is_asked(model: nm.Model) -> None:
    with counted(model) as tasks:
        stream = tasks.objects(Part(b"", None))
        found = [next(stream)]
        opened = tasks.calls
        found += stream

        for obj in found:
            assert obj.name
            for part in obj.parts:
                assert part.whole is obj
                assert part.eContainer() is obj
            assert all(friend.number >= 0 for friend in obj.friends)
            assert obj.friend is None or obj.friend.name
            assert obj.eContainer() is None or obj.eContainmentFeature().name == "parts"
        assert sum(1 for obj in found for _ in obj.eAllContents()) == 2 * WHOLES
        after = tasks.calls

    assert len(found) == 3 * WHOLES
    assert opened["scan"] == 1
    assert after == opened


def test_what_lies_outside_costs_few_calls_and_is_counted(model: nm.Model, middle: bytes) -> None:
    first = halves(model, middle)[0]
    with counted(model) as tasks:
        stream = tasks.objects(first)
        found = [next(stream)]
        opened = tasks.calls
        found += stream
        met = [friend for obj in found if obj.friend for friend in (obj.friend,) if friend.name]
        met += [friend for obj in found for friend in obj.friends if friend.name]
        met += [obj.whole for obj in found if obj.whole and obj.whole.name]
        after = tasks.calls

    outside = {nm.oid(obj) for obj in met if not inside(first, obj)}
    calls = sum(after.values()) - sum(opened.values())
    assert len(outside) > 600
    assert 0 < calls <= 2 * 3 * len(outside) / 500 + 6
    assert after["scan"] == opened["scan"] == 1
    rows = [key for key, _ in model.table.scan(first.start, first.stop) if key]
    assert (tasks.reads.local, tasks.reads.remote) == (len(rows), len(outside))
    assert tasks.reads.share == len(outside) / (len(outside) + len(rows))


def test_rare_objects_are_read_for_together_too(model: nm.Model, middle: bytes) -> None:
    second = halves(model, middle)[1]
    with counted(model) as tasks:
        found = list(tasks.objects(second, Special))
        opened = tasks.calls
        outside = [friend for obj in found for friend in obj.friends if friend.name and not inside(second, friend)]
        after = tasks.calls

    assert len(found) >= 10
    assert len(outside) >= 10
    assert sum(after.values()) - sum(opened.values()) <= 2


@pytest.mark.parametrize("rows", [0, 700])
def test_beyond_the_rows_that_are_kept_all_is_found_all_the_same(model: nm.Model, rows: int) -> None:
    with counted(model) as tasks:
        names = [
            (obj.name, obj.friend and obj.friend.name, [part.name for part in obj.parts])
            for obj in tasks.objects(Part(b"", None), rows=rows)
        ]

    whole = [(obj.name, obj.friend and obj.friend.name, [part.name for part in obj.parts]) for obj in model.all(Thing)]
    assert names == whole
    assert tasks.calls["scan"] == 1
    assert tasks.reads.local > 3 * WHOLES + 2  # what was read again counts
    assert tasks.reads.remote == 0
    assert tasks.calls["get_many"] < 3 * WHOLES / 100


def test_two_tasks_of_a_process_share_no_objects(model: nm.Model) -> None:
    with counted(model) as tasks:
        one, other = next(tasks.objects(Part(b"", None))), next(tasks.objects(Part(b"", None)))

        assert nm.oid(one) == nm.oid(other)
        assert len({id(one), id(other), id(tasks.snapshot.open()[str(nm.oid(one))])}) == 3
        assert one.eResource is not other.eResource


def test_a_hint_leaves_what_the_task_knows(model: nm.Model) -> None:
    with counted(model) as tasks:
        found = list(tasks.objects(Part(b"", None)))
        before = tasks.calls
        with nm.prefetch(found[0].eResource):
            assert all(obj.name for obj in found)
        assert all(obj.friend is None or obj.friend.name for obj in found)

        assert tasks.calls == before


def test_other_models_are_remote_and_lead_back_to_the_objects_of_the_task(tmp_path: Path) -> None:
    with nm.connect(f"lmdb:{tmp_path}/db") as repo:
        repo.register(things)
        here, there = repo.create("here"), repo.create("there")
        mine, theirs = Thing(name="mine"), Thing(name="theirs")
        here.roots.append(mine)
        there.roots.append(theirs)
        mine.friend, theirs.friend = theirs, mine

        with counted(here) as tasks:
            (found,) = tasks.objects(Part(b"", None))

            assert found.friend.name == "theirs"
            assert found.friend.friend is found
        assert (tasks.reads.local, tasks.reads.remote) == (2, 2)  # the object, and what says that its model is there


def test_of_a_long_collection_only_its_own_cells_are_read(tmp_path: Path) -> None:
    with nm.connect(f"lmdb:{tmp_path}/db") as repo:
        repo.register(things)
        model = repo.create("m")
        whole = Thing(name="whole")
        whole.parts.extend([Thing(number=number) for number in range(3000)])
        model.roots.append(whole)

        with counted(model) as tasks:
            found = list(tasks.objects(Part(b"", None)))
            opened = tasks.calls
            top = next(obj for obj in found if obj.name == "whole")

            assert [part.number for part in top.parts] == list(range(3000))
            more = {name: count - opened.get(name, 0) for name, count in tasks.calls.items()}
            assert {name for name, count in more.items() if count} <= {"cells", "get", "now"}
            assert sum(more.values()) <= 6


def test_restored_objects_are_read_together(model: nm.Model) -> None:
    with counted(model) as tasks:
        sent = pickle.dumps(list(tasks.objects(Part(b"", None))))
        before = tasks.calls
        found = pickle.loads(sent)
        names: list[Any] = [obj.name for obj in found]
        after = tasks.calls
        assert found[0].eResource is tasks.snapshot.open()

    assert names == [obj.name for obj in model.all(Thing)]
    assert after["get_many"] - before.get("get_many", 0) >= len(names) // 500
    assert sum(after.values()) - sum(before.values()) < len(names) / 100
