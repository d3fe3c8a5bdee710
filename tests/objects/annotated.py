"""A package declared where annotations are text, with classes that come later and a sub-package."""

from __future__ import annotations

import datetime
import decimal
import enum
from typing import ClassVar, Optional

import neomodel as nm
from neomodel.metamodel import ECORE, MANY, Attribute, Class, Enum, Literal, Package, Reference, TypeName
from tests.objects.library import Person

URI = "http://annotated"
annotated = nm.package("annotated", URI, prefix="ann")
inner = nm.package("inner", f"{URI}/inner", inside=annotated)


@annotated.define
class Colour(enum.Enum):
    RED = 1
    GREEN = "green"


@annotated.define(abstract=True)
class Base:
    """Has a doc."""

    LIMIT: ClassVar[int] = 5

    label: str

    def described(self) -> str:
        return f"base {self.label}"

    @property
    def upper(self) -> str:
        return self.label.upper()

    @upper.setter
    def upper(self, value: str) -> None:
        self.label = value.lower()


@annotated.define
class Left(Base):
    def described(self) -> str:
        return f"left {super().described()}"


@annotated.define
class Right(Base):
    def described(self) -> str:
        return f"right {super().described()}"


@annotated.define(key=["label"])
class Both(Left, Right):
    """Later classes are named without quotes."""

    text: str | None
    size: int = 3
    ratio: float = 0.5
    on: bool = True
    raw: bytes | None = None
    when: datetime.datetime | None = None
    price: Optional[decimal.Decimal] = None  # noqa: UP045  the older form is understood too
    colour: Colour = Colour.GREEN
    short: int = nm.attribute(7, type="EShort")
    digit: str = nm.attribute("7", type="EChar")
    words: list[str]
    names: set[str] = nm.attribute(upper=4)
    Text: list[Text] = nm.contains(opposite="owner")
    person: Person | None = nm.reference()
    people: list["Person"] = nm.reference(ordered=False)  # noqa: UP037  quotes within text
    any: nm.Element | None = nm.reference()

    def described(self) -> str:
        return f"both {super().described()}"

    @nm.derived
    def count(self) -> int:
        return len(self.words)

    @nm.derived
    def first(self) -> Text | None:
        return next(iter(self.Text), None)

    @classmethod
    def made(cls, label: str) -> Both:
        return cls(label=label)


@annotated.define
class Text:
    """Called like something in `typing`, and named before it is there."""

    owner: Both | None = nm.reference(opposite="Text")


@inner.define
class Inside:
    outer: Text | None = nm.reference()


def _ecore(name: str) -> TypeName:
    return TypeName(ECORE, name)


def _own(name: str) -> TypeName:
    return TypeName(URI, name)


_COMPUTED = {"derived": True, "volatile": True, "transient": True, "changeable": False}

VALUE = Package(
    "annotated",
    URI,
    ns_prefix="ann",
    classifiers=[
        Enum("Colour", literals=[Literal("RED", 1), Literal("GREEN", 1, text="green")]),
        Class("Base", abstract=True, features=[Attribute("label", _ecore("EString"), lower=1)]),
        Class("Left", supers=[_own("Base")]),
        Class("Right", supers=[_own("Base")]),
        Class(
            "Both",
            supers=[_own("Left"), _own("Right")],
            key=["label"],
            features=[
                Attribute("text", _ecore("EString")),
                Attribute("size", _ecore("EBigInteger"), default="3"),
                Attribute("ratio", _ecore("EDoubleObject"), default="0.5"),
                Attribute("on", _ecore("EBooleanObject"), default="true"),
                Attribute("raw", _ecore("EByteArray")),
                Attribute("when", _ecore("EDate")),
                Attribute("price", _ecore("EBigDecimal")),
                Attribute("colour", _own("Colour"), default="green"),
                Attribute("short", _ecore("EShort"), default="7"),
                Attribute("digit", _ecore("EChar"), default="55"),
                Attribute("words", _ecore("EString"), upper=MANY, unique=False),
                Attribute("names", _ecore("EString"), upper=4, ordered=False),
                Reference("Text", _own("Text"), upper=MANY, containment=True, opposite="owner"),
                Reference("person", TypeName("http://library", "Person")),
                Reference("people", TypeName("http://library", "Person"), upper=MANY, ordered=False),
                Reference("any", _ecore("EObject")),
                Attribute("count", _ecore("EBigInteger"), **_COMPUTED),
                Reference("first", _own("Text"), **_COMPUTED),
            ],
        ),
        Class("Text", features=[Reference("owner", _own("Both"), opposite="Text")]),
    ],
    packages=[
        Package("inner", f"{URI}/inner", classifiers=[Class("Inside", features=[Reference("outer", _own("Text"))])])
    ],
)
"""The same by hand."""
