"""Families2Persons, the first example of the ATL zoo: every member of a family is a person with a full name.

Its metamodels are the zoo's own, `Families.ecore` and `Persons.ecore`, or any with these names::

    nm.transform(families2persons, repo.open("families"), "persons")
"""

from typing import Any

import neomodel as nm

families2persons = nm.Transformation("Families2Persons")


@families2persons.helper
def family(member: Any) -> Any:
    """The family in which somebody has a role, whichever that is."""
    return member.familyFather or member.familyMother or member.familySon or member.familyDaughter


@families2persons.helper
def is_female(member: Any) -> bool:
    return member.familyMother is not None or member.familyDaughter is not None


@families2persons.rule(abstract=True)
def person(member: "Families.Member", person: "Persons.Person"):
    person.fullName = f"{member.firstName} {family(member).lastName}"


@families2persons.rule(extends=person, when=lambda member: not is_female(member))
def male(member: "Families.Member", person: "Persons.Male"):
    """A father or a son."""


@families2persons.rule(extends=person, when=is_female)
def female(member: "Families.Member", person: "Persons.Female"):
    """A mother or a daughter."""
