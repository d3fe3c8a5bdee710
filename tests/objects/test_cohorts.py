"""What a walk costs, whatever it does: no call for each object. The model is the paper's, so many classes of nine."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

import neomodel as nm
from metamodels.java import BodyDeclaration, ClassDeclaration, Modifier, Package, java
from neomodel import cohorts, row_access
from neomodel.repository import Repository
from neomodel.stores.memory import MemoryTable
from neomodel.stores.wrappers import Counting

CLASSES = 400


@pytest.fixture
def walked(counting: Counting) -> Callable[[], nm.Model]:
    """The model, opened anew, with nothing counted so far."""
    repo = Repository(counting)
    repo.register(java)
    repo.create("jdt").roots.append(
        Package(
            name="p", ownedElements=[ClassDeclaration(name=f"c{n}", bodyDeclarations=bodies()) for n in range(CLASSES)]
        )
    )

    def opened() -> nm.Model:
        model = Repository(counting).open("jdt")
        model.repository.metamodel("http://java")
        counting.reset()
        return model

    return opened


def bodies() -> list[BodyDeclaration]:
    return [BodyDeclaration(name=f"b{n}", modifier=Modifier(visibility="public")) for n in range(4)]


def test_a_full_walk_costs_a_call_for_a_hundred_objects_at_the_most(walked: Any, counting: Counting) -> None:
    model = walked()

    assert sum(1 for root in model.roots for _ in root.eAllContents()) == 9 * CLASSES
    assert counting.calls.total() <= 9 * CLASSES / 100


def test_nested_loops_cost_no_more_than_a_full_walk(walked: Any, counting: Counting) -> None:
    model = walked()

    found = [
        (member.name, member.modifier.visibility.name)
        for root in model.roots
        for one in root.ownedElements
        for member in one.bodyDeclarations
    ]
    assert found == [(f"b{n}", "public") for n in range(4)] * CLASSES
    assert counting.calls.total() <= 9 * CLASSES / 100


def test_a_recursive_walk_costs_no_more_than_a_full_one(walked: Any, counting: Counting) -> None:
    def size(obj: nm.Element) -> int:
        return 1 + sum(size(child) for child in obj.eContents)

    assert size(walked().roots[0]) == 9 * CLASSES + 1
    assert counting.calls.total() <= 9 * CLASSES / 100


@pytest.mark.parametrize(
    ("follow", "expected"),
    [
        (lambda member: member.modifier.visibility.name, {"public"}),
        (lambda member: member.eContainer().eContainer().name, {"p"}),
        (lambda member: member.eContainer().bodyDeclarations[3].name, {"b3"}),
    ],
    ids=["a single reference", "containers", "a sibling"],
)
def test_a_loop_that_follows_something_of_each_costs_a_call_for_a_hundred(
    walked: Any, counting: Counting, follow: Callable[[Any], str], expected: set[str]
) -> None:
    members = 4 * CLASSES
    found = [follow(member) for member in walked().all(BodyDeclaration)]

    assert (len(found), set(found)) == (members, expected)
    assert counting.calls.total() <= 2 * (2 + members / 100)


def test_a_loop_that_changes_each_object_reads_no_more_than_one_that_does_not(walked: Any, counting: Counting) -> None:
    for one in walked().all(ClassDeclaration):
        one.name = one.name.upper()

    assert counting.calls["swap"] == CLASSES
    assert counting.calls.total() - CLASSES <= 2 + CLASSES / 100


def test_what_was_read_ahead_is_not_believed_once_somebody_has_written(walked: Any, counting: Counting) -> None:
    model, other = walked(), Repository(counting).open("jdt")
    classes = iter(model.roots[0].ownedElements)
    first = next(classes)
    assert [member.name for member in first.bodyDeclarations] == ["b0", "b1", "b2", "b3"]  # and those of the others
    for one in other.roots[0].ownedElements[1:3]:
        one.bodyDeclarations[0].name = "changed"

    assert [next(classes).bodyDeclarations[0].name for _ in range(3)] == ["changed", "changed", "b0"]


def test_reading_ahead_reads_few_more_objects_than_are_wanted(walked: Any, counting: Counting) -> None:
    model = walked()
    one = model.roots[0].ownedElements[7]
    counting.reset()

    assert one.bodyDeclarations[0].modifier.visibility.name == "public"
    assert counting.cells_read <= 2 * 500 * 7


# where the store can't tell what others write, rows are believed for a while only


@pytest.fixture
def wait(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Lets so many seconds pass, in a store that can't tell what others write."""
    now = [1000.0]

    def passed(seconds: float) -> None:
        now[0] += seconds

    monkeypatch.setattr(MemoryTable, "mark", lambda _: None)
    for module in (cohorts, row_access):
        monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: now[0]))
    return passed


@pytest.mark.parametrize("seconds", [0.0005, 0.002, 0.01])
def test_a_slow_loop_costs_no_call_for_each_object(
    walked: Any, counting: Counting, wait: Callable[[float], None], seconds: float
) -> None:
    names = []
    for one in walked().roots[0].ownedElements:
        wait(seconds)
        names.append(one.name)

    assert names == [f"c{n}" for n in range(CLASSES)]
    assert counting.calls.total() <= 7 + CLASSES * max(seconds, 0.01)


@pytest.mark.parametrize("seconds", [0.0005, 0.002])
def test_a_slow_walk_costs_a_call_for_a_hundred_objects_at_the_most(
    walked: Any, counting: Counting, wait: Callable[[float], None], seconds: float
) -> None:
    found = 0
    for _ in walked().roots[0].eAllContents():
        wait(seconds)
        found += 1

    assert found == 9 * CLASSES
    assert counting.calls.total() <= 9 * CLASSES / 100


def test_an_object_that_is_held_alone_is_read_alone_again(
    walked: Any, counting: Counting, wait: Callable[[float], None]
) -> None:
    one = walked().roots[0].ownedElements[7]
    read = counting.cells_read
    for _ in range(10):
        wait(1)
        assert one.name == "c7"

    assert counting.cells_read - read <= 10 * 8


def test_storing_many_objects_asks_for_none_of_them_however_long_it_takes(
    counting: Counting, wait: Callable[[float], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = _empty(counting)
    write = MemoryTable.put_many

    def slowly(*args: Any, **options: Any) -> Any:
        wait(1)
        return write(*args, **options)

    monkeypatch.setattr(MemoryTable, "put_many", slowly)
    model.roots.extend([Package(name=f"p{n}") for n in range(CLASSES)])

    assert counting.calls.total() <= 10


@pytest.mark.parametrize("at_once", [True, False], ids=["stored together", "one after another"])
def test_new_objects_that_are_read_later_cost_a_call_for_a_hundred(
    counting: Counting, wait: Callable[[float], None], at_once: bool
) -> None:
    model = _empty(counting)
    packages = [Package(name=f"p{n}") for n in range(CLASSES)]
    for part in [packages] if at_once else [[one] for one in packages]:
        model.roots.extend(part)
    wait(10)
    counting.reset()

    assert [one.name for one in packages] == [f"p{n}" for n in range(CLASSES)]
    assert counting.calls.total() <= CLASSES / 100


def test_held_objects_that_come_in_another_order_than_they_were_stored_cost_a_call_for_a_hundred(
    counting: Counting, wait: Callable[[float], None]
) -> None:
    """More of them than rows are kept; by their ids they come from everywhere in the order of their making."""
    model = _empty(counting)
    packages = [Package(name=f"p{n}") for n in range(2 * cohorts._ROOM)]
    model.roots.extend(packages)
    wait(10)
    counting.reset()

    found = set()
    for one in model.all(Package):
        wait(0.0005)
        found.add(one.name)

    assert found == {f"p{n}" for n in range(len(packages))}
    assert counting.calls.total() <= len(packages) / 100
    assert counting.cells_read <= 15 * len(packages)


def test_rows_that_are_read_again_are_the_last_to_go() -> None:
    rows, answer = cohorts.Rows(), cohorts.Answer(SimpleNamespace(), 0, 0.0)  # type: ignore[arg-type]
    rows.put({f"o{n}": {b"p:n": b"1"} for n in range(cohorts._ROOM)}, answer)

    rows.put({"o0": {b"p:n": b"2"}}, answer)
    rows.put({"new": {}}, answer)

    assert rows.peek("o0") == {b"p:n": b"2"}
    assert rows.peek("o1") is None
    assert len(rows) == cohorts._ROOM


def _empty(counting: Counting) -> nm.Model:
    repo = Repository(counting)
    repo.register(java)
    model = repo.create("jdt")
    counting.reset()
    return model
