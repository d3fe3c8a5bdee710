"""A full backup and increments are together what a full backup would be."""

import random
import shutil
from pathlib import Path
from typing import Any

import pytest

import neomodel as nm
from metamodels import elsa
from neomodel.backups.chain import Chain
from neomodel.repository import Repository
from tests.backups.shelves import Box, answers, cells, changed, filled, stock, tokens, told


def test_a_chain_is_what_a_full_backup_would_be(repo: Repository, other: Repository, tmp_path: Path) -> None:
    store = elsa.open(repo)
    told(store)
    nm.backup(repo, tmp_path / "b", "elsa")
    sizes = []
    for seed in (2, 3):
        told(store, seed, operations=40)
        sizes.append(nm.backup(repo, tmp_path / "b", since="last").cells)
    asked = tokens(store, 100, 1)

    nm.restore(other, tmp_path / "b")

    models = "elsa", "elsa.crm", "elsa.erp"
    assert cells(other.store, *models) == cells(repo.store, *models)
    assert all(0 < size < 120 for size in sizes)
    assert answers(elsa.open(other), asked, random.Random(1)) == answers(store, asked, random.Random(1))


def test_any_backup_of_a_chain_can_be_restored(repo: Repository, other: Repository, tmp_path: Path) -> None:
    model = filled(repo)
    nm.backup(repo, tmp_path / "b", "m")
    changed(model, 2)
    nm.backup(repo, tmp_path / "b", "m", since="last")
    before = cells(repo.store, "m")
    changed(model, 3)
    nm.backup(repo, tmp_path / "b", "m", since="last")

    assert nm.restore(other, tmp_path / "b", last=2).backups == 2

    assert cells(other.store, "m") == before
    with pytest.raises(nm.InvalidValue, match=r"number of a backup .* is 4"):
        nm.restore(other, tmp_path / "b", last=4)


def test_what_overlaps_is_the_same(repo: Repository, other: Repository, tmp_path: Path) -> None:
    model = filled(repo)
    early = repo.stable("m")
    changed(model, 2)
    nm.backup(repo, tmp_path / "b", "m")
    changed(model, 3)

    nm.backup(repo, tmp_path / "b", "m", since=early)
    nm.restore(other, tmp_path / "b")

    assert cells(other.store, "m") == cells(repo.store, "m")
    with pytest.raises(nm.InvalidValue, match="since which to back up"):
        nm.backup(repo, tmp_path / "b", "m", since=repo.stable("m") + 1)


def test_nothing_new_makes_no_backup(repo: Repository, tmp_path: Path) -> None:
    filled(repo)
    made = nm.backup(repo, tmp_path / "b", "m")

    assert nm.backup(repo, tmp_path / "b", "m", since="last") == made
    assert Chain(tmp_path / "b").numbers() == [1]


def test_systems_and_models_that_came_later_or_anew_are_copied_whole(
    repo: Repository, other: Repository, tmp_path: Path
) -> None:
    store = elsa.open(repo)
    told(store)
    nm.backup(repo, tmp_path / "b", "elsa")
    store.system("old").load([("k", 5, 100, "insert", "x"), ("k", 7, 200, "delete", None)])  # with times of the past
    repo.drop("elsa.erp")
    again = elsa.open(repo).system("erp")
    again.insert("other", 1, "thing")

    nm.backup(repo, tmp_path / "b", since="last")
    nm.restore(other, tmp_path / "b")

    models = "elsa", "elsa.crm", "elsa.erp", "elsa.old"
    assert other.models() == list(models)
    assert cells(other.store, *models) == cells(repo.store, *models)


def test_timelines_that_came_from_another_model_keep_their_past(
    repo: Repository, other: Repository, tmp_path: Path
) -> None:
    filled(repo)
    aside = repo.create("aside")
    box = Box(name="travels")
    aside.roots.append(box)
    for event in range(5):
        box.weight.record(f"{event} t", event=event)
    nm.backup(repo, tmp_path / "b", "m")
    repo.open("m").roots[0].boxes.append(box)  # its entries are older than the backup

    nm.backup(repo, tmp_path / "b", "m", since="last")
    nm.restore(other, tmp_path / "b")

    assert cells(other.store, "m") == cells(repo.store, "m")
    (there,) = (one for one in other.open("m").all(Box) if one.name == "travels")
    assert [entry.value for entry in there.weight.entries()] == [f"{event} t" for event in range(5)]


def test_timelines_that_came_along_are_all_there_if_that_was_interrupted(
    repo: Repository, other: Repository, tmp_path: Path
) -> None:
    model, aside = filled(repo), repo.create("aside")
    travelling = [Box(name=f"travels {number}") for number in range(3)]
    aside.roots.extend(travelling)
    for box in travelling:
        box.weight.record("1 t", event=1)
    nm.backup(repo, tmp_path / "b", "m", wait=True)
    model.roots[0].boxes.extend(travelling)

    def tired(store: object, parts: list, progress: object) -> list:  # type: ignore[type-arg]
        for part in parts:
            part.run(repo.store)
        for note in sorted((tmp_path / "b").rglob("journal/m/*-carried-*.json"))[1:]:
            note.unlink()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        nm.backup(repo, tmp_path / "b", "m", since="last", wait=True, engine=tired, file_cells=1)

    nm.backup(repo, tmp_path / "b", "m", since="last", file_cells=1)

    nm.restore(other, tmp_path / "b")
    assert cells(other.store, "m") == cells(repo.store, "m")


def test_what_was_erased_since_is_gone_from_what_is_restored(
    repo: Repository, other: Repository, tmp_path: Path
) -> None:
    store = elsa.open(repo)
    told(store)
    crm = store.system("crm")
    crm.insert("secret", 1, "it is known")
    nm.backup(repo, tmp_path / "b", "elsa")
    early = str(store.token())
    crm.erase("secret", by="Ann")
    crm.insert("secret", 2, "is new")
    nm.backup(repo, tmp_path / "b", since="last")
    told(store, 2, operations=20)
    nm.backup(repo, tmp_path / "b", since="last")

    nm.restore(other, tmp_path / "b")

    assert cells(other.store, "elsa.crm") == cells(repo.store, "elsa.crm")
    again = elsa.open(other).system("crm")
    assert again.get("secret") == "is new"
    with pytest.raises(nm.Purged):
        again.get("secret", token=early)


def test_an_erasure_that_was_begun_before_a_backup_and_ended_after_it_is_not_missed(
    repo: Repository, other: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = elsa.open(repo)
    told(store)
    crm = store.system("crm")
    tables = type(repo.store.table("elsa.crm"))
    erase = tables.erase

    def slowly(*what: Any) -> int:
        """It is on record what is to be done, and in this moment somebody else makes a backup."""
        nm.backup(repo, tmp_path / "b", "elsa")
        return erase(*what)

    monkeypatch.setattr(tables, "erase", slowly)
    crm.erase("k0001", by="Ann")
    nm.backup(repo, tmp_path / "b", since="last")

    nm.restore(other, tmp_path / "b")

    assert cells(other.store, "elsa.crm") == cells(repo.store, "elsa.crm")
    assert elsa.open(other).system("crm").history("k0001") == []


def test_an_increment_after_a_purge_of_what_it_begins_from_is_refused(repo: Repository, tmp_path: Path) -> None:
    model = filled(repo)
    nm.backup(repo, tmp_path / "b", "m")
    changed(model, 2)
    nm.purge(model, before=repo.stable("m"))
    changed(model, 3)

    with pytest.raises(nm.InvalidValue, match=r"was purged .* begin anew with a full backup, in another folder"):
        nm.backup(repo, tmp_path / "b", "m", since="last")

    assert len(Chain(tmp_path / "b").load()) == 1
    nm.backup(repo, tmp_path / "c", "m")


def test_an_earlier_purge_holds_in_what_is_restored(repo: Repository, other: Repository, tmp_path: Path) -> None:
    model = filled(repo)
    horizon = repo.stable("m")
    changed(model, 2)
    nm.backup(repo, tmp_path / "b", "m")
    nm.purge(model, before=horizon)
    changed(model, 3)

    nm.backup(repo, tmp_path / "b", "m", since="last")
    nm.restore(other, tmp_path / "b")

    assert cells(other.store, "m") == cells(repo.store, "m")
    with pytest.raises(nm.Purged):
        other.open("m", as_of=horizon - 1)


def test_a_purge_while_a_backup_is_made_is_refused_or_holds(
    repo: Repository, other: Repository, tmp_path: Path
) -> None:
    model = filled(repo)
    early = repo.stable("m")
    changed(model, 2)

    def purging(before: int) -> object:
        def engine(store: object, parts: list, progress: object) -> list:  # type: ignore[type-arg]
            found = [part.run(repo.store) for part in parts]
            nm.purge(model, before=before)
            return found

        return engine

    nm.backup(repo, tmp_path / "b", "m", engine=purging(early))
    nm.restore(other, tmp_path / "b")
    assert cells(other.store, "m") == cells(repo.store, "m")
    with pytest.raises(nm.InvalidValue, match="was purged"):
        nm.backup(repo, tmp_path / "c", "m", as_of=early, engine=purging(repo.stable("m")))


def test_folders_that_do_not_fit_are_refused(repo: Repository, tmp_path: Path) -> None:
    filled(repo)
    filled(repo, "n")
    nm.backup(repo, tmp_path / "b", "m")
    nm.backup(repo, tmp_path / "all")

    for folder, names, since, sentence in (
        ("b", ["m"], None, "this has backups already"),
        ("c", ["m"], "last", "one with a complete backup"),
        ("b", ["n"], "last", "what the folder has: m"),
        ("all", ["n"], "last", "what the folder has: all models"),
    ):
        with pytest.raises(nm.InvalidValue, match=sentence):
            nm.backup(repo, tmp_path / folder, *names, since=since)
    with pytest.raises(nm.ModelNotFound, match="did you mean 'm'"):
        nm.backup(repo, tmp_path / "d", "mm")
    with pytest.raises(nm.InvalidValue, match="one at which there was a model"):
        nm.backup(repo, tmp_path / "e", as_of=1)
    with pytest.raises(nm.InvalidValue, match="cells in a file"):
        nm.backup(repo, tmp_path / "e", file_cells=0)
    (tmp_path / "file").touch()
    with pytest.raises(nm.InvalidValue, match="this is a file"):
        nm.backup(repo, tmp_path / "file", "m")


@pytest.fixture
def three(repo: Repository, tmp_path: Path) -> Path:
    """A chain of three."""
    model = filled(repo)
    nm.backup(repo, tmp_path / "b", "m")
    for seed in (2, 3):
        changed(model, seed)
        nm.backup(repo, tmp_path / "b", "m", since="last")
    return tmp_path / "b"


def test_increments_in_another_order_are_refused(three: Path, other: Repository) -> None:
    (three / "00002").rename(three / "aside")
    (three / "00003").rename(three / "00002")
    (three / "aside").rename(three / "00003")

    with pytest.raises(nm.DamagedBackup, match="00002 is damaged: it does not follow 00001"):
        nm.restore(other, three)
    assert "00002" in nm.verify(three).damage[0]
    assert other.models() == []


def test_a_missing_increment_is_named(three: Path, other: Repository) -> None:
    shutil.rmtree(three / "00002")

    with pytest.raises(nm.DamagedBackup, match="00002 is damaged: it is missing, and 00003 is there"):
        nm.restore(other, three)


def test_an_increment_of_another_chain_is_refused(
    three: Path, repo: Repository, other: Repository, tmp_path: Path
) -> None:
    nm.backup(repo, tmp_path / "c", "m")
    shutil.rmtree(three / "00001")
    shutil.copytree(tmp_path / "c" / "00001", three / "00001")

    with pytest.raises(nm.DamagedBackup, match="00002"):
        nm.restore(other, three)


def test_objects_and_their_classes_of_a_later_version_come_along(
    repo: Repository, other: Repository, tmp_path: Path
) -> None:
    older = nm.package("stock", "http://stock")

    @older.define
    class Shelf:
        name: str | None

    repo.register(older)
    repo.create("m").roots.append(Shelf(name="first"))
    nm.backup(repo, tmp_path / "b", "m")
    early = repo.stable("m")
    repo.register(stock)
    repo.open("m").roots.append(Box(name="second"))

    nm.backup(repo, tmp_path / "b", "m", since="last")
    nm.restore(other, tmp_path / "b")

    assert [one.name for one in other.open("m").roots] == ["first", "second"]
    assert [one.name for one in other.open("m", as_of=early).roots] == ["first"]
    assert [time for _, time, _ in other.registry.versions("http://stock")] == [
        time for _, time, _ in repo.registry.versions("http://stock")
    ]
