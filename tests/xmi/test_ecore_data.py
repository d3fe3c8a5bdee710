"""Public metamodels: what PyEcore loads is the same in neomodel, and both read the same again from what is written."""

import csv
import re
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest

import neomodel as nm
from neomodel.errors import InvalidFile
from neomodel.kinds import EClass
from neomodel.metamodel import Attribute, Class, Package, Reference
from neomodel.metamodel_json import dumps, loads
from neomodel.soundness import check
from neomodel.xmi.ecore_reading import read_ecore
from neomodel.xmi.ecore_writing import write_ecore
from neomodel.xmi.notices import Notice
from tests.data import data_folder, needs_data
from tests.xmi.pyecore_view import neomodel_facts, pyecore_facts, pyecore_roots

pytestmark = needs_data

DATA = data_folder()
FILES = sorted(path for path in DATA.rglob("*.ecore") if path.is_file())
NO_METAMODELS = {
    "Bad.ecore": "has no name",  # a class without one; EMF's own example of all that is wrong
    "My_faulty.ecore": "EPackage has no 'eClassif'",
    "My_faulty2.ecore": "found EPacka",
}
GOOD = [path for path in FILES if path.name not in NO_METAMODELS]

Facts = dict[tuple[str, str], Any]


def name(path: Path) -> str:
    return path.relative_to(DATA).as_posix()


def with_others(path: Path) -> list[Path]:
    """The file, then all that are referred to by it or by one of those, as far as they are there."""
    found = [path]
    for one in found:
        for other in re.findall(r"[\s\"']([\w./-]+\.ecore)#", one.read_text("latin-1")):
            target = (one.parent / other).resolve()
            if target.is_file() and target not in found:
                found.append(target)
    return found


def read(path: Path) -> tuple[list[Package], list[Notice]]:
    return read_ecore(*with_others(path))


def exceptions() -> list[tuple[str, str]]:
    lines = (Path(__file__).parent / "exceptions_ecore.txt").read_text().splitlines()
    rules = [line.split(" | ") for line in lines if line and not line.startswith("#")]
    assert all(len(rule) == 3 and rule[2] for rule in rules)
    return [(rule[0], rule[1]) for rule in rules]


def differences(theirs: Facts, ours: Facts) -> Iterator[tuple[str, str, Any, Any]]:
    for where, aspect in theirs.keys() | ours.keys():
        one, other = theirs.get((where, aspect)), ours.get((where, aspect))
        made = (aspect == "nsURI" and one is None) or (aspect == "nsPrefix" and one == "")
        if aspect in ("bounds", "unique") and "EFeatureMapEntry" in str(ours.get((where, "type"))):
            made = True  # a list in any case, in which each feature may come often
        if one != other and not made:
            yield where, aspect, one, other


def facts(found: Any) -> Facts:
    return {(where, aspect): what for where, aspect, what in found}


def test_there_are_files() -> None:
    assert len(FILES) == 265


def test_what_pyecore_loads_is_the_same_here_but_for_listed_exceptions() -> None:
    rules = exceptions()
    used, wrong, compared = set(), [], 0
    for path in GOOD:
        try:
            roots = pyecore_roots(str(path))
        except Exception:  # noqa: BLE001  whatever PyEcore makes of a file that it can't load
            continue
        compared += 1
        packages, _ = read(path)
        ours = facts(neomodel_facts(packages[: len(roots)], packages[len(roots) :]))
        for where, aspect, one, other in differences(facts(pyecore_facts(roots)), ours):
            fitting = {(glob, word) for glob, word in rules if word == aspect and fnmatch(name(path), glob)}
            used |= fitting
            if not fitting:
                wrong.append((name(path), where, aspect, one, other))
    assert wrong == []
    assert set(rules) - used == set(), "exceptions that are none any more"
    assert compared >= 250


@pytest.mark.parametrize("path", GOOD, ids=name)
def test_what_is_read_makes_sense_and_is_stored_and_written_without_loss(path: Path, tmp_path: Path) -> None:
    packages, _ = read(path)
    check(packages, lambda _: None)
    write_ecore(packages, tmp_path / "again.ecore")

    assert [loads(dumps(package)) for package in packages] == packages
    assert read_ecore(tmp_path / "again.ecore")[0] == packages


def test_pyecore_reads_what_is_written_as_it_read_the_original(tmp_path: Path) -> None:
    wrong, compared = [], 0
    for path in GOOD:
        if len(with_others(path)) > 1:
            continue  # what refers to other files refers to packages by their namespace then
        try:
            theirs = facts(pyecore_facts(pyecore_roots(str(path))))
        except Exception:  # noqa: BLE001  whatever PyEcore makes of a file that it can't load
            continue
        packages, _ = read(path)
        write_ecore(packages, tmp_path / path.name)
        again = facts(pyecore_facts(pyecore_roots(str(tmp_path / path.name))))
        compared += 1
        wrong += [
            (name(path), *found)
            for found in differences(theirs, again)
            if found[1:3] != ("type", None)  # which it did not find in another file and finds by its namespace now
        ]
    assert wrong == []
    assert compared > 200


@pytest.mark.parametrize("bad", NO_METAMODELS)
def test_what_is_no_metamodel_is_refused_with_file_and_line(bad: str) -> None:
    (path,) = (path for path in FILES if path.name == bad)

    with pytest.raises(InvalidFile, match=rf"{bad}:[0-9]+: .*{NO_METAMODELS[bad]}"):
        read_ecore(path)


def test_an_external_entity_is_refused() -> None:
    (path,) = DATA.rglob("test-with-external-entity.xmi")

    with pytest.raises(InvalidFile, match=r"entity.xmi:2: its document type is in another file"):
        read_ecore(path)


def test_the_zoo_has_the_classes_and_features_that_were_counted() -> None:
    with (DATA / "ecore_zoo" / "EXPECTED_counts.csv").open() as file:
        expected = {
            row["metamodel"]: tuple(int(row[f"counted_{kind}"]) for kind in ("EClass", "EAttribute", "EReference"))
            for row in csv.DictReader(file)
        }
    found = {}
    for metamodel in expected:
        packages, _ = read_ecore(DATA / "ecore_zoo" / f"{metamodel}.ecore")
        parts = [part for root in packages for part in root.with_subpackages()]
        classes = [one for part in parts for one in part.classifiers if isinstance(one, Class)]
        features = [feature for one in classes for feature in one.features]
        found[metamodel] = (
            len(classes),
            sum(isinstance(feature, Attribute) for feature in features),
            sum(isinstance(feature, Reference) for feature in features),
        )

    assert len(expected) == 165
    assert found == expected


def test_every_class_that_is_registered_can_have_objects() -> None:
    made = 0
    for number, path in enumerate(GOOD):
        repository = nm.connect(f"memory:data{number}")
        found = repository.register(*with_others(path), on_notice=lambda _: None)
        for root in found if isinstance(found, list) else [found]:
            for package in root.with_subpackages():
                for kind in package.eClassifiers:
                    if isinstance(kind, EClass):
                        made += 1
                        assert kind.python.eClass is kind
                        for feature in kind.features.values():
                            assert feature.reference or feature.codec.expected
                            assert feature.default is None or not feature.many
                        if not kind.abstract:
                            kind()
    assert made > 8000
