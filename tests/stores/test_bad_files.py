"""What can be wrong with an LMDB store's place or file: each told in one sentence that names it, nothing else lost."""

import os
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import lmdb
import pytest

from neomodel.errors import CorruptStore, InvalidStore, NeomodelError, StoreUnavailable
from neomodel.stores import Mutation, open_store


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A store with 20,000 rows."""
    folder = tmp_path / "models.db"
    with open_store(f"lmdb:{folder}") as store:
        store.table("jdt").create("p")
        store.table("jdt").put_many(Mutation(b"row %05d" % number, {b"p:x": b"x" * 50}) for number in range(20_000))
    return folder


def sentence(kind: type[NeomodelError], url: str, *, create: bool = True) -> str:
    """What opening and reading the store says, where it must fail."""
    with pytest.raises(kind) as failure, open_store(url, create=create) as store:
        list(store.table("jdt").scan())
    text = str(failure.value)
    assert "\n" not in text
    return text


@pytest.mark.parametrize("url", ["", "models.db", "oracle:models.db", "lmdb", ":", "LMDB:models.db"])
def test_an_unknown_scheme_is_refused_with_those_there_are(url: str) -> None:
    text = sentence(InvalidStore, url)

    assert repr(url) in text
    assert "lmdb:" in text


def test_a_url_without_a_folder_is_refused() -> None:
    assert "folder" in sentence(InvalidStore, "lmdb:")


def test_a_file_where_the_folder_should_be_is_refused_and_left_alone(tmp_path: Path) -> None:
    place = tmp_path / "models.db"
    place.write_text("precious")

    text = sentence(InvalidStore, f"lmdb:{place}")

    assert str(place) in text
    assert place.read_text() == "precious"


def test_a_file_above_the_folder_is_refused_and_left_alone(tmp_path: Path) -> None:
    place = tmp_path / "models.db"
    place.write_text("precious")

    assert "Not a directory" in sentence(InvalidStore, f"lmdb:{place}/inside")
    assert place.read_text() == "precious"


def test_a_store_that_is_not_there_is_not_made_by_who_only_looks(tmp_path: Path) -> None:
    place = tmp_path / "models.db"

    assert str(place) in sentence(InvalidStore, f"lmdb:{place}", create=False)
    assert not place.exists()


def test_an_lmdb_file_of_somebody_else_is_refused_and_left_alone(tmp_path: Path) -> None:
    with lmdb.open(str(tmp_path)) as env, env.begin(write=True) as txn:
        txn.put(b"mine", b"precious")
    before = (tmp_path / "data.mdb").read_bytes()

    assert "format" in sentence(InvalidStore, f"lmdb:{tmp_path}")
    assert (tmp_path / "data.mdb").read_bytes() == before


def test_a_file_of_a_later_format_is_refused_by_name(folder: Path) -> None:
    with lmdb.open(str(folder), map_size=1 << 30) as env, env.begin(write=True) as txn:
        txn.put(b"\0format", b"neomodel 2")

    assert "neomodel 2" in sentence(InvalidStore, f"lmdb:{folder}")


@pytest.mark.parametrize("share", [0, 0.0001, 0.3, 0.9, 0.999])
def test_a_file_that_lost_its_end_is_refused_by_name_and_changed_no_further(folder: Path, share: float) -> None:
    data = folder / "data.mdb"
    size = int(data.stat().st_size * share)
    os.truncate(data, size)

    assert str(folder) in sentence(CorruptStore, f"lmdb:{folder}")
    assert data.stat().st_size == size


def test_a_file_overwritten_at_its_beginning_is_refused_by_name(folder: Path) -> None:
    with (folder / "data.mdb").open("r+b") as file:
        file.write(b"\xa5" * 8192)

    assert str(folder) in sentence(CorruptStore, f"lmdb:{folder}")


def test_pages_overwritten_in_the_middle_are_told_when_they_are_read(folder: Path) -> None:
    size = (folder / "data.mdb").stat().st_size
    with (folder / "data.mdb").open("r+b") as file:
        file.seek(8192)
        file.write(bytes(size - 8192))

    assert str(folder) in sentence(CorruptStore, f"lmdb:{folder}")


def test_pages_given_back_at_the_end_of_the_file_are_not_taken_for_a_damage(folder: Path) -> None:
    with open_store(f"lmdb:{folder}") as store:
        store.table("jdt").drop()
        store.table("again").create("p")

    with open_store(f"lmdb:{folder}") as store:
        assert store.tables() == ["again"]


FILL = """
import resource, signal, sys
from neomodel.errors import StoreUnavailable
from neomodel.stores import Mutation, open_store

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
with open_store(sys.argv[1]) as store:
    table, kept = store.table("jdt"), 0
    size = int(sys.argv[2])
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    try:
        while True:
            table.put_many([Mutation(b"full %06d" % kept, {b"p:x": b"x" * 3000, b"p:y": b"y" * 3000})])
            kept += 1
    except StoreUnavailable as failure:
        print(kept, failure)
    assert len(dict(table.scan(b"full", b"g"))) == kept, "a reader in the same process sees what was kept, no more"
"""


def test_a_full_disk_is_told_and_nothing_that_was_written_is_lost(folder: Path) -> None:
    size = (folder / "data.mdb").stat().st_size + 1_000_000
    done = subprocess.run(
        [sys.executable, "-c", FILL, f"lmdb:{folder}", str(size)],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    kept, _, told = done.stdout.partition(" ")

    assert "space" in told
    assert int(kept) > 50
    with open_store(f"lmdb:{folder}") as store:
        table = store.table("jdt")
        rows = dict(table.scan(b"full", b"g"))
        assert sorted(rows) == [b"full %06d" % number for number in range(int(kept))]
        assert all(len(row) == 2 for row in rows.values())
        assert sum(1 for _ in table.scan(b"row")) == 20_000
        table.put_many([Mutation(b"full again", {b"p:x": b"there is space now"})])


LOOK = """
import os, sys
import neomodel.stores.lmdb
from neomodel.errors import InvalidStore
from neomodel.stores import open_store

if os.getuid() == 0:  # nothing is forbidden to root
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
try:
    open_store(sys.argv[1])
except InvalidStore as failure:
    print(failure)
"""


@pytest.mark.parametrize("there", [True, False], ids=["a store", "an empty folder"])
def test_a_missing_permission_is_told_with_the_place(there: bool) -> None:
    with tempfile.TemporaryDirectory() as outer:
        os.chmod(outer, 0o755)
        place = Path(outer) / "models.db"
        place.mkdir()
        if there:
            open_store(f"lmdb:{place}").close()
        for file in place.iterdir():
            file.chmod(0o400)
        place.chmod(0o555)
        done = subprocess.run([sys.executable, "-c", LOOK, f"lmdb:{place}"], capture_output=True, text=True, timeout=60)
        place.chmod(0o700)

    assert done.stdout.count("\n") == 1, done.stderr
    assert str(place) in done.stdout
    assert "ermission" in done.stdout


def test_no_address_space_for_the_map_is_told(folder: Path) -> None:
    code = "import sys; from neomodel.stores import open_store; open_store(sys.argv[1])"
    done = subprocess.run(
        [sys.executable, "-c", code, f"lmdb:{folder}"],
        capture_output=True,
        text=True,
        timeout=60,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30)),
    )

    last = done.stderr.strip().splitlines()[-1]
    assert "StoreUnavailable" in last
    assert str(folder) in last


def test_a_closed_store_says_so(folder: Path) -> None:
    store = open_store(f"lmdb:{folder}")
    store.close()

    with pytest.raises(StoreUnavailable, match="open it again"):
        store.tables()


def test_a_folder_moved_away_can_be_opened_where_it_is_now(folder: Path) -> None:
    moved = folder.with_name("moved.db")
    shutil.move(folder, moved)

    with open_store(f"lmdb:{moved}") as store:
        assert store.tables() == ["jdt"]
