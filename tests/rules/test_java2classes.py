"""Class diagrams of Java: of a public model of MoDisco's, and of small ones of our own."""

from typing import Any

import pytest

import neomodel as nm
from metamodels import class_diagrams as uml
from metamodels.transformations.java2classes import java2classes
from tests.data import data_folder, needs_data
from tests.rules.shapes import cut_at, made, named, rows

MODISCO = data_folder() / "neoemf"
JAVA = MODISCO / "model" / "Java.ecore"

pytestmark = needs_data  # whatever is transformed, the metamodel is MoDisco's own


@pytest.fixture
def java(repo: nm.Repository) -> Any:
    repo.register(uml.class_diagrams)
    return repo.register(JAVA)


class Program:
    """A program to which types, fields and methods are added."""

    def __init__(self, java: Any) -> None:
        self.java = java
        self.model = java.Model(name="program")
        self.util = java.Package(name="util", proxy=True)
        self.model.ownedElements.append(java.Package(name="java", proxy=True, ownedPackages=[self.util]))
        self.own = java.Package(name="own")
        self.model.ownedElements.append(self.own)

    def type(self, kind: str, name: str, *, package: Any = None, modifier: Any = None, **features: Any) -> Any:
        made = getattr(self.java, kind)(name=name, proxy=package is not None, modifier=modifier, **features)
        (package or self.own).ownedElements.append(made)
        return made

    def access(self, type_: Any) -> Any:
        return self.java.TypeAccess(type=type_)

    def orphan(self, kind: str, **features: Any) -> Any:
        made = getattr(self.java, kind)(**features)
        self.model.orphanTypes.append(made)
        return made

    def modifier(self, visibility: str, **features: Any) -> Any:
        return self.java.Modifier(visibility=visibility, **features)

    def field(self, owner: Any, type_: Any, *names: str, visibility: str = "private", **features: Any) -> None:
        fragments = [self.java.VariableDeclarationFragment(name=name) for name in names]
        declaration = self.java.FieldDeclaration(
            type=self.access(type_), fragments=fragments, modifier=self.modifier(visibility, **features)
        )
        owner.bodyDeclarations.append(declaration)


@pytest.fixture
def program(java: Any) -> Program:
    return Program(java)


def diagram(program: Program, repo: nm.Repository) -> nm.Model:
    source = repo.create("in")
    source.roots.append(program.model)
    return made(java2classes, source)


def box(model: nm.Model, name: str) -> Any:
    return named(model, name, uml.Classifier)


def test_types_are_boxes_in_packages(program: Program, repo: nm.Repository) -> None:
    abstract = program.modifier("public", inheritance="abstract")
    shape = program.type("ClassDeclaration", "Shape", modifier=abstract)
    shape.bodyDeclarations.append(program.java.ClassDeclaration(name="Inner"))
    program.type("InterfaceDeclaration", "Drawn")
    program.type("AnnotationTypeDeclaration", "Fast")
    constants = [program.java.EnumConstantDeclaration(name=name) for name in ("RED", "BLUE")]
    program.type("EnumDeclaration", "Colour", enumConstants=constants)

    model = diagram(program, repo)
    (root,) = model.roots
    assert (root.eClass.name, root.name) == ("Diagram", "program")
    assert {package.name: package.diagram for package in root.packages} == {"java": root, "own": root}
    own = named(model, "own", uml.Package)
    assert {(one.name, one.eClass.name) for one in own.classifiers} == {
        ("Shape", "Class"),
        ("Drawn", "Interface"),
        ("Fast", "Annotation"),
        ("Colour", "Enumeration"),
    }
    drawn = box(model, "Shape")
    assert (drawn.abstract, drawn.visibility, drawn.external) == (True, uml.Visibility.public, False)
    assert [inner.name for inner in drawn.inner] == ["Inner"]
    assert [literal.name for literal in box(model, "Colour").literals] == ["RED", "BLUE"]


def test_what_is_extended_and_implemented_has_arrows(program: Program, repo: nm.Repository) -> None:
    drawn = program.type("InterfaceDeclaration", "Drawn")
    filled = program.type("InterfaceDeclaration", "Filled", superInterfaces=[program.access(drawn)])
    shape = program.type("ClassDeclaration", "Shape")
    supers = {"superClass": program.access(shape), "superInterfaces": [program.access(filled)]}
    program.type("ClassDeclaration", "Circle", **supers)
    program.type("ClassDeclaration", "Square", superClass=program.access(shape))

    model = diagram(program, repo)
    assert sorted(one.specific.name for one in box(model, "Shape").specializations) == ["Circle", "Square"]
    assert [one.general.name for one in box(model, "Filled").generalizations] == ["Drawn"]
    assert [one.interface.name for one in box(model, "Circle").realizations] == ["Filled"]
    assert [one.specific.name for one in box(model, "Filled").realized] == ["Circle"]


def test_a_field_is_an_attribute_or_an_association(program: Program, repo: nm.Repository) -> None:
    library_list = program.type("InterfaceDeclaration", "List", package=program.util)
    circle, shape = program.type("ClassDeclaration", "Circle"), program.type("ClassDeclaration", "Shape")
    number = program.orphan("PrimitiveType", name="int")
    program.orphan("PrimitiveType", name="unused")
    numbers = program.orphan("ArrayType", name="int[]", dimensions=1, elementType=program.access(number))
    generic = {"type": program.access(library_list), "typeArguments": [program.access(shape)]}
    shapes = program.orphan("ParameterizedType", name="List<Shape>", **generic)
    program.field(circle, number, "x", "y")
    program.field(circle, numbers, "xs", visibility="none", static=True)
    program.field(circle, library_list, "raw")
    program.field(circle, shape, "above")
    program.field(circle, shapes, "below")

    model = diagram(program, repo)
    drawn = box(model, "Circle")
    assert [(one.name, one.type.name, one.many, one.static, one.visibility.name) for one in drawn.attributes] == [
        ("x", "int", False, False, "private"),
        ("y", "int", False, False, "private"),
        ("xs", "int", True, True, "package"),
        ("raw", "List", False, False, "private"),
    ]
    assert [(one.name, one.target.name, one.many) for one in drawn.associations] == [
        ("above", "Shape", False),
        ("below", "Shape", True),
    ]
    assert [one.source.name for one in box(model, "Shape").associated] == ["Circle", "Circle"]
    assert [one.name for one in model.roots[0].types] == ["int"]
    assert box(model, "List").external


def test_methods_are_operations_with_parameters(program: Program, repo: nm.Repository) -> None:
    java, shape = program.java, program.type("ClassDeclaration", "Shape")
    number = program.orphan("PrimitiveType", name="int")
    parameters = [
        java.SingleVariableDeclaration(name="by", type=program.access(number)),
        java.SingleVariableDeclaration(name="others", type=program.access(shape), varargs=True),
    ]
    scaled = java.MethodDeclaration(
        name="scaled", returnType=program.access(shape), parameters=parameters, modifier=program.modifier("protected")
    )
    shape.bodyDeclarations.extend([java.ConstructorDeclaration(name="Shape"), scaled])

    model = diagram(program, repo)
    first, second = box(model, "Shape").operations
    assert (first.name, first.type, list(first.parameters)) == ("Shape", None, [])
    assert (second.name, second.type.name, second.visibility.name) == ("scaled", "Shape", "protected")
    assert [(one.name, one.type.name, one.many) for one in second.parameters] == [
        ("by", "int", False),
        ("others", "Shape", True),
    ]


def test_what_is_inside_of_code_is_left_out(program: Program, repo: nm.Repository) -> None:
    java, shape = program.java, program.type("ClassDeclaration", "Shape")
    inside = java.MethodDeclaration(name="run", parameters=[java.SingleVariableDeclaration(name="p")])
    local = java.ClassDeclaration(name="Local", bodyDeclarations=[java.MethodDeclaration(name="hidden")])
    body = java.Block(
        statements=[
            java.TypeDeclarationStatement(declaration=local),
            java.ExpressionStatement(
                expression=java.ClassInstanceCreation(
                    anonymousClassDeclaration=java.AnonymousClassDeclaration(bodyDeclarations=[inside])
                )
            ),
        ]
    )
    shape.bodyDeclarations.append(java.MethodDeclaration(name="make", body=body))

    model = diagram(program, repo)
    assert [one.name for one in model.all(uml.Operation)] == ["make"]
    assert [one.name for one in model.all(uml.Classifier)] == ["Shape"]
    assert list(model.all(uml.Parameter)) == []


@pytest.fixture
def kyanos(repo: nm.Repository, java: Any) -> nm.Model:
    repo.import_xmi(MODISCO / "models" / "fr.inria.atlanmod.kyanos.tests.xmi", model="in")
    return repo.open("in")


def test_a_public_program_is_drawn_whole_and_alike_however_it_is_cut(kyanos: nm.Model, java: Any) -> None:
    keys = [key for key, _ in kyanos.table.scan()]
    model = made(java2classes, kyanos)
    token = nm.runs(model)[0].token
    again = made(java2classes, kyanos, "again", token=token, engine=cut_at(keys[:: len(keys) // 5]))

    counted = {kind: sum(1 for _ in kyanos.all(getattr(java, kind))) for kind in ("ClassDeclaration", "Package")}
    assert counted == {
        "ClassDeclaration": sum(1 for _ in model.all(uml.Class)),
        "Package": sum(1 for _ in model.all(uml.Package)),
    }
    assert rows(again) == rows(model)
    resource = named(model, "KyanosResource", uml.Interface)
    assert [one.general.name for one in resource.generalizations] == ["Resource", "Internal"]
    assert len(model.roots) == 1
