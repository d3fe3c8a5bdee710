"""What an export costs: calls of the store, and memory."""

import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import neomodel as nm
from neomodel.repository import Repository
from neomodel.stores import open_store
from neomodel.stores.wrappers import Counting
from neomodel.xmi.fragments import Fragments
from tests.xmi.garden import Bed, Garden, Plant, garden
from tests.xmi.pyecore_peer import Peer, content_of


@pytest.fixture
def counting() -> Iterator[Counting]:
    with Counting(open_store("memory:")) as store:
        Repository(store).register(garden)
        yield store


def wide(model: nm.Model) -> None:
    model.roots.append(Bed(plants=[Plant(name=f"p{number}") for number in range(20_000)]))


def many_roots(model: nm.Model) -> None:
    model.roots.extend([Plant(name=f"p{number}") for number in range(3000)])


def nested(model: nm.Model) -> None:
    model.roots.append(Garden(beds=[Bed(plants=[Plant(), Plant()]) for _ in range(4000)]))


def shuffled(model: nm.Model) -> None:
    """What lies together in the model lies anywhere in the store."""
    numbers = [f"{number:05x}" for number in range(4001)]
    random.Random(1).shuffle(numbers)
    top = Garden(beds=[Bed(plants=[Plant(), Plant(), Plant()]) for _ in range(1000)])
    for number, one in zip(numbers, [top, *top.eAllContents()], strict=True):
        nm.identify(one, number)
    model.roots.append(top)


def backwards(model: nm.Model) -> None:
    top = Garden()
    model.roots.append(top)
    for _ in range(1000):
        top.beds.insert(0, Bed(plants=[Plant(), Plant()]))


@pytest.mark.parametrize("make", [wide, many_roots, nested, shuffled, backwards])
def test_an_export_costs_a_call_for_a_hundred_objects_at_most(
    make: Callable[[nm.Model], None], counting: Counting, tmp_path: Path
) -> None:
    make(Repository(counting).create("m"))
    model = Repository(counting).open("m")
    counting.reset()

    done = model.export_xmi(tmp_path / "m.xmi")

    assert done.elements > 2000
    assert counting.calls.total() <= done.elements / 100


def test_a_deep_tree_costs_few_calls_too(counting: Counting, tmp_path: Path) -> None:
    package = nm.package("deep", "http://deep")

    @package.define
    class Link:
        next: "Link | None" = nm.contains()

    repo = Repository(counting)
    repo.register(package)
    top = last = Link()
    for _ in range(900):
        last.next = Link()
        last = last.next
    repo.create("m").roots.append(top)
    counting.reset()

    done = repo.open("m").export_xmi(tmp_path / "m.xmi")

    assert done.elements == 901
    assert counting.calls.total() <= 9


def test_what_is_deeper_than_readers_go_is_refused(model: nm.Model, repo: nm.Repository, tmp_path: Path) -> None:
    package = nm.package("deeper", "http://deeper")

    @package.define
    class Link:
        next: "Link | None" = nm.contains()

    repo.register(package)
    top = last = Link()
    for _ in range(999):
        last.next = Link()
        last = last.next
    model.roots.append(top)
    model.export_xmi(tmp_path / "m.xmi")
    last.next = Link()

    with pytest.raises(nm.NeomodelError, match="more than 1000 levels deep"):
        model.export_xmi(tmp_path / "m.xmi")


def test_long_collections_are_written_whole(model: nm.Model, tmp_path: Path) -> None:
    plants = [
        Plant(name=f"p{number}", tags=[f"t{tag}" for tag in range(400)] if number == 7 else [])
        for number in range(1500)
    ]
    top = Bed(plants=plants)
    model.roots.append(top)
    random.Random(2).shuffle(plants)
    plants[0].neighbours.extend([*plants, *plants])

    done = model.export_xmi(tmp_path / "m.xmi")

    assert done.references == 3000
    assert Peer(garden.value).content(tmp_path / "m.xmi") == content_of(model)


def test_a_long_list_of_references_some_of_which_lead_elsewhere_keeps_its_order(
    repo: nm.Repository, model: nm.Model, tmp_path: Path
) -> None:
    far = Plant(name="far")
    repo.create("other").roots.append(far)
    plants = [Plant(name=f"p{number}") for number in range(600)]
    model.roots.append(Bed(plants=plants))
    plants[0].neighbours.extend([*plants, far, *plants])

    model.export_xmi(tmp_path / "m.xmi")
    repo.open("other").export_xmi(tmp_path / "other.xmi")

    top = Peer(garden.value).load(tmp_path / "m.xmi").contents[0]
    names = [f"p{number}" for number in range(600)]
    assert [one.name for one in top.plants[0].neighbours] == [*names, "far", *names]


# where objects are


def test_fragments_are_the_same_in_memory_and_on_disk() -> None:
    few, many = Fragments(), Fragments(room=10)
    for number in range(100):
        name = f"n{number % 30}" if number < 99 else "alone"
        for fragments in (few, many):
            fragments.add(
                f"é{number:03}".encode(), f"/0/@a.{number}".encode(), name.encode() if number % 3 == 0 else None
            )
            fragments.settle()
    asked = [f"é{number:03}".encode() for number in (*range(0, 100, 7), 500)]

    assert many.find(asked) == few.find(asked)
    assert list(few.find([b"\xc3\xa9098", b"\xc3\xa9099"]).values()) == [(b"/0/@a.98", None), (b"/0/@a.99", b"alone")]
    for fragments in (few, many):
        assert fragments.unique(b"alone")
        assert not any(fragments.unique(f"n{number}".encode()) for number in range(0, 30, 3))
    many.close()


def test_a_model_that_does_not_fit_in_memory_is_written_the_same(
    model: nm.Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plants = [Plant(name=f"p{number}") for number in range(900)]
    model.roots.append(Bed(plants=plants))
    for number, one in enumerate(plants):
        one.neighbours.append(plants[number * 7 % 900])
    model.export_xmi(tmp_path / "m.xmi")
    monkeypatch.setattr("neomodel.xmi.exporting.Fragments", lambda: Fragments(room=100))
    monkeypatch.setattr("neomodel.xmi.exporting._ROOM", 1000)
    monkeypatch.setattr("neomodel.xmi.filling._CHUNK", 333)

    model.export_xmi(tmp_path / "again.xmi")

    assert (tmp_path / "again.xmi").read_bytes() == (tmp_path / "m.xmi").read_bytes()


def grown(url: str, beds: int) -> int:
    """Bytes that an export takes in a process of its own, of a model with so many beds of ten."""
    with nm.connect(url) as repo:
        repo.register(garden)
        top = Garden()
        repo.create("m").roots.append(top)
        for start in range(0, beds, 500):
            made = [Bed(name=f"b{start + n}", plants=[Plant(name=f"p{i}") for i in range(9)]) for n in range(500)]
            for bed in made:
                bed.plants[0].neighbours.append(bed.plants[8])
            top.beds.extend(made)
    run = subprocess.run(
        [sys.executable, "-c", _EXPORT, url, str(10 * beds + 1)],
        capture_output=True,
        text=True,
        check=True,
        timeout=600,
    )
    return int(run.stdout)


_EXPORT = """
import sys, neomodel as nm
from tests.memory import own_memory

_, url, objects = sys.argv
model, most = nm.connect(url).open("m"), []
before = own_memory()
done = model.export_xmi("/dev/null", lambda _: most.append(own_memory()))
assert (done.elements, done.references) == (int(objects), int(objects) // 10)
print(max(most) - before)
"""


@pytest.mark.soak
def test_memory_does_not_grow_with_the_model(tmp_path: Path, figures: Callable[[str], None]) -> None:
    small, large = grown(f"lmdb:{tmp_path / 'small'}", 20_000), grown(f"lmdb:{tmp_path / 'large'}", 100_000)

    figures(f"export of 200,001 objects takes {small >> 20} MiB, of 1,000,001 {large >> 20} MiB")
    assert large < small + 32 * 2**20  # what is kept of lists and of places is bounded, but not full in the small one
