"""The Java metamodel of the NeoEMF/HBase paper, figure 4a: packages, classes, their members and how visible those are.

Import it and register `java`::

    repo.register(java)
    model.roots.append(Package(name="package1", ownedElements=[ClassDeclaration(name="class1")]))

The paper calls the reference to a modifier now `modifier` and now `modifiers`; here it is `modifier`: it holds one.
"""

import enum

import neomodel as nm

java = nm.package("java", "http://java")


@java.define
class VisibilityKind(enum.Enum):
    """Java's own, in the order of growing access."""

    none = 0
    private = 1
    protected = 2
    public = 3


@java.define(abstract=True)
class NamedElement:
    name: str | None = None


@java.define
class Package(NamedElement):
    """A named group of classes."""

    ownedElements: list["ClassDeclaration"] = nm.contains()  # noqa: N815  the paper's name


@java.define
class ClassDeclaration(NamedElement):
    bodyDeclarations: list["BodyDeclaration"] = nm.contains()  # noqa: N815  the paper's name


@java.define
class BodyDeclaration(NamedElement):
    """A member of a class."""

    modifier: "Modifier | None" = nm.contains()


@java.define
class Modifier:
    visibility: VisibilityKind = VisibilityKind.none
