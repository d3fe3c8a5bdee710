"""One LMDB file, opened at most once per process: transactions, the clock, and driver errors turned into ours.

LMDB allows a process one handle on a file, and none across a fork. So handles are kept here, by folder, with a count
of their users, and forgotten in a forked child, which opens its own at the first use. Each user has an `LmdbFile`.

The address space is reserved once, large and sparse: growing the map while other processes use it is where LMDB
breaks. The file grows by itself as far as the disk does.
"""

import mmap
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from struct import Struct
from typing import Any, NamedTuple
from weakref import WeakSet

import lmdb
import lmdb._envid
import lmdb.verify

from neomodel.errors import CorruptStore, InvalidStore, NeomodelError, OutcomeUnknown, StoreUnavailable, was_closed

DriverError = lmdb.Error
BadLength = lmdb.BadValsizeError
ReadersFull = lmdb.ReadersFullError
LONGEST_KEY = 511  # LMDB as it is built for py-lmdb
FORMAT_KEY, FORMAT = b"\0format", b"neomodel 1"
CLOCK_KEY = b"\0clock"
_ADDRESS_SPACE = 1 << 40
_READERS = 1022
_META_PAGE = Struct("=16xII16xI84xQQQ")  # magic, version, page size, root, last page, transaction: LMDB 0.9, format 1
_MAGIC, _DATA_FORMAT, _DATA_ENGINE = 0xBEEFC0DE, 1, 0

_lock = threading.Lock()
_files: dict[str, "Handle"] = {}
_inherited: list[Any] = []  # handles of the parent process: never to be used, never to be closed


class Handle:
    """What this process has of the file in one folder. `env` is None after a fork until somebody opens it anew."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.users = 0
        self.files: WeakSet[LmdbFile] = WeakSet()
        self.env: Any = None

    def open(self) -> Any:
        """`env`, opened if it is not. Raises what is wrong with the file, if something is."""
        if self.env is None:
            self.env = _open(self.folder)
        return self.env

    def forget(self) -> None:
        self.env = None
        for file in self.files:
            file.env = None

    def close(self) -> None:
        """Have one user less; without any, let go of the file."""
        with _lock:
            self.users -= 1
            if not self.users:
                del _files[self.folder]
                if self.env is not None:
                    self.env.close()
                self.forget()


class LmdbFile:
    """The file in one folder, for one user. `env` is that of the `Handle`, once it was asked for; once this is closed
    there is none, and whatever needs one is refused."""

    def __init__(self, handle: Handle) -> None:
        self.folder = handle.folder
        self.env: Any = None
        self._handle = handle
        self._closed = False
        self._map: mmap.mmap | None = None

    def open(self) -> Any:
        """The handle of this process, opened if it is not. Raises what is wrong with the file, if something is."""
        with _lock:
            if self._closed or not self._handle.users:
                raise was_closed(f"lmdb:{self.folder}")
            self.env = self._handle.open()
            return self.env

    def begin(self) -> Any:
        """A read transaction: a consistent view that no writer waits for. To be left soon: it keeps old pages."""
        env = self.env or self.open()
        try:
            return env.begin()
        except ReadersFull:
            env.reader_check()  # frees the slots of processes that died
            return env.begin()

    @contextmanager
    def reading(self, operation: str) -> Iterator[Any]:
        try:
            with self.begin() as txn:
                yield txn
        except lmdb.Error as exc:
            raise failure(operation, self.folder, exc) from exc

    def pages(self, txn: Any) -> tuple[mmap.mmap, int, int] | None:
        """The file as memory, the size of a page, and the number of the topmost page of what a read transaction sees,
        for who reads pages while it lasts. None if others have committed since it began: then it can't be told."""
        size = os.path.getsize(_data(self.folder))
        if self._map is None or len(self._map) < size:
            with open(_data(self.folder), "rb") as file:
                self._map = mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ)
        found = self._map
        page_size: int = (self.env or self.open()).stat()["psize"]
        at = (txn.id() & 1) * page_size
        # Where a transaction began is overwritten by the second one after it, which waits for the first: so read first
        # where it began, and then whether the first has ended.
        mine, other = (
            _meta(found[at : at + _META_PAGE.size]),
            _meta(found[page_size - at : page_size - at + _META_PAGE.size]),
        )
        if mine is None or mine.transaction != txn.id() or other is None or other.transaction > txn.id():
            return None
        return found, page_size, mine.root

    @contextmanager
    def writing(self, operation: str) -> Iterator[Any]:
        """The one write transaction there is at a time. Waits its turn; on disk when the block has ended."""
        env = self.env or self.open()
        txn = None
        try:
            txn = env.begin(write=True)
            number = txn.id()
            yield txn
        except BaseException as exc:
            if txn is not None:
                txn.abort()
            if isinstance(exc, lmdb.Error):
                raise failure(operation, self.folder, exc) from exc
            raise
        try:
            txn.commit()
        except lmdb.Error as exc:
            raise self._not_committed(env, operation, number, exc) from exc

    def _not_committed(self, env: Any, operation: str, number: int, exc: lmdb.Error) -> NeomodelError:
        """What a commit that failed means: nothing was written if the file is still before that transaction."""
        try:
            written = env.info()["last_txnid"] >= number
        except lmdb.Error:
            written = True
        return OutcomeUnknown(operation, self.folder, str(exc)) if written else failure(operation, self.folder, exc)

    def size(self) -> int:
        """Bytes on disk: the file is as long as what was written to its furthest page, and may have holes."""
        return os.stat(_data(self.folder)).st_blocks * 512

    def close(self) -> None:
        """Have no part in the file any more. Others that have it open are left alone."""
        if not self._closed:
            self._closed = True
            self.env = self._map = None
            self._handle.close()


def tick(txn: Any, count: int) -> int:
    """The first of `count` times in a row, later than every one given out before by any process."""
    last = txn.get(CLOCK_KEY)
    first = max(time.time_ns() // 1000, int.from_bytes(last, "big") + 1)
    txn.put(CLOCK_KEY, (first + count - 1).to_bytes(8, "big"))
    return first


def clock(txn: Any) -> int:
    """The last time given out by a transaction that has ended."""
    return int.from_bytes(txn.get(CLOCK_KEY), "big")


def use(folder: str, *, create: bool) -> LmdbFile:
    """The file in `folder`, for one more user, who closes it."""
    folder = os.path.realpath(folder)
    if not os.path.exists(_data(folder)):
        if not create:
            found = "that is a file, not a folder" if os.path.isfile(folder) else "there is no store in that folder"
            raise InvalidStore(f"lmdb:{folder}", found)
        _create(folder)
    with _lock:
        handle = _files.setdefault(folder, Handle(folder))
        handle.users += 1
        file = LmdbFile(handle)
        handle.files.add(file)
    try:
        file.open()
    except BaseException:
        file.close()
        raise
    return file


def failure(operation: str, where: str, exc: lmdb.Error) -> NeomodelError:
    """What a driver error means for the caller, for an operation that changed nothing."""
    if isinstance(exc, lmdb.CorruptedError | lmdb.PageNotFoundError | lmdb.InvalidError | lmdb.PanicError):
        return CorruptStore(where, str(exc))
    reason = str(exc)
    if isinstance(exc, lmdb.DiskError | lmdb.MapFullError) or "Input/output" in reason:  # half a page written is EIO
        reason = f"the disk has no space left, or fails ({reason}); see to that and try again"
    return StoreUnavailable(operation, where, reason)


def _data(folder: str) -> str:
    return os.path.join(folder, "data.mdb")


def _create(folder: str) -> None:
    """Put a new file into the folder in one step: whoever finds one finds a whole one, also after a crash."""
    if os.path.lexists(folder) and not os.path.isdir(folder):
        raise InvalidStore(f"lmdb:{folder}", "that is a file, and an LMDB store is a folder; name another place")
    draft = os.path.join(folder, f".draft-{os.getpid()}-{threading.get_ident()}")
    try:
        os.makedirs(folder, exist_ok=True)
        env = lmdb.open(draft, subdir=False, map_size=1 << 20, lib_version=_DATA_ENGINE)
        with env.begin(write=True) as txn:
            txn.put(FORMAT_KEY, FORMAT)
            txn.put(CLOCK_KEY, bytes(8))
        env.close()
        with suppress(FileExistsError):  # somebody else was first: theirs is as good
            os.link(draft, _data(folder))
    except (OSError, lmdb.Error) as exc:
        raise InvalidStore(f"lmdb:{folder}", f"it can't be created there: {_plain(exc)}") from exc
    finally:
        for leftover in (draft, f"{draft}-lock"):
            with suppress(OSError):  # where nothing could be made, nothing is left
                os.unlink(leftover)


def _open(folder: str) -> Any:
    try:
        _check_whole(folder)
        env = lmdb.open(folder, map_size=_ADDRESS_SPACE, max_readers=_READERS, max_spare_txns=1, create=False)
        env.reader_check()
        with env.begin() as txn:
            found = txn.get(FORMAT_KEY)
    except (OSError, lmdb.ReadonlyError) as exc:
        raise InvalidStore(f"lmdb:{folder}", f"it can't be opened: {_plain(exc)}") from exc
    except lmdb.Error as exc:
        raise failure("opening", folder, exc) from exc
    if found != FORMAT:
        env.close()
        raise InvalidStore(f"lmdb:{folder}", f"its format is {found!r}, and this version reads {FORMAT!r} only")
    return env


def _check_whole(folder: str) -> None:
    """Raise `CorruptStore` if the file has lost its end: touching a page that is not there would kill the process."""
    with open(_data(folder), "rb") as file:
        metas = [_meta(file.read(_META_PAGE.size))]
        file.seek(metas[0].page_size if metas[0] else 4096)
        metas.append(_meta(file.read(_META_PAGE.size)))
    if not any(metas):
        raise CorruptStore(folder, "data.mdb does not begin as an LMDB file does")
    newest = max((meta for meta in metas if meta), key=lambda meta: meta.transaction)
    size = os.path.getsize(_data(folder))  # after the meta pages, since others may be writing
    if size < (newest.last_page + 1) * newest.page_size:
        # Pages at the end that were taken and given back in one transaction are never written: look closer.
        try:
            problems = lmdb.verify.verify(folder)  # type: ignore[no-untyped-call]
        except lmdb.verify.VerifyError as exc:
            problems = [exc]
        if problems:
            raise CorruptStore(folder, f"data.mdb is cut off after {size} bytes ({problems[0]})")


class _Meta(NamedTuple):
    """What one of the two first pages says of the file."""

    page_size: int
    root: int
    last_page: int
    transaction: int


def _meta(head: bytes) -> _Meta | None:
    """What a meta page says, if that is one."""
    if len(head) < _META_PAGE.size:
        return None
    magic, version, *found = _META_PAGE.unpack(head)
    return _Meta(*found) if (magic, version) == (_MAGIC, _DATA_FORMAT) else None


def _plain(exc: Exception) -> str:
    """The reason without the driver's own address for it."""
    return exc.strerror if isinstance(exc, OSError) and exc.strerror else str(exc).rpartition(": ")[2]


def _forget() -> None:
    """In a forked child: let go of the parent's handles without touching them."""
    global _lock
    _lock = threading.Lock()
    for handle in _files.values():
        _inherited.append(handle.env)
        handle.forget()

    # py-lmdb 3.0 refuses to open a file twice in a process, and takes the parent's handles for this process's own.
    parent_keys, process = lmdb._envid.env_keys, os.getpid()
    lmdb._envid.env_keys = lambda path, subdir: tuple((process, key) for key in parent_keys(path, subdir))  # type: ignore[no-untyped-call]


os.register_at_fork(after_in_child=_forget)
