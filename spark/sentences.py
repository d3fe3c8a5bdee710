"""Errors of ours as one sentence where Spark shows them: without the trace of how Python came there."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from neomodel.errors import NeomodelError

_HIDE = "SPARK_HIDE_TRACEBACK"


@contextmanager
def one_sentence() -> Iterator[None]:
    """Around all that Spark calls of ours. A Python worker that fails tells what it failed with, and ends; so what it
    is told here to leave out is the trace of this error, and of no other."""
    try:
        yield
    except NeomodelError:
        if _in_worker():
            os.environ[_HIDE] = "1"
        raise


def _in_worker() -> bool:
    """Whether this process is one that Spark started to run Python for it."""
    spec = getattr(sys.modules["__main__"], "__spec__", None)
    return spec is not None and spec.name.startswith("pyspark.")
