"""Synchronizations that are begun again where Spark itself was too slow."""

from collections.abc import Callable

from pyspark.sql.streaming.query import StreamingQuery

from neomodel.errors import SyncFailed
from spark.synchronizing import wait

TOO_SLOW = ("failed to connect back", "Can not open socket", "Timed out while waiting for the Python worker")
"""What Spark says if a process of its own did not answer within ten seconds, as it may not on a busy machine."""
_MOST = 5


def finished(start: Callable[[], StreamingQuery]) -> None:
    """Return when the stream has come to its end; `SyncFailed` as it says itself."""
    for left in reversed(range(_MOST)):
        query = start()
        try:
            wait(query)
        except SyncFailed as exc:
            if not left or not any(slow in exc.reason for slow in TOO_SLOW):
                raise
        else:
            return
        finally:
            query.stop()
