"""Models as graphs of networkx."""

import subprocess
import sys
from typing import Any

import networkx
import pytest

import neomodel as nm
from neomodel.repository import Repository
from neomodel.stores import open_store
from neomodel.stores.wrappers import Counting
from tests.xmi.garden import Bed, Garden, Gate, Light, Named, Plant, Tree, garden


def planted(model: nm.Model) -> tuple[Any, ...]:
    rose, oak = Plant(name="rose", height=3, tags=["a"]), Tree()
    bed, top = Bed(plants=[rose, oak], light=Light.SHADE), Garden(name="g")
    top.beds.append(bed)
    model.roots.extend([top, Gate(name="gate")])
    rose.likes.append(oak)
    oak.neighbours.extend([rose, oak, rose])
    top.favourite = oak
    return top, bed, rose, oak, model.roots[1]


def edges(graph: Any) -> set[tuple[str, str, str, bool, int]]:
    found = graph.edges(keys=True, data=True)
    return {(start, end, key, data["containment"], data["times"]) for start, end, key, data in found}


def test_a_model_is_a_graph_of_its_objects(model: nm.Model) -> None:
    top, bed, rose, oak, gate = (nm.oid(one) for one in planted(model))

    graph = nm.to_networkx(model)

    assert isinstance(graph, networkx.MultiDiGraph)
    assert list(graph) == [top, bed, rose, oak, gate]
    assert graph.nodes[top] == {"cls": "Garden", "package": "http://garden", "label": "g"}
    assert graph.nodes[oak] == {"cls": "Tree", "package": "http://garden", "label": oak}
    assert edges(graph) == {
        (top, bed, "beds", True, 1),
        (bed, rose, "plants", True, 1),
        (bed, oak, "plants", True, 1),
        (top, oak, "favourite", False, 1),
        (rose, oak, "likes", False, 1),
        (oak, rose, "liked", False, 1),
        (oak, rose, "neighbours", False, 2),
        (oak, oak, "neighbours", False, 1),
    }


def test_a_part_of_a_model_has_no_edges_out_of_it(model: nm.Model) -> None:
    _, bed, rose, oak, _ = planted(model)

    graph = nm.to_networkx(bed, attributes=True)

    assert list(graph) == [nm.oid(one) for one in (bed, rose, oak)]
    assert graph.nodes[nm.oid(bed)]["values"] == {"light": Light.SHADE}
    assert graph.nodes[nm.oid(rose)]["values"] == {"name": "rose", "height": 3, "tags": ["a"]}
    assert {key for _, _, key in graph.edges(keys=True)} == {"plants", "likes", "liked", "neighbours"}


def test_kinds_of_edges_and_classes_can_be_chosen(model: nm.Model) -> None:
    top, _, rose, oak, gate = planted(model)

    assert {key for _, _, key in nm.to_networkx(model, references=False).edges(keys=True)} == {"beds", "plants"}
    assert len(nm.to_networkx(model, containment=False).edges) == 5
    plants = nm.to_networkx(model, classes=[Plant])
    assert list(plants) == [nm.oid(rose), nm.oid(oak)]
    assert len(plants.edges) == 4
    assert list(nm.to_networkx(model, classes=[Garden, garden.classifiers["Gate"]])) == [nm.oid(top), nm.oid(gate)]
    assert len(nm.to_networkx(model, classes=[Named])) == 5


def test_an_object_that_is_not_stored_has_no_graph(model: nm.Model) -> None:
    for wrong in (Plant(), "m", None):
        with pytest.raises(nm.InvalidValue, match="what to make a graph of"):
            nm.to_networkx(wrong)
    with pytest.raises(nm.InvalidValue, match="a class of a graph's nodes"):
        nm.to_networkx(model, classes=["Plant"])


def test_a_graph_costs_a_call_for_a_hundred_objects_at_most() -> None:
    with Counting(open_store("memory:")) as store:
        Repository(store).register(garden)
        Repository(store).create("m").roots.append(Garden(beds=[Bed(plants=[Plant(), Plant()]) for _ in range(2000)]))
        model = Repository(store).open("m")
        store.reset()

        graph = nm.to_networkx(model)

        assert len(graph) == 6001
        assert store.calls.total() <= 60


def test_networkx_is_loaded_when_it_is_needed() -> None:
    script = "import sys, neomodel; assert 'networkx' not in sys.modules and 'lxml' not in sys.modules"

    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)
