"""Public models: each as PyEcore has it, and as is known of it."""

import json
import random
import re
from collections.abc import Iterable, Iterator
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from lxml import etree

import neomodel as nm
from neomodel import layout
from tests.data import data_folder, needs_data
from tests.xmi import peer
from tests.xmi.files import told

DATA = data_folder()
pytestmark = needs_data

_PYECORE = "pyecore/tests/xmi/xmi-tests"
_A = [f"{_PYECORE}/A.ecore", f"{_PYECORE}/B.ecore", f"{_PYECORE}/inner/C.ecore"]
_EMF = "eclipse_emf/tests/org.eclipse.emf.test.core"
_XML = "eclipse_emf/tests/org.eclipse.emf.test.xml/data"
_SOURCES = f"{_EMF}/src/org/eclipse/emf/test/core"
_EXAMPLES = "eclipse_emf/examples/org.eclipse.emf.examples.databinding.project.core"
_BINDING = "eclipse_emf/tests/org.eclipse.emf.test.databinding/model"
_JAVA, _ICE = "neoemf/model/Java.ecore", "neoemf/model/IceAge_from_xcore.ecore"
_ATL = {"Class": "atl/Class2Relational", "Families": "atl/Families2Persons"}
KYANOS = "neoemf/models/org.eclipse.gmt.modisco.java.kyanos.xmi"

CASES: dict[str, list[str]] = {
    **{f"{_PYECORE}/{name}.xmi": [f"{_PYECORE}/My.ecore"] for name in ("MyRoot", "encoded")},
    f"{_PYECORE}/MyRoot_noprefix.xmi": [f"{_PYECORE}/My_noprefix.ecore"],
    **{f"{_PYECORE}/{name}.xmi": _A for name in ("a4", "b2", "b3", "b4", "empty")},
    **{f"{_PYECORE}/{name}.xmi": _A for name in ("model1_iD", "model2_iD", "model_iD_simple")},
    f"{_PYECORE}/model_with_nil.xmi": [f"{_PYECORE}/mm_for_nil.ecore"],
    f"{_PYECORE}/eclipse.root.xmi": [f"{_PYECORE}/root.ecore", f"{_PYECORE}/model.ecore"],
    **{f"{_PYECORE}/{name}.xmi": [f"{_PYECORE}/{name}.ecore"] for name in ("strange-inheritance", "test_schema")},
    **{f"neoemf/xmi/{name}.xmi": [_JAVA] for name in ("sampleStandard", "sampleWithId")},
    "neoemf/models/fr.inria.atlanmod.kyanos.tests.xmi": [_JAVA],
    "neoemf/models/fr.inria.atlanmod.neo4emf.neo4jresolver.xmi": [_JAVA],
    KYANOS: [_JAVA],
    **{f"neoemf/xmi/{name}.xmi": [_ICE] for name in ("iceage", "proxy-container", "proxy-containment")},
    **{
        f"trainbenchmark/railway-{name}-1.xmi": ["trainbenchmark/railway.ecore"]
        for name in ("batch", "inject", "repair")
    },
    **{f"ttc2018_social/{size}/initial.xmi": ["ttc2018_social/social_network.ecore"] for size in (1, 2, 4)},
    f"{_ATL['Class']}/Class2Relational/inClass.xmi": [f"{_ATL['Class']}/Class.ecore"],
    f"{_ATL['Class']}/expected/outSample.xmi": [f"{_ATL['Class']}/Class.ecore"],
    f"{_ATL['Class']}/expected/outRelational.xmi": [f"{_ATL['Class']}/Relational.ecore"],
    f"{_ATL['Families']}/sample-Families.xmi": [f"{_ATL['Families']}/Families.ecore"],
    f"{_ATL['Families']}/expected/sample-Persons.xmi": [f"{_ATL['Families']}/Persons.ecore"],
    **{f"{_EMF}/data/{name}.xmi": [f"{_SOURCES}/xrefsmodel/xrefsmodel.ecore"] for name in ("xrefs0", "xrefs1")},
    f"{_EMF}/data/xrefsopposite.xmi": [f"{_SOURCES}/xrefsopposite/xrefsopposite.ecore"],
    f"{_EMF}/data/extmetadata.xmi": [f"{_SOURCES}/extmetadata/extmetadata.ecore"],
    f"{_EXAMPLES}/Foundation.xmi": [f"{_EXAMPLES}.model/model/Project.ecore"],
    f"{_BINDING}/A.xmi": [f"{_BINDING}/EMFDB.ecore"],
    **{f"{_XML}/xmi/{name}.xmi": [f"{_XML}/ecore/profile.ecore"] for name in ("profile", "profileNested")},
    f"{_XML}/xmi/proxy.xmi": [f"{_XML}/ecore/proxy.ecore"],
}

# What is no model of a metamodel that is there: metamodels, and files whose metamodel the folder does not have.
LEFT = re.compile(
    r"pyecore/.*/(a1|a1-1|a2|a3|b1|b5|b6|b7|encoded2|inner/b2|multiple_with_refs|multi_root|testEMF)\.xmi|"
    r"atl/.*/Ecore2Class/sample\.xmi|eclipse_emf/.*/(changeDesc.*|objectsAnd.*|family|john|mary|test-with-external.*)\.xmi"
)


@cache
def exceptions() -> list[tuple[str, str]]:
    lines = (Path(__file__).parent / "exceptions_xmi.txt").read_text().splitlines()
    parts = [line.split(" | ") for line in lines if not line.startswith("#")]
    assert all(len(part) == 3 and part[2] for part in parts)  # each has a reason
    return [(part[0], part[1]) for part in parts]


def excepted(file: str, feature: str) -> bool:
    return any(fnmatch(file, files) and fnmatch(feature, features) for files, features in exceptions())


def test_every_file_is_looked_at_or_left_for_a_reason() -> None:
    there = {path.relative_to(DATA).as_posix() for path in DATA.rglob("*.xmi")}

    assert {file for file in there if not LEFT.fullmatch(file)} == set(CASES)


def imported(file: str, url: str = "memory:") -> nm.Model:
    repository = nm.connect(url)
    repository.import_xmi(DATA / file, model="m", metamodel=[DATA / one for one in CASES.get(file, [_JAVA])])
    return repository.open("m")


def plain(found: dict[str, Any], mirrored: set[tuple[str, str]]) -> dict[str, Any]:
    """What was told, in terms both have: lists whose order PyEcore takes from their other ends, in some order."""
    result: dict[str, Any] = {}
    for path, features in found.items():
        kept = {}
        for name, value in features.items():
            values = [_plain(one) for one in value] if isinstance(value, list) else _plain(value)
            kept[name] = sorted(values) if (features["class"], name) in mirrored else values
        result[path] = kept
    return result


def _plain(value: Any) -> Any:
    return "elsewhere" if isinstance(value, str) and value.startswith("elsewhere") else peer.plain(value)


def mirrored(model: nm.Model) -> set[tuple[str, str]]:
    kinds = {
        model.kind_of(row) for _, row in model.table.scan(columns=layout.TYPE) if row[layout.ECLASS] != b"RootEObject"
    }
    return {(kind.name, feature.name) for kind in kinds for feature in kind.mirrored if feature.many}


def with_the_large_one_as_soak(files: Iterable[str]) -> list[Any]:
    return [pytest.param(file, marks=pytest.mark.soak) if file == KYANOS else file for file in files]


@pytest.mark.parametrize("file", with_the_large_one_as_soak(CASES))
def test_a_model_is_what_pyecore_makes_of_it(file: str) -> None:
    if excepted(file, "*") and excepted(file, "any.thing"):
        assert not peer.loads(DATA / file, [DATA / one for one in CASES[file]])
        if "extmetadata" not in file:
            assert len(told(imported(file))) == elements(DATA / file)
        return
    model = imported(file)
    both = mirrored(model)
    theirs = plain(peer.told(peer.load(DATA / file, [DATA / one for one in CASES[file]])), both)
    ours = plain(told(model), both)

    assert ours.keys() == theirs.keys()
    differing = {
        (path, name)
        for path in ours
        for name in {*ours[path], *theirs[path]}
        if ours[path].get(name) != theirs[path].get(name) and not excepted(file, f"{ours[path]['class']}.{name}")
    }
    assert differing == set()


def elements(path: Path) -> int:
    """How many objects a file has, by its elements alone: those that refer elsewhere, and values, are none."""
    objects = [one for one in etree.parse(path).iter("*") if not one.get("href") and not (one.text or "").strip()]
    return len([one for one in objects if etree.QName(one).localname != "XMI"])


@pytest.mark.parametrize(
    "file",
    with_the_large_one_as_soak(file for file in CASES if file.startswith(("neoemf/models", "ttc", "train"))),
)
def test_the_order_of_references_is_that_of_the_file(file: str) -> None:
    model = imported(file)
    there = dict(objects(model))
    ids = {obj.id: path for path, obj in there.items() if "id" in obj.eClass.features} if "ttc" in file else {}
    paths = {nm.oid(obj): path for path, obj in there.items()}
    lists = list(reference_lists(DATA / file, ids))
    if len(lists) > 5000:
        lists = random.Random(7).sample(lists, 5000)

    assert lists
    for path, name, wanted in lists:
        value = there[path].eGet(name)
        feature = there[path].eClass.features[name]
        held = [paths[nm.oid(one)] for one in (value if feature.many else [value])]
        assert held == wanted, (path, name)


def objects(model: nm.Model) -> Iterator[tuple[str, Any]]:
    """All objects by the places of their elements: names with numbers among those of the same name."""
    waiting = [("", root) for root in model.roots]
    while waiting:
        path, obj = waiting.pop()
        yield path, obj
        for feature in obj.eClass.containments:
            value = obj.eGet(feature)
            children = list(value) if feature.many else [value] if value is not None else []
            waiting += [(f"{path}/{feature.name}.{number}", child) for number, child in enumerate(children)]


def reference_lists(file: Path, ids: dict[str, str]) -> Iterator[tuple[str, str, list[str]]]:
    """Where a file refers to others: the place, the attribute, and the places that it names in order."""
    names = set(ids)
    waiting = [("", etree.parse(file).getroot())]
    while waiting:
        path, element = waiting.pop()
        for name, value in element.attrib.items():
            if value.startswith("//@"):
                steps = [re.sub(r"(@[^./]+)(?=/|$)", r"\1.0", one)[1:].replace("@", "") for one in value.split()]
                yield path, name, steps
            elif name in ("submitter", "submissions", "likes", "likedBy", "friends") and set(value.split()) <= names:
                yield path, name, [ids[one] for one in value.split()]
        counts: dict[str, int] = {}
        for child in element:
            number = counts[child.tag] = counts.get(child.tag, -1) + 1
            waiting.append((f"{path}/{child.tag}.{number}", child))


# what is known


def test_the_samples_by_path_and_by_id_and_their_archives_are_one_model() -> None:
    names = ("sampleStandard.xmi", "sampleWithId.xmi", "sampleStandard.zxmi", "sampleWithId.zxmi")
    repository = nm.connect("memory:")
    for number, name in enumerate(names):
        repository.import_xmi(DATA / "neoemf/xmi" / name, model=f"m{number}", metamodel=[DATA / _JAVA])
    models = [repository.open(f"m{number}") for number in range(len(names))]
    first, *others = [told(model) for model in models]
    attributes = sum(
        not feature.reference and obj.eIsSet(feature)
        for _, obj in objects(models[0])
        for feature in obj.eClass.features.values()
    )

    assert all(other == first for other in others)
    assert (len(first), attributes) == (659, 434)


def test_what_is_expected_of_the_sample() -> None:
    model = imported("neoemf/xmi/sampleWithId.xmi")
    there = dict(objects(model))
    expected = json.loads((DATA / "neoemf/EXPECTED_sample.json").read_text())
    by_path = expected["xmi_id_of_path_in_sampleWithId"]

    assert {path: xmi_id(there[_place(path)]) for path in by_path} == by_path
    for check in expected["checks"]:
        if not check["object"].startswith("//@"):
            continue
        obj = there[_place(check["object"])]
        links = sum(
            len(value) if f.many else value is not None
            for f in obj.eClass.eAllReferences()
            if not f.container
            for value in [obj.eGet(f)]
        )
        assert (obj.eClass.name, len(obj.eContents), links) == (check["class"], check["children"], check["references"])


def _place(path: str) -> str:
    """The place of an element, of a path that leaves out the number of a single one."""
    steps = re.sub(r"(@[^./]+)(?=/|$)", r"\1.0", path).lstrip("/").replace("@", "")
    return f"/{steps}" if steps else ""


def xmi_id(obj: Any) -> str:
    return str(obj._neo.read().get(layout.XMI_ID).decode())


COUNTS = {
    KYANOS: (80_665, 114_354),
    "neoemf/xmi/sampleStandard.xmi": (659, 852),
    "trainbenchmark/railway-batch-1.xmi": (738, None),
    "trainbenchmark/railway-inject-1.xmi": (742, None),
    "trainbenchmark/railway-repair-1.xmi": (742, None),
    "ttc2018_social/1/initial.xmi": (1275, None),
    "ttc2018_social/2/initial.xmi": (2072, None),
    "ttc2018_social/4/initial.xmi": (4351, None),
}


@pytest.mark.parametrize("file", COUNTS)
def test_a_model_has_as_many_objects_and_references_as_is_known(file: str, tmp_path: Path) -> None:
    repository = nm.connect(f"lmdb:{tmp_path}/store")
    done = repository.import_xmi(DATA / file, model="m", metamodel=[DATA / one for one in CASES[file]])
    elements, references = COUNTS[file]

    assert (done.elements, done.notices) == (elements, ())
    assert references in (None, done.references)
    assert file == KYANOS or nm.check(repository.open("m")).findings == ()
    repository.close()


def test_two_files_that_contain_parts_of_one_another() -> None:
    repository = nm.connect("memory:")
    files = [DATA / f"neoemf/xmi/proxy-{name}.xmi" for name in ("container", "containment")]
    done = repository.import_xmi(*files, model="m", metamodel=[DATA / _ICE])
    model = repository.open("m")
    herd = model.roots[0]

    assert done.elements == 16
    assert nm.check(model).findings == ()
    assert [one.aString for one in herd.elements] == ["Primitive Attribute One"]
    assert all("is taken for" in notice.text for notice in done.notices)
    assert len(done.notices) == 2


def test_an_external_entity_is_refused() -> None:
    with pytest.raises(nm.NeomodelError, match="its document type is in another file"):
        imported(f"{_XML}/xmi/test-with-external-entity.xmi")
