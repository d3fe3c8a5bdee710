"""Mutated files are read or refused: never anything else, and what is read makes sense and can be written."""

import random
import re
from pathlib import Path

import pytest

from neomodel.errors import InvalidFile
from neomodel.metamodel_json import dumps
from neomodel.soundness import check
from neomodel.xmi.ecore_reading import read_ecore
from neomodel.xmi.ecore_writing import write_ecore
from tests.xmi.ecore_files import ecore, wrapped
from tests.xmi.test_ecore_odd import ODD
from tests.xmi.test_ecore_register import OLD, SHOP
from tests.xmi.test_ecore_writing import KEPT

SEEDS = [SHOP, OLD, *(ecore(text) for text, _ in ODD.values()), *(ecore(text) for text in KEPT.values())]
SEEDS.append(wrapped(SHOP, ecore(KEPT["generics"])))
TOKENS = re.compile(r'"[^"]*"|</?[^\s>]+|[\w:]+(?==)')
STRANGE = [
    "#//",
    "/",
    '"',
    "<a/>",
    "&#0;",
    "&lt;",
    "%",
    "@eClassifiers.0",
    ' href="#/"',
    "-1",
    "\0",
    "É",
    "]]>",
    "<!--",
]


def mutated(chance: random.Random) -> str:
    text = chance.choice(SEEDS)
    for _ in range(chance.randint(1, 4)):
        spans = [found.span() for found in TOKENS.finditer(text)]
        start, stop = chance.choice(spans) if spans else (0, 0)
        alike = [span for span in spans if text[span[0]] == text[start]]
        match chance.randrange(8):
            case 0:
                text = text[:start] + chance.choice(STRANGE) + text[stop:]
            case 1:
                lines = text.split("\n")
                lines.insert(chance.randrange(len(lines)), chance.choice(lines))
                text = "\n".join(lines)
            case 2:
                text = text[:start] + text[stop:]
            case _ if alike:
                left, right = chance.choice(alike)
                text = text[:start] + text[left:right] + text[stop:]
    return text


def survive(number: int, path: Path) -> bool:
    """Whether what a number stands for is read; if not, it is refused."""
    path.write_text(mutated(random.Random(number)))
    try:
        packages, _ = read_ecore(path)
    except InvalidFile:
        return False
    check(packages, lambda _: None)
    assert all(map(dumps, packages))
    again = path.with_name("again.ecore")
    write_ecore(packages, again)
    assert read_ecore(again)[0] == packages
    return True


def test_mutated_files_are_read_or_refused(tmp_path: Path) -> None:
    read = sum(survive(number, tmp_path / "a.ecore") for number in range(1500))

    assert 150 < read < 1350


@pytest.mark.soak
def test_a_hundred_thousand_mutated_files_are_read_or_refused(tmp_path: Path) -> None:
    for number in range(100_000):
        survive(number, tmp_path / "a.ecore")
