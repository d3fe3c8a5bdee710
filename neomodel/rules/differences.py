"""What has changed in a model between two times: which objects, and which of their features."""

from collections.abc import Iterator
from itertools import islice

from neomodel import ids, layout
from neomodel.model import Model
from neomodel.rules.reads import CLASS, PLACE
from neomodel.stores import VERSION, Row

_PAGE = 2000  # rows
_ROOT = ids.ROOT.encode()


def differences(before: Model, after: Model) -> dict[str, set[str]]:
    """The objects that differ, and in what: names of features, `PLACE`, or `CLASS` of those that came or went.

    The versions between the two times are read, and rows of what was written, as of both: two calls for 2,000 objects.
    """
    found: dict[str, set[str]] = {}
    for page in _pages(before, after):
        earlier, later = (one.table.get_many(page, at=one.as_of, columns=layout.OBJECT) for one in (before, after))
        for key, long in page.items():
            names = long | _differing(earlier.get(key, {}), later.get(key, {}))
            if names:
                found[key.decode()] = names
    return found


def _pages(before: Model, after: Model) -> Iterator[dict[bytes, set[str]]]:
    """The keys of rows that were written to, and the long collections of theirs that were."""
    written: dict[bytes, set[str]] = {}
    columns = (VERSION, layout.extent(b""))
    versions = after.table.history(since=before.as_of, until=after.as_of, columns=columns)
    for version in versions:
        if version.key == _ROOT:
            continue
        names = written.setdefault(version.key, set())
        if version.column != VERSION:
            name, _, rest = version.column[len(layout.extent(b"")) :].partition(b"\0")
            if name and rest:
                names.add(name.decode())
    remaining = iter(written.items())
    while page := dict(islice(remaining, _PAGE)):
        yield page


def _differing(before: Row, after: Row) -> set[str]:
    if layout.type_of(before) != layout.type_of(after):
        return {CLASS}
    columns = [column for column in {*before, *after} if before.get(column) != after.get(column)]
    names = {column[2:].decode() for column in columns if column.startswith(b"p:")}
    return names | ({PLACE} if any(column.startswith(b"c:") for column in columns) else set())
