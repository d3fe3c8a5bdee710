"""Families and persons, classes and tables: what `transformations.families2persons` and `class2relational` are about.

The names are those of the ATL zoo; its own files do as well.
"""

import neomodel as nm

families = nm.package("Families", "Families")
persons = nm.package("Persons", "Persons")
classes = nm.package("Class", "Class")
relational = nm.package("Relational", "Relational")


@families.define
class Family:
    lastName: str  # noqa: N815  names of the zoo, here and below
    father: "Member | None" = nm.contains(opposite="familyFather")
    mother: "Member | None" = nm.contains(opposite="familyMother")
    sons: list["Member"] = nm.contains(opposite="familySon")
    daughters: list["Member"] = nm.contains(opposite="familyDaughter")


@families.define
class Member:
    firstName: str  # noqa: N815
    familyFather: Family | None = nm.reference(opposite="father")  # noqa: N815
    familyMother: Family | None = nm.reference(opposite="mother")  # noqa: N815
    familySon: Family | None = nm.reference(opposite="sons")  # noqa: N815
    familyDaughter: Family | None = nm.reference(opposite="daughters")  # noqa: N815


@persons.define(abstract=True)
class Person:
    fullName: str  # noqa: N815


@persons.define
class Male(Person):
    pass


@persons.define
class Female(Person):
    pass


@classes.define(abstract=True)
class NamedElt:
    name: str


@classes.define(abstract=True)
class Classifier(NamedElt):
    pass


@classes.define
class DataType(Classifier):
    pass


@classes.define
class Class(Classifier):
    isAbstract: bool = False  # noqa: N815
    attr: list["Attribute"] = nm.contains(opposite="owner")


@classes.define
class Attribute(NamedElt):
    multiValued: bool = False  # noqa: N815
    type: Classifier | None = nm.reference()
    owner: Class | None = nm.reference(opposite="attr")


@relational.define(abstract=True)
class Named:
    name: str


@relational.define
class Type(Named):
    pass


@relational.define
class Table(Named):
    col: list["Column"] = nm.contains(opposite="owner")
    key: list["Column"] = nm.reference(opposite="keyOf")


@relational.define
class Column(Named):
    owner: Table | None = nm.reference(opposite="col")
    keyOf: Table | None = nm.reference(opposite="key")  # noqa: N815
    type: Type | None = nm.reference()
