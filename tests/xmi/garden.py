"""A small metamodel with the traits that matter in files."""

import datetime
import enum

import neomodel as nm

garden = nm.package("garden", "http://garden")


@garden.define
class Light(enum.Enum):
    SUN = 0
    SHADE = 1


@garden.define(abstract=True)
class Named:
    name: str | None = None


@garden.define
class Garden(Named):
    beds: list["Bed"] = nm.contains(opposite="garden")
    gate: "Gate | None" = nm.contains()
    things: list[nm.Element] = nm.contains()
    favourite: "Plant | None" = nm.reference()
    shown: list["Named"] = nm.reference()


@garden.define
class Bed(Named):
    garden: Garden | None = nm.reference(opposite="beds")
    plants: list["Plant"] = nm.contains()
    light: Light = Light.SUN


@garden.define
class Gate(Named):
    width: float = 1.0


@garden.define
class Plant(Named):
    neighbours: list["Plant"] = nm.reference(unique=False)
    likes: list["Plant"] = nm.reference(opposite="liked")
    liked: list["Plant"] = nm.reference(opposite="likes")
    height: int = nm.attribute(10, type="EInt")
    age: int | None = nm.attribute(3, type="EIntegerObject", unsettable=True)
    nick: str | None = nm.attribute("none")
    sown: datetime.datetime | None
    seed: bytes | None
    mark: str | None = nm.attribute(type="ECharacterObject")
    tags: list[str] = nm.attribute(unique=False)
    lights: list[Light] = nm.attribute(unique=False)
    link: str | None = nm.attribute()
    href: str | None = nm.attribute()
    draft: str | None = nm.attribute(transient=True)
    growth: nm.Timeline[int]

    @nm.derived
    def label(self) -> str:
        return f"{self.name}!"


@garden.define
class Tree(Plant):
    rings: int = nm.attribute(0, type="EInt")


@garden.define
class Label:
    code: str | None = nm.attribute(id=True)
    other: "Label | None" = nm.reference()
