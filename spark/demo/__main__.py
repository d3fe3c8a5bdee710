"""``python -m spark.demo [--store lmdb|hbase] [--out demo.html] [--elements 100000]``"""

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pyspark.sql import SparkSession

import neomodel as nm
from neomodel import cluster
from neomodel.cli.cluster import sparingly
from spark.demo.modelling import modelled
from spark.demo.page import page
from spark.demo.reporting import reported
from spark.demo.telling import Teller
from spark.session import prepare
from spark.source import register

SERVERS = 3
SETTLING = 10  # seconds until times are stable, where nobody writes from elsewhere


def main() -> None:
    given = _arguments()
    tell = Teller()
    with tempfile.TemporaryDirectory(prefix="neomodel-demo-") as name, _store(given.store, Path(name), tell) as url:
        tell.part("Spark")
        with tell.step("started, on two cores of this machine"):
            session = _session()
        tell.part("A model")
        model = modelled(url, session, Path(name), given.elements, tell)
        tell.part("A report that can be computed again")
        out = Path(given.out)
        with nm.connect(url) as repository:
            product = reported(repository, session, Path(name), tell)
            out.write_text(page(url, tell, model, product), encoding="utf-8")
        session.stop()
    print(f"\nAll of it, with pictures: {out.resolve()}")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m spark.demo", description=sys.modules["spark.demo"].__doc__)
    parser.add_argument("--store", choices=("lmdb", "hbase"), default="lmdb", help="hbase: three servers, started here")
    parser.add_argument("--out", default="demo.html", help="the page to write")
    parser.add_argument("--elements", type=int, default=100_000, help="of the model")
    return parser.parse_args()


@contextmanager
def _store(kind: str, folder: Path, tell: Teller) -> Iterator[str]:
    """The URL of a new store, which goes away."""
    if kind == "lmdb":
        yield f"lmdb:{folder}/demo.db"
        return
    tell.part("HBase")
    with tell.step(f"started, with {SERVERS} region servers, each with gateways beside it"):
        started = cluster.up(folder / "hbase", servers=SERVERS, progress=sparingly(lambda line: print(f"    {line}")))
    try:
        yield f"{started.url}&settling={SETTLING}"
    finally:
        cluster.down(folder / "hbase")


def _session() -> SparkSession:
    prepare()
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "4",
    }
    builder = SparkSession.builder.master("local[2]").appName("neomodel demo")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    register(session)
    return session


if __name__ == "__main__":
    main()
