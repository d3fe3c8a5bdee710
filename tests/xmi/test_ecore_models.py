"""Files of Ecore as models: they are objects of Ecore's own classes, and written as Eclipse writes them."""

import pickle
from pathlib import Path
from typing import Any

import pytest

import neomodel as nm
from neomodel.cli import main
from neomodel.errors import InvalidFile
from neomodel.metamodel import ECORE
from neomodel.xmi.ecore_reading import read_ecore
from tests.data import needs_data
from tests.xmi.ecore_files import attribute, class_, ecore, reference
from tests.xmi.files import told
from tests.xmi.test_ecore_data import FILES, NO_METAMODELS, name, with_others

HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n'
    '<ecore:EPackage xmi:version="2.0" xmlns:xmi="http://www.omg.org/XMI" '
    'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:ecore="http://www.eclipse.org/emf/2002/Ecore" '
)
SHOP = (
    HEAD
    + f"""name="shop" nsURI="http://shop" nsPrefix="shop">
  <eAnnotations source="http://docs">
    <details key="author" value="me"/>
    <details key="empty"/>
  </eAnnotations>
  <eClassifiers xsi:type="ecore:EClass" name="Named" abstract="true" eSuperTypes="ecore:EClass {ECORE}#//EModelElement">
    <eStructuralFeatures xsi:type="ecore:EAttribute" name="name" eType="ecore:EDataType {ECORE}#//EString" iD="true"/>
  </eClassifiers>
  <eClassifiers xsi:type="ecore:EClass" name="Shop" eSuperTypes="#//Named">
    <eOperations name="open" eType="#//State">
      <eParameters name="hour" lowerBound="1" eType="ecore:EDataType {ECORE}#//EInt"/>
    </eOperations>
    <eStructuralFeatures xsi:type="ecore:EReference" name="branches" upperBound="-1" eType="#//Shop" \
containment="true" eOpposite="#//Shop/above"/>
    <eStructuralFeatures xsi:type="ecore:EReference" name="above" eType="#//Shop" eOpposite="#//Shop/branches"/>
    <eStructuralFeatures xsi:type="ecore:EAttribute" name="stock">
      <eGenericType eClassifier="ecore:EDataType {ECORE}#//EMap">
        <eTypeArguments eClassifier="ecore:EDataType {ECORE}#//EString"/>
        <eTypeArguments/>
      </eGenericType>
    </eStructuralFeatures>
    <eStructuralFeatures xsi:type="ecore:EReference" name="far" eType="ecore:EClass other.ecore#//Far"/>
  </eClassifiers>
  <eClassifiers xsi:type="ecore:EEnum" name="State">
    <eLiterals name="OPEN" literal="open"/>
    <eLiterals name="SHUT" value="1"/>
  </eClassifiers>
</ecore:EPackage>
"""
)


@pytest.fixture
def repo() -> nm.Repository:
    return nm.connect("memory:")


def imported(repo: nm.Repository, folder: Path, text: str = SHOP) -> nm.Model:
    (folder / "shop.ecore").write_text(text)
    repo.import_xmi(folder / "shop.ecore", model="m")
    assert nm.check(repo.open("m")).findings == ()
    return repo.open("m")


def classes(model: nm.Model) -> dict[str, Any]:
    return {found.name: found for found in model.roots[0].eClassifiers}


def test_a_file_is_written_as_eclipse_has_written_it(repo: nm.Repository, tmp_path: Path) -> None:
    done = imported(repo, tmp_path).export_xmi(tmp_path / "out.ecore")

    assert (tmp_path / "out.ecore").read_text() == SHOP
    assert done.notices == ()


def test_the_command_imports_and_exports_it(tmp_path: Path) -> None:
    (tmp_path / "shop.ecore").write_text(SHOP)
    store = f"lmdb:{tmp_path / 'store'}"

    assert main(["import", str(tmp_path / "shop.ecore"), "--model", "m", "--store", store]) == 0
    assert main(["export", "m", str(tmp_path / "out.ecore"), "--store", store]) == 0

    assert (tmp_path / "out.ecore").read_text() == SHOP


def test_it_survives_json(repo: nm.Repository, tmp_path: Path) -> None:
    model = imported(repo, tmp_path, SHOP.replace("other.ecore#//Far", "#//Shop"))
    model.export_json(tmp_path / "m.json")
    repo.import_json(tmp_path / "m.json", model="again")

    assert told(repo.open("again")) == told(model)


def test_what_is_in_it_can_be_walked_through(repo: nm.Repository, tmp_path: Path) -> None:
    shop = classes(imported(repo, tmp_path))["Shop"]
    branches, above, stock, far = shop.eStructuralFeatures

    assert branches.eOpposite is above
    assert branches.eType is shop is above.eContainingClass
    assert shop.ePackage.eAnnotations[0].details[0].value == "me"
    assert [one.name for one in stock.eGenericType.eTypeArguments[:1][0].eClassifier.eContainer().eSubpackages] == []
    assert [one.literal for one in shop.eOperations[0].eType.eLiterals] == ["open", None]
    with pytest.raises(nm.ObjectNotFound, match=r"other\.ecore#//Far"):
        print(far.eType.name)


def test_what_emf_computes_is_computed(repo: nm.Repository, tmp_path: Path) -> None:
    shop = classes(imported(repo, tmp_path))["Shop"]

    assert [one.name for one in shop.eAllSuperTypes] == ["EModelElement", "Named"]
    assert [one.name for one in shop.eAllStructuralFeatures] == [
        "eAnnotations",
        "name",
        "branches",
        "above",
        "stock",
        "far",
    ]
    assert [one.name for one in shop.eAllAttributes] == ["name", "stock"]
    assert [one.name for one in shop.eReferences] == ["branches", "above", "far"]
    assert [one.name for one in shop.eAllContainments] == ["eAnnotations", "branches"]
    assert [one.name for one in shop.eAllOperations] == ["open"]
    assert shop.eIDAttribute.name == "name"
    branches, above, stock, _ = shop.eStructuralFeatures
    assert (branches.many, above.many, above.container, branches.container) == (True, False, True, False)
    assert (branches.eReferenceType, stock.eAttributeType.name) == (shop, "EMap")
    assert shop.eOperations[0].eParameters[0].required


def test_super_types_in_a_circle_are_walked_once(repo: nm.Repository, tmp_path: Path) -> None:
    body = class_("A", given='eSuperTypes="#//B"') + class_("B", given='eSuperTypes="#//A"')
    first = classes(imported(repo, tmp_path, ecore(body)))["A"]

    assert [one.name for one in first.eAllSuperTypes] == ["B"]


def test_types_of_ecore_are_objects_that_are_always_there(repo: nm.Repository, tmp_path: Path) -> None:
    named = classes(imported(repo, tmp_path))["Named"]
    text = named.eStructuralFeatures[0].eType

    assert (text.name, text.eClass.name, text.instanceClassName) == ("EString", "EDataType", "java.lang.String")
    assert text.ePackage.nsURI == ECORE
    assert text.ePackage.eClassifiers[0].eContainer() is text.ePackage
    annotations = named.eSuperTypes[0].eStructuralFeatures[0]
    assert (annotations.name, annotations.eType.name) == ("eAnnotations", "EAnnotation")
    assert annotations.eOpposite.eOpposite is annotations
    assert annotations in named.eSuperTypes[0].eContents
    assert text in list(text.ePackage.eAllContents())
    assert annotations.eType.eAllAttributes[0].eType is text


def test_types_of_ecore_can_be_referred_to_and_not_changed(repo: nm.Repository, tmp_path: Path) -> None:
    model = imported(repo, tmp_path)
    named, package = classes(model)["Named"], repo.metamodel(ECORE)
    text = named.eStructuralFeatures[0].eType
    named.eStructuralFeatures.append(package.EAttribute(name="also", eType=text))
    model.export_xmi(tmp_path / "out.ecore")

    assert named.eStructuralFeatures[1].eType is text
    assert f'name="also" eType="ecore:EDataType {ECORE}#//EString"/>' in (tmp_path / "out.ecore").read_text()
    with pytest.raises(nm.ObjectNotFound, match="always there, but in no model"):
        text.name = "other"
    with pytest.raises(nm.NeomodelError):
        model.roots[0].eClassifiers.append(text)
    with pytest.raises(nm.NeomodelError):
        pickle.dumps(text)
    assert text.name == "EString"


def test_features_of_ecore_are_inherited(repo: nm.Repository, tmp_path: Path) -> None:
    above = f'eSuperTypes="ecore:EClass {ECORE}#//ENamedElement"'
    (tmp_path / "m.ecore").write_text(ecore(class_("A", attribute("size"), above)))
    package = repo.register(tmp_path / "m.ecore")
    model = repo.create("made")
    annotation = repo.metamodel(ECORE).EAnnotation(source="s")
    model.roots.append(package.A(name="n", size="1", eAnnotations=[annotation]))
    model.export_xmi(tmp_path / "m.xmi")
    repo.import_xmi(tmp_path / "m.xmi", model="again")

    found = repo.open("again").roots[0]
    assert (found.name, found.size, found.eAnnotations[0].eModelElement) == ("n", "1", found)
    assert issubclass(package.A, repo.metamodel(ECORE).ENamedElement)


def test_a_feature_that_hides_one_of_ecore_is_told(repo: nm.Repository, tmp_path: Path) -> None:
    above = f'eSuperTypes="ecore:EClass {ECORE}#//ENamedElement"'
    (tmp_path / "m.ecore").write_text(ecore(class_("A", attribute("name", 'lowerBound="1" eType="#//T"'), above)))
    text = (tmp_path / "m.ecore").read_text()
    (tmp_path / "m.ecore").write_text(
        text.replace("</ecore:", '<eClassifiers xsi:type="ecore:EDataType" name="T"/></ecore:')
    )
    packages, notices = read_ecore(tmp_path / "m.ecore")

    assert packages[0].classifiers[0].hides == ("name",)  # type: ignore[union-attr]
    assert len(notices) == 1


def test_a_reference_to_classes_takes_no_other_objects(repo: nm.Repository, tmp_path: Path) -> None:
    to_class = reference("kind", f'eType="ecore:EClass {ECORE}#//EClass"')
    (tmp_path / "m.ecore").write_text(ecore(class_("A", to_class)))
    package, own = repo.register(tmp_path / "m.ecore"), repo.metamodel(ECORE)

    package.A(kind=own.EClass(name="C"))
    with pytest.raises(nm.InvalidValue, match=r"class ecore\.EClass"):
        package.A(kind=own.EDataType(name="D"))
    (tmp_path / "m.xmi").write_text('<p:A xmlns:p="http://p" kind="/"/>')
    with pytest.raises(InvalidFile, match=r"refers to objects of ecore\.EClass; '/' is one of p\.A"):
        repo.import_xmi(tmp_path / "m.xmi", model="m")


NAMES = {
    "%http:%2F%2Fa%2Fb%": '<eAnnotations source="http://a/b"/>',
    "%default%": '<eAnnotations source="other"/><eAnnotations source="default"/>',
    "b.1": attribute("a") + attribute("b") + "<eOperations name='b'/>",
    "b%20c": attribute("b") + attribute("b c"),
    "b c": attribute("b") + attribute("b c"),
    "b%2Fc": attribute("b") + attribute("b/c"),
    "@eStructuralFeatures.1": attribute("a") + attribute("b"),
}


@pytest.mark.parametrize("step", NAMES)
def test_paths_go_by_names_and_sources_and_numbers(step: str, repo: nm.Repository, tmp_path: Path) -> None:
    there = class_("A", NAMES[step])
    pointing = f'<eAnnotations source="here"><references href="#//A/{step}"/></eAnnotations>'
    model = imported(repo, tmp_path, ecore(there + class_("B", pointing)))
    first, second = model.roots[0].eClassifiers
    (meant,) = second.eAnnotations[0].references

    assert meant is list(first.eContents)[-1] if step != "b.1" else meant.name == "b"
    assert meant.eContainer() is first
    model.export_xmi(tmp_path / "out.ecore")
    repo.import_xmi(tmp_path / "out.ecore", model="again")
    assert told(repo.open("again")) == told(model)


SPACED = {"MAS.ecore", "PASSI.ecore"}
"""Files in which lists of references have spaces in their names."""
MODELS = [path for path in FILES if path.name not in {*NO_METAMODELS, *SPACED}]


def check_file(path: Path, folder: Path) -> None:
    with nm.connect("memory:") as repo:
        repo.import_xmi(path, model="m")
        model = repo.open("m")
        for other in path.parent.iterdir():
            (folder / other.name).symlink_to(other)
        out = folder / path.name
        out.unlink()
        done = model.export_xmi(out)
        repo.import_xmi(out, model="again")
        again = repo.open("again")
        again.export_xmi(folder / "again.xmi")

        assert done.notices == ()
        assert told(again) == told(model)
        assert (folder / "again.xmi").read_bytes() == out.read_bytes()
        assert read_ecore(out, *with_others(path)[1:])[0] == read_ecore(*with_others(path))[0]


@needs_data
@pytest.mark.parametrize("path", MODELS[::20], ids=name)
def test_public_metamodels_are_the_same_after_import_and_export(path: Path, tmp_path: Path) -> None:
    check_file(path, tmp_path)


@needs_data
@pytest.mark.soak
@pytest.mark.parametrize("path", MODELS, ids=name)
def test_all_public_metamodels_are_the_same_after_import_and_export(path: Path, tmp_path: Path) -> None:
    check_file(path, tmp_path)
