"""Which version answers where: the plane of event and ingest times, cut into areas."""

from collections.abc import Iterable

import attrs

from metamodels.elsa.versions import Version


@attrs.frozen
class Area:
    """Questions with `left` <= event < `right` and `bottom` <= ingest < `top` are answered by `version`. None is no
    bound."""

    version: Version
    left: int
    right: int | None
    bottom: int
    top: int | None


def areas(versions: Iterable[Version]) -> list[Area]:
    """The areas of all versions of a record. They don't overlap; where there is none, nothing was known."""
    ordered = sorted(versions, key=lambda version: version.ingest)
    known: dict[int, Version] = {}
    open_: dict[tuple[int, int | None], Area] = {}
    done: list[Area] = []
    times = sorted({version.ingest for version in ordered})
    for ingest in times:
        known |= {version.event: version for version in ordered if version.ingest == ingest}
        events = sorted(known)
        ends: list[int | None] = [*events[1:], None]
        cuts = {(left, right): known[left] for left, right in zip(events, ends, strict=True)}
        for span, area in list(open_.items()):
            if cuts.get(span) != area.version:
                done.append(attrs.evolve(open_.pop(span), top=ingest))
        for (left, right), version in cuts.items():
            if (left, right) not in open_:
                open_[left, right] = Area(version, left, right, ingest, None)
    return [*done, *open_.values()]
