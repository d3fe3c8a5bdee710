"""The store contract: tables of rows of bytes, every version kept, one atomic operation.

A store holds tables. A table is a sorted map of rows; a row is a sorted map of cells; a cell has versions, each
with the time the store gave it. Nothing here knows of objects.

**Names.** A *key* is 1 or more bytes. A *column* is ``b"p:name"``: a *family* of one ASCII letter, a colon, a
qualifier of 1 or more bytes. All bytes are allowed in keys, qualifiers and values, an empty value is a value.
Rows are ordered by key and cells by column, bytewise. Every store takes a key and a column of together up to
`ALWAYS_FITS` bytes; a store that can't take a longer one says so with `InvalidValue` before it writes anything.

**Values.** A cell holds bytes. Writing None writes a *tombstone*: from its time on the cell reads as absent. Nothing
is ever deleted in place but by `Table.purge` and `Table.erase`, so every past state can be read.

**Atomicity.** All cells that one `swap`, or one mutation of `put_many`, writes to a row appear at once: no reader sees
some of them. Nothing spans rows.

**Durability.** A write that returned is kept, whatever happens to the process, where the store has the `DURABLE`
capability.

**Time.** Times are integers, microseconds since the epoch. The store stamps every mutation itself: later than every
time this process has stamped in that table before, and a swap later than the version it replaces, whoever wrote that;
with the `ORDERED` capability, later than every time anybody has stamped. `at=t` reads the newest version stamped at or
before `t` of each cell; `at=None` the newest of all. A mutation may carry a time of its own, to bring in history
recorded elsewhere: it must lie in the past, after all purges, and whoever writes it vouches that nobody relies on what
that past was like without it.

**Versions.** The cell `VERSION` of a row is what `swap` compares. A row is at liberty not to have one.

**Failure.** A read raises `StoreUnavailable` when there is no answer. A write raises `StoreUnavailable` if certainly
nothing of it was written and `OutcomeUnknown` if it may have been. Driver exceptions never leave a store.
"""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import attrs

from neomodel.errors import TableExists

if TYPE_CHECKING:
    from neomodel.stores.blocks import Block

VERSION = b"t:version"
ALWAYS_FITS = 240
MAX_TIME = 2**63 - 1

DURABLE = "durable"  # what was acknowledged survives the process
SHARED = "shared"  # several processes work on one store at a time
ORDERED = "ordered"  # times are in the order in which things happened, whoever did them, and none is given twice

Row = dict[bytes, bytes]
Cells = Mapping[bytes, bytes | None]
Columns = Collection[bytes] | None


class Mutation(NamedTuple):
    """Cells to write to one row, at once. `time` only to bring in history; normally the store stamps."""

    key: bytes
    cells: Cells
    time: int | None = None


class Cell(NamedTuple):
    """One live cell of a slice of a row."""

    qualifier: bytes
    time: int
    value: bytes


class Version(NamedTuple):
    """One version of one cell, as `Table.history` tells it. A tombstone's value is None."""

    key: bytes
    column: bytes
    time: int
    value: bytes | None


@attrs.frozen
class Region:
    """A range of keys, `start` included and `stop` not (None: to the end).

    Where servers serve it: `host` and `port` of the one that does, and the `gateway` beside it, as ``host:port``.
    """

    start: bytes
    stop: bytes | None
    host: str | None = None
    port: int | None = None
    gateway: str | None = None


class Table(ABC):
    """One table. Making the object costs nothing and asks nothing; a call on a table that is not there raises
    `TableNotFound`. Safe to use from any thread, and after a fork."""

    name: str

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r}>"

    @abstractmethod
    def create(self, families: Iterable[str], *, splits: Iterable[bytes] = ()) -> None:
        """Make the table, empty, with these families; raise `TableExists` if it is there.

        `splits` are keys at which a store that has regions starts a new one.
        """

    @abstractmethod
    def drop(self) -> None:
        """Remove the table and all its history, or raise `TableNotFound`. It is gone at once for everybody."""

    @abstractmethod
    def families(self) -> frozenset[str]:
        """The families it was made with."""

    @abstractmethod
    def get(self, key: bytes, *, at: int | None = None, columns: Columns = None) -> Row | None:
        """The live cells of a row, sorted; None if it has none. One round trip.

        `columns` names what to read: columns (``b"p:name"``) and whole families (``b"p:"``); None is everything.
        """

    @abstractmethod
    def get_many(self, keys: Iterable[bytes], *, at: int | None = None, columns: Columns = None) -> dict[bytes, Row]:
        """The rows of those keys that have live cells, by key, as `get` reads each. One round trip per region."""

    @abstractmethod
    def cells(
        self,
        key: bytes,
        family: str,
        start: bytes = b"",
        stop: bytes | None = None,
        *,
        at: int | None = None,
        limit: int | None = None,
        reverse: bool = False,
    ) -> Iterator[Cell]:
        """The live cells of one family of one row with `start` <= qualifier < `stop`, at most `limit`.

        In order, or from the end if `reverse`. Streams: memory does not grow with the row; without `at`, what changes
        while a long slice is read may be seen in part. The first cell costs one seek, wherever it lies and however
        many versions there are; backwards, a store may have to walk the slice first.
        """

    def firsts(
        self,
        keys: Iterable[bytes],
        family: str,
        start: bytes = b"",
        stop: bytes | None = None,
        *,
        at: int | None = None,
    ) -> dict[bytes, Cell]:
        """The first cell that `cells` has of each of these rows, by key. One seek each, one round trip per region."""
        found = {key: next(self.cells(key, family, start, stop, at=at, limit=1), None) for key in keys}
        return {key: cell for key, cell in found.items() if cell is not None}

    def scan_firsts(
        self, rows: tuple[bytes, bytes | None], family: str, start: bytes = b"", stop: bytes | None = None, *, at: int
    ) -> Iterator[tuple[bytes, Cell]]:
        """As `firsts`, of all rows with ``rows[0]`` <= key < ``rows[1]``, in key order. Streams like `scan`."""
        for key, _ in self.scan(*rows, at=at, columns=[f"{family}:".encode()]):
            yield from self.firsts([key], family, start, stop, at=at).items()

    @abstractmethod
    def scan(
        self,
        start: bytes = b"",
        stop: bytes | None = None,
        *,
        at: int | None = None,
        columns: Columns = None,
    ) -> Iterator[tuple[bytes, Row]]:
        """Rows with `start` <= key < `stop` that have live cells among `columns`, in key order, each whole.

        Streams: memory does not grow with the table. Without `at` each row is read as it is at some moment of the
        scan, and a row that is there throughout is seen exactly once; with `at`, the whole is of that time.
        """

    def blocks(
        self, columns: Collection[bytes], start: bytes = b"", stop: bytes | None = None, *, at: int | None = None
    ) -> Iterator["Block"]:
        """What `scan` gives of these columns, each named in full, by column instead of by row."""
        from neomodel.stores.blocks import blocks_of  # needs Arrow, which takes long to import
        from neomodel.stores.checks import check_named

        wanted = check_named(columns, {family.encode() + b":" for family in self.families()})
        yield from blocks_of(self.scan(start, stop, at=at, columns=wanted), wanted)

    @abstractmethod
    def history(
        self,
        start: bytes = b"",
        stop: bytes | None = None,
        *,
        columns: Columns = None,
        since: int | None = None,
        until: int | None = None,
    ) -> Iterator[Version]:
        """Every version that is kept, tombstones included, by key and column, the newest first. Streams like `scan`.

        With bounds: those with `since` < time <= `until`, all of them, or `Purged` if some are gone.
        """

    def history_blocks(
        self, start: bytes = b"", stop: bytes | None = None, *, since: int | None = None, until: int | None = None
    ) -> Iterator[Any]:
        """What `history` gives, as record batches of Arrow with the columns of `blocks.VERSIONS`."""
        from neomodel.stores.blocks import versions_of  # needs Arrow, which takes long to import

        yield from versions_of(self.history(start, stop, since=since, until=until))

    def histories(self, cells: Collection[tuple[bytes, bytes]]) -> dict[tuple[bytes, bytes], list[Version]]:
        """What `history` has of these cells, by key and column; those that have any. One round trip per region."""
        found = {(key, column): list(self.history(key, key + b"\0", columns=[column])) for key, column in cells}
        return {cell: versions for cell, versions in found.items() if versions}

    @abstractmethod
    def swap(self, key: bytes, expected: bytes | None, cells: Cells) -> bool:
        """Write `cells` if the row's `VERSION` is `expected` (None: it has none), all in one atomic step.

        True if written, False if somebody else was first and nothing changed. `cells` must set `VERSION` to
        something else than `expected`: use `successor`, so that after `OutcomeUnknown` the row tells who won.
        One round trip.
        """

    @abstractmethod
    def put_many(self, mutations: Iterable[Mutation]) -> None:
        """Write without asking: for rows nobody else can know yet, and for writes that may be repeated.

        Each mutation is atomic, and stamped in the order given. Consumes the iterable in batches, one after the other,
        some round trips each; where the store is not `ORDERED`, those of one batch may be written side by side. A batch
        is checked before any of it is written. If it raises, earlier batches, and of this one some if the store failed,
        may have been written: writing all of it again is right.
        """

    def put_cells(self, cells: Iterable[Any]) -> None:
        """Write cells that are in record batches with the columns of `blocks.CELLS`: what `put_many` does with a
        mutation for each of them."""
        from neomodel.stores.blocks import singles  # needs Arrow, which takes long to import

        self.put_many(singles(cells))

    def put_history(self, versions: Iterable[Any]) -> None:
        """Write versions with their own times, in record batches as `history_blocks` gives them: what `put_many` does
        with mutations that carry times, a batch of cells at a time. No two batches may be of the same version."""
        from neomodel.stores.blocks import mutations_of  # needs Arrow, which takes long to import

        self.put_many(mutations_of(versions))

    @abstractmethod
    def regions(self) -> list[Region]:
        """Ranges that cover all keys exactly once, in order: the units for parallel work."""

    @abstractmethod
    def now(self) -> int:
        """A time that is complete: every write that returned before this call reads at it, and every write that
        begins after it is stamped later. Reading ``at`` it again gives the same answer for ever (see
        `Store.settling` for stores that many machines write to)."""

    def mark(self) -> int | None:
        """A number that every write to the store moves, whoever makes it: by one, if it is a swap or a small batch.

        While it stays the same, what was read is still so. Costs no round trip; None if the store can't tell without.
        """
        return None

    @abstractmethod
    def purge(self, before: int) -> int:
        """Forget what only reads before `before` could see; reads from then on are the same as ever.

        Returns how many versions went. Asking for a time before the horizon raises `Purged` from now on.
        """

    @abstractmethod
    def erase(self, key: bytes, family: str, start: bytes, stop: bytes, until: int, instead: Row) -> int:
        """Forget every version up to time `until` of the cells with `start` <= qualifier < `stop` of a row, and have it
        hold the cells `instead`, of that family, at every time that can be read. Returns how many versions went.

        These are written first; other versions that they have stay. Erasing again is right.
        """


class Store(ABC):
    """A set of tables behind one URL. A context manager; closing twice is harmless."""

    url: str
    capabilities: frozenset[str] = frozenset()
    settling: int = 0
    """Microseconds until a time is complete whoever else writes: design, *Time*, t_con."""
    breadth: int = 1
    """Regions that a table which will be large had best begin with; 1 where regions follow what is stored."""

    @abstractmethod
    def table(self, name: str) -> Table:
        """The table of that name, whether it exists or not. Costs nothing."""

    @abstractmethod
    def tables(self) -> list[str]:
        """The names of the tables there are, sorted. One round trip."""

    def size(self) -> int | None:
        """Bytes that it takes on this machine's disk; None if it lies elsewhere."""
        return None

    @abstractmethod
    def close(self) -> None:
        """Let go of files and connections. What was acknowledged is safe without it.

        From then on this store and its tables refuse whatever is asked of them with `StoreClosed`, which is a
        `StoreUnavailable`; other stores that were opened at the same place go on.
        """

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.url}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def ensured(table: Table, families: Iterable[str]) -> Table:
    """The table, made if it is not there. Another process may make it in this moment."""
    with suppress(TableExists):
        table.create(families)
    return table
