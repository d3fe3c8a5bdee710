"""What a process knows of the tables of an HBase store, so that it need not ask each time. All may be a little old.

Safe from any thread: entries are replaced, never changed.
"""

import time
from bisect import bisect_right
from collections.abc import Callable, Iterator

import attrs

from neomodel.errors import StoreUnavailable
from neomodel.stores.base import Region
from neomodel.stores.hbase_gateways import Gateways, Pair

LEASE = 1.0  # seconds for which what a table says of itself is believed
_LOCATIONS = 10.0  # seconds for which regions are believed to be where they are: a matter of speed, any pair will do
_REMEMBERED = 50_000
_ANYWHERE = [Region(b"", None)]


@attrs.frozen
class Facts:
    """What a table says of itself."""

    families: frozenset[bytes]
    horizon: int


@attrs.frozen
class Locations:
    """Which pair of gateways stands beside each region."""

    starts: list[bytes]
    pairs: list[Pair]

    def near(self, key: bytes) -> Pair:
        return self.pairs[max(0, bisect_right(self.starts, key) - 1)]

    def segments(self, start: bytes, stop: bytes | None) -> Iterator[tuple[Pair, bytes, bytes | None]]:
        """A range of keys in parts, one for each region it touches."""
        ends: list[bytes | None] = [*self.starts[1:], None]
        for pair, low, high in zip(self.pairs, self.starts, ends, strict=True):
            first = max(start, low)
            last = high if stop is None else stop if high is None else min(stop, high)
            if last is None or first < last:
                yield pair, first, last


class Knowledge:
    def __init__(self, gateways: Gateways) -> None:
        self._gateways = gateways
        self._facts: dict[bytes, tuple[float, Facts]] = {}
        self._locations: dict[bytes, tuple[float, Locations]] = {}
        self._stamps: dict[tuple[bytes, bytes], tuple[bytes, int]] = {}
        self._older_stamps: dict[tuple[bytes, bytes], tuple[bytes, int]] = {}

    def facts(self, table: bytes, ask: Callable[[], Facts]) -> Facts:
        """What the table said not more than `LEASE` ago."""
        asked = time.monotonic()
        until, known = self._facts.get(table, (0.0, None))
        if known is None or until < asked:
            known = ask()
            self._facts[table] = (asked + LEASE, known)
        return known

    def locations(self, table: bytes, ask: Callable[[], list[Region]]) -> Locations:
        """Where the regions were not long ago, or before that if nobody can tell."""
        asked = time.monotonic()
        until, known = self._locations.get(table, (0.0, None))
        if known is None or until < asked:
            try:
                known = self._beside(ask() if len(self._gateways.pairs) > 1 else _ANYWHERE)
            except StoreUnavailable:  # a gateway can't say while a region is between two servers
                known = known or self._beside(_ANYWHERE)
            self._locations[table] = (asked + _LOCATIONS, known)
        return known

    def _beside(self, regions: list[Region]) -> Locations:
        pairs = [self._gateways.beside(f"{region.host}:{region.port}") for region in regions]
        return Locations([region.start for region in regions], pairs)

    def forget(self, table: bytes) -> None:
        self._facts.pop(table, None)
        self._locations.pop(table, None)

    def remember(self, table: bytes, key: bytes, version: bytes, stamp: int) -> None:
        """The time of a version that was seen: a swap that replaces it can be stamped later without asking."""
        self._stamps[table, key] = (version, stamp)
        if len(self._stamps) > _REMEMBERED:  # what was seen before the last so many is forgotten all at once
            self._stamps, self._older_stamps = {}, self._stamps

    def remembered(self, table: bytes, key: bytes, version: bytes) -> int | None:
        """That time. None for a row without a version: unlike a version, having none may come again, and later."""
        place = (table, key)
        seen, stamp = self._stamps.get(place) or self._older_stamps.get(place) or (None, 0)
        return stamp if version and seen == version else None
