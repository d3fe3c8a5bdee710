"""A Spark that transforms, and in the midst of it something is killed: ``python -m tests.spark.killing_rules``.

Arguments: the master, the store, what is killed (worker, executor, driver; with commas between if several), and a
folder for the marks that say that it was done.
"""

import os
import sys
from pathlib import Path

import neomodel as nm
import spark
from spark import transforming
from spark.partitions import Part
from tests.spark.killing import kill, own_session

NODES = 600


def deadly(victims: str = "", marks: str = "", driver: int = 0) -> nm.Transformation:
    """Makes a box of each node. Some nodes are the death of something; that is no part of its version."""
    made = nm.Transformation("deadly", version="1")

    @made.rule
    def boxed(node: "nodes.Node", box: "boxes.Box") -> None:  # type: ignore[name-defined]  # noqa: F821
        for number, victim in enumerate(victims.split(",") if victims else ()):
            if node.name == f"n{NODES // 2 + 20 * number}":
                kill(victim, marks, driver)
        box.label = node.name
        box.peers = [nm.trace(other) for other in node.others]

    return made


def main() -> None:
    master, url, victims, marks = sys.argv[1:]
    model = nm.connect(url).open("m")
    keys = [key for key, _ in model.table.scan(columns=(b"t:",))]
    cuts = [keys[len(keys) * number // 4] for number in range(1, 4)]
    parts = [Part(low, high) for low, high in zip([b"", *cuts], [*cuts, None], strict=True)]
    transforming.parts_of = lambda _: parts  # type: ignore[assignment,misc]
    spark.transform(own_session(master), deadly(victims, marks, os.getpid()), model, "t")
    (Path(marks) / "finished").touch()


if __name__ == "__main__":
    main()
