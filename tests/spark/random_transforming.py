"""Random rules on random objects, in one process and on Spark: the same rows come of them, or neither makes any."""

from typing import Any

from hypothesis import HealthCheck, Phase, settings
from pyspark.sql import SparkSession

import neomodel as nm
import spark
from tests.rules.random_rules import Scenario, transformation_of
from tests.rules.shapes import rows


def agree(session: SparkSession, scenario: Scenario, source: nm.Model) -> None:
    repository = source.repository
    transformation = transformation_of(scenario, {})
    local = nm.transform(transformation, source, "local", on_error="collect")
    run = spark.transform(session, transformation, source, "spark", token=local.token, on_error="collect")
    assert bool(run.failures) == bool(local.failures)
    if not local.failures:
        assert rows(repository.open("spark")) == rows(repository.open("local"))
        assert (run.applications, run.results, run.roots) == (local.applications, local.results, local.roots)


def of(examples: int) -> Any:
    """So many examples, none of which is made smaller: each takes seconds."""
    return settings(
        max_examples=examples,
        deadline=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
