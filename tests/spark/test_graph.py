"""A model as vertices and edges."""

from collections import Counter
from typing import Any

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

import neomodel as nm
import spark
from neomodel.sharing import shared
from neomodel.stores.wrappers import Counting
from spark import ModelSource
from tests.spark.random_models import Form, forms, new_model
from tests.spark.things import Other, Special, Thing
from tests.xmi.random_models import Filled, filled


@pytest.fixture
def model(model: nm.Model) -> nm.Model:
    one, two = Thing(name="one"), Special(name="two")
    one.parts.extend([Thing(name="a"), Thing(name="b")])
    model.roots.extend([one, two, Other(label="alone")])
    one.friend, two.friend = two, two
    two.friends.extend([one.parts[1], one, one.parts[0]])
    return model


def read(url: str, view: str) -> list[dict[str, Any]]:
    """The rows of a view, read in this process."""
    source = ModelSource({"store": url, "model": "m", "view": view})
    reader = source.reader(source.schema())  # type: ignore[arg-type]
    return [row for part in reader.partitions() for batch in reader.read(part) for row in batch.to_pylist()]  # type: ignore[arg-type]


def expected_edges(model: nm.Model) -> Counter[tuple[Any, ...]]:
    """What the objects hold, one by one."""
    found: Counter[tuple[Any, ...]] = Counter()
    for kind in {obj.eClass for root in model.roots for obj in [root, *root.eAllContents()]}:
        for obj in (obj for obj in model.all(kind) if obj.eClass is kind):
            for feature in kind.features.values():
                if not feature.reference or not feature.kept or feature.container:
                    continue
                held = obj.eGet(feature.name)
                targets = list(held) if feature.many else [] if held is None else [held]
                for index, target in enumerate(targets):
                    found[nm.oid(obj), _token(model, target), feature.name, feature.containment, index] += 1
    return found


def _token(model: nm.Model, target: Any) -> str:
    other = target.eResource
    return str(nm.oid(target)) if other.name == model.name else f"@{other.name}/{nm.oid(target)}"


def expected_vertices(model: nm.Model) -> list[tuple[Any, ...]]:
    found = []
    for obj in (obj for root in model.roots for obj in [root, *root.eAllContents()]):
        above, by = obj.eContainer(), obj.eContainmentFeature()
        found.append((nm.oid(obj), obj.eClass.name, above and nm.oid(above), by and by.name))
    return sorted(found)


def test_columns_are_called_as_graph_frames_wants_them(session: SparkSession, model: nm.Model) -> None:
    found = spark.graph(session, model)

    assert found.vertices.columns == ["id", "class", "container", "feature"]
    assert found.edges.columns == ["src", "dst", "feature", "containment", "index"]


def test_the_graph_is_that_of_networkx(session: SparkSession, model: nm.Model) -> None:
    found = spark.graph(session, model)

    graph = nm.to_networkx(model)
    vertices = {row.id: row["class"] for row in found.vertices.collect()}
    assert vertices == {node: data["cls"] for node, data in graph.nodes(data=True)}
    edges = sorted((row.src, row.dst, row.feature, row.containment) for row in found.edges.collect())
    assert edges == sorted(
        (start, end, name, data["containment"]) for start, end, name, data in graph.edges(keys=True, data=True)
    )
    assert len(edges) == 7


def test_edges_tell_their_place_and_vertices_their_container(session: SparkSession, model: nm.Model) -> None:
    found = spark.graph(session, model)

    assert Counter(map(tuple, found.edges.collect())) == expected_edges(model)
    assert sorted(map(tuple, found.vertices.collect()), key=str) == sorted(expected_vertices(model), key=str)


def test_edges_lead_into_other_models(session: SparkSession, model: nm.Model) -> None:
    other = model.repository.create("other")
    there = Thing(name="there")
    other.roots.append(there)
    model.roots[0].friend = there

    session.conf.set("spark.sql.python.filterPushdown.enabled", "true")  # of which these views make nothing
    (edge,) = spark.graph(session, model).edges.where("dst like '@%'").collect()

    assert (edge.dst, edge.feature, edge["index"]) == (f"@other/{nm.oid(there)}", "friend", 0)


def test_both_are_of_one_state(session: SparkSession, model: nm.Model) -> None:
    found = spark.graph(session, model)
    model.roots.append(Thing(name="new"))
    model.roots[0].friend = None

    assert (found.vertices.count(), found.edges.count()) == (5, 7)
    now = spark.graph(session, model)
    assert (now.vertices.count(), now.edges.count()) == (6, 6)


def test_a_long_collection_is_many_edges_in_their_order(model: nm.Model) -> None:
    count = 20_000
    many = Thing(name="many")
    many.parts.extend([Thing(number=number) for number in range(count)])
    model.roots.append(many)

    edges = [row for row in read(model.repository.store.url, "edges") if row["src"] == nm.oid(many)]

    assert [(row["index"], row["dst"]) for row in edges] == list(enumerate(map(nm.oid, many.parts)))


def test_no_other_cells_than_references_are_read(model: nm.Model) -> None:
    url = model.repository.store.url
    model.roots.extend([Thing(name="x", number=number, large=5, on=True, raw=b"y") for number in range(100)])
    source = ModelSource({"store": url, "model": "m", "view": "edges"})
    reader = source.reader(source.schema())  # type: ignore[arg-type]
    repo = shared(url)
    counting = Counting(repo.store)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(repo, "store", counting)
        edges = sum(batch.num_rows for part in reader.partitions() for batch in reader.read(part))  # type: ignore[arg-type]

    rows = [row for _, row in model.table.scan()]
    assert edges == 7
    assert counting.calls["scan"] == 1
    assert counting.cells_read <= 2 * len(rows) + 4 + 8  # classes, four references, and what opening takes
    assert sum(map(len, rows)) > 4 * counting.cells_read


@pytest.mark.parametrize("option", ["type", "columns", "exact"])
def test_options_for_objects_are_refused(session: SparkSession, model: nm.Model, option: str) -> None:
    reader = session.read.format("neomodel").options(store=model.repository.store.url, model="m", view="edges")

    with pytest.raises(PySparkException, match=f"option {option} is 'true', expected none with view edges"):
        reader.option(option, "true").load()


def check(given: Filled) -> None:
    with new_model(given) as model:
        url = model.repository.store.url
        edges = Counter(tuple(row.values()) for row in read(url, "edges"))
        vertices = sorted(tuple(row.values()) for row in read(url, "vertices"))

        assert edges == expected_edges(model)
        assert vertices == expected_vertices(model)


@forms(short=50, with_long_lists=30, at_length=3000)
def test_the_graph_is_what_the_objects_hold(form: Form) -> None:
    form.run(check, filled)
