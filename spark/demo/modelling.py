"""The demo's first half: a model too large to be loaded at leisure, imported, opened, walked, and made into tables."""

import time
from pathlib import Path
from typing import Any

import attrs
from pyspark.sql import SparkSession

import neomodel as nm
import spark
from metamodels import zoo
from metamodels.transformations.class2relational import class2relational
from neomodel.cli.progress import shares
from neomodel.cli.sizes import count
from neomodel.stores import open_store
from neomodel.stores.wrappers import Counting
from spark.demo import program
from spark.demo.telling import Teller

SOURCE, TARGET = "program", "tables"


@attrs.frozen
class Modelled:
    """What came of it, for the report."""

    classes: list[tuple[str, int]]
    """Objects of both models, by model and class."""
    regions: list[tuple[str, int]]
    """Of the source: who serves each, and its rows."""
    run: nm.Run
    traces: list[str]


def modelled(url: str, session: SparkSession, folder: Path, elements: int, tell: Teller) -> Modelled:
    """Do it, telling each step and what it took."""
    file = folder / "program.xmi"
    with tell.step("wrote a file: the classes of a large program, in XMI"):
        written = program.write(file, elements)
    tell.more(f"{written:,} elements, {file.stat().st_size / 1e6:.1f} MB")
    with nm.connect(url) as repository:
        repository.register(zoo.classes, zoo.relational)
        with tell.step("imported it, in constant memory"), shares("importing", "elements") as progress:
            done = repository.import_xmi(file, model=SOURCE, progress=progress)
        tell.more(f"{done.elements:,} elements, {done.references:,} references, {done.elements / done.seconds:,.0f}/s")
        _opened(url, tell)
        run = _transformed(repository, session, tell)
        traces = _traced(repository, tell)
        sizes = {name: count(repository.store.table(name), lambda _: None) for name in (SOURCE, TARGET)}
    classes = [
        (f"{name}: {kind.decode()}", number)
        for name, size in sizes.items()
        for (_, kind), number in sorted(size.classes.items(), key=lambda item: -item[1])
    ]
    served = [
        (f"{region.host}:{region.port}" if region.host else "this process", size["rows"])
        for region, size in sizes[SOURCE].regions
    ]
    return Modelled(classes, served, run, traces)


def _opened(url: str, tell: Teller) -> None:
    with Counting(open_store(url)) as store:
        with tell.step("opened it, and read the name of one class"):
            model = nm.Repository(store).open(SOURCE)
            one = next(iter(model.all(zoo.Class)))
            name = one.name
        tell.more(f"{name}: nothing else was loaded")
        with tell.step("walked from a field to its class, to the type of another, as plain objects"):
            field = one.attr[0]
            kind = field.type.name
            said = f"{field.owner.name}.{field.name} is {'an' if kind[0] in 'AEIOU' else 'a'} {kind}"
        tell.more(said)
        store.reset()
        with tell.step("counted the fields of every class"):
            fields = sum(len(kind.attr) for kind in model.all(zoo.Class))
        tell.more(f"{fields:,}, in {store.calls.total():,} calls to the store")


def _transformed(repository: nm.Repository, session: SparkSession, tell: Teller) -> nm.Run:
    model = _settled(repository)
    regions = len(repository.store.table(SOURCE).regions())
    with (
        tell.step(f"made tables of classes, on Spark: Class2Relational in {regions} parts, one for each region"),
        shares("transforming", "objects", regions) as progress,
    ):
        run = spark.transform(session, class2relational, model, TARGET, progress=progress)
    tell.more(
        f"{run.results:,} objects of {run.elements:,}, {run.elements / run.seconds:,.0f} elements/s; "
        f"{run.remote_share:.1%} of what rules read was not in their own part"
    )
    return run


def _settled(repository: nm.Repository) -> nm.Model:
    """The model, once what was imported is stable: at once on LMDB, within a minute on HBase."""
    written = repository.store.table(SOURCE).now()
    while repository.stable(SOURCE) < written:
        time.sleep(0.2)
    return repository.open(SOURCE)


def _traced(repository: nm.Repository, tell: Teller) -> list[str]:
    source, target = repository.open(SOURCE), repository.open(TARGET)
    one = next(iter(source.all(zoo.Class)))
    with tell.step("asked what became of a class, and where a column comes from"):
        made = nm.what_became_of(one, target, class2relational)
        table: Any = made["table", "table"]
        origins = [(column, nm.why(column)) for column in list(table.col)[:3]]
    said = [f"class {one.name} became table {table.name}, with {len(table.col)} columns"]
    said += [
        f"column {column.name} comes from {origin.source.eClass.name} {origin.source.name}, by rule {origin.rule!r}"
        for column, origin in origins
    ]
    tell.more(*said)
    return said
