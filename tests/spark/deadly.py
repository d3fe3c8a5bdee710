"""A target whose tasks are killed in the midst of their work, once at each stage, and a driver that is."""

import os
import signal
import sys
from pathlib import Path
from typing import Any

import attrs

import spark
from metamodels.elsa.dead_letters import DeadLetters
from metamodels.elsa.intake import Intake, Round
from metamodels.elsa.messages import Message
from neomodel.operations import Applied, Operation
from spark.synchronizing import Target, synchronize, wait

STAGES = ("read", "kept", "joined", "half", "written")
"""In a task: before a dead letter is kept and after, before a part is written, when half of it is, when all is."""


def die(marks: str, stage: str, times: int = 1) -> None:
    """Kill this process, so often for each stage."""
    for number in range(times):
        try:
            (Path(marks) / f"{stage}{number or ''}").touch(exist_ok=False)
        except FileExistsError:
            continue
        os.kill(os.getpid(), signal.SIGKILL)


class DeadlyLetters(DeadLetters):
    marks = ""
    stages: tuple[str, ...] = ()
    times = 1

    def put(self, rejected: Any) -> int:
        some: list[tuple[Message, str]] = list(rejected)
        if some and "read" in self.stages:
            die(self.marks, "read", self.times)
        count = super().put(some)
        if some and "kept" in self.stages:
            die(self.marks, "kept", self.times)
        return count


class DeadlyIntake(Intake):
    marks = ""
    stages: tuple[str, ...] = ()
    times = 1

    def write(self, round_: Round, part: int, operations: list[Operation]) -> Applied:
        if "joined" in self.stages:
            die(self.marks, "joined", self.times)
        if "half" in self.stages and not (Path(self.marks) / f"half{self.times - 1 or ''}").exists():
            super().write(round_, part, operations[: len(operations) // 2])
            die(self.marks, "half", self.times)
        done = super().write(round_, part, operations)
        if "written" in self.stages:
            die(self.marks, "written", self.times)
        return done

    def end(self) -> None:
        super().end()
        if "ended" in self.stages:
            die(self.marks, "ended")


@attrs.frozen
class DeadlyTarget(Target):
    marks: str = ""
    stages: tuple[str, ...] = ()
    times: int = 1

    def intake(self) -> Intake:
        made = DeadlyIntake(self.open(), lease=self.lease)
        made.dead_letters = DeadlyLetters(made._table)
        for one in (made, made.dead_letters):
            one.marks, one.stages, one.times = self.marks, self.stages, self.times
        return made


def main(store: str, system: str, folder: str, marks: str, stages: str) -> None:
    """A driver of its own, that is killed where one of the stages says so; without any it comes to its end."""
    os.environ |= {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    from tests.spark.killing import own_session

    session = own_session("local[2,8]")
    spark.register(session)
    target = DeadlyTarget(store, system, lease=2.0, marks=marks, stages=tuple(stages.split(",")))
    options = {"folder": f"{folder}/queue", "log": f"{folder}/checkpoint/queue", "bytes": "4000"}
    frame = session.readStream.format("elsa-folder").options(**options).load()
    wait(synchronize(frame, target, f"{folder}/checkpoint", once=True))
    session.stop()
    (Path(marks) / "finished").touch()


if __name__ == "__main__":
    main(*sys.argv[1:])
