"""What all queues have in common: the columns of a stream of messages, and how a source tells how it is.

A source runs in a process of Spark's. What is left in the queue, and whether it can be reached, it puts down in a file
beside the checkpoint, where the process that runs the job looks.
"""

import json
import uuid
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql.types import BinaryType, StringType, StructField, StructType

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

LONGEST_QUEUE, LONGEST_PLACE = 150, 240  # bytes
STATE = "source.json"


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
