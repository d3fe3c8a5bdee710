"""A metamodel with something of every kind that a column can be."""

import datetime
import enum
from decimal import Decimal

import neomodel as nm

things = nm.package("things", "http://things")


@things.define
class Colour(enum.Enum):
    RED = 1
    GREEN = 2


@things.define
class Thing:
    name: str | None = None
    number: int = nm.attribute(7, type="EInt")
    large: int | None = nm.attribute(type="ELongObject")
    price: Decimal | None = None
    huge: int | None = None
    ratio: float | None = None
    narrow: float = nm.attribute(type="EFloat")
    on: bool = False
    when: datetime.datetime | None = None
    raw: bytes | None = None
    colour: Colour | None = Colour.RED
    tags: list[str] = nm.attribute()
    numbers: list[int] = nm.attribute(type="EInt")
    friend: "Thing | None" = nm.reference()
    friends: list["Thing"] = nm.reference()
    parts: list["Thing"] = nm.contains(opposite="whole")
    whole: "Thing | None" = nm.reference(opposite="parts")


@things.define
class Special(Thing):
    extra: str | None = None


@things.define
class Other:
    label: str | None = None


@things.define
class Box:
    name: str | None = None
    items: list["Item"] = nm.contains(opposite="box")


@things.define
class Crate:
    name: str | None = None
    items: list["Item"] = nm.contains(opposite="crate")


@things.define
class Item:
    name: str | None = None
    box: Box | None = nm.reference(opposite="items")
    crate: Crate | None = nm.reference(opposite="items")
