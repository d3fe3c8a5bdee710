"""Bulk writes to HBase do what they do on LMDB, and are undone."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import neomodel as nm
from neomodel import sharing
from neomodel.cluster import Cluster
from neomodel.sharing import shared
from neomodel.stores.wrappers import Counting
from spark import undo, unfinished_jobs
from tests.spark.people import Firm, Person, people
from tests.spark.writing import attempted, everything, planned, sound, write


def peopled(repo: nm.Repository) -> nm.Model:
    """A model with some people in it, whose ids are known."""
    repo.register(people)
    model = repo.create("bulk")
    found = [Firm(name="f"), Person(name="top"), *(Person(name=f"o{number}") for number in range(20))]
    for obj in found:
        nm.identify(obj, str(obj.name))
    model.roots.extend(found)
    return model


@pytest.fixture
def models(hbase: Cluster, tmp_path: Path) -> Any:
    """The same one on HBase and on LMDB."""
    with nm.connect(hbase.url) as there, nm.connect(f"lmdb:{tmp_path}/db") as here:
        yield peopled(there), peopled(here)
        there.drop("bulk")
        sharing._shared.pop(hbase.url).close()


def table() -> pa.Table:
    """New people in one another and in one that is there, and others that change, move, and are linked."""
    return pa.table(
        {
            "_id": ["a", "b", "c", "d", "o1", "o2"],
            "_container": [None, "a", "a", "top", "top", None],
            "_feature": [None, "children", "children", "children", "children", None],
            "name": ["A", "B", "ü\0", None, "one", "o2"],
            "spouse": ["o3", None, None, None, None, "b"],
            "friends": [["b", "o4"], [], ["b"], [], ["a"], []],
            "employer": ["f", "f", None, None, "f", None],
        }
    )


def seen(model: nm.Model, token: str) -> Any:
    rows = [(key, {c: v for c, v in row.items() if c != b"t:version"}) for key, row in everything(model)]
    signed = {key for key, row in everything(model) if row.get(b"t:version", b"").endswith(token.encode())}
    return rows, signed


def test_the_same_job_leaves_the_same_rows(models: tuple[nm.Model, nm.Model]) -> None:
    there, here = models
    tokens = [write(model, table().slice(0, 3), table().slice(3), type="people.Person") for model in (there, here)]

    assert seen(there, tokens[0]) == seen(here, tokens[1])
    assert sound(there)
    assert [child.name for child in there["a"].children] == ["B", "ü\0"]


def test_a_job_that_was_cut_short_is_undone(models: tuple[nm.Model, nm.Model]) -> None:
    there, _ = models
    before = everything(there)
    writer = planned(there, table().schema, type="people.Person")
    attempted(writer, table().slice(0, 5), number=1)
    attempted(writer, table(), number=2)
    (job,) = unfinished_jobs(there.repository)
    assert there.repository.stable("bulk") < (job.since or 0)

    undo(there.repository, job.token)

    assert everything(there) == before
    assert unfinished_jobs(there.repository) == []


def test_a_task_makes_two_calls_for_a_batch(models: tuple[nm.Model, nm.Model]) -> None:
    there, _ = models
    many = pa.table({"_id": [f"n{number}" for number in range(1000)], "name": ["x"] * 1000})
    writer = planned(there, many.schema, type="people.Person")
    repo = shared(there.repository.store.url)
    counting = Counting(repo.store)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(repo, "store", counting)
        message = attempted(writer, many, size=500)

    assert (counting.calls["get_many"], counting.calls["put_many"]) == (2, 2 + 2)  # and two for the record
    writer.commit([message])
    assert len(there.roots) == 1022
