"""A small metamodel of Java that is sound, and how to write one down briefly."""

from typing import Any

from neomodel.metamodel import (
    ECORE,
    MANY,
    Attribute,
    Class,
    Classifier,
    DataType,
    Enum,
    Literal,
    Package,
    Reference,
    Timeline,
    TypeName,
)

JAVA = "http://java"


def t(name: str) -> TypeName:
    """A type of Ecore if it is called like one, otherwise of the package `JAVA`."""
    return TypeName(ECORE if name[0] == "E" and name[1:2].isupper() else JAVA, name)


def attribute(name: str, type_: str = "EString", **more: Any) -> Attribute:
    return Attribute(name, t(type_), **more)


def reference(name: str, type_: str, **more: Any) -> Reference:
    return Reference(name, t(type_), **more)


def timeline(name: str, type_: str = "EString", **more: Any) -> Timeline:
    return Timeline(name, t(type_), **more)


def class_(name: str, *features: Attribute | Reference | Timeline, supers: str = "", **more: Any) -> Class:
    return Class(name, features=features, supers=map(t, supers.split()), **more)


def package(*classifiers: Classifier, **more: Any) -> Package:
    return Package("java", JAVA, classifiers=classifiers, **more)


def java() -> Package:
    return package(
        class_("Element", attribute("name", lower=1), abstract=True),
        class_(
            "Package",
            reference("ownedElements", "Type", upper=MANY, containment=True, opposite="package"),
            attribute("uri", id=True),
            supers="Element",
            key=["name"],
        ),
        class_(
            "Type",
            reference("package", "Package", opposite="ownedElements"),
            attribute("visibility", "Visibility", default="public"),
            attribute("modifiers", "Modifiers"),
            attribute("lines", "EInt"),
            supers="Element",
        ),
        class_("Named", supers="Element EObject"),
        class_("Diamond", reference("uses", "EObject", upper=MANY, keys=[]), supers="Type Named"),
        Enum("Visibility", literals=[Literal("public"), Literal("private", 1, text="-")]),
        DataType("Modifiers", instance_class="java.util.Set"),
        packages=[
            Package(
                "doc",
                f"{JAVA}/doc",
                classifiers=[Class("Comment", features=[reference("about", "Element")], supers=[t("Element")])],
            )
        ],
    )
