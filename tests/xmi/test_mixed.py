"""Feature maps, and what a lenient import kept aside."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import neomodel as nm
from neomodel import layout
from neomodel.errors import NotWritable
from neomodel.metamodel import ECORE, MANY, Attribute, Class, Package, Reference, TypeName
from neomodel.stores import Mutation

URI = "http://letters"
TEXT, ENTRY = TypeName(ECORE, "EString"), TypeName(ECORE, "EFeatureMapEntry")
LETTERS = Package(
    "letters",
    URI,
    classifiers=[
        Class(
            "Letter",
            features=[
                Attribute("mixed", ENTRY, upper=MANY, unique=False),
                Attribute("to", TEXT),
                Attribute("date", TEXT),
                Attribute("line", TEXT, upper=MANY, unique=False),
                Reference("part", TypeName(URI, "Part"), containment=True, upper=MANY),
                Reference("about", TypeName(URI, "Part"), upper=MANY),
            ],
        ),
        Class("Part", features=[Attribute("n", TEXT)]),
    ],
)
HEAD = '<letters:Letter xmi:version="2.0" xmlns:xmi="http://www.omg.org/XMI"'


@pytest.fixture
def letters(repo: nm.Repository) -> Any:
    return repo.register(LETTERS)


def test_the_order_of_a_feature_map_is_the_order_of_the_text(
    letters: Any, model: nm.Model, written: Callable[..., str]
) -> None:
    a, b, c = (letters.Part(n=n) for n in "abc")
    letter = letters.Letter(to="you", date="today", line=["one", "two"], part=[a, b, c])
    model.roots.append(letter)
    letter.about.append(b)
    letter.mixed.extend(
        ["#text:Dear ", "to", "#text:,\n <", "part", "line", "about", "part", "#cdata:<&", "#comment: c ", "line"]
    )
    letter.mixed.append('#element:<x:y xmlns:x="http://x">z</x:y>')

    assert written() == (
        f'{HEAD} xmlns:letters="{URI}" date="today">Dear <to>you</to>,\n &lt;<part n="a"/><line>one</line>'
        '<about href="#//@part.1"/><part n="b"/><![CDATA[<&]]><!-- c --><line>two</line>'
        '<x:y xmlns:x="http://x">z</x:y><part n="c"/></letters:Letter>\n'
    )


def test_a_name_without_a_value_stands_for_nothing(letters: Any, model: nm.Model, written: Callable[..., str]) -> None:
    model.roots.append(letters.Letter(mixed=["line", "to", "#text:x", "line", "line"], line=["one", "two"]))

    assert written() == (f'{HEAD} xmlns:letters="{URI}"><line>one</line>x<line>two</line></letters:Letter>\n')


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ("nothing", "neither a feature nor text"),
        ("#other:x", "neither a feature nor text"),
        ("#text:\0", "no character U.0000"),
        ("#cdata:]]>", "CDATA"),
        ("#comment:--", "comment"),
        ("#element:<a>", "none"),
        ("#element:text", "none"),
        ("#element:<!-- c --><a/>", "no element"),
    ],
)
def test_what_is_no_entry_is_refused(entry: str, told: str, letters: Any, model: nm.Model, tmp_path: Path) -> None:
    model.roots.append(letters.Letter(mixed=[entry]))

    with pytest.raises(NotWritable, match=told):
        model.export_xmi(tmp_path / "m.xmi")


def test_attributes_text_and_values_that_were_kept_aside_find_their_places(
    letters: Any, model: nm.Model, written: Callable[..., str], tmp_path: Path
) -> None:
    part, letter = letters.Part(n="a"), letters.Letter(to="you")
    model.roots.append(letter)
    letter.part.append(part)
    keep(model, nm.oid(part), {"attribute": "odd", "value": "1"})
    keep(
        model,
        nm.oid(letter),
        {"attribute": "to", "value": "outdated"},
        {"attribute": "line", "value": "<"},
        {"attribute": "#text", "value": "t&"},
    )

    assert written() == (
        f'{HEAD} xmlns:letters="{URI}" to="you">\n'
        '  <part n="a" odd="1"/>\n  <line>&lt;</line>t&amp;\n</letters:Letter>\n'
    )
    told = "1 values that were kept aside were left out: their features have others by now"
    assert model.export_xmi(tmp_path / "m.xmi").notices == (told,)


def test_what_was_kept_of_the_file_is_written_beside_the_roots(
    letters: Any, model: nm.Model, written: Callable[..., str]
) -> None:
    model.roots.append(letters.Letter(to="you"))
    keep(model, "ROOT", {"element": "<odd/>"})

    assert written() == (
        f'<xmi:XMI xmi:version="2.0" xmlns:xmi="http://www.omg.org/XMI" xmlns:letters="{URI}">\n'
        '  <letters:Letter to="you"/>\n  <odd/>\n</xmi:XMI>\n'
    )


def keep(model: nm.Model, oid: str, *entries: dict[str, str]) -> None:
    model.table.put_many([Mutation(oid.encode(), {layout.ASIDE: layout.aside(list(entries))})])


@pytest.mark.parametrize(
    "aside",
    [
        b"[",
        b"7",
        b'["a"]',
        b'[{"attribute": "a"}]',
        b'[{"attribute": "a b", "value": "1"}]',
        b'[{"attribute": "a", "value": "\\u0000"}]',
        b'[{"element": "<a>"}]',
    ],
)
def test_what_was_kept_aside_and_is_no_xml_is_refused(
    aside: bytes, letters: Any, model: nm.Model, tmp_path: Path
) -> None:
    letter = letters.Letter(to="you")
    model.roots.append(letter)
    model.table.put_many([Mutation(nm.oid(letter).encode(), {layout.ASIDE: aside})])

    with pytest.raises(NotWritable, match="what was kept aside of object m/"):
        model.export_xmi(tmp_path / "m.xmi")


def test_what_was_kept_aside_is_written_again(letters: Any, model: nm.Model, written: Callable[..., str]) -> None:
    letter = letters.Letter(part=[letters.Part(n="a"), letters.Part(n="b")])
    model.roots.append(letter)
    aside = [
        {"attribute": "{http://x}odd", "value": 'a"b'},
        {"element": '<o:thing xmlns:o="http://o" p="1"><q/></o:thing>'},
        {"attribute": "plain", "value": "1"},
    ]
    for one in (letter, letter.part[0]):
        model.table.put_many([Mutation(nm.oid(one).encode(), {layout.ASIDE: json.dumps(aside).encode()})])

    assert written() == (
        f'{HEAD} xmlns:letters="{URI}" xmlns:ns="http://x" ns:odd="a&quot;b" plain="1">\n'
        '  <part n="a" ns:odd="a&quot;b" plain="1">\n'
        '    <o:thing xmlns:o="http://o" p="1"><q/></o:thing>\n'
        "  </part>\n"
        '  <part n="b"/>\n'
        '  <o:thing xmlns:o="http://o" p="1"><q/></o:thing>\n'
        "</letters:Letter>\n"
    )
