"""Where a file goes: whole or not at all, zipped by its name, in the place of another."""

import io
import os
import zipfile
from pathlib import Path

import pytest

import neomodel as nm
from neomodel.errors import NotWritable
from tests.xmi.garden import Garden, Plant


def test_a_name_says_whether_the_file_is_zipped(model: nm.Model, tmp_path: Path) -> None:
    model.roots.append(Garden(name="g"))
    model.export_xmi(tmp_path / "m.xmi")

    for name in ("m.zxmi", "m.ZIP"):
        model.export_xmi(tmp_path / name)

        with zipfile.ZipFile(tmp_path / name) as archive:
            (member,) = archive.namelist()
            assert member == "ResourceContents"
            assert archive.read(member) == (tmp_path / "m.xmi").read_bytes()


def test_a_file_that_is_there_is_replaced_and_keeps_its_mode(model: nm.Model, tmp_path: Path) -> None:
    path = tmp_path / "m.xmi"
    path.write_text("before")
    path.chmod(0o640)
    (tmp_path / "link.xmi").symlink_to(path)
    model.roots.append(Garden(name="g"))

    model.export_xmi(tmp_path / "link.xmi")

    assert 'name="g"' in path.read_text()
    assert path.stat().st_mode & 0o777 == 0o640
    assert (tmp_path / "link.xmi").is_symlink()


def test_a_new_file_has_the_mode_that_files_have(model: nm.Model, tmp_path: Path) -> None:
    (tmp_path / "other").write_text("")

    model.export_xmi(tmp_path / "m.xmi")

    assert (tmp_path / "m.xmi").stat().st_mode == (tmp_path / "other").stat().st_mode


def test_what_fails_leaves_what_was_there_before(model: nm.Model, tmp_path: Path) -> None:
    model.roots.append(Garden(name="\0"))
    (tmp_path / "m.xmi").write_text("before")
    before = sorted(os.listdir(tmp_path))

    for name in ("m.xmi", "new.xmi", "new.zxmi"):
        with pytest.raises(NotWritable):
            model.export_xmi(tmp_path / name)

    assert (tmp_path / "m.xmi").read_text() == "before"
    assert sorted(os.listdir(tmp_path)) == before


def test_what_fails_late_leaves_nothing(model: nm.Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model.roots.append(Garden(name="g"))
    before = sorted(os.listdir(tmp_path))

    def full(*_: object) -> None:
        raise OSError(28, "no space is left")

    monkeypatch.setattr("neomodel.xmi.filling.Resolver.filled", full)
    with pytest.raises(OSError, match="no space"):
        model.export_xmi(tmp_path / "new.xmi")

    assert sorted(os.listdir(tmp_path)) == before


@pytest.mark.parametrize("name", ["", "missing/m.xmi", "."])
def test_what_can_be_no_file_is_refused_before_anything_is_read(name: str, model: nm.Model, tmp_path: Path) -> None:
    with pytest.raises(nm.InvalidValue, match="the file to write is"):
        model.export_xmi(tmp_path / name)


def test_a_stream_and_what_is_no_ordinary_file_are_written_to(model: nm.Model, tmp_path: Path) -> None:
    model.roots.append(Garden(name="g"))
    stream = io.BytesIO()

    done = model.export_xmi(stream)
    model.export_xmi("/dev/null")

    assert done.file == "-"
    assert b'name="g"' in stream.getvalue()
    assert not Path("/dev/null").is_file()


def test_the_summary_tells_what_was_written(model: nm.Model, tmp_path: Path) -> None:
    a = Plant()
    a.neighbours.extend([a, a])
    model.roots.append(Garden(things=[a], favourite=a))
    seen: list[int] = []

    done = model.export_xmi(tmp_path / "m.xmi", seen.append)

    assert (done.model, done.file, done.elements, done.references) == ("m", str(tmp_path / "m.xmi"), 2, 3)
    assert done.notices == ()
    assert done.rate == done.elements / done.seconds > 0
    assert seen[-1] == 2


def test_a_model_is_written_as_it_was_at_a_time(repo: nm.Repository, model: nm.Model, tmp_path: Path) -> None:
    top = Garden(name="then")
    model.roots.append(top)
    then = model.table.now()
    top.name = "now"

    repo.open("m", as_of=then).export_xmi(tmp_path / "then.xmi")
    model.export_xmi(tmp_path / "now.xmi")

    assert 'name="then"' in (tmp_path / "then.xmi").read_text()
    assert 'name="now"' in (tmp_path / "now.xmi").read_text()


def test_what_is_written_meanwhile_is_not_seen(repo: nm.Repository, model: nm.Model, tmp_path: Path) -> None:
    """Progress is told when some of it has been read: then all that is left to read is changed."""
    plants = [Plant(name="before") for _ in range(3000)]
    model.roots.extend(plants)
    changed: list[int] = []

    def change(_: int) -> None:
        if not changed:
            plants[-1].name = plants[0].name = "after"
            model.roots.remove(plants[-2])
            changed.append(1)

    repo.open("m").export_xmi(tmp_path / "m.xmi", change)

    assert changed
    assert (tmp_path / "m.xmi").read_text().count('name="before"') == 3000
