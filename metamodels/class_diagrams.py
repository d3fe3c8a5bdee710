"""Class diagrams: what a reader wants to see of the classes of a program, and no more.

Import it and register `class_diagrams`. `transformations.java2classes` makes such models of Java.
"""

import enum

import neomodel as nm

class_diagrams = nm.package("classes", "http://neomodel/class-diagrams")


@class_diagrams.define
class Visibility(enum.Enum):
    """As UML has it; `package` is what has no modifier in Java."""

    package = 0
    public = 1
    protected = 2
    private = 3


@class_diagrams.define(abstract=True)
class Named:
    name: str | None = None


@class_diagrams.define
class Diagram(Named):
    """What is drawn, as a whole: one tree."""

    packages: list["Package"] = nm.contains(opposite="diagram")
    types: list["DataType"] = nm.contains(opposite="diagram")


@class_diagrams.define
class Package(Named):
    diagram: Diagram | None = nm.reference(opposite="packages")
    packages: list["Package"] = nm.contains(opposite="outer")
    outer: "Package | None" = nm.reference(opposite="packages")
    classifiers: list["Classifier"] = nm.contains(opposite="package")


@class_diagrams.define(abstract=True)
class Type(Named):
    """What attributes, operations and parameters can be of."""


@class_diagrams.define
class DataType(Type):
    """One that is not drawn: a primitive one, an array, what an import did not find."""

    diagram: Diagram | None = nm.reference(opposite="types")


@class_diagrams.define(abstract=True)
class Classifier(Type):
    """A box of the diagram. `external` ones belong to a library."""

    visibility: Visibility = Visibility.package
    external: bool = False
    package: Package | None = nm.reference(opposite="classifiers")
    inner: list["Classifier"] = nm.contains(opposite="outer")
    outer: "Classifier | None" = nm.reference(opposite="inner")
    attributes: list["Attribute"] = nm.contains(opposite="owner")
    operations: list["Operation"] = nm.contains(opposite="owner")
    associations: list["Association"] = nm.contains(opposite="source")
    associated: list["Association"] = nm.reference(opposite="target")
    realizations: list["Realization"] = nm.contains(opposite="specific")
    generalizations: list["Generalization"] = nm.contains(opposite="specific")
    specializations: list["Generalization"] = nm.reference(opposite="general")


@class_diagrams.define
class Class(Classifier):
    abstract: bool = False


@class_diagrams.define
class Interface(Classifier):
    realized: list["Realization"] = nm.reference(opposite="interface")


@class_diagrams.define
class Annotation(Interface):
    """An interface that annotations are instances of."""


@class_diagrams.define
class Enumeration(Classifier):
    literals: list["Literal"] = nm.contains()


@class_diagrams.define
class Literal(Named):
    """A value of an enumeration."""


@class_diagrams.define
class Generalization:
    """An arrow from what extends to what is extended."""

    specific: Classifier | None = nm.reference(opposite="generalizations")
    general: Classifier | None = nm.reference(opposite="specializations")


@class_diagrams.define
class Realization:
    """An arrow from what implements to what is implemented."""

    specific: Classifier | None = nm.reference(opposite="realizations")
    interface: Interface | None = nm.reference(opposite="realized")


@class_diagrams.define(abstract=True)
class Member(Named):
    """What is in a box, or leads out of it."""

    visibility: Visibility = Visibility.package
    static: bool = False


@class_diagrams.define
class Attribute(Member):
    owner: Classifier | None = nm.reference(opposite="attributes")
    type: Type | None = nm.reference()
    many: bool = False


@class_diagrams.define
class Association(Member):
    """A line from one classifier to another, under the name of the field that holds it."""

    source: Classifier | None = nm.reference(opposite="associations")
    target: Classifier | None = nm.reference(opposite="associated")
    many: bool = False


@class_diagrams.define
class Operation(Member):
    """A method; a constructor has the name of its class, and no type."""

    owner: Classifier | None = nm.reference(opposite="operations")
    abstract: bool = False
    type: Type | None = nm.reference()
    many: bool = False
    parameters: list["Parameter"] = nm.contains(opposite="operation")


@class_diagrams.define
class Parameter(Named):
    operation: Operation | None = nm.reference(opposite="parameters")
    type: Type | None = nm.reference()
    many: bool = False
