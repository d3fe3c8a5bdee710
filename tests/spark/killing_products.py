"""A pipeline in the midst of which something is killed: ``python -m tests.spark.killing_products``.

Arguments: the master, the store, the folder for files, a folder for marks, and where it dies: with commas between,
``worker:STEP`` or ``driver:STEP`` in a task that writes that step, or the driver at a moment of its own: ``begun``
(claimed, nothing done), ``computing`` (the second step is to be written), ``tidying`` (all its files are there, and
others that are to go), ``unlisted`` (the second step written, not on record), ``listed`` (on record), ``ending`` (all
is done but the run is not).
"""

import os
import signal
import sys
from pathlib import Path
from typing import Any

import neomodel as nm
import spark
from metamodels.anna.runs import Claim
from metamodels.elsa import Token
from spark import outputs, sources, steps
from tests.spark.killing import kill, own_session
from tests.spark.products import turnover

BLOCK = 2
"""Rows of a file, so that both steps are written by tasks."""


class DeadlyWriter(outputs.FileWriter):
    """Kills something when it is to write a file, if nobody has done so before."""

    victims: tuple[str, ...] = ()
    marks = ""
    driver = 0

    def put(self, table: Any) -> dict[str, Any]:
        written = super().put(table) if table.num_rows % 2 else None
        for victim, _, step in (one.partition(":") for one in self.victims):
            if step and self.folder.endswith(step):
                kill(victim, self.marks, self.driver)
        return written or super().put(table)


class DeadlySink(outputs.FileSink):
    def writer(self, schema: Any, overwrite: bool) -> outputs.FileWriter:
        made = super().writer(schema, overwrite)
        deadly = DeadlyWriter(made.folder, made.block, made._key, schema)
        deadly.victims = tuple(os.environ["VICTIMS"].split(","))
        deadly.marks, deadly.driver = os.environ["MARKS"], int(os.environ["DRIVER"])
        return deadly


def dies(moment: str, marks: str) -> None:
    (Path(marks) / moment).touch()
    os.kill(os.getpid(), signal.SIGKILL)


def main(master: str, store: str, folder: str, marks: str, victims: str, token: str, ingest: str) -> None:
    os.environ |= {"VICTIMS": victims, "MARKS": marks, "DRIVER": str(os.getpid())}
    session = own_session(master)
    sources.FileSink = DeadlySink  # type: ignore[misc,attr-defined]
    commit, end, working = Claim.commit, Claim.end, Claim.working

    def deadly_commit(claim: Claim, step: Any) -> None:
        if victims == "unlisted" and step.step == "by_city":
            dies(victims, marks)
        commit(claim, step)
        if victims == "listed":
            dies(victims, marks)

    def deadly_end(claim: Claim, state: Any, **more: Any) -> None:
        if victims == "ending":
            dies(victims, marks)
        end(claim, state, **more)

    def deadly_working(claim: Claim) -> Any:
        if victims == "begun":
            dies(victims, marks)
        return working(claim)

    write, tidied = steps.write, outputs._tidied

    def deadly_write(frame: Any, schema: Any, key: Any, folder: Path, *more: Any) -> Any:
        if victims == "computing" and folder.name == "by_city":
            dies(victims, marks)
        return write(frame, schema, key, folder, *more)

    def deadly_tidied(folder: Path, files: Any) -> None:
        if victims == "tidying" and folder.name == "by_city":
            dies(victims, marks)
        tidied(folder, files)

    steps.write, outputs._tidied = deadly_write, deadly_tidied
    Claim.commit, Claim.end, Claim.working = deadly_commit, deadly_end, deadly_working  # type: ignore[method-assign]
    made = spark.Pipeline(turnover(), nm.connect(store), folder, session=session, block=BLOCK, lease=3600)
    made.run(token=Token.parse(token), actions=(None, int(ingest)))
    (Path(marks) / "finished").touch()


if __name__ == "__main__":
    main(*sys.argv[1:])
