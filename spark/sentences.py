"""Errors as one sentence: of ours where Spark shows them, and of Spark's what they were about, without the traces."""

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from neomodel.errors import NeomodelError

_HIDE = "SPARK_HIDE_TRACEBACK"
_OURS = re.compile(r"^neomodel\.errors\.\w+: (.*)", re.MULTILINE)
_CAUSE = re.compile(r"^Caused by: [\w.$]+: (.*)", re.MULTILINE)
_ERROR = re.compile(r"^[\w.]+(?:Error|Exception): .*", re.MULTILINE)


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


def reason_of(error: Exception) -> str:
    """What we said where it failed, in a process of Spark or here; else the last cause that Java or Python told."""
    told = str(error)
    for found in (_OURS.findall(told), _CAUSE.findall(told), _ERROR.findall(told)):
        if found:
            return str(found[-1])
    return told.strip().partition("\n")[0] or type(error).__name__
