"""neomodel on Apache Spark: models as DataFrames, one partition for each region.

What is here is imported when it is asked for: each Python process that Spark starts imports this package, and most need
little of it. What has the name of its module is here from the beginning.
"""

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from spark.session import session

if TYPE_CHECKING:
    from spark.backups import backup, restore
    from spark.changes import follow
    from spark.corrections import Corrected, corrected
    from spark.edges import Graph, graph
    from spark.elsa import ElsaSource, lookup
    from spark.exports import diff_load
    from spark.jobs import Job
    from spark.live import Elements, elements
    from spark.pipeline import Pipeline
    from spark.repairing import repair
    from spark.source import ModelSource, register
    from spark.synchronizing import Target, synchronize, wait
    from spark.transforming import SparkEngine, transform
    from spark.writing import undo, unfinished_jobs

_HOMES = {
    "backups": ("backup", "restore"),
    "changes": ("follow",),
    "corrections": ("Corrected", "corrected"),
    "edges": ("Graph", "graph"),
    "elsa": ("ElsaSource", "lookup"),
    "exports": ("diff_load",),
    "jobs": ("Job",),
    "live": ("Elements", "elements"),
    "pipeline": ("Pipeline",),
    "repairing": ("repair",),
    "source": ("ModelSource", "register"),
    "synchronizing": ("Target", "synchronize", "wait"),
    "transforming": ("SparkEngine", "transform"),
    "writing": ("undo", "unfinished_jobs"),
}
_MODULES = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'spark' has no attribute {name!r}", name=name, obj=sys.modules[__name__])
    found = globals()[name] = getattr(import_module(f"spark.{_MODULES[name]}"), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


__all__ = [
    "Corrected",
    "Elements",
    "ElsaSource",
    "Graph",
    "Job",
    "ModelSource",
    "Pipeline",
    "SparkEngine",
    "Target",
    "backup",
    "corrected",
    "diff_load",
    "elements",
    "follow",
    "graph",
    "lookup",
    "register",
    "repair",
    "restore",
    "session",
    "synchronize",
    "transform",
    "undo",
    "unfinished_jobs",
    "wait",
]
