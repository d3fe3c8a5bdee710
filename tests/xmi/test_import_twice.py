"""Files that are imported twice, in one call or one after the other."""

from pathlib import Path

import pytest

from neomodel.errors import InvalidFile
from tests.xmi.files import new_repository, rows, written

PERSON = '<l:Person NS name="p"/>'


def test_a_file_that_is_given_twice_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    path = written(tmp_path / "two.xmi", PERSON)
    repository = new_repository()
    link = tmp_path / "link.xmi"
    link.symlink_to(path)

    with pytest.raises(InvalidFile, match=r"this file is given twice, first as .*two\.xmi; give it once"):
        repository.import_xmi(path, link, model="m")
    assert repository.models() == []


def test_a_file_that_is_added_again_is_told_and_with_strict_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "two.xmi", PERSON)
    repository = new_repository()
    repository.import_xmi(path, model="m")
    before = rows(repository.open("m"))

    with pytest.raises(InvalidFile, match="was read into the model before"):
        repository.import_xmi(path, model="m", add=True, strict=True)
    assert rows(repository.open("m")) == before
    done = repository.import_xmi(path, model="m", add=True)
    assert any("was read into the model before" in notice.text for notice in done.notices)
