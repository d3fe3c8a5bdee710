"""Files that are broken in every way: an error of ours or a model, never anything else, and never half a model."""

import random
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import neomodel as nm
from tests.xmi.files import XMLNS, new_repository
from tests.xmi.test_ecore_models import SHOP

SEEDS = [
    f"""<?xml version="1.0" encoding="UTF-8"?>
<l:Library {XMLNS} name="lib" xmi:id="_l">
  <shelves name="s" library="/"><books name="a" pages="7" authors="//@people.0" related="//@shelves.0/@books.1 _l2"
    sequel="//@shelves.0/@books.1"/><books xmi:id="_l2" genre="CRIME" prequel="//@shelves.0/@books.0">
    <tags>x &amp; y</tags><tags/><language xsi:nil="true"/><original href="other.xmi#//@books.0"/></books>
    <best xsi:type="l:Book" name="best" rating="5"/><inner/></shelves>
  <people name="p" written="//@shelves.0/@books.0" lent="_l2"/><director xmi:type="l:Person"/>
</l:Library>""",
    f"""<xmi:XMI {XMLNS}><l:Book name="a" related="/1 /0"/><l:Book name="b" shelf="/2"/>
<l:Shelf><books href="gone.xmi#/"/><books name="c"><anything href="#/0"/></books></l:Shelf>
<xmi:Extension><x y="z"/></xmi:Extension></xmi:XMI>""",
    '<Book xmlns="http://library" name="é"><![CDATA[]]><!-- c --></Book>',
    SHOP,
]

WORDS = [
    "/",
    "//@a.0",
    "#",
    "href",
    "xsi:nil",
    "xmi:id",
    "name",
    "<",
    ">",
    '"',
    "&#0;",
    "&x;",
    "//@shelves.0",
    "/9",
    "l:",
]
WORDS += [
    "<books/>",
    "</books>",
    "<l:Book/>",
    "NaN",
    "-1",
    "9" * 40,
    "%00",
    "%zz",
    "[x='y']",
    "xmlns:l",
    "]]>",
    "<?x?>",
    " ",
]
SECONDS = 20


def mutated(text: str, chance: random.Random) -> bytes:
    """The text after some accidents."""
    for _ in range(chance.randint(1, 4)):
        at, end = sorted(chance.randrange(len(text) + 1) for _ in range(2))
        end = min(end, at + chance.choice([1, 3, 10, 60]))
        accident = chance.randrange(6)
        if accident == 0:
            text = text[:at] + chr(chance.choice([0, 9, 60, 255, 0x2028, chance.randrange(0xD000)])) + text[at + 1 :]
        elif accident == 1:
            text = text[:at] + text[end:]
        elif accident == 2:
            text = text[:at] + text[at:end] * 2 + text[end:]
        elif accident == 3:
            text = text[:at] + chance.choice(WORDS) + text[end:]
        elif accident == 4:
            other = chance.randrange(len(text) + 1)
            text = text[:other] + text[at:end] + text[other:]
        else:
            words = text.split('"')
            if len(words) > 4:
                one, two = chance.randrange(1, len(words), 2), chance.randrange(1, len(words), 2)
                words[one], words[two] = words[two], words[one]
                text = '"'.join(words)
        if not text:
            return b""
    content = text.encode(chance.choice(["utf-8"] * 9 + ["utf-16"]), "surrogatepass")
    if chance.random() < 0.3:
        flipped = bytearray(content)
        flipped[chance.randrange(len(flipped))] ^= 1 << chance.randrange(8)
        content = bytes(flipped)
    return content[: chance.randrange(len(content) + 1)] if chance.random() < 0.05 else content


@contextmanager
def bounded() -> Iterator[None]:
    """Ends what takes too long."""

    def late(*_: object) -> None:
        raise TimeoutError(f"more than {SECONDS} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("count", [600, pytest.param(100_000, marks=pytest.mark.soak)])
def test_broken_files_are_refused_or_read_and_leave_nothing_half(
    tmp_path: Path, count: int, figures: Callable[[str], None]
) -> None:
    path, read = tmp_path / "a.xmi", 0
    sentences: set[str] = set()
    for number in range(count):
        if number % 1000 == 0:  # a store in memory remembers all imports there ever were, and gets slow
            repository = new_repository()
        chance = random.Random(number)
        path.write_bytes(mutated(chance.choice(SEEDS), chance))
        with bounded():
            try:
                repository.import_xmi(path, model="m", lenient=chance.random() < 0.5)
            except nm.NeomodelError as exc:
                sentences.add(str(exc))
                assert (repository.models(), repository.imports.names()) == ([], []), number
                assert "m" not in repository.store.tables()
            else:
                read += 1
                assert nm.check(repository.open("m")).findings == (), number
                repository.drop("m")

    assert not [sentence for sentence in sentences if len(sentence.splitlines()) != 1]
    figures(f"fuzz: {count:,} broken files, of which {read:,} could be read")
    assert count // 20 < read < count - count // 20  # both happen
