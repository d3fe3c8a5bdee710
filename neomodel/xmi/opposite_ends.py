"""Links of which files name one end only: the other is added, as EMF does when it loads a file.

That is looked into for those references only whose ends don't say the same, all their links together; for others it
costs nothing. What was found is in a database on disk, whose rows are links: which ends name it, and when the last did.
"""

import sqlite3
import tempfile
from collections.abc import Iterator
from typing import Any

from neomodel.xmi.completing import Completing
from neomodel.xmi.frames import Work
from neomodel.xmi.shapes import Pair, Slot

_PAGE = 5000

# Of the links of an end that holds one only, that one counts which it names itself, else the one that was named last.
_RIVAL = """
UPDATE link SET gone = 1 WHERE pair = ? AND EXISTS (
    SELECT 1 FROM link AS other
    WHERE other.pair = link.pair AND other.{one} = link.{one} AND other.{far} <> link.{far} AND NOT other.gone
    AND (other.{said} > link.{said} OR (other.{said} = link.{said} AND other.last > link.last))
)
"""


class OppositeEnds:
    """What has to be added to, and taken out of, references whose ends don't say the same."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self._folder = tempfile.TemporaryDirectory()
        self._database = sqlite3.connect(f"{self._folder.name}/links", isolation_level=None)
        self._database.execute("PRAGMA journal_mode = OFF")
        self._database.execute("PRAGMA synchronous = OFF")
        self._database.execute(
            "CREATE TABLE link (pair INTEGER, a TEXT, b TEXT, said_a INTEGER, said_b INTEGER, last INTEGER, "
            "gone INTEGER DEFAULT 0, PRIMARY KEY (pair, a, b)) WITHOUT ROWID"
        )

    def find(self, completing: Completing) -> None:
        """Look at all links whose ends may not say the same."""
        self._gather(completing)
        self._decide()

    def close(self) -> None:
        self._database.close()
        self._folder.cleanup()

    def amend(self, oid: str, slot: Slot, tokens: list[str]) -> Iterator[str]:
        """What an end holds: what the file says of it but what another end has, then what others say of it."""
        pair = slot.pair
        assert pair is not None
        mirrored = pair.features[0] is pair.features[1]
        said, added = set(tokens), []
        gone = set()
        for own, far in (("a", "b"), ("b", "a")) if mirrored else ((("a", "b"), ("b", "a"))[slot.side],):
            query = f"SELECT {far}, gone FROM link WHERE pair = ? AND {own} = ? ORDER BY last"
            for other, left in self._database.execute(query, [pair.number, oid]):
                if left:
                    gone.add(other)
                elif other not in said:
                    said.add(other)
                    added.append(other)
        yield from (one for one in tokens if one not in gone)
        yield from added

    def _gather(self, completing: Completing) -> None:
        insert = (
            "INSERT INTO link (pair, a, b, said_a, said_b, last) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET "
            "said_a = max(said_a, excluded.said_a), said_b = max(said_b, excluded.said_b), last = excluded.last"
        )
        page: list[tuple[Any, ...]] = []
        number = 0
        self._database.execute("BEGIN")
        for spool in (self._work.rows, self._work.roots):
            for record in spool:
                slots = self._work.shapes.all[record[1]].slots
                if not any((pair := slots[at].pair) is not None and not pair.even for at, _ in record[-1]):
                    continue
                for slot, tokens in completing.tokens(record, told=False):
                    if slot.pair is None or slot.pair.even:
                        continue
                    for token in tokens:
                        number += 1
                        if token[0] != "@":
                            page.append((slot.pair.number, *_ends(slot, record[0], token), number))
                if len(page) > _PAGE:
                    self._database.executemany(insert, page)
                    page = []
        self._database.executemany(insert, page)
        self._database.execute("CREATE INDEX by_b ON link (pair, b)")
        self._database.execute("COMMIT")

    def _decide(self) -> None:
        for pair in self._work.shapes.pairs:
            if pair.even:
                continue
            self._database.execute("BEGIN")
            for one, far, feature in (("a", "b", pair.features[0]), ("b", "a", pair.features[1])):
                if not feature.many:
                    self._database.execute(_RIVAL.format(one=one, far=far, said=f"said_{one}"), [pair.number])
            self._database.execute("COMMIT")
            self._tell(pair)

    def _tell(self, pair: Pair) -> None:
        (gone,) = self._database.execute("SELECT sum(gone) FROM link WHERE pair = ?", [pair.number]).fetchone()
        if gone:
            named = f"{pair.features[0]} and {pair.features[1]}"
            reason = f"{gone} links of {named} contradict others, where only one can be; they are left out"
            self._work.notices.add(self._work.files.paths[0], 1, reason)


def _ends(slot: Slot, oid: str, token: str) -> tuple[str, str, int, int]:
    if slot.pair is not None and slot.pair.features[0] is slot.pair.features[1]:
        return min(oid, token), max(oid, token), int(oid <= token), int(oid >= token)
    return (oid, token, 1, 0) if slot.side == 0 else (token, oid, 0, 1)
