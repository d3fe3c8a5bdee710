"""A byte that is not what was written is found, wherever it is, and nothing is taken from what is damaged."""

import random
from pathlib import Path

import pytest

import neomodel as nm
from metamodels import elsa
from neomodel.repository import Repository
from tests.backups.shelves import filled, told


@pytest.fixture
def folder(repo: Repository, tmp_path: Path) -> Path:
    """Two backups of an ELSA and a model, with records of every kind."""
    store = elsa.open(repo)
    told(store, operations=60)
    filled(repo)
    nm.backup(repo, tmp_path / "b")
    told(store, 2, operations=30)
    store.system("crm").erase("k0001")
    nm.backup(repo, tmp_path / "b", since="last")
    assert nm.verify(tmp_path / "b").damage == []
    return tmp_path / "b"


def files(folder: Path) -> list[Path]:
    found = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != ".lock")
    assert {path.suffix for path in found} == {".json", ".sha256", ".parquet"}
    return found


def flipped(path: Path, place: int, bit: int) -> None:
    data = bytearray(path.read_bytes())
    data[place] ^= 1 << bit
    path.write_bytes(data)


@pytest.mark.parametrize("rounds", [40, pytest.param(2000, marks=pytest.mark.soak)])
def test_a_flipped_bit_is_found_and_its_file_named(folder: Path, rounds: int) -> None:
    chance = random.Random(rounds)
    listed = files(folder)
    for number in range(rounds):
        path = listed[number % len(listed)]
        place, bit = chance.randrange(path.stat().st_size), chance.randrange(8)
        flipped(path, place, bit)

        found = nm.verify(folder)

        assert len(found.damage) == 1, (path, place, bit)
        assert path.name in found.damage[0] or path.name.startswith("manifest."), found.damage
        assert path.parent.name in found.damage[0]
        flipped(path, place, bit)
    assert nm.verify(folder).damage == []


def test_every_damaged_file_is_named_and_none_restored(folder: Path, other: Repository) -> None:
    for path in files(folder):
        if path.suffix == ".parquet":
            flipped(path, path.stat().st_size // 2, 3)
            if path.parent.name == "_records" and path.parent.parent.name == "00001":
                flipped(path, path.stat().st_size // 2, 3)  # the last one's are what is restored
                continue
            with pytest.raises(nm.DamagedBackup, match=path.name):
                nm.restore(other, folder)
            assert other.store.tables() == []
            flipped(path, path.stat().st_size // 2, 3)
    nm.restore(other, folder)


def test_a_missing_file_is_named(folder: Path, other: Repository) -> None:
    for path in files(folder):
        data = path.read_bytes()
        path.unlink()

        (said,) = nm.verify(folder).damage
        assert f"{path} is damaged: it is missing" in said
        path.write_bytes(data)


def test_a_file_that_is_cut_off_or_too_long_is_named(folder: Path) -> None:
    path = next(path for path in files(folder) if path.suffix == ".parquet")
    data = path.read_bytes()
    for other in (data[:-1], data + b"\0", b""):
        path.write_bytes(other)

        (said,) = nm.verify(folder).damage
        assert f"{path} is damaged: it has {len(other):,} bytes" in said


def test_a_file_of_somebody_else_is_told(folder: Path) -> None:
    (folder / "00001" / "m" / "copy.parquet").write_bytes(b"")

    (said,) = nm.verify(folder).damage
    assert "copy.parquet is in no manifest" in said


def test_what_is_no_backup_is_said_to_be_none(tmp_path: Path, other: Repository) -> None:
    for folder in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(nm.InvalidValue, match="one with a backup"):
            nm.verify(folder)
        with pytest.raises(nm.InvalidValue, match="one with a complete backup"):
            nm.restore(other, folder)
