"""What all queues have in common: the columns of a stream of messages, lines as such, and how a source tells how it is.

A source runs in a process of Spark's. What is left in the queue, and whether it can be reached, it puts down in a file
beside the checkpoint, where the process that runs the job looks.
"""

import json
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql.types import BinaryType, LongType, StringType, StructField, StructType

QUEUED = StructType(
    [
        StructField("queue", StringType()),
        StructField("place", StringType()),
        StructField("key", BinaryType()),
        StructField("value", BinaryType()),
    ]
)
"""The columns that a stream of messages has, from whatever queue."""
ARROW = pa.schema([("queue", pa.string()), ("place", pa.string()), ("key", pa.binary()), ("value", pa.binary())])
LINES = StructType(
    [
        StructField("queue", StringType()),
        StructField("file", StringType()),
        StructField("start", LongType()),
        StructField("lines", BinaryType()),
    ]
)
"""Those of a stream that has many messages in a row: whole lines of a file, the first of which begins at a byte. Spark
takes each row in and out of Java, which costs as much as to read a message."""
LINES_ARROW = pa.schema([("queue", pa.string()), ("file", pa.string()), ("start", pa.int64()), ("lines", pa.binary())])

LONGEST_QUEUE, LONGEST_PLACE = 150, 240  # bytes
LONGEST_FILE = LONGEST_PLACE - 20
STATE = "source.json"


def place(file: str, start: int) -> str:
    """That of the message which is the line of a file that begins at a byte."""
    return f"{file}/{start:015}"


def messages(start: int, lines: bytes) -> Iterator[tuple[int, bytes]]:
    """The lines that are messages, with the byte at which each begins; empty ones are none."""
    for line in lines.split(b"\n"):
        if line and not line.isspace():
            yield start, line.rstrip(b"\r")
        start += len(line) + 1


def write_state(log: Path, state: dict[str, Any]) -> None:
    """Put down how a source is, whole, by whichever process sees it first: `read_state` reads it."""
    log.mkdir(parents=True, exist_ok=True)
    partial = log / f"{STATE}.{uuid.uuid4().hex}"
    partial.write_text(json.dumps(state))
    partial.replace(log / STATE)


def read_state(log: Path) -> dict[str, Any]:
    """What a source has put down last; nothing, if it has not."""
    try:
        found: dict[str, Any] = json.loads((log / STATE).read_text())
    except FileNotFoundError:
        return {}
    return found
