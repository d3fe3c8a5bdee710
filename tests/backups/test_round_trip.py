"""What is restored is what was backed up, cell for cell, in a store of whatever kind."""

import random
from pathlib import Path

import pytest

import neomodel as nm
from metamodels import elsa
from neomodel.backups import files
from neomodel.repository import Repository
from tests.backups.conftest import Connect
from tests.backups.shelves import Box, answers, cells, changed, filled, stock, tokens, told
from tests.metamodels.conftest import settled


def there_and_back(name: str, first: Repository, second: Repository, third: Repository, folder: Path) -> list[str]:
    """An ELSA and a model beside it, restored into a store of another kind and from there into a third; their names."""
    store = elsa.open(first, name)
    told(store)
    model = filled(first, f"{name}x")
    settled(store)
    models = [name, f"{name}.crm", f"{name}.erp", f"{name}x"]
    before = cells(first.store, *models)

    nm.backup(first, folder / "there", name, model.name, wait=True)
    assert nm.restore(second, folder / "there").models == sorted(models)
    assert cells(second.store, *models) == before
    nm.backup(second, folder / "back", name, model.name, wait=True)
    nm.restore(third, folder / "back")
    assert cells(third.store, *models) == before
    return models


def test_what_goes_from_lmdb_to_hbase_and_back_is_the_same_cell_for_cell(
    cluster: Repository,
    name: str,
    connect: Connect,
    tmp_path: Path,
) -> None:
    first, third = connect(f"lmdb:{tmp_path}/first"), connect(f"lmdb:{tmp_path}/third")
    models = there_and_back(name, first, cluster, third, tmp_path)

    store, again, far = (elsa.open(one, name, create=False) for one in (first, third, cluster))
    asked = tokens(store, 150, 3)
    expected = answers(store, asked, random.Random(5))
    assert answers(again, asked, random.Random(5)) == expected
    assert answers(far, asked[:40], random.Random(5)) == answers(store, asked[:40], random.Random(5))
    assert len(cluster.store.table(f"{name}.crm").regions()) == 3
    assert third.models() == sorted(models)
    assert nm.check(third.open(models[-1])).clean
    told(again, 2)  # it goes on there
    assert again.system("crm").get("k0001", token=asked[0]) == store.system("crm").get("k0001", token=asked[0])


@pytest.mark.soak
def test_ten_thousand_tokens_answer_as_before_in_a_store_of_the_other_kind(
    cluster: Repository,
    name: str,
    connect: Connect,
    tmp_path: Path,
) -> None:
    first, third = connect(f"lmdb:{tmp_path}/first"), connect(f"lmdb:{tmp_path}/third")
    there_and_back(name, first, cluster, third, tmp_path)

    store, again, far = (elsa.open(one, name, create=False) for one in (first, third, cluster))
    asked = tokens(store, 10_000, 3)
    expected = answers(store, asked, random.Random(5))
    assert answers(far, asked, random.Random(5)) == expected
    assert answers(again, asked, random.Random(5)) == expected


def test_memory_takes_part(name: str, connect: Connect, tmp_path: Path) -> None:
    there_and_back(name, connect("memory:"), connect(f"lmdb:{tmp_path}/second"), connect("memory:"), tmp_path)


def test_records_that_would_fill_many_files_are_in_one(
    repo: Repository, other: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = filled(repo)
    for before in range(1, 4):
        nm.purge(model, before=before)
    monkeypatch.setitem(files.Shelf.__init__.__kwdefaults__, "cells", 2)

    made = nm.backup(repo, tmp_path / "b", "m", wait=True)

    nm.restore(other, tmp_path / "b")
    assert made.records["_purges"].cells > 2
    assert cells(other.store, "_purges") == cells(repo.store, "_purges")


def test_past_states_are_read_with_the_metamodels_of_their_time(
    repo: Repository, other: Repository, tmp_path: Path
) -> None:
    model = filled(repo)
    early = repo.stable("m")
    names = sorted(box.name for box in repo.open("m", as_of=early).all(Box))
    changed(model, 2)

    nm.backup(repo, tmp_path / "b", "m")
    nm.restore(other, tmp_path / "b")

    then = other.open("m", as_of=early)
    assert sorted(box.name for box in then.all(Box)) == names
    assert [str(nm.history(box)) for box in other.open("m").all(Box)] == [
        str(nm.history(box)) for box in model.all(Box)
    ]
    with pytest.raises(nm.ModelNotFound, match="created later"):
        other.open("m", as_of=1)
    assert other.metamodels() == ["http://stock"]


def test_a_backup_is_as_of_a_stable_time_whatever_is_written_meanwhile(
    repo: Repository, other: Repository, tmp_path: Path
) -> None:
    model = filled(repo)
    before = cells(repo.store, "m")
    with nm.batch(repo):
        changed(model, 2)  # nobody sees that as stable

        made = nm.backup(repo, tmp_path / "b", "m")

    nm.restore(other, tmp_path / "b")
    assert cells(other.store, "m") == before
    assert made.time < repo.stable("m")


def test_a_backup_as_of_a_past_time_has_what_was_written_by_then(
    repo: Repository, other: Repository, tmp_path: Path
) -> None:
    model = filled(repo)
    early = repo.stable("m")
    before = cells(repo.store, "m")
    changed(model, 2)

    nm.backup(repo, tmp_path / "b", "m", as_of=early)
    nm.restore(other, tmp_path / "b")

    assert cells(other.store, "m") == before
    with pytest.raises(nm.NotStable):
        nm.backup(repo, tmp_path / "c", "m", as_of=2**62)


def test_what_is_dropped_can_be_restored_under_its_name_and_tokens_still_hold(repo: Repository, tmp_path: Path) -> None:
    store = elsa.open(repo)
    told(store)
    asked = tokens(store, 30, 1)
    expected = answers(store, asked, random.Random(1))
    nm.backup(repo, tmp_path / "b", "elsa")
    for model in ("elsa.crm", "elsa.erp", "elsa"):
        repo.drop(model)

    nm.restore(repo, tmp_path / "b")

    again = elsa.open(repo, create=False)
    assert again.mark == store.mark
    assert answers(again, asked, random.Random(1)) == expected


def test_a_model_that_is_there_is_not_touched(repo: Repository, tmp_path: Path) -> None:
    filled(repo)
    nm.backup(repo, tmp_path / "b")
    before = cells(repo.store, "m")

    with pytest.raises(nm.ModelExists):
        nm.restore(repo, tmp_path / "b")

    assert cells(repo.store, "m") == before


def test_purges_and_erasures_are_on_record_and_hold(repo: Repository, other: Repository, tmp_path: Path) -> None:
    store = elsa.open(repo)
    told(store)
    crm = store.system("crm")
    crm.erase("k0001", by="Ann")
    early, horizon = store.token(), store.stable()
    told(store, 2)
    crm.retain(horizon + 1, by="Bob")
    crm.erase("k0002", by="Cleo")

    nm.backup(repo, tmp_path / "b", "elsa")
    nm.restore(other, tmp_path / "b")

    again = elsa.open(other, create=False).system("crm")
    assert again.audit() == crm.audit()
    assert [one.by for one in again.audit()] == ["Ann", "Bob", "Cleo"]
    for key in ("k0002", "k0003"):
        with pytest.raises(nm.Purged):
            again.get(key, token=str(early))
    assert dict(again.scan()) == dict(crm.scan())
    assert cells(other.store, "elsa.crm") == cells(repo.store, "elsa.crm")


def test_metamodels_that_do_not_fit_are_refused_before_anything_is_written(
    repo: Repository, other: Repository, tmp_path: Path
) -> None:
    filled(repo)
    nm.backup(repo, tmp_path / "b")
    stranger = nm.package("stock", "http://stock")

    @stranger.define
    class Shelf:
        name: int | None

    other.register(stranger)

    with pytest.raises(nm.IncompatibleMetamodel, match="http://stock"):
        nm.restore(other, tmp_path / "b")

    assert other.models() == []
    assert other.store.tables() == ["_metamodels"]


def test_a_metamodel_that_no_object_needs_is_left_if_it_does_not_fit(
    repo: Repository, other: Repository, tmp_path: Path
) -> None:
    filled(repo)
    mine, theirs = nm.package("aside", "http://aside"), nm.package("aside", "http://aside")

    @mine.define
    class One:
        name: str

    @theirs.define
    class Two:
        name: str

    repo.register(mine)
    other.register(theirs)
    nm.backup(repo, tmp_path / "b")

    assert nm.restore(other, tmp_path / "b").left == ["http://aside"]
    assert "Two" in other.metamodel("http://aside").classifiers
    assert len(list(other.open("m").all(Box))) > 20


def test_a_newer_version_of_a_metamodel_is_taken(repo: Repository, other: Repository, tmp_path: Path) -> None:
    older = nm.package("stock", "http://stock")

    @older.define
    class Shelf:
        name: str | None

    other.register(older)
    filled(repo)
    nm.backup(repo, tmp_path / "b")

    nm.restore(other, tmp_path / "b")

    assert other.registry.load("http://stock") == stock.value
    assert len(other.registry.versions("http://stock")) == 2
