"""Java2Classes: the class diagram of a Java program, whose model is one of MoDisco's (`Java.ecore`).

What is in a box is what is declared in a type. A field is an attribute; but if it holds what the program itself
declares, then it is an association. Arrays, and collections with one type argument, are taken as many of what they
hold; other generic types as the type that they are made from. Code, comments and anonymous classes are left out.
The diagram is one of `metamodels.class_diagrams`, which has to be registered.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

import neomodel as nm
from metamodels import class_diagrams as uml
from neomodel import trace

java2classes = nm.Transformation("Java2Classes")


# what is looked up


class Held(NamedTuple):
    """What a variable holds: of which type, and whether it holds many."""

    type: Any
    many: bool


NOTHING = Held(None, False)
DECLARATIONS = {"ClassDeclaration", "InterfaceDeclaration", "EnumDeclaration", "AnnotationTypeDeclaration"}


@java2classes.helper
def held(type: Any) -> Held:  # noqa: A002  what it is
    """What a variable of a type holds, looked at through arrays and generic types."""
    if type.eClass.name == "ArrayType":
        return Held(meant(type.elementType).type, True)
    if type.eClass.name == "ParameterizedType":
        raw, arguments = meant(type.type), type.typeArguments
        if len(arguments) == 1 and raw.type is not None and is_collection(raw.type):
            return Held(meant(arguments[0]).type, True)
        return raw
    if type.eClass.name == "WildCardType" and type.bound is not None:
        return meant(type.bound)
    return Held(type, False)


def meant(access: Any) -> Held:
    """What is held where a type is named; of no name, nothing."""
    return held(access.type) if access is not None and access.type is not None else NOTHING


@java2classes.helper
def is_collection(type: Any) -> bool:  # noqa: A002
    """Whether a type is one of Java's own collections, which lie in the package `java.util`."""
    package = type.package if type.eClass.name in DECLARATIONS else None
    outer = package.package if package is not None else None
    return outer is not None and (outer.name, package.name) == ("java", "util")


@java2classes.helper
def is_own(type: Any) -> bool:  # noqa: A002
    """Whether the program itself declares a type."""
    return type.eClass.name in DECLARATIONS and not type.proxy


@java2classes.helper
def program(element: Any) -> Any:
    """The root that an object lies in."""
    container = element.eContainer()
    return element if container is None else program(container)


@java2classes.helper
def is_drawn(declaration: Any) -> bool:
    """Whether a type lies in a package or in another box; else it is inside of code."""
    return declaration.package is not None or is_member(declaration)


def is_member(declaration: Any) -> bool:
    """Whether something lies in a box."""
    outer = declaration.abstractTypeDeclaration
    return outer is not None and is_drawn(outer)


def is_association(fragment: Any) -> bool:
    found = held_by(fragment).type
    return found is not None and is_own(found)


def is_field(fragment: Any) -> bool:
    """Whether a variable is a field of something that is drawn."""
    container = fragment.variablesContainer
    return container.eClass.name == "FieldDeclaration" and is_member(container)


def held_by(fragment: Any) -> Held:
    return with_dimensions(meant(fragment.variablesContainer.type), fragment)


def with_dimensions(found: Held, variable: Any) -> Held:
    """What a variable holds that may have brackets after its name."""
    return Held(found.type, found.many or variable.extraArrayDimensions > 0)


def drawn(type: Any) -> Any:  # noqa: A002
    """A type in the diagram: a box, or if it has none a data type."""
    if type is None:
        return None
    return trace(type) if type.eClass.name in DECLARATIONS else data_type(type)


def declared(body: Iterable[Any], *kinds: str) -> list[Any]:
    """The members of some classes, in their order."""
    return [member for member in body if member.eClass.name in kinds]


def visibility(modifier: Any) -> uml.Visibility:
    if modifier is None or modifier.visibility.name == "none":
        return uml.Visibility.package
    return uml.Visibility[modifier.visibility.name]


# the tree


@java2classes.rule
def diagram(model: "java.Model", diagram: uml.Diagram):
    diagram.name = model.name
    diagram.packages = [trace(package) for package in model.ownedElements]


@java2classes.rule
def package(source: "java.Package", package: uml.Package):
    package.name = source.name
    package.packages = [trace(inner) for inner in source.ownedPackages]
    package.classifiers = [trace(one) for one in source.ownedElements if one.eClass.name in DECLARATIONS]


@java2classes.lazy(unique=True)
def data_type(type: "java.Type", data_type: uml.DataType):  # noqa: A002
    """Only those that something is of."""
    data_type.name = type.name
    data_type.diagram = trace(program(type))


# boxes


@java2classes.rule(abstract=True, when=is_drawn)
def classifier(source: "java.AbstractTypeDeclaration", box: uml.Classifier):
    body = list(source.bodyDeclarations)
    fragments = [one for field in declared(body, "FieldDeclaration") for one in field.fragments]
    box.name = source.name
    box.visibility = visibility(source.modifier)
    box.external = source.proxy
    box.inner = [trace(inner) for inner in declared(body, *DECLARATIONS)]
    box.attributes = [trace(one) for one in fragments if not is_association(one)]
    box.associations = [trace(one) for one in fragments if is_association(one)]
    box.operations = [trace(one) for one in declared(body, "MethodDeclaration", "ConstructorDeclaration")]


@java2classes.rule(extends=classifier)
def class_(source: "java.ClassDeclaration", box: uml.Class):
    box.abstract = source.modifier is not None and source.modifier.inheritance.name == "abstract"
    box.generalizations = generalizations([source.superClass])
    box.realizations = [realization(one) for one in source.superInterfaces if is_interface(one)]


@java2classes.rule(extends=classifier)
def interface(source: "java.InterfaceDeclaration", box: uml.Interface):
    box.generalizations = generalizations(source.superInterfaces)


@java2classes.rule(extends=classifier)
def annotation(source: "java.AnnotationTypeDeclaration", box: uml.Annotation):
    """An annotation's members are left out."""


@java2classes.rule(extends=classifier)
def enumeration(source: "java.EnumDeclaration", box: uml.Enumeration):
    box.literals = [trace(constant) for constant in source.enumConstants]
    box.realizations = [realization(one) for one in source.superInterfaces if is_interface(one)]


@java2classes.rule(when=lambda constant: is_drawn(constant.eContainer()))
def literal(constant: "java.EnumConstantDeclaration", literal: uml.Literal):
    literal.name = constant.name


# arrows


def is_interface(access: Any) -> bool:
    found = meant(access).type
    return found is not None and found.eClass.name in {"InterfaceDeclaration", "AnnotationTypeDeclaration"}


def generalizations(accesses: Iterable[Any]) -> list[Any]:
    """Arrows to what is named; what no import found has no box to lead to."""
    found = [one for one in accesses if one is not None and meant(one).type is not None]
    return [generalization(one) for one in found if meant(one).type.eClass.name in DECLARATIONS]


@java2classes.lazy
def generalization(access: "java.TypeAccess", arrow: uml.Generalization):
    arrow.general = trace(meant(access).type)


@java2classes.lazy
def realization(access: "java.TypeAccess", arrow: uml.Realization):
    arrow.interface = trace(meant(access).type)


# members


@java2classes.rule(when=lambda fragment: is_field(fragment) and not is_association(fragment))
def attribute(fragment: "java.VariableDeclarationFragment", attribute: uml.Attribute):
    modifier, found = fragment.variablesContainer.modifier, held_by(fragment)
    attribute.name = fragment.name
    attribute.visibility = visibility(modifier)
    attribute.static = modifier is not None and modifier.static
    attribute.type = drawn(found.type)
    attribute.many = found.many


@java2classes.rule(when=lambda fragment: is_field(fragment) and is_association(fragment))
def association(fragment: "java.VariableDeclarationFragment", line: uml.Association):
    modifier, found = fragment.variablesContainer.modifier, held_by(fragment)
    line.name = fragment.name
    line.visibility = visibility(modifier)
    line.static = modifier is not None and modifier.static
    line.target = trace(found.type)
    line.many = found.many


@java2classes.rule(abstract=True, when=is_member)
def operation(method: "java.AbstractMethodDeclaration", operation: uml.Operation):
    modifier = method.modifier
    operation.name = method.name
    operation.visibility = visibility(modifier)
    operation.static = modifier is not None and modifier.static
    operation.abstract = modifier is not None and modifier.inheritance.name == "abstract"
    operation.parameters = [trace(parameter) for parameter in method.parameters]


@java2classes.rule(extends=operation)
def method(method: "java.MethodDeclaration", operation: uml.Operation):
    found = with_dimensions(meant(method.returnType), method)
    operation.type = drawn(found.type)
    operation.many = found.many


@java2classes.rule(extends=operation)
def constructor(method: "java.ConstructorDeclaration", operation: uml.Operation):
    """Has no type."""


@java2classes.rule(when=lambda variable: variable.methodDeclaration and is_member(variable.methodDeclaration))
def parameter(variable: "java.SingleVariableDeclaration", parameter: uml.Parameter):
    found = with_dimensions(meant(variable.type), variable)
    parameter.name = variable.name
    parameter.type = drawn(found.type)
    parameter.many = found.many or variable.varargs
