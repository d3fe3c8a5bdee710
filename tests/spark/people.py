"""A metamodel with opposites of every sort, and a natural key."""

import neomodel as nm

people = nm.package("people", "http://people")


@people.define
class Person:
    name: str | None = None
    spouse: "Person | None" = nm.reference(opposite="spouse")
    friends: list["Person"] = nm.reference(opposite="friends")
    employer: "Firm | None" = nm.reference(opposite="staff")
    head: "Person | None" = nm.contains(opposite="under")
    under: "Person | None" = nm.reference(opposite="head")
    children: list["Person"] = nm.contains(opposite="parent")
    parent: "Person | None" = nm.reference(opposite="children")


@people.define
class Firm:
    name: str | None = None
    staff: list[Person] = nm.reference(opposite="employer")


@people.define(key=("country", "city"))
class Place:
    country: str = ""
    city: str = ""
    size: int = nm.attribute(0, type="EInt")
