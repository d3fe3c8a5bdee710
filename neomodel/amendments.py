"""Changes of a collection, told apart from where it is kept: in memory or in one cell, a list; else a `LongList`.

Each is called with a list and returns the new one, or is done `on` a long one, by touching as little of it as can be.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import attrs

from neomodel.checks import check_bound, same
from neomodel.kinds import EFeature
from neomodel.long_lists import LongList, Splice


class Amendment(Protocol):
    def __call__(self, raw: list[Any]) -> list[Any]: ...
    def on(self, long: LongList) -> None: ...


@attrs.frozen
class Put:
    """Let the collection hold these at an index, or at its end; those that it has already, if it is unique, move."""

    feature: EFeature
    tokens: list[Any]
    index: int | None = None

    def __call__(self, raw: list[Any]) -> list[Any]:
        known = {same(self.feature, token) for token in self.tokens} if self.feature.unique else set()
        before = [token for token in raw if same(self.feature, token) not in known] if known else raw
        at = len(before) if self.index is None else self.index
        after = [*before[:at], *self.tokens, *before[at:]]
        check_bound(self.feature, len(after))
        return after

    def on(self, long: LongList) -> None:
        held = [at for places in long.where(self.tokens).values() for at in places] if self.feature.unique else []
        if self.feature.upperBound > 1:
            check_bound(self.feature, len(long) - len(held) + len(self.tokens))
        if self.index is None and not held:
            long.append(self.tokens)
        else:
            left = len(long) - len(held)
            at = left if self.index is None else min(self.index, left)
            long.apply([*_without(held), Splice(at, 0, self.tokens)])


@attrs.frozen
class Replace:
    """Let the collection hold exactly these."""

    feature: EFeature
    tokens: list[Any]

    def __call__(self, raw: list[Any]) -> list[Any]:  # noqa: ARG002  whatever it held
        check_bound(self.feature, len(self.tokens))
        return self.tokens

    def on(self, long: LongList) -> None:
        check_bound(self.feature, len(self.tokens))
        splice = long.replacing(self.tokens)
        if splice.removed or splice.values:
            long.apply([splice])


@attrs.frozen
class Include:
    """Let the collection hold this, at its end if it does not yet."""

    token: Any

    def __call__(self, raw: list[Any]) -> list[Any]:
        return raw if self.token in raw else [*raw, self.token]

    def on(self, long: LongList) -> None:
        if self.token not in long:
            long.append([self.token])


@attrs.frozen
class Drop:
    """Let the collection hold none of these."""

    tokens: set[Any]

    def __call__(self, raw: list[Any]) -> list[Any]:
        return [token for token in raw if token not in self.tokens]

    def on(self, long: LongList) -> None:
        held = [at for places in long.where(self.tokens).values() for at in places]
        if held:
            long.apply(list(_without(held)))


@attrs.frozen
class Take:
    """Take out what is at these positions."""

    positions: set[int]

    def __call__(self, raw: list[Any]) -> list[Any]:
        return [token for at, token in enumerate(raw) if at not in self.positions]

    def on(self, long: LongList) -> None:
        if self.positions:
            long.apply(list(_without(self.positions)))


@attrs.frozen
class Move:
    """Bring what is at an index to another."""

    to: int
    index: int

    def __call__(self, raw: list[Any]) -> list[Any]:
        after = list(raw)
        after.insert(self.to, after.pop(self.index))
        return after

    def on(self, long: LongList) -> None:
        count = len(long)
        index = range(count)[self.index]
        to = range(count - 1)[self.to :].start
        long.apply([Splice(index, 1), Splice(to, 0, [long[index]])])


def held(feature: EFeature, raw: Sequence[Any], tokens: list[Any]) -> list[bool]:
    """Of each token, whether a collection holds it."""
    if isinstance(raw, LongList):
        return raw.held(tokens)
    known = {same(feature, token) for token in raw}
    return [same(feature, token) in known for token in tokens]


def _without(positions: "Sequence[int] | set[int]") -> Iterator[Splice]:
    """What takes out these positions: each run of them at once, from the end."""
    ordered = sorted(positions, reverse=True)
    start = 0
    for at in range(1, len(ordered) + 1):
        if at == len(ordered) or ordered[at] != ordered[at - 1] - 1:
            yield Splice(ordered[at - 1], at - start)
            start = at
