"""What can't be read is told in one sentence, where the user is."""

import os
import signal
from typing import Any

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

import neomodel as nm
from tests.spark.things import Thing


@pytest.fixture
def store(model: nm.Model) -> str:
    """Where there is a model of one thing."""
    model.roots.append(Thing(name="a", price=None))
    return model.repository.store.url


def told(failure: pytest.ExceptionInfo[PySparkException]) -> str:
    """The message, which has our sentence, and no trace of how it came about."""
    text = str(failure.value)
    assert "Traceback" not in text
    assert text.count("neomodel.errors.") == 1
    return text


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"model": "nn"}, "there is no model 'nn'"),
        ({"type": "Thnig"}, "has no 'Thnig'; did you mean 'Thing'?"),
        ({"type": "Thing", "columns": "nmae"}, "has no 'nmae'; did you mean 'name'?"),
        ({"type": "Thing", "columns": ""}, "option columns is ''"),
        ({"type": "Thing", "columns": "name,name"}, "each once"),
        ({"as_of": "yesterday"}, "a time is 'yesterday', expected one such as 2024-05-01T12:00:00+02:00"),
        ({"as_of": "9999-01-01T00:00:00+00:00"}, "others may still write under that time"),
        ({"as_of": "1000"}, "it was created later"),
        ({"exact": "perhaps"}, "option exact is 'perhaps', expected true or false"),
        ({"modle": "m"}, "is 'modle', expected one of"),
        ({"store": "nowhere:"}, "the URL must start with"),
        ({"store": "memory:"}, "one that other processes reach"),
        ({"store": "lmdb:/nonexistent/db"}, "there is no store in that folder"),
        ({"store": "hbase://127.0.0.1:1/1?timeout=1"}, "127.0.0.1:1"),
    ],
)
def test_bad_options_are_refused_at_once(
    session: SparkSession, store: str, options: dict[str, Any], sentence: str
) -> None:
    given = {"store": store, "model": "m", **options}

    with pytest.raises(PySparkException) as failure:
        session.read.format("neomodel").options(**given).load()

    assert sentence in told(failure)


def test_a_schema_of_ones_own_is_refused(session: SparkSession, store: str) -> None:
    frame = session.read.format("neomodel").schema("name string").options(store=store, model="m").load()

    with pytest.raises(PySparkException) as failure:
        frame.collect()

    assert "expected none: the metamodel has it" in told(failure)


def test_a_model_that_went_away_is_told(session: SparkSession, store: str) -> None:
    frame = session.read.format("neomodel").options(store=store, model="m", type="Thing").load()
    with nm.connect(store) as repo:
        repo.drop("m")

    with pytest.raises(PySparkException) as failure:
        frame.collect()

    assert "there is no table 'm'" in told(failure)


def test_what_a_task_says_is_in_what_the_driver_says(session: SparkSession, store: str) -> None:
    with nm.connect(store) as repo:
        repo.open("m").roots.append(Thing(name="b", huge=10**40))
    frame = session.read.format("neomodel").options(store=store, model="m", type="Thing").load()

    with pytest.raises(PySparkException) as failure:
        frame.collect()

    assert "things.Thing.huge of object m/" in told(failure)
    assert "ask for it as text with option exact=true" in told(failure)


def test_a_killed_python_worker_is_replaced(session: SparkSession, store: str) -> None:
    frame = session.read.format("neomodel").options(store=store, model="m", type="Thing").load()
    assert frame.count() == 1
    (worker,) = set(session.sparkContext.parallelize([0], 1).map(lambda _: os.getpid()).collect())

    os.kill(worker, signal.SIGKILL)

    assert frame.count() == 1
