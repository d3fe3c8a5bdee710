"""Small `.ecore` files, and what is read of them."""

import json
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from neomodel.errors import InvalidFile
from neomodel.metamodel import ECORE, Attribute, Class, Feature, Package, TypeName
from neomodel.xmi.ecore_kept import SOURCE
from neomodel.xmi.ecore_reading import read_ecore
from neomodel.xmi.notices import Notice

SPACES = (
    'xmlns:xmi="http://www.omg.org/XMI" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" '
    'xmlns:ecore="http://www.eclipse.org/emf/2002/Ecore"'
)
STRING = f"ecore:EDataType {ECORE}#//EString"
TEXT = TypeName(ECORE, "EString")
ANY = TypeName(ECORE, "EObject")
PLAIN = Package("p", "http://p", classifiers=[Class("A", features=[Attribute("n", TEXT)])])

Read = Callable[..., tuple[list[Package], list[Notice]]]


def ecore(inside: str, given: str = 'name="p" nsURI="http://p" nsPrefix="p"') -> str:
    """A file of one package: its first line is the package, the following ones are what is in it."""
    return f'<ecore:EPackage xmi:version="2.0" {SPACES} {given}>\n{dedent(inside).strip()}\n</ecore:EPackage>\n'


def wrapped(*packages: str) -> str:
    """A file of several packages."""
    bodies = "\n".join(text.strip().replace(f' xmi:version="2.0" {SPACES}', "") for text in packages)
    return f'<xmi:XMI xmi:version="2.0" {SPACES}>\n{bodies}\n</xmi:XMI>\n'


def class_(name: str, inside: str = "", given: str = "") -> str:
    return f'<eClassifiers xsi:type="ecore:EClass" name="{name}" {given}>{inside}</eClassifiers>'


def attribute(name: str, given: str = f'eType="{STRING}"', inside: str = "") -> str:
    return f'<eStructuralFeatures xsi:type="ecore:EAttribute" name="{name}" {given}>{inside}</eStructuralFeatures>'


def reference(name: str, given: str, inside: str = "") -> str:
    return f'<eStructuralFeatures xsi:type="ecore:EReference" name="{name}" {given}>{inside}</eStructuralFeatures>'


@pytest.fixture
def read_ecores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Read:
    """Reads texts as the files a.ecore, b.ecore and so on, or files by name, of an empty folder."""
    monkeypatch.chdir(tmp_path)

    def read(*texts: str | bytes, strict: bool = False, **files: Any) -> tuple[list[Package], list[Notice]]:
        registered = files.pop("registered", ())
        named = {f"{name}.ecore": text for name, text in (*zip("abcdef", texts, strict=False), *files.items())}
        for name, text in named.items():
            Path(name).write_bytes(text if isinstance(text, bytes) else text.encode())
        return read_ecore(*named, strict=strict, registered=registered)

    return read


def told(notices: list[Notice]) -> list[str]:
    return [str(notice) for notice in notices]


def kept(found: object) -> dict[str, object]:
    """What is kept of an element beside its fields."""
    details = [detail for one in found.annotations if one.source == SOURCE for detail in one.details]  # type: ignore[attr-defined]
    return {name: json.loads(text) if text.startswith("{") else text for name, text in details}


def refusal(read_ecores: Read, *texts: str, strict: bool = False) -> str:
    """What is said of files that are not read."""
    with pytest.raises(InvalidFile) as raised:
        read_ecores(*texts, strict=strict)
    return str(raised.value)


def the_class(package: Package, name: str) -> Class:
    found = package.classifier(name)
    assert isinstance(found, Class)
    return found


def the_feature(package: Package, name: str) -> Any:
    """By the names of class and feature: ``A.b``."""
    kind, _, feature = name.partition(".")
    found: list[Feature] = [one for one in the_class(package, kind).features if one.name == feature]
    assert len(found) == 1
    return found[0]
