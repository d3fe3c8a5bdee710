"""Transformations on regions of a real HBase: the rows that one process makes, whatever regions there are, and whatever
dies meanwhile."""

import random
import time
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from pyspark.sql import SparkSession

import neomodel as nm
import spark
from neomodel.cluster import Cluster
from tests.rules.nodes import Node, boxes, boxing, grown, nodes
from tests.rules.random_rules import Scenario, scenarios, source_of
from tests.rules.shapes import new_repository, rows
from tests.spark.cluster_models import distribute, table_of
from tests.spark.random_transforming import agree, of

PATIENCE = 120  # seconds
NODES = 300


def address(hbase3: Cluster, regions: int) -> str:
    """Of a new store, whose models have so many regions to begin with."""
    return f"{hbase3.url}&prefix=rules{uuid.uuid4().hex[:8]}_&regions={regions}&settling=2"


def settled(model: nm.Model) -> None:
    """Wait until what was written is stable."""
    written = model.table.now()
    deadline = time.monotonic() + PATIENCE
    while model.repository.stable(model.name) < written:
        assert time.monotonic() < deadline
        time.sleep(0.1)


@pytest.fixture
def model(hbase3: Cluster) -> Iterator[nm.Model]:
    """Nodes on three servers."""
    url = address(hbase3, 3)
    with nm.connect(url) as repo:
        repo.register(nodes, boxes)
        made = repo.create("m")
        grown(made, NODES, random.Random(5))
        distribute(hbase3, table_of(url))
        settled(made)
        yield made


def same_rows(session: SparkSession, model: nm.Model, token: str, target: str) -> nm.Run:
    """Have Spark make the rows of a run again, beside those of model `local`."""
    run = spark.transform(session, boxing, model, target, token=token)
    assert rows(model.repository.open(target)) == rows(model.repository.open("local"))
    return run


def test_a_token_gives_the_same_rows_after_changes_and_with_other_regions(
    hbase3: Cluster, session: SparkSession, model: nm.Model
) -> None:
    local = nm.transform(boxing, model, "local")
    regions = model.table.regions()
    for number, node in enumerate(model.all(Node)):
        if number % 7 == 0:
            node.name = f"changed {number}"
            node.flag = not node.flag
    keys = [key for key, _ in model.table.scan(regions[0].start, regions[0].stop, columns=(b"t:",))]
    hbase3.split(table_of(model.repository.store.url), keys[len(keys) // 2])

    run = same_rows(session, model, local.token, "spark")

    parts = [part for part in run.parts if part["host"]]  # the others are those of grouped rules
    assert len(parts) == len(model.table.regions()) == len(regions) + 1
    assert len({part["host"] for part in parts}) == 3
    assert nm.check(model.repository.open("spark")).findings == ()
    assert (run.applications, run.results, run.roots) == (local.applications, local.results, local.roots)


def slow(folder: str) -> nm.Transformation:
    """Makes a box of each node. Before it goes on from the first of each part it waits until it may."""
    made = nm.Transformation("slow", version="1")

    @made.rule
    def boxed(node: "nodes.Node", box: "boxes.Box") -> None:  # type: ignore[name-defined]
        if folder:
            Path(folder, f"began {nm.oid(node)}").touch()
            while not Path(folder, "go").exists():
                time.sleep(0.02)
        box.label = node.name
        box.peers = [nm.trace(other) for other in node.others]

    return made


def test_a_region_server_that_is_killed_costs_nothing_but_time(
    hbase3: Cluster, session: SparkSession, model: nm.Model, tmp_path: Path
) -> None:
    """It has a region that is being read, and as many of the target's as the others."""
    regions = hbase3.regions(table_of(model.repository.store.url))
    holders = [hbase3.plan.server_at(region.server or "") for region in regions[:2]]
    victim = next(holder for holder in holders if holder != hbase3.meta_server())
    with ThreadPoolExecutor(1) as pool:
        job = pool.submit(lambda: spark.transform(session, slow(str(tmp_path)), model, "spark"))
        try:
            deadline = time.monotonic() + PATIENCE
            while len(list(tmp_path.glob("began *"))) < 2:  # as many as there are cores
                assert time.monotonic() < deadline
                assert not job.done(), job.result()
                time.sleep(0.05)
            hbase3.kill(victim)
        finally:
            (tmp_path / "go").touch()
            run = job.result(PATIENCE)
            hbase3.restart(victim)

    nm.transform(slow(""), model, "local", token=run.token)
    assert rows(model.repository.open("spark")) == rows(model.repository.open("local"))
    assert run.applications == {"boxed": NODES}
    assert nm.check(model.repository.open("spark")).findings == ()


def holds(hbase3: Cluster, session: SparkSession, scenario: Scenario) -> None:
    with new_repository(address(hbase3, 4)) as repository:
        repository.register(scenario.package)
        source = source_of(scenario.seeds, repository)
        settled(source)
        try:
            agree(session, scenario, source)
        finally:
            for name in repository.store.tables():  # some ten of each example would be more than a small cluster bears
                repository.store.table(name).drop()


@given(scenario=scenarios())
@of(2)
def test_random_rules_make_the_same_rows_on_regions(hbase3: Cluster, session: SparkSession, scenario: Scenario) -> None:
    holds(hbase3, session, scenario)


@pytest.mark.soak
@given(scenario=scenarios())
@of(60)
def test_random_rules_make_the_same_rows_on_regions_at_length(
    hbase3: Cluster, session: SparkSession, scenario: Scenario
) -> None:
    holds(hbase3, session, scenario)
