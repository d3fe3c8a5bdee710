"""Random processes, data, actions and tokens; and what should come of them, in plain Python.

All rows have one shape, so that any step can follow any other: `id`, `g`, `n`, `t`. The oracle for actions is
`metamodels.anna.applying`; everything else is computed here by loops.
"""

import random
from typing import Any

import attrs
from pyspark.sql import DataFrame
from pyspark.sql import functions as f

import neomodel as nm
from metamodels import anna, elsa
from metamodels.anna import applying
from metamodels.anna.types import INTEGER, TEXT

SCHEMA = "id string, g long, n long, t string"
TYPES = {"id": TEXT, "g": INTEGER, "n": INTEGER, "t": TEXT}
SYSTEMS = ("one", "two")
Rows = dict[str, dict[str, Any]]


class Layout:
    """In how many partitions, and in which order, rows come: no part of what a process is."""

    seed = 0

    def shuffled(self, frame: DataFrame) -> DataFrame:
        chance = random.Random(self.seed)
        mixed = frame.repartition(chance.randint(1, 5), f.rand(chance.randint(0, 99)))
        return mixed.sortWithinPartitions(f.rand(chance.randint(0, 99)))


LAYOUT = Layout()


@attrs.frozen
class Kind:
    """What a step does to its inputs, and by which numbers."""

    name: str
    what: str
    inputs: tuple[str, ...]
    k: int
    r: int


def drawn(chance: random.Random) -> list[Kind]:
    """Steps of a random process, the first ones of systems."""
    kinds = [Kind(f"taken_{system}", "taken", (system,), 0, 0) for system in SYSTEMS]
    for number in range(chance.randint(1, 3)):
        what = chance.choice(["filtered", "shifted", "summed", "joined"])
        names = chance.sample([kind.name for kind in kinds], 2 if what == "joined" else 1)
        k = chance.randint(2, 5)
        kinds.append(Kind(f"step_{number}", what, tuple(names), k, chance.randrange(k)))
    return kinds


def process(kinds: list[Kind], name: str) -> anna.Process:
    made = anna.Process(name)
    for system in SYSTEMS:
        made.system(system, schema="g long, n long, t string")
    checks = [anna.not_null("n"), anna.between("n", -50, 50, severity="warning")]
    for kind in kinds:
        made.step(key="id", schema=SCHEMA, checks=checks, name=kind.name)(_function(kind))
    return made


def _function(kind: Kind) -> Any:
    what, k, r = kind.what, kind.k, kind.r

    def done(*frames: DataFrame) -> DataFrame:
        first = LAYOUT.shuffled(frames[0])
        if what == "taken":
            return first.withColumnRenamed("key", "id")
        if what == "filtered":
            return first.where(f.coalesce("n", f.lit(0)) % k != r)
        if what == "shifted":
            return first.withColumn("n", f.col("n") + k)
        if what == "summed":
            sums = first.groupBy("g").agg(f.sum("n").alias("n"), f.max("t").alias("t"))
            return sums.select(f.coalesce(f.col("g").cast("string"), f.lit("-")).alias("id"), "g", "n", "t")
        other = LAYOUT.shuffled(frames[1]).select("id", f.col("n").alias("m"))
        joined = first.join(other, "id", "left")
        return joined.select("id", "g", (f.col("n") + f.coalesce("m", f.lit(0))).alias("n"), "t")

    parameters = ", ".join(kind.inputs)
    scope: dict[str, Any] = {"done": done}
    exec(f"def step({parameters}):\n    return done({parameters})", scope)
    return scope["step"]


# what should come of it


def computed(
    kinds: list[Kind], systems: dict[str, Rows], actions: list[anna.Action]
) -> tuple[dict[str, Rows], dict[str, str]]:
    """The rows of every step, and the outcome of every action."""
    tables: dict[str, Rows] = {}
    outcomes: dict[str, str] = {one.id: applying.NO_TARGET for one in actions}
    for kind in kinds:
        inputs = [systems[name] if name in systems else tables[name] for name in kind.inputs]
        rows = _rows(kind, *inputs)
        mine = [one for one in actions if one.step == kind.name]
        after, told = applying.applied(rows.values(), TYPES, ["id"], mine)
        tables[kind.name] = {row["id"]: row for row in after}
        outcomes |= {action: one.outcome for action, one in told.items()}
    return tables, outcomes


def _rows(kind: Kind, first: Rows, other: Rows | None = None) -> Rows:
    if kind.what == "taken":
        return {key: {"id": key, **value} for key, value in first.items()}
    if kind.what == "filtered":
        return {key: row for key, row in first.items() if _remainder(row["n"] or 0, kind.k) != kind.r}
    if kind.what == "shifted":
        return {key: {**row, "n": None if row["n"] is None else row["n"] + kind.k} for key, row in first.items()}
    if kind.what == "joined":
        assert other is not None
        added = {key: (other.get(key) or {}).get("n") or 0 for key in first}
        return {k: {**row, "n": None if row["n"] is None else row["n"] + added[k]} for k, row in first.items()}
    groups: dict[int | None, list[dict[str, Any]]] = {}
    for row in first.values():
        groups.setdefault(row["g"], []).append(row)
    found = {}
    for g, rows in groups.items():
        numbers = [row["n"] for row in rows if row["n"] is not None]
        texts = [row["t"] for row in rows if row["t"] is not None]
        key = "-" if g is None else str(g)
        found[key] = {"id": key, "g": g, "n": sum(numbers) if numbers else None, "t": max(texts, default=None)}
    return found


def _remainder(number: int, k: int) -> int:
    """As SQL has it: with the sign of the number."""
    return number % k if number >= 0 else -(-number % k)


# what is told


def told(chance: random.Random) -> Rows:
    """Some records of a system; None where one is deleted."""
    found: Rows = {}
    for _ in range(chance.randint(1, 12)):
        value = {
            "g": chance.choice([None, 0, 1, 2]),
            "n": chance.choice([None, *range(-9, 10)]),
            "t": chance.choice("äbc"),
        }
        found[f"r{chance.randrange(15)}"] = value if chance.random() < 0.85 else None  # type: ignore[assignment]
    return found


def ingested(store: elsa.ElsaStore, system: str, records: Rows, event: int) -> None:
    rows = [(key, event, "insert" if value else "delete", value) for key, value in records.items()]
    store.system(system).ingest(rows)


def merged(batches: list[Rows]) -> Rows:
    """What is there after all of these, later ones last."""
    found = {key: value for batch in batches for key, value in batch.items()}
    return {key: value for key, value in found.items() if value is not None}


def acted(chance: random.Random, store: anna.AnnaStore, kinds: list[Kind], name: str) -> None:
    """Some actions, on rows and steps that there are or not, and some retracted."""
    acts = store.actions(name)
    given = [
        {
            "run": 1,
            "step": chance.choice([*(kind.name for kind in kinds), "gone"]),
            "row": chance.choice([f"r{chance.randrange(15)}", "0", "1", "nobody"]),
            "column": chance.choice(["n", "n", "n", "t", "g", "id", "x"]),
            "operation": chance.choice([("add", 3), ("multiply", -2), ("set", 7), "set-null"]),
            "precondition": chance.choice([None, "n < 4", "n is null", "g = 1 or t = 'b'", "100 / n > 2"]),
            "why": "by chance",
        }
        for _ in range(chance.randint(1, 8))
    ]
    made = acts.add_many(given)
    if chance.random() < 0.6:
        acts.retract(chance.choice(made).id, why="by chance")


def filled(
    chance: random.Random, repo: nm.Repository, kinds: list[Kind], name: str
) -> tuple[elsa.ElsaStore, dict[str, list[Rows]]]:
    """Two batches of each system, and actions; the store, and what was told of each system."""
    store = elsa.open(repo)
    batches: dict[str, list[Rows]] = {system: [told(chance), told(chance)] for system in SYSTEMS}
    for system, given in batches.items():
        for number, records in enumerate(given):
            ingested(store, system, records, 10 + number)
    acted(chance, anna.open(repo), kinds, name)
    return store, batches
