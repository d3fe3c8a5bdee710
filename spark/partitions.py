"""Parts of a model: one for each region, so that a task reads what lies on one host, from the gateway beside it.

A part is a range of keys as of a time. Where regions are split or moved while a job runs, its parts stay what they are:
each is read from wherever its rows are by then, none twice and none missing.
"""

from collections.abc import Collection

from pyspark.sql.datasource import InputPartition

from neomodel.stores import Table


class Part(InputPartition):
    """The rows with `start` <= key < `stop` (None: to the end), and the host that serves them when the job is planned;
    of some keys only, if `keys` is not None."""

    def __init__(
        self, start: bytes, stop: bytes | None, host: str | None = None, keys: list[bytes] | None = None
    ) -> None:
        super().__init__((start, stop, host, keys))
        self.start = start
        self.stop = stop
        self.host = host
        self.keys = keys


def parts_of(
    table: Table, start: bytes = b"", stop: bytes | None = None, keys: Collection[bytes] | None = None
) -> list[Part]:
    """A part for each region that has some of a range, or some of these keys. One call."""
    found = []
    for region in table.regions():
        low = max(region.start, start)
        high = region.stop if stop is None else stop if region.stop is None else min(region.stop, stop)
        if high is not None and low >= high:
            continue
        host = None if region.host is None else f"{region.host}:{region.port}"
        chosen = None if keys is None else sorted(key for key in keys if low <= key and (high is None or key < high))
        if chosen is None or chosen:
            found.append(Part(low, high, host, chosen))
    return found
