"""Real HBase clusters for a test session, each started when the first test asks for it and stopped after the last.

A test that leaves a process dead restarts it: the clusters are shared by all modules.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from neomodel import cluster
from neomodel.cluster import Cluster
from tests.workers import only, worker


def running(folder: Path, servers: int, *, tls: bool = False) -> Iterator[Cluster]:
    """A cluster in this folder for as long as the iterator is at its one element."""
    try:
        yield cluster.up(folder, servers=servers, tls=tls)
    finally:
        cluster.down(folder)


@pytest.fixture(scope="session")
def hbase(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """One server on plain files, with its gateway pair."""
    yield from running(only("hbase", tmp_path_factory), 1)


@pytest.fixture(scope="session")
def hbase_tls(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """One server on plain files, with a gateway pair that speaks TLS."""
    yield from running(only("hbase_tls", tmp_path_factory), 1, tls=True)


@pytest.fixture(scope="session")
def hbase3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Three region servers on HDFS, a gateway pair beside each."""
    yield from running(only("hbase3", tmp_path_factory), 3)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Stop what workers have left running: when a run is broken off they have 15 s, which a cluster may need alone."""
    if worker() or not config.getoption("numprocesses", None):
        return
    for folder in config._tmp_path_factory.getbasetemp().iterdir():  # type: ignore[attr-defined]
        cluster.down(folder)
