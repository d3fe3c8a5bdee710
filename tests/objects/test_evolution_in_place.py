"""A metamodel registered again: unchanged, changed so that objects survive, and changed so that they would not."""

from typing import Any

import attrs
import pytest

import neomodel as nm
from neomodel.metamodel import (
    ECORE,
    MANY,
    Attribute,
    Class,
    Classifier,
    Enum,
    Feature,
    Literal,
    Package,
    Reference,
    TypeName,
)
from neomodel.repository import Repository
from neomodel.stores.wrappers import Counting
from tests.objects.library import library

URI = "http://zoo"
STRING, INT = TypeName(ECORE, "EString"), TypeName(ECORE, "EInt")
ANIMAL = [
    Attribute("name", STRING),
    Attribute("legs", INT, upper=2),
    Attribute("mood", TypeName(URI, "Mood")),
    Reference("friend", TypeName(URI, "Animal")),
]
MOOD = Enum("Mood", literals=[Literal("calm"), Literal("wild", 1)])


def zoo(*more: Classifier, animal: list[Feature] | None = None, mood: Enum = MOOD) -> Package:
    classes = [Class("Animal", features=ANIMAL if animal is None else animal), mood, *more]
    return Package("zoo", URI, classifiers=classes)


GROWN = zoo(
    Class("Bird", supers=[TypeName(URI, "Animal")], features=[Attribute("wings", INT, default="2")]),
    animal=[
        *ANIMAL,
        Attribute("age", INT),
        Attribute("diet", STRING, default="grass"),
        Attribute("nicknames", STRING, upper=MANY),
        Reference("young", TypeName(URI, "Animal"), upper=MANY, containment=True),
    ],
    mood=Enum("Mood", literals=[*MOOD.literals, Literal("sleepy", 2)]),
)


@pytest.fixture
def stocked(repo: Repository) -> nm.Model:
    package = repo.register(zoo())
    model = repo.create("m")
    friend = package.Animal(name="b")
    model.roots.extend([package.Animal(name="a", legs=[4], mood="wild", friend=friend), friend])
    return model


def told(obj: Any) -> tuple[Any, ...]:
    return obj.name, list(obj.legs), obj.mood.name, obj.friend.name


def test_registering_the_same_again_costs_one_read_and_writes_nothing(counting: Counting) -> None:
    counting.reset()

    assert Repository(counting).register(library) is library

    assert counting.calls == {"get_many": 1}
    assert len(Repository(counting).registry.versions("http://library")) == 1


@pytest.mark.parametrize("connected", ["anew", "already"])
def test_after_a_compatible_change_old_objects_read_on_and_new_features_have_their_defaults(
    repo: Repository, stocked: nm.Model, connected: str
) -> None:
    rows = list(stocked.table.scan())
    held = stocked.roots[0]
    assert told(held) == ("a", [4], "wild", "b")

    package = repo.register(GROWN)

    model = stocked if connected == "already" else Repository(repo.store).open("m")
    old = model.roots[0]
    assert told(old) == ("a", [4], "wild", "b")
    assert (old.age, old.diet, list(old.nicknames), list(old.young)) == (0, "grass", [], [])
    assert list(model.table.scan()) == rows, "no row was touched"
    old.mood, old.diet = "sleepy", "meat"
    kinds = model.repository.metamodel(URI)
    old.young.append(kinds.Bird(name="c"))
    assert [(one.name, one.wings) for one in model.all(kinds.Bird)] == [("c", 2)]
    assert sorted(one.name for one in model.all(package.Animal)) == ["a", "b", "c"]
    if connected == "already":
        assert held is old
        assert isinstance(held, package.Animal)
        assert held.diet == "meat"


def test_a_client_that_does_not_know_the_change_reads_on(repo: Repository, stocked: nm.Model) -> None:
    other = Repository(repo.store).open("m")
    assert told(other.roots[0]) == ("a", [4], "wild", "b")

    repo.register(GROWN)
    stocked.roots[0].diet = "meat"

    assert told(other.roots[0]) == ("a", [4], "wild", "b")
    other.roots[0].name = "x"
    assert (stocked.roots[0].name, stocked.roots[0].diet) == ("x", "meat")


@pytest.mark.parametrize(
    ("changed", "broken"),
    [
        (zoo(animal=ANIMAL[1:]), r"feature zoo\.Animal\.name is removed"),
        (
            zoo(animal=[attrs.evolve(ANIMAL[0], type=INT), *ANIMAL[1:]]),
            r"feature zoo\.Animal\.name has the type .*EInt",
        ),
        (zoo(animal=[ANIMAL[0], attrs.evolve(ANIMAL[1], upper=1), *ANIMAL[2:]]), r"zoo\.Animal\.legs holds one value"),
        (zoo(mood=Enum("Mood", literals=[Literal("calm")])), r"literal zoo\.Mood\.wild is removed"),
        (Package("zoo", URI, classifiers=[MOOD]), r"class zoo\.Animal is removed"),
        (
            zoo(animal=[*ANIMAL[:3], attrs.evolve(ANIMAL[3], containment=True)]),
            r"zoo\.Animal\.friend became a containment",
        ),
    ],
)
def test_an_incompatible_change_is_refused_by_what_it_breaks_and_changes_nothing(
    repo: Repository, stocked: nm.Model, changed: Package, broken: str
) -> None:
    package = repo.metamodel(URI)
    with pytest.raises(nm.IncompatibleMetamodel, match=broken):
        repo.register(changed)

    assert repo.metamodel(URI) is package
    assert Repository(repo.store).metamodel(URI).value == zoo()
    assert told(stocked.roots[0]) == ("a", [4], "wild", "b")
    assert told(Repository(repo.store).open("m").roots[0]) == ("a", [4], "wild", "b")


def test_of_several_packages_one_that_is_refused_keeps_all_out(repo: Repository, stocked: nm.Model) -> None:
    with pytest.raises(nm.IncompatibleMetamodel):
        repo.register(Package("new", "http://new"), zoo(animal=[]))

    assert "http://new" not in repo.metamodels()


def test_a_declared_package_that_differs_from_the_registered_one_is_not_taken_for_it(repo: Repository) -> None:
    first = nm.package("drift", "http://drift")

    @first.define
    class Thing:
        name: str | None

    repo.register(first)
    again = nm.package("drift", "http://drift")

    @again.define
    class Thing:  # type: ignore[no-redef]  # noqa: F811  the next version
        name: str | None
        size: int | None

    found = Repository(repo.store).metamodel("http://drift")
    assert found is not again
    assert not hasattr(found.Thing(name="a"), "size")
    repo.register(again)
    assert Repository(repo.store).metamodel("http://drift") is again
    assert again.Thing(size=1).size == 1


def _farm(*, with_legs: bool = False) -> Any:
    """A package that is declared anew, and its class."""
    farm = nm.package("farm", "http://farm")

    class Cow:
        name: str
        calves: list["Cow"] = nm.contains()

    class CowWithLegs:
        name: str
        legs: int | None
        calves: list["Cow"] = nm.contains()

    CowWithLegs.__name__ = "Cow"
    return farm, farm.define(CowWithLegs if with_legs else Cow)


def test_an_object_of_a_class_that_is_not_registered_is_refused_and_nothing_is_written(url: str) -> None:
    farm, Cow = _farm()  # noqa: N806
    with nm.connect(url) as repository:
        model = repository.create("m")

        with pytest.raises(nm.MetamodelNotFound, match="register it"):
            model.roots.append(Cow(name="Elsa", calves=[Cow(name="Anna")]))
        assert not list(model.table.scan())

        repository.register(farm)
        model.roots.append(Cow(name="Elsa", calves=[Cow(name="Anna")]))
        assert [cow.name for cow in model.all(Cow)] == ["Elsa", "Anna"]


def test_an_object_with_a_feature_that_is_not_registered_yet_is_refused(url: str) -> None:
    farm, Cow = _farm()  # noqa: N806
    newer, CowWithLegs = _farm(with_legs=True)  # noqa: N806
    with nm.connect(url) as repository:
        repository.register(farm)
        model = repository.create("m")
        model.roots.append(Cow(name="Elsa"))

        with pytest.raises(nm.InvalidValue, match=r"a feature of farm\.Cow is 'legs'.*register a newer version"):
            model.roots[0].calves.append(CowWithLegs(name="Anna", legs=4))
        assert not model.roots[0].calves

        repository.register(newer)
        model.roots[0].calves.append(CowWithLegs(name="Anna", legs=4))
        assert [cow.legs for cow in model.all(CowWithLegs)] == [None, 4]
