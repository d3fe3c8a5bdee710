"""A metamodel with timelines and collections, models of it that have a past, and how two stores are compared."""

import random
from collections.abc import Iterable

import neomodel as nm
from metamodels import elsa
from neomodel.stores import Store, Version

stock = nm.package("stock", "http://stock")


@stock.define
class Shelf:
    name: str | None
    boxes: list["Box"] = nm.contains()
    labels: list[str]


@stock.define
class Box:
    name: str | None
    weight: nm.Timeline[str]
    beside: "Box | None" = nm.reference()


def filled(repository: nm.Repository, name: str = "m", *, boxes: int = 40) -> nm.Model:
    """A model of which much was changed: values, places, timelines; some was deleted."""
    repository.register(stock)
    model = repository.create(name)
    shelves = [Shelf(name=f"s{number}") for number in range(4)]
    model.roots.extend(shelves)
    for number in range(boxes):
        shelves[number % 4].boxes.append(Box(name=f"b{number}"))
    shelves[0].labels.extend(f"label {number}" for number in range(300))
    changed(model, 1)
    return model


def changed(model: nm.Model, seed: int) -> None:
    """Change something of everything."""
    chance = random.Random(seed)
    shelves = [one for one in model.roots if one.eClass.name == "Shelf"]
    boxes = [box for shelf in shelves for box in shelf.boxes]
    for box in chance.sample(boxes, min(12, len(boxes))):
        box.name = f"{box.name}-{seed}"
        box.weight.record(f"{chance.randint(1, 99)} kg", event=chance.randint(0, 50))
        box.beside = chance.choice(boxes)
    chance.choice(shelves).boxes.append(chance.choice(boxes))
    chance.choice(shelves).boxes.append(Box(name=f"new {seed}"))
    nm.delete(chance.choice(shelves).boxes[0])
    shelves[0].labels.append(f"late {seed}")


def told(store: elsa.ElsaStore, seed: int = 1, *, keys: int = 60, operations: int = 400) -> None:
    """Two systems that are told things at random, one by one and many at once."""
    chance = random.Random(seed)

    def some(count: int) -> Iterable[tuple[str, int, str, object]]:
        for number in range(count):
            key, event = f"k{chance.randrange(keys):04}", chance.randint(0, 200)
            if chance.random() < 0.2:
                yield key, event, "delete", None
            else:
                yield key, event, "insert", chance.choice([f"v{number}", {"n": number}, b"\0\xff%d" % number])

    for name in ("crm", "erp"):
        system = store.system(name)
        system.ingest(some(operations // 2))
        for key, event, operation, value in some(5):
            if operation == "insert":
                system.insert(key, event, value, operation=f"op{seed}{key}{event}")
            else:
                system.delete(key, event)
        system.ingest(some(operations // 2))


def cells(store: Store, *models: str) -> dict[str, list[Version]]:
    """Every version of every cell of models."""
    return {model: list(store.table(model).history()) for model in models}


def answers(store: elsa.ElsaStore, tokens: Iterable[str], chance: random.Random, *, keys: int = 60) -> list[object]:
    """What systems answer to each token, for a key at random, and now and then for all of them."""
    found: list[object] = []
    for token in tokens:
        for name in ("crm", "erp"):
            system = store.system(name)
            key = f"k{chance.randrange(keys):04}"
            version = system.version(key, token=token)
            found.append(version)
            if chance.random() < 0.02:
                found += list(system.scan(token=token))
    return found


def tokens(store: elsa.ElsaStore, count: int, seed: int) -> list[str]:
    """Tokens of all times at random, of both kinds."""
    chance = random.Random(seed)
    first = store.repository.catalogue.created(store.name) or 0
    last = store.stable()
    return [str(store.token(event=chance.randint(-5, 210), ingest=chance.randint(first, last))) for _ in range(count)]
