"""What a process knows of a table of an HBase store, so that it need not ask each time. All may be a little old.

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
# Versions of a table, from as many up to twice as many: what is swapped is mostly what was read just before, one by one
# or by the thousand. One takes about 0.3 kB, thus 3 MB at most. Having forgotten one costs its swap another round trip.
_REMEMBERED = 5_000
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
    """Of one table."""

    def __init__(self, gateways: Gateways) -> None:
        self._gateways = gateways
        self._facts: tuple[float, Facts | None] = (0.0, None)
        self._locations: tuple[float, Locations | None] = (0.0, None)
        self._stamps: dict[bytes, tuple[bytes, int]] = {}
        self._older_stamps: dict[bytes, tuple[bytes, int]] = {}

    def facts(self, ask: Callable[[], Facts]) -> Facts:
        """What the table said not more than `LEASE` ago."""
        asked = time.monotonic()
        until, known = self._facts
        if known is None or until < asked:
            known = ask()
            self._facts = (asked + LEASE, known)
        return known

    def locations(self, ask: Callable[[], list[Region]]) -> Locations:
        """Where the regions were not long ago, or before that if nobody can tell."""
        asked = time.monotonic()
        until, known = self._locations
        if known is None or until < asked:
            try:
                known = self._beside(ask() if len(self._gateways.pairs) > 1 else _ANYWHERE)
            except StoreUnavailable:  # a gateway can't say while a region is between two servers
                known = known or self._beside(_ANYWHERE)
            self._locations = (asked + _LOCATIONS, known)
        return known

    def _beside(self, regions: list[Region]) -> Locations:
        pairs = [self._gateways.beside(f"{region.host}:{region.port}") for region in regions]
        return Locations([region.start for region in regions], pairs)

    def forget(self) -> None:
        """All of it: it may be another table from now on."""
        self._facts, self._locations = (0.0, None), (0.0, None)
        self._stamps, self._older_stamps = {}, {}

    def remember(self, seen: dict[bytes, tuple[bytes, int]]) -> None:
        """Versions that were seen, and their times: a swap that replaces one can be stamped later without asking."""
        self._stamps.update(seen)
        if len(self._stamps) > _REMEMBERED:  # what was seen before the last so many is forgotten all at once
            self._stamps, self._older_stamps = {}, self._stamps

    def remembered(self, key: bytes, version: bytes) -> int | None:
        """That time. None for a row without a version: unlike a version, having none may come again, and later."""
        seen, stamp = self._stamps.get(key) or self._older_stamps.get(key) or (None, 0)
        return stamp if version and seen == version else None
