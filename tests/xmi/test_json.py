"""JSON as PyEcore's JsonResource reads and writes it, both ways."""

import json
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from pyecore.resources import URI
from pyecore.resources.json import JsonResource

import neomodel as nm
from neomodel.errors import InvalidFile, NotWritable
from neomodel.metamodel import Attribute, Class, Package
from tests.objects.library import Book, library
from tests.xmi.ecore_files import TEXT
from tests.xmi.garden import Bed, Garden, Gate, Label, Light, Plant, Tree, garden
from tests.xmi.pyecore_peer import Peer, content_of, content_of_peer
from tests.xmi.random_models import Filled, fill, filled
from tests.xmi.test_exporting import put


def planted(model: nm.Model) -> Any:
    rose, oak = Plant(name="rose", tags=["a", "b c"], lights=[Light.SHADE]), Tree(name="oak", rings=7)
    top = Garden(name="g", beds=[Bed(name="x"), Bed(plants=[rose, oak], light=Light.SHADE)], gate=Gate(width=2.5))
    rose.likes.append(oak)
    oak.neighbours.extend([rose, oak, rose])
    top.favourite = oak
    model.roots.append(top)
    return top


# out


def test_an_object_is_written_as_pyecore_writes_it(model: nm.Model, tmp_path: Path) -> None:
    planted(model)

    done = model.export_json(tmp_path / "m.json")

    rose = {"name": "rose", "tags": ["a", "b c"], "lights": ["SHADE"]}
    oak = {"eClass": "http://garden#//Tree", "name": "oak", "rings": 7}
    ref_rose = {"eClass": "http://garden#//Plant", "$ref": "//@beds.1/@plants.0"}
    ref_oak = {"eClass": "http://garden#//Tree", "$ref": "//@beds.1/@plants.1"}
    assert json.loads((tmp_path / "m.json").read_text()) == {
        "eClass": "http://garden#//Garden",
        "name": "g",
        "beds": [
            {"name": "x"},
            {
                "light": "SHADE",
                "plants": [
                    rose | {"likes": [ref_oak]},
                    oak | {"neighbours": [ref_rose, ref_oak, ref_rose], "liked": [ref_rose]},
                ],
            },
        ],
        "gate": {"width": 2.5},
        "favourite": ref_oak,
    }
    assert (done.elements, done.references, done.notices) == (6, 6, ())


def test_several_roots_are_a_list_and_none_an_empty_one(model: nm.Model, tmp_path: Path) -> None:
    model.export_json(tmp_path / "none.json")
    a, b = Label(code="a"), Label()
    model.roots.extend([a, b])
    b.other = b
    a.other = a

    model.export_json(tmp_path / "m.json")

    label = "http://garden#//Label"
    assert json.loads((tmp_path / "none.json").read_text()) == []
    assert json.loads((tmp_path / "m.json").read_text()) == [
        {"eClass": label, "code": "a", "other": {"eClass": label, "$ref": "/0"}},
        {"eClass": label, "other": {"eClass": label, "$ref": "/1"}},
    ]


def test_pyecore_reads_what_is_written(model: nm.Model, tmp_path: Path) -> None:
    planted(model)

    model.export_json(tmp_path / "m.json")

    assert Peer(garden.value).content(tmp_path / "m.json") == content_of(model)


@pytest.mark.parametrize("own", [False, True])
def test_ids_are_written_if_all_have_one(own: bool, model: nm.Model, tmp_path: Path) -> None:
    a, b = Plant(name="a"), Plant(name="b")
    top = Bed(plants=[a, b])
    model.roots.append(top)
    a.neighbours.append(b)
    for number, one in enumerate([top, a]):
        put(one, xmi_id=f"_{number}".encode())
    told = "no xmi:id was written: JSON has place for them only if all objects have one"

    done = model.export_json(tmp_path / "some.json", ids=own)
    put(b, xmi_id=b"_2")
    model.export_json(tmp_path / "all.json", ids=own)

    assert done.notices == (() if own else (told,))
    found = json.loads((tmp_path / "all.json").read_text())
    names = [nm.oid(one) if own else f"_{number}" for number, one in enumerate([top, a, b])]
    assert [one["uuid"] for one in [found, *found["plants"]]] == names
    assert found["plants"][0]["neighbours"] == [{"eClass": "http://garden#//Plant", "$ref": names[2]}]
    assert Peer(garden.value).content(tmp_path / "all.json") == content_of(model)
    assert Peer(garden.value).content(tmp_path / "some.json") == content_of(model)


def test_what_json_has_no_place_for_is_refused(model: nm.Model, tmp_path: Path) -> None:
    one = Plant()
    model.roots.append(one)
    one.growth.record(3, event=1)

    with pytest.raises(NotWritable, match="as JSON: there is no place for its timeline"):
        model.export_json(tmp_path / "m.json")
    assert model.export_json(tmp_path / "m.json", without_timelines=True).notices
    put(one, aside=b'[{"attribute": "a", "value": "b"}]')
    with pytest.raises(NotWritable, match="kept aside"):
        model.export_json(tmp_path / "m.json", without_timelines=True)


def test_subpackages_are_named_by_the_way_to_them(repo: nm.Repository, model: nm.Model, tmp_path: Path) -> None:
    inner = Package("inner", "http://outer/inner", classifiers=[Class("Thing")])
    package = repo.register(Package("outer", "http://outer", classifiers=[Class("Thing")], packages=[inner]))
    model.roots.extend([package.inner.Thing(), package.Thing()])

    model.export_json(tmp_path / "m.json")
    repo.import_json(tmp_path / "m.json", model="again")

    found = json.loads((tmp_path / "m.json").read_text())
    assert [one["eClass"] for one in found] == ["http://outer#//inner/Thing", "http://outer#//Thing"]
    assert [one.eClass.ePackage.nsURI for one in repo.open("again").roots] == ["http://outer/inner", "http://outer"]


# in


def test_what_pyecore_writes_is_read(repo: nm.Repository, model: nm.Model, tmp_path: Path) -> None:
    planted(model)
    model.export_xmi(tmp_path / "m.xmi")
    theirs = Peer(garden.value).load(tmp_path / "m.xmi").contents
    for use_uuid in (False, True):
        written = JsonResource(URI(str(tmp_path / "theirs.json")), use_uuid=use_uuid)
        for root in list(theirs):
            written.append(root)
        written.save()

        done = repo.import_json(tmp_path / "theirs.json", model=f"again{use_uuid}")

        again = repo.open(f"again{use_uuid}")
        assert content_of(again) == content_of(model) == content_of_peer(theirs)
        assert (done.elements, done.references) == (6, 6)


def test_an_id_comes_back(repo: nm.Repository, model: nm.Model, tmp_path: Path) -> None:
    a = Label(code="k")
    model.roots.append(Garden(things=[a, Label(other=a)]))
    for number, one in enumerate([model.roots[0], *model.roots[0].things]):
        put(one, xmi_id=f"_{number}".encode())
    model.export_json(tmp_path / "m.json")

    repo.import_json(tmp_path / "m.json", model="again")
    repo.open("again").export_json(tmp_path / "again.json")

    assert (tmp_path / "again.json").read_text() == (tmp_path / "m.json").read_text()


def test_what_nobody_may_change_comes_back(repo: nm.Repository, model: nm.Model, tmp_path: Path) -> None:
    repo.register(library)
    made = Book(name="a", isbn="1-2", frozen=["x", "y"])
    model.roots.append(made)
    model.export_json(tmp_path / "m.json")

    repo.import_json(tmp_path / "m.json", model="again")

    (again,) = repo.open("again").roots
    assert (again.isbn, list(again.frozen)) == ("1-2", ["x", "y"])


def test_a_reference_by_an_attribute_that_is_an_id_is_followed(repo: nm.Repository, tmp_path: Path) -> None:
    label = "http://garden#//Label"
    text = [{"eClass": label, "other": {"$ref": "k"}}, {"eClass": label, "code": "k"}]
    (tmp_path / "m.json").write_text(json.dumps(text))

    repo.import_json(tmp_path / "m.json", model="again")

    first, second = repo.open("again").roots
    assert first.other is second


def test_values_of_every_type_come_back(repo: nm.Repository, model: nm.Model, tmp_path: Path) -> None:
    sown = datetime(2024, 2, 29, 13, 5, 7, 250_000, tzinfo=UTC)
    model.roots.append(
        Plant(height=-7, age=None, nick=None, sown=sown, seed=b"\0\xff", mark="a", tags=["", None, "\0"])
    )

    model.export_json(tmp_path / "m.json")
    repo.import_json(tmp_path / "m.json", model="again")

    (found,) = repo.open("again").roots
    assert (found.height, found.age, found.nick, found.sown) == (-7, None, None, sown)
    assert (found.seed, found.mark, list(found.tags)) == (b"\0\xff", "a", ["", None, "\0"])
    assert found.eIsSet("age")


WRONG = [
    ("", ":1: the JSON is broken: Expecting value, at column 1"),
    ("[{]", "the JSON is broken"),
    ("[" * 100_000, "objects lie too deep"),
    ("7", "it is a number, expected an object"),
    ("{}", "it has no eClass"),
    ('{"eClass": "http://no#//Garden"}', "no metamodel 'http://no'"),
    ('{"eClass": "http://garden#//Nothing"}', "there is no class"),
    ('{"eClass": "http://garden#//in/Garden"}', "there is no package in"),
    ('{"eClass": "http://garden#//Light"}', "there is no class"),
    ('{"eClass": "http://garden#//Named"}', "abstract"),
    ('{"eClass": "http://garden#//Garden", "nmae": 1}', "the object.nmae: garden.Garden has no such feature"),
    ('{"eClass": "http://garden#//Garden", "name": 1}', "the object.name: "),
    ('{"eClass": "http://garden#//Garden", "name": ["a"]}', "it is a list, expected no list"),
    ('{"eClass": "http://garden#//Garden", "name": "a", "name": "b"}', "'name' is there twice"),
    ('[{"eClass": "http://garden#//Garden", "beds": [{}, {"light": "DARK"}]}]', "[0].beds[1].light: "),
    ('{"eClass": "http://garden#//Garden", "beds": {}}', "it is an object, expected a list"),
    ('{"eClass": "http://garden#//Garden", "gate": {"eClass": "http://garden#//Bed"}}', "the object.gate: "),
    ('{"eClass": "http://garden#//Garden", "favourite": 3}', "a reference is an object with $ref"),
    ('{"eClass": "http://garden#//Garden", "favourite": {"$ref": "//@beds.0"}}', "no object '//@beds.0'"),
    ('{"eClass": "http://garden#//Garden", "favourite": {"$ref": "/"}}', "the object.favourite: "),
    ('{"eClass": "http://garden#//Garden", "favourite": {"$ref": "a.json#/"}}', "another file, a.json"),
    ('{"eClass": "http://garden#//Garden", "favourite": {"$ref": "//@gate.0"}}', "no object '//@gate.0'"),
    ('{"eClass": "http://garden#//Garden", "beds": [{}], "shown": [{"$ref": "//@beds.-1"}]}', "no object '//@beds.-1'"),
    ('[{"eClass": "http://garden#//Garden", "shown": [{"$ref": "/-1"}]}]', "no object '/-1'"),
    ('{"eClass": "http://garden#//Garden", "shown": [{"$ref": "//@name.0/@x"}]}', "no object '//@name.0/@x'"),
    ('{"eClass": "http://garden#//Garden", "uuid": "\\ud800"}', "is no uuid"),
    ('{"eClass": "Garden"}', "its eClass is 'Garden', expected namespace#//name"),
    (
        '[{"eClass": "http://garden#//Garden", "beds": [{"garden": {"$ref": "/1"}}]},'
        ' {"eClass": "http://garden#//Garden"}]',
        "[0].beds[0].garden: <garden.Garden (not stored)> is not where this object lies",
    ),
    (
        '[{"eClass": "http://garden#//Garden", "things":'
        ' [{"eClass": "http://garden#//Bed", "garden": {"$ref": "/0"}}]}]',
        "[0].things[0].garden: <garden.Garden (not stored)> is not where this object lies",
    ),
    ("9" * 5000, "a number is too long"),
    ('{"eClass": "http://garden#//Plant", "growth": 1}', "garden.Plant has no such feature"),
]


def test_an_object_at_the_top_that_names_its_container_lies_in_it(repo: nm.Repository, tmp_path: Path) -> None:
    (tmp_path / "m.json").write_text(
        '[{"eClass": "http://garden#//Garden", "beds": [{"name": "a", "garden": {"$ref": "/0"}}]},'
        ' {"eClass": "http://garden#//Bed", "name": "b", "garden": {"$ref": "/0"}}]'
    )

    repo.import_json(tmp_path / "m.json", model="m")

    (top,) = repo.open("m").roots
    assert [bed.name for bed in top.beds] == ["a", "b"]


def test_a_namespace_may_have_a_hash(repo: nm.Repository, tmp_path: Path) -> None:
    odd = repo.register(Package("odd", "http://odd#v1", classifiers=[Class("A")]))
    model = repo.create("odd")
    model.roots.append(odd.A())

    model.export_json(tmp_path / "m.json")
    repo.import_json(tmp_path / "m.json", model="again")

    assert [str(one.eClass) for one in repo.open("again").roots] == ["odd.A"]


def test_a_feature_called_uuid_is_not_lost_to_ids(repo: nm.Repository, tmp_path: Path) -> None:
    odd = repo.register(Package("odd", "http://odd", classifiers=[Class("A", features=[Attribute("uuid", TEXT)])]))
    model = repo.create("odd")
    model.roots.append(odd.A(uuid="mine"))

    done = model.export_json(tmp_path / "m.json", ids=True)

    assert done.notices == ("no xmi:id was written: a feature is called uuid, as they are in JSON",)
    assert json.loads((tmp_path / "m.json").read_text()) == {"eClass": "http://odd#//A", "uuid": "mine"}


@pytest.mark.parametrize(("text", "told"), WRONG)
def test_what_makes_no_sense_is_refused_and_leaves_nothing(
    text: str, told: str, repo: nm.Repository, tmp_path: Path
) -> None:
    (tmp_path / "m.json").write_text(text)

    with pytest.raises(InvalidFile) as refused:
        repo.import_json(tmp_path / "m.json", model="again")

    assert str(refused.value).startswith(str(tmp_path / "m.json"))
    assert told in str(refused.value)
    assert len(str(refused.value).splitlines()) == 1
    assert repo.models() == []


def test_a_file_that_is_not_there_or_no_text_is_refused(repo: nm.Repository, tmp_path: Path) -> None:
    (tmp_path / "m.json").write_bytes(b"\xff\xfe{")

    for name in ("none.json", "m.json", "."):
        with pytest.raises(InvalidFile):
            repo.import_json(tmp_path / name, model="again")


# at random


def check_json(given: Filled) -> None:
    with tempfile.TemporaryDirectory() as name, nm.connect("memory:") as repo:
        folder = Path(name)
        package = repo.register(given.shape.package)
        model = repo.create("m")
        fill(model, package, given)
        model.export_json(folder / "m.json")

        repo.import_json(folder / "m.json", model="again")

        assert content_of(repo.open("again")) == content_of(model)
        repo.open("again").export_json(folder / "again.json")
        assert (folder / "again.json").read_bytes() == (folder / "m.json").read_bytes()


@settings(max_examples=50)
@given(filled)
def test_random_models_survive(given: Filled) -> None:
    check_json(given)


@pytest.mark.soak
@settings(max_examples=3000)
@given(filled)
def test_random_models_survive_at_length(given: Filled) -> None:
    check_json(given)
