"""``python -m spark.demo [--store lmdb|hbase] [--out demo.html] [--elements 100000]``

Exit status: 0 done; 130 interrupted, and then nothing of it is kept.
"""

import argparse
import logging
import os
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pyspark.sql import SparkSession

import neomodel as nm
from neomodel import cluster
from neomodel.cli import INTERRUPTED
from neomodel.cli.cluster import sparingly
from neomodel.cli.frame import say
from spark.demo.modelling import modelled
from spark.demo.page import page
from spark.demo.reporting import reported
from spark.demo.telling import Teller
from spark.session import prepare, uninterrupted
from spark.source import register

SERVERS = 3
SETTLING = 10  # seconds until times are stable, where nobody writes from elsewhere
NEXT = """
To go on: open that page in a browser, read docs/tutorial.md, or try your own models:
  source .venv/bin/activate
  neomodel --help
"""


def main() -> int:
    """Show it all; returns the exit status."""
    given = _arguments()
    out = Path(given.out)
    signal.signal(signal.SIGINT, _interrupt)
    try:
        text = _shown(given.store, given.elements)
        out.write_text(text, encoding="utf-8")
    except KeyboardInterrupt:
        say("interrupted; nothing of it was kept")
        return INTERRUPTED
    print(f"\nAll of it, with pictures: {out.resolve()}\n{NEXT}")
    return 0


def _interrupt(number: int, _: object) -> None:
    logging.disable()  # py4j logs, with a stack, that a call to Java was left
    raise KeyboardInterrupt(number)


def _shown(store: str, elements: int) -> str:
    """Do it, telling each step; returns the page. Nothing else stays, nor if it fails or is interrupted."""
    tell = Teller()
    with (
        tempfile.TemporaryDirectory(prefix="neomodel-demo-") as name,
        _store(store, Path(name), tell) as url,
        _session(tell) as session,
    ):
        tell.part("A model")
        model = modelled(url, session, Path(name), elements, tell)
        tell.part("A report that can be computed again")
        with nm.connect(url) as repository:
            return page(url, tell, model, reported(repository, session, Path(name), tell))


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
        started = cluster.up(folder / "hbase", servers=SERVERS, progress=sparingly(tell.within))
    try:
        yield f"{started.url}&settling={SETTLING}"
    finally:
        cluster.down(folder / "hbase")


@contextmanager
def _session(tell: Teller) -> Iterator[SparkSession]:
    """A Spark, which has ended before what it works on goes away."""
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
    tell.part("Spark")
    with tell.step("started, on two cores of this machine"), uninterrupted():
        session = builder.getOrCreate()
    try:
        session.sparkContext.setLogLevel("OFF")  # what fails is raised here, with what Java says of it
        register(session)
        yield session
    finally:
        session.stop()


if __name__ == "__main__":
    sys.exit(main())
