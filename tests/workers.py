"""Which tests share a worker, where several workers run them at once, as in `make test` or by ``pytest -n 2``.

A cluster, and Spark, is started once in a run, by the worker that runs all tests that ask for it. So tests that ask for
something that has a group here run one after another, and those groups begin first; every other test goes to whoever
has nothing to do.
"""

import os
from pathlib import Path
from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling

GROUPS = {"hbase": "hbase", "hbase_tls": "tls", "hbase3": "spark", "session": "spark", "emf": "emf"}
"""Of each fixture that there is one of in a run, the group of the tests that ask for it."""
_KEY = "neomodel/groups"


class Scheduling(LoadScopeScheduling):
    """Gives out groups whole, the largest first, and then the other tests."""

    def schedule(self) -> None:
        if self.collection is None:  # the first time, when all workers have collected, and have written this
            self._groups = self.config.cache.get(_KEY, None)
        super().schedule()

    def _split_scope(self, nodeid: str) -> str:
        return self._groups.get(nodeid, nodeid)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Scheduling:
    return Scheduling(config, log)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Find the group of each test; where this is a worker, tell the process that gives out tests."""
    found = {item.nodeid: group for item in items if (group := group_of(item))}
    if worker():
        config.cache.set(_KEY, found)


def group_of(item: pytest.Item) -> str | None:
    """By what a test asks for by name; or by a parameter of it, which then is the name of what is asked for later."""
    if not isinstance(item, pytest.Function):
        return None
    parameters = item.callspec.params.values() if hasattr(item, "callspec") else ()
    names = {*item.fixturenames, *(value for value in parameters if isinstance(value, str))}
    groups = {GROUPS[name] for name in names & GROUPS.keys()}
    if len(groups) > 1:
        raise pytest.UsageError(f"{item.nodeid} asks for what different workers start: {', '.join(sorted(groups))}")
    return groups.pop() if groups else None


def only(name: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for the one of its kind in this run; or `FileExistsError` if another worker has one, because a test asks
    for it in a way that `group_of` does not see."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if worker() else base) / name
    folder.mkdir()
    return folder


def worker() -> bool:
    return "PYTEST_XDIST_WORKER" in os.environ
