"""Files as EMF would write them: each trait with the text it has to become."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import neomodel as nm
from neomodel import layout
from neomodel.errors import NotWritable
from neomodel.stores import Mutation
from tests.xmi.garden import Bed, Garden, Gate, Label, Light, Plant, Tree, garden
from tests.xmi.pyecore_peer import Peer, content_of

Written = Callable[..., str]
XMI = 'xmi:version="2.0" xmlns:xmi="http://www.omg.org/XMI"'
XSI = 'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"'
OURS = 'xmlns:garden="http://garden"'


def put(obj: Any, **cells: bytes) -> None:
    """Write cells of type information into the row of an object, as an import does."""
    names = {"xmi_id": layout.XMI_ID, "aside": layout.ASIDE}
    obj.eResource.table.put_many(
        [Mutation(nm.oid(obj).encode(), {names.get(name, name.encode()): cell for name, cell in cells.items()})]
    )


def plant(model: nm.Model, **features: Any) -> Any:
    made = Plant(**features)
    model.roots.append(made)
    return made


# the outermost element


def test_one_root_is_the_document(model: nm.Model, written: Written) -> None:
    model.roots.append(Garden(name="g", gate=Gate(), beds=[Bed(name="a"), Bed(name="b")]))

    assert written() == (
        f'<garden:Garden {XMI} {OURS} name="g">\n  <beds name="a"/>\n  <beds name="b"/>\n  <gate/>\n</garden:Garden>\n'
    )


def test_several_roots_lie_in_an_element_of_xmi(model: nm.Model, written: Written) -> None:
    first, second = Plant(name="p"), Plant(name="q")
    model.roots.extend([first, Garden(beds=[Bed(plants=[second])])])
    first.neighbours.extend([second, first])

    assert written() == (
        f"<xmi:XMI {XMI} {OURS}>\n"
        '  <garden:Plant name="p" neighbours="/1/@beds.0/@plants.0 /0"/>\n'
        "  <garden:Garden>\n"
        "    <beds>\n"
        '      <plants name="q"/>\n'
        "    </beds>\n"
        "  </garden:Garden>\n"
        "</xmi:XMI>\n"
    )


def test_no_root_is_an_empty_document(model: nm.Model, written: Written) -> None:
    assert written() == f"<xmi:XMI {XMI}>\n</xmi:XMI>\n"


def test_a_prefix_that_is_taken_gets_a_number(repo: nm.Repository, model: nm.Model, written: Written) -> None:
    other = repo.register(nm.metamodel.Package("garden", "http://other", classifiers=[nm.metamodel.Class("Thing")]))
    model.roots.append(Garden(things=[other.Thing()]))

    assert written() == (
        f'<garden:Garden {XMI} {XSI} {OURS} xmlns:garden_1="http://other">\n'
        '  <things xsi:type="garden_1:Thing"/>\n'
        "</garden:Garden>\n"
    )


# references


def test_paths_have_numbers_where_features_are_many(model: nm.Model, written: Written) -> None:
    rose, tulip, gate = Plant(), Tree(), Gate()
    top = Garden(beds=[Bed(), Bed(plants=[rose, tulip])], gate=gate, favourite=rose, shown=[gate, tulip])
    model.roots.append(top)
    top.shown.append(top)

    assert written() == (
        f'<garden:Garden {XMI} {XSI} {OURS} favourite="//@beds.1/@plants.0" shown="//@gate //@beds.1/@plants.1 /">\n'
        "  <beds/>\n"
        "  <beds>\n"
        "    <plants/>\n"
        '    <plants xsi:type="garden:Tree"/>\n'
        "  </beds>\n"
        "  <gate/>\n"
        "</garden:Garden>\n"
    )


def test_both_ends_of_a_reference_are_written_but_no_container(model: nm.Model, written: Written) -> None:
    a, b = Plant(name="a"), Plant(name="b")
    a.likes.append(b)
    model.roots.append(Bed(plants=[a, b]))

    assert written() == (
        f"<garden:Bed {XMI} {OURS}>\n"
        '  <plants name="a" likes="//@plants.1"/>\n'
        '  <plants name="b" liked="//@plants.0"/>\n'
        "</garden:Bed>\n"
    )


def test_an_xmi_id_is_kept_and_referred_to(model: nm.Model, written: Written) -> None:
    a, b = Plant(), Plant()
    model.roots.append(Bed(plants=[a, b]))
    a.neighbours.append(b)
    b.neighbours.append(a)
    put(b, xmi_id="_ü1".encode())

    assert written() == (
        f"<garden:Bed {XMI} {OURS}>\n"
        '  <plants neighbours="_ü1"/>\n'
        '  <plants xmi:id="_ü1" neighbours="//@plants.0"/>\n'
        "</garden:Bed>\n"
    )


def test_an_id_attribute_is_referred_to(model: nm.Model, written: Written) -> None:
    a = Label(code="A&1")
    model.roots.append(Garden(things=[a, Label(other=a), Label(other=Label())]))

    assert '<things xsi:type="garden:Label" code="A&amp;1"/>' in written()
    assert '<things xsi:type="garden:Label" other="A&amp;1"/>' in written()


@pytest.mark.parametrize("code", ["a b", "/a", "a#b", "a:b", "", "a\nb"])
def test_an_id_that_readers_take_for_something_else_is_not_referred_to(
    code: str, model: nm.Model, written: Written
) -> None:
    a = Label(code=code)
    model.roots.append(Garden(things=[a, Label(other=a)]))

    assert 'other="//@things.0"' in written()


def test_an_id_that_two_have_is_not_referred_to(model: nm.Model, written: Written) -> None:
    a, b = Label(code="x"), Label(code="x")
    model.roots.append(Garden(things=[a, b, Label(other=a), Label(other=b)]))

    assert 'other="//@things.0"' in written()
    assert 'other="//@things.1"' in written()


def test_own_ids_are_written_on_everything_if_asked_for(model: nm.Model, written: Written) -> None:
    a, b = Plant(), Label(code="b")
    top = Garden(things=[a, b])
    model.roots.append(top)
    a.neighbours.append(a)
    put(b, xmi_id=b"_1")

    assert written(ids=True) == (
        f'<garden:Garden {XMI} {XSI} {OURS} xmi:id="{nm.oid(top)}">\n'
        f'  <things xsi:type="garden:Plant" xmi:id="{nm.oid(a)}" neighbours="{nm.oid(a)}"/>\n'
        f'  <things xsi:type="garden:Label" xmi:id="{nm.oid(b)}" code="b"/>\n'
        "</garden:Garden>\n"
    )


def test_a_reference_to_nothing_is_left_out_and_said_so(model: nm.Model, tmp_path: Path, written: Written) -> None:
    a, b, c = Plant(), Plant(), Plant()
    model.roots.append(Bed(plants=[a, b, c]))
    a.neighbours.extend([b, c, b])
    c.neighbours.append(b)
    gone = nm.oid(b)
    nm.delete(b)

    done = model.export_xmi(tmp_path / "m.xmi")

    assert done.references == 1
    assert done.notices == (
        f"3 references were left out, since what they lead to is not there ({gone}, for one); "
        "`neomodel check` lists them",
    )
    assert written() == (
        f'<garden:Bed {XMI} {OURS}>\n  <plants neighbours="//@plants.1"/>\n  <plants/>\n</garden:Bed>\n'
    )


def test_an_entry_of_a_list_whose_child_lies_elsewhere_is_passed_over(model: nm.Model, written: Written) -> None:
    """As a crash leaves it, see decision 0011; numbers in paths count what is there."""
    first, second = Bed(plants=[Plant(name="a"), Plant(name="b")]), Bed()
    model.roots.append(Garden(beds=[first, second]))
    a, b = first.plants
    b.neighbours.append(b)
    model.table.put_many(
        [Mutation(nm.oid(second).encode(), {b"p:plants": f"{nm.oid(a)},missing,{nm.oid(b)}".encode()})]
    )
    put(b, **{"c:container": nm.oid(second).encode()})

    assert written() == (
        f"<garden:Garden {XMI} {OURS}>\n"
        '  <beds>\n    <plants name="a"/>\n  </beds>\n'
        '  <beds>\n    <plants name="b" neighbours="//@beds.1/@plants.0"/>\n  </beds>\n'
        "</garden:Garden>\n"
    )


# other models and files


def test_a_reference_into_another_model_leads_to_its_file(
    repo: nm.Repository, model: nm.Model, tmp_path: Path, written: Written
) -> None:
    far, named = Plant(name="far"), Tree()
    repo.create("other").roots.append(Bed(plants=[Plant(), far, named]))
    put(named, xmi_id=b"_7")
    near = Plant(name="near")
    model.roots.append(Garden(favourite=far, shown=[near, named], things=[near]))

    assert written() == (
        f"<garden:Garden {XMI} {XSI} {OURS}>\n"
        '  <things xsi:type="garden:Plant" name="near"/>\n'
        '  <favourite href="other.xmi#//@plants.1"/>\n'
        '  <shown xsi:type="garden:Plant" href="#//@things.0"/>\n'
        '  <shown xsi:type="garden:Tree" href="other.xmi#_7"/>\n'
        "</garden:Garden>\n"
    )
    repo.open("other").export_xmi(tmp_path / "other.xmi")
    top = Peer(garden.value).load(tmp_path / "m.xmi").contents[0]
    assert top.favourite.name == "far"
    assert [one.name for one in top.shown] == ["near", None]


def test_references_and_children_in_files_that_were_not_imported_lead_there_again(
    model: nm.Model, written: Written
) -> None:
    top = Garden(beds=[Bed(name="a"), Bed(name="b")])
    model.roots.append(top)
    lists = b",".join([nm.oid(top.beds[0]).encode(), b"@?c%2Fd%20e.xmi/%2F", nm.oid(top.beds[1]).encode()])
    cells = {
        b"p:favourite": b"@?plants%2Fp.xmi/%2F%2F%40all.3",
        b"p:shown": b"@?q.xmi/_1",
        b"p:beds": lists,
    }
    model.table.put_many([Mutation(nm.oid(top).encode(), cells)])

    assert written() == (
        f"<garden:Garden {XMI} {XSI} {OURS}>\n"
        '  <beds name="a"/>\n'
        '  <beds href="c/d e.xmi#/"/>\n'
        '  <beds name="b"/>\n'
        '  <favourite href="plants/p.xmi#//@all.3"/>\n'
        '  <shown xsi:type="garden:Garden" href="q.xmi#_1"/>\n'
        "</garden:Garden>\n"
    )


# values


def test_values_are_written_as_emf_writes_them(model: nm.Model, written: Written) -> None:
    plant(
        model,
        height=-7,
        sown=datetime(2024, 2, 29, 13, 5, 7, 250_000, tzinfo=UTC),
        seed=b"\x00\xffa",
        mark="a",
        tags=["x y", "", "z"],
        lights=[Light.SHADE, Light.SUN],
    )

    assert written() == (
        f'<garden:Plant {XMI} {OURS} height="-7" sown="2024-02-29T13:05:07.250+0000" seed="00FF61" mark="97">\n'
        "  <tags>x y</tags>\n"
        "  <tags></tags>\n"
        "  <tags>z</tags>\n"
        "  <lights>SHADE</lights>\n"
        "  <lights>SUN</lights>\n"
        "</garden:Plant>\n"
    )


def test_defaults_are_not_written_unless_they_were_set(model: nm.Model, written: Written) -> None:
    plant(model, height=10, age=3, nick="none")

    assert written() == f'<garden:Plant {XMI} {OURS} age="3"/>\n'


def test_none_where_there_is_a_default_is_nil(model: nm.Model, written: Written) -> None:
    plant(model, age=None, nick=None, name=None, tags=["a", None])

    assert written() == (
        f"<garden:Plant {XMI} {XSI} {OURS}>\n"
        '  <age xsi:nil="true"/>\n'
        '  <nick xsi:nil="true"/>\n'
        "  <tags>a</tags>\n"
        '  <tags xsi:nil="true"/>\n'
        "</garden:Plant>\n"
    )


def test_a_feature_called_href_is_an_element(model: nm.Model, written: Written) -> None:
    plant(model, href="x>", link="y>")

    assert written() == f'<garden:Plant {XMI} {OURS} link="y>">\n  <href>x&gt;</href>\n</garden:Plant>\n'


def test_what_is_transient_or_derived_is_not_written(model: nm.Model, written: Written) -> None:
    plant(model, draft="d")

    assert written() == f"<garden:Plant {XMI} {OURS}/>\n"


TEXTS = ['<&>"', "a\nb\tc\rd", "  ", " a ", "ä€😀", "]]>", "\x7f\x85\x9f", "\u2028\u2029", "\ufffd", "&amp;", "'"]


@pytest.mark.parametrize("text", TEXTS)
def test_every_text_comes_back(text: str, model: nm.Model, tmp_path: Path) -> None:
    plant(model, name=text, tags=[text, "x", text])

    model.export_xmi(tmp_path / "m.xmi")

    assert Peer(garden.value).content(tmp_path / "m.xmi") == content_of(model)
    (found,) = Peer(garden.value).load(tmp_path / "m.xmi").contents
    assert (found.name, list(found.tags)) == (text, [text, "x", text])


def test_line_ends_and_tabs_in_attributes_are_numbers(model: nm.Model, written: Written) -> None:
    plant(model, name='a\nb\tc\rd"')

    assert 'name="a&#xA;b&#x9;c&#xD;d&quot;"' in written()


@pytest.mark.parametrize("text", ["\0", "a\x01", "\x1f", "\ufffe", "\uffff"])
@pytest.mark.parametrize("feature", ["name", "tags"])
def test_what_xml_can_not_carry_is_refused_by_name(text: str, feature: str, model: nm.Model, tmp_path: Path) -> None:
    made = plant(model, **{feature: [text] if feature == "tags" else text})

    with pytest.raises(NotWritable) as refused:
        model.export_xmi(tmp_path / "m.xmi")

    told = str(refused.value)
    owner = "Plant" if feature == "tags" else "Named"
    assert told.startswith(f"garden.{owner}.{feature} of object m/{nm.oid(made)} can't be written as XMI: ")
    assert f"U+{ord(text[-1]):04X}" in told
    assert not list(tmp_path.glob("*.xmi*"))


@pytest.mark.parametrize("name", ["no name", "size_µm", "m²", "\u01c4"])
def test_a_name_that_xml_has_not_is_refused(name: str, repo: nm.Repository, model: nm.Model, tmp_path: Path) -> None:
    attribute = nm.metamodel.Attribute(name, nm.metamodel.TypeName(nm.metamodel.ECORE, "EString"))
    odd = repo.register(
        nm.metamodel.Package("odd", "http://odd", classifiers=[nm.metamodel.Class("Odd", features=[attribute])])
    )
    model.roots.append(odd.Odd())

    with pytest.raises(NotWritable, match=f"'{name}' is no name in XML"):
        model.export_xmi(tmp_path / "m.xmi")


def test_a_name_in_letters_of_another_script_is_written(repo: nm.Repository, model: nm.Model, tmp_path: Path) -> None:
    attribute = nm.metamodel.Attribute("größe_名", nm.metamodel.TypeName(nm.metamodel.ECORE, "EString"))
    odd = repo.register(
        nm.metamodel.Package("odd", "http://odd", classifiers=[nm.metamodel.Class("Odd", features=[attribute])])
    )
    model.roots.append(odd.Odd(größe_名="3"))

    model.export_xmi(tmp_path / "m.xmi")
    repo.import_xmi(tmp_path / "m.xmi", model="again")

    assert [one.größe_名 for one in repo.open("again").roots] == ["3"]


def test_timelines_are_refused_unless_they_are_to_be_left_out(model: nm.Model, tmp_path: Path) -> None:
    made = plant(model, name="p")
    made.growth.record(3, event=1)

    with pytest.raises(NotWritable, match=r"the timeline garden\.Plant\.growth of object m/.* there is no place"):
        model.export_xmi(tmp_path / "m.xmi")
    done = model.export_xmi(tmp_path / "m.xmi", without_timelines=True)

    assert done.notices == ("1 timelines were left out: XMI has no place for them",)
    assert (tmp_path / "m.xmi").read_text().endswith(f'<garden:Plant {XMI} {OURS} name="p">\n</garden:Plant>\n')
