"""What is asked of a gateway, in words, and what it means if that fails: driver errors are turned into ours here."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import attrs
from thriftpy2.thrift import TApplicationException

from neomodel.errors import (
    InvalidStore,
    InvalidValue,
    NeomodelError,
    OutcomeUnknown,
    StoreUnavailable,
    TableExists,
    TableNotFound,
)
from neomodel.stores.hbase_client import reason, thrift2

DISABLED = "the table is disabled, by a drop that was broken off, which drop() finishes, or by an administrator"


@cache
def answers() -> tuple[type[Exception], ...]:
    """What a gateway says when it has understood and does not do it."""
    first, second = sys.modules["Hbase_thrift"], thrift2()  # happybase puts its own there
    theirs = (first.IOError, first.IllegalArgument, second.TIOError, second.TIllegalArgument)
    return (TApplicationException, *theirs)


@contextmanager
def partly_written(operation: str) -> Iterator[None]:
    """What fails in here can't say that nothing was written: something may have been before."""
    try:
        yield
    except StoreUnavailable as exc:
        raise OutcomeUnknown(operation, exc.where, exc.reason) from exc


@attrs.frozen
class Subject:
    """A table, or the store as a whole if it has no name."""

    url: str
    table: str = ""
    full_name: str = ""


@attrs.define
class Call:
    """What is being done to what, and whether it writes, and whether doing it twice does no harm.

    One is made for every call, so it is bare; sentences are made when something goes wrong.
    """

    operation: str
    subject: Subject
    key: bytes | None = None
    writes: bool = False
    repeatable: bool = True

    @property
    def where(self) -> str:
        row = "" if self.key is None else f"row {self.key!r} of "
        table = f"table {self.subject.table!r} of " if self.subject.table else ""
        return f"{row}{table}{self.subject.url}"

    def failed(self, told: str, *, sent: bool) -> NeomodelError:
        kind = OutcomeUnknown if sent and self.writes else StoreUnavailable
        return kind(self.operation, self.where, told)

    def refused(self, exc: Exception, port: str) -> NeomodelError | None:
        """What a gateway's refusal means; None if another gateway may do better.

        HBase's exceptions come as text that begins with their names, or is no more than a table's name.
        """
        told, subject = reason(exc), self.subject
        if isinstance(exc, TApplicationException) and exc.type == TApplicationException.UNKNOWN_METHOD:
            return InvalidStore(subject.url, f"{port} is no gateway of the kind it is named as; check the ports")
        if told == subject.full_name or "TableNotFoundException" in told:
            return TableNotFound(subject.table, subject.url)
        if told == f"{subject.full_name} is disabled." or "TableNotEnabledException" in told:
            return self.failed(DISABLED, sent=True)
        if "TableExistsException" in told:
            return TableExists(subject.table, subject.url)
        if "NoSuchColumnFamilyException" in told:
            return InvalidValue("a column", told, "one of the table's families")
        return None
