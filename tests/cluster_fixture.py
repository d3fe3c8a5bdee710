"""Real HBase clusters for a test session, each started when the first test asks for it and stopped after the last.

A test that leaves a process dead restarts it: the clusters are shared by all modules.
"""

from collections.abc import Iterator

import pytest

from neomodel import cluster
from neomodel.cluster import Cluster


def running(folder: str, servers: int, *, tls: bool = False) -> Iterator[Cluster]:
    """A cluster in this folder for as long as the iterator is at its one element."""
    try:
        yield cluster.up(folder, servers=servers, tls=tls)
    finally:
        cluster.down(folder)


@pytest.fixture(scope="session")
def hbase(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """One server on plain files, with its gateway pair."""
    yield from running(str(tmp_path_factory.mktemp("hbase")), 1)


@pytest.fixture(scope="session")
def hbase_tls(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """One server on plain files, with a gateway pair that speaks TLS."""
    yield from running(str(tmp_path_factory.mktemp("hbase_tls")), 1, tls=True)


@pytest.fixture(scope="session")
def hbase3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Three region servers on HDFS, a gateway pair beside each."""
    yield from running(str(tmp_path_factory.mktemp("hbase3")), 3)
