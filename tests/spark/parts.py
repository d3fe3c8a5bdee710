"""Parts of a model as tasks see them, without a Spark: what they make, and what it costs."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from weakref import WeakValueDictionary

import pytest

import neomodel as nm
from neomodel.prefilling import ROWS
from neomodel.sharing import shared
from neomodel.stores.wrappers import Caching, Counting
from spark.live import Task
from spark.partitions import Part
from spark.reads import Counter, Reads
from spark.snapshots import Snapshot
from tests.spark.things import Thing


class Tasks:
    """Runs tasks in this process, on a store that counts."""

    def __init__(self, model: nm.Model, counting: Counting) -> None:
        self.snapshot = Snapshot.of(model)
        self.counting = counting
        self._local: list[int] = []
        self._remote: list[int] = []

    def objects(self, part: Part, cls: Any = Thing, rows: int = ROWS) -> Iterator[Any]:
        """What a task makes of a part."""
        task = Task(self.snapshot, cls.eClass.type_name, rows)
        return task([part], Counter(self._local.append, self._remote.append))

    @property
    def reads(self) -> Reads:
        return Reads(sum(self._local), sum(self._remote))

    @property
    def calls(self) -> dict[str, int]:
        return dict(self.counting.calls)


@contextmanager
def counted(model: nm.Model) -> Iterator[Tasks]:
    repo = shared(model.repository.store.url)
    counting = Counting(repo.store)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(repo, "store", counting)
        patch.setattr(repo, "snapshots", Caching(counting))
        patch.setattr(repo, "_open", WeakValueDictionary())
        yield Tasks(model, counting)


def halves(model: nm.Model, at: bytes) -> list[Part]:
    return [Part(b"", at), Part(at, None)]


def ids(objects: Any) -> list[str]:
    return [str(nm.oid(obj)) for obj in objects]


def inside(part: Part, obj: Any) -> bool:
    key = str(nm.oid(obj)).encode()
    return part.start <= key and (part.stop is None or key < part.stop)
