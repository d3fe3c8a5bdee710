"""The way to HBase: gateway pairs, pools of connections, fail-over, and driver errors turned into ours.

A *gateway pair* is a Thrift1 and a Thrift2 gateway on one host, usually beside one region server. thriftpy2 does not
compare sequence ids: after a time-out the late answer to one call would be handed to the next one on the same socket.
So **a socket that has seen any error is closed**, and one that the other side has closed, or soon will, is not used.

An operation that failed before it left is tried on another gateway. One that left is tried again only if its `Call`
says that doing it twice does no harm.
"""

import itertools
import os
import select
import socket
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import attrs
import happybase
import thriftpy2
from thriftpy2.protocol import TCyBinaryProtocol
from thriftpy2.thrift import TApplicationException, TClient, TException
from thriftpy2.transport import TCyBufferedTransport, TSocket, TTransportException

from neomodel.errors import InvalidStore, InvalidValue, NeomodelError, OutcomeUnknown, StoreUnavailable, TableNotFound
from neomodel.stores.hbase_http import CONNECT, Refused

IDLE = 45  # seconds; a gateway closes a connection that was idle for 60
ROUNDS = 2  # how often all gateways are tried

T = TypeVar("T")
P = TypeVar("P")
Dial = Callable[[str, int], Any]
"""Makes transports to a host and port, not opened yet, that have what `_Socket` has."""


def side_by_side(jobs: Sequence[Callable[[], T]]) -> list[T]:
    """All answers, in order; the jobs run at the same time, each in a thread, if there are several."""
    if len(jobs) == 1:
        return [jobs[0]()]
    with ThreadPoolExecutor(len(jobs) or 1, thread_name_prefix="neomodel-hbase") as threads:
        return list(threads.map(lambda job: job(), jobs))


@cache
def thrift2() -> Any:
    """The types and calls of the Thrift2 gateway."""
    return thriftpy2.load(str(Path(__file__).with_name("hbase2.thrift")), module_name="hbase2_thrift")


thrift2()  # now, as thriftpy2 holds a lock for it: a child forked meanwhile would wait for that lock for ever


class NotSent(Exception):
    """There was no connection, so nothing was asked."""


@attrs.define
class _Link:
    """One connection: what calls are made on, what lies beneath, and since when it is idle."""

    client: Any
    socket: Any
    idle_since: float = 0.0

    def fresh(self) -> bool:
        if not self.socket.sock or time.monotonic() - self.idle_since > min(IDLE, self.socket.idle):
            return False
        readable, _, _ = select.select([self.socket.sock], [], [], 0)
        return not readable  # nobody speaks unasked: what can be read now is the end, or a stray answer

    def close(self) -> None:
        self.socket.close()


class _Client(TClient):
    """A Thrift client that asks nothing more after an error: what would be read next may be left from before.

    Whoever holds it may still try to, as happybase does to close a scanner.
    """

    _broken: Exception | None = None

    def _req(self, _api: str, *args: Any, **kwargs: Any) -> Any:
        if self._broken:
            raise TTransportException(TTransportException.NOT_OPEN, _reason(self._broken))
        try:
            return super()._req(_api, *args, **kwargs)
        except Exception as exc:
            self._broken = exc
            raise

    def _recv(self, _api: str) -> Any:
        try:
            return super()._recv(_api)
        except (TException, OSError):
            raise
        except Exception as exc:  # whatever reading what is no answer leads to
            raise TTransportException(TTransportException.UNKNOWN, f"no answer, but {_reason(exc)!r}") from exc


class _HappyConnection(happybase.Connection):  # type: ignore[misc]
    """A happybase connection over a transport of ours."""

    def __init__(self, link: Any) -> None:
        self._link = link
        super().__init__(link.host, link.port, autoconnect=False)

    def _refresh_thrift_client(self) -> None:
        self.transport = self._transport_class(self._link)
        protocol = self._protocol_class(self.transport, decode_response=False)
        self.client = _Client(happybase.connection.Hbase, protocol)


class Port:
    """One gateway: a pool of connections to it. Thread-safe; a forked child has a pool of its own."""

    def __init__(self, host: str, number: int, dial: Dial, connect: Callable[[Any], _Link]) -> None:
        self.host = host
        self.number = number
        self._dial = dial
        self._connect = connect
        self._pool: tuple[int, list[_Link]] = (os.getpid(), [])

    def __str__(self) -> str:
        return f"{self.host}:{self.number}"

    @contextmanager
    def client(self) -> Iterator[Any]:
        """A connection for one exchange, or several. It is kept for others only if nothing went wrong."""
        link = self._idle() or self._open()
        try:
            yield link.client
        except BaseException:
            link.close()
            raise
        link.idle_since = time.monotonic()
        self._links().append(link)

    def close(self) -> None:
        links = self._links()
        while links:
            links.pop().close()

    def _links(self) -> list[_Link]:
        process, links = self._pool
        if process != os.getpid():
            links = []  # the parent's are its own
            self._pool = (os.getpid(), links)
        return links

    def _idle(self) -> _Link | None:
        links = self._links()
        while links:
            try:
                link = links.pop()
            except IndexError:  # another thread was quicker
                return None
            if link.fresh():
                return link
            link.close()
        return None

    def _open(self) -> _Link:
        try:
            return self._connect(self._dial(self.host, self.number))
        except (TException, OSError) as exc:
            raise NotSent(f"{self} can't be reached ({_reason(exc)})") from exc


def _connect1(link: Any) -> _Link:
    connection = _HappyConnection(link)
    connection.open()
    _speed_up(link)
    return _Link(connection, link)


def _connect2(link: Any) -> _Link:
    transport = TCyBufferedTransport(link)
    protocol = TCyBinaryProtocol(transport, decode_response=False)  # type: ignore[no-untyped-call]
    client = _Client(thrift2().THBaseService, protocol)
    transport.open()
    _speed_up(link)
    return _Link(client, link)


class _Socket(TSocket):
    """A socket that a forked child closes for itself only: it must not shut down what the parent is talking on.

    happybase closes its connections whenever they are collected, so it is not enough to leave them alone.
    """

    idle = IDLE

    def __init__(self, **how: Any) -> None:
        super().__init__(**how)  # type: ignore[no-untyped-call]
        self._process = os.getpid()
        self._heard = False

    def read(self, sz: int) -> bytes:
        data: bytes = super().read(sz)  # type: ignore[no-untyped-call]
        if not self._heard and data.startswith((b"\x15\x03", b"HTTP/")):  # a TLS alert, a status line
            told = f"{self.host}:{self.port} speaks TLS or HTTP; if it is a gateway with TLS, the URL needs tls=1"
            raise Refused(TTransportException.NOT_OPEN, told)
        self._heard = True
        return data

    def close(self) -> None:
        if self.sock and self._process != os.getpid():
            self.sock.close()
            self.sock = None
        super().close()  # type: ignore[no-untyped-call]


def plain(timeout: float) -> Dial:
    """What makes sockets on which nothing is encrypted."""
    answer = int(timeout * 1000)
    connect = min(answer, CONNECT * 1000)
    return lambda host, port: _Socket(host=host, port=port, socket_timeout=answer, connect_timeout=connect)


def _speed_up(link: Any) -> None:
    link.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


class Pair:
    """The two gateways of a host, and the region server they stand beside, by the address HBase has for it."""

    def __init__(self, host: str, port1: int, port2: int, server: str | None, dial: Dial) -> None:
        self.one = Port(host, port1, dial, _connect1)
        self.two = Port(host, port2, dial, _connect2)
        self.server = server

    def close(self) -> None:
        self.one.close()
        self.two.close()


class Gateways:
    """All pairs of a store. Every call goes through `one` or `two`, which do the fail-over."""

    def __init__(self, pairs: list[Pair]) -> None:
        self.pairs = pairs

    def beside(self, server: str | None) -> Pair:
        """The pair beside a region server, or one that will do as well."""
        return next((pair for pair in self.pairs if pair.server == server), self.pairs[0])

    def one(self, call: "Call", ask: Callable[[Any], T]) -> T:
        """`ask` of a happybase connection."""
        return self._try(call, [pair.one for pair in self._in_order(call.near)], ask)

    def two(self, call: "Call", ask: Callable[[Any], T]) -> T:
        """`ask` of a Thrift2 client."""
        return self._try(call, [pair.two for pair in self._in_order(call.near)], ask)

    def stream(
        self, call: "Call", ports: Callable[[Pair], Port], ask: Callable[[Any, P], Iterator[tuple[P, T]]], position: P
    ) -> Iterator[T]:
        """What ``ask(client, position)`` yields, each item with the position after it, from whichever gateway: if one
        breaks off, another goes on from the last position. Gives up when all have failed in a row."""
        turn = itertools.cycle([ports(pair) for pair in self._in_order(call.near)])
        left = patience = ROUNDS * len(self.pairs)
        while left:
            port = next(turn)
            try:
                with port.client() as client:
                    for after, item in ask(client, position):
                        yield item
                        position, left = after, patience
            except (NotSent, TException, OSError) as exc:
                left -= 1
                told = call.refused(exc, str(port)) if isinstance(exc, answers()) else call.failed(exc, sent=True)
                if not left or isinstance(exc, Refused) or not isinstance(told, StoreUnavailable):
                    raise told from exc
            else:
                return

    def close(self) -> None:
        for pair in self.pairs:
            pair.close()

    def _in_order(self, near: Pair | None) -> list[Pair]:
        return [*([near] if near else []), *(pair for pair in self.pairs if pair is not near)]

    def _try(self, call: "Call", ports: list[Port], ask: Callable[[Any], T]) -> T:
        sent = False
        failure: Exception = NotSent("there is no gateway")
        for port in ports * ROUNDS:
            try:
                with port.client() as client:
                    return ask(client)
            except answers() as exc:
                raise call.refused(exc, str(port)) from exc
            except Refused as exc:
                failure = exc
                break
            except (NotSent, TException, OSError) as exc:
                failure = exc
                sent |= not isinstance(exc, NotSent)
                if sent and not call.repeatable:
                    break
        raise call.failed(failure, sent=sent) from failure


@cache
def answers() -> tuple[type[Exception], ...]:
    """What a gateway says when it has understood and does not do it."""
    first, second = sys.modules["Hbase_thrift"], thrift2()  # happybase puts its own there
    theirs = (first.IOError, first.IllegalArgument, second.TIOError, second.TIllegalArgument)
    return (TApplicationException, *theirs)


@attrs.frozen
class Call:
    """What is being done, for errors; where it should go; and whether doing it twice does harm."""

    operation: str
    where: str
    table: str = ""
    full_name: str = ""
    url: str = ""
    near: Pair | None = None
    writes: bool = False
    repeatable: bool = True

    def failed(self, exc: Exception, *, sent: bool) -> NeomodelError:
        kind = OutcomeUnknown if sent and self.writes else StoreUnavailable
        return kind(self.operation, self.where, _reason(exc))

    def refused(self, exc: Exception, port: str) -> NeomodelError:
        """What a gateway's refusal means. HBase's exceptions come as text that begins with their names."""
        told = _reason(exc)
        if isinstance(exc, TApplicationException) and exc.type == TApplicationException.UNKNOWN_METHOD:
            return InvalidStore(self.url, f"{port} is no gateway of the kind it is named as; check the ports")
        if told == self.full_name or "TableNotFoundException" in told or "TableNotEnabledException" in told:
            return TableNotFound(self.table, self.url)
        if "NoSuchColumnFamilyException" in told:
            return InvalidValue("a column", told, "one of the table's families")
        return self.failed(exc, sent=True)


def _reason(exc: Exception) -> str:
    """The first line of what went wrong."""
    told = getattr(exc, "message", None) or str(exc) or type(exc).__name__
    return (told.decode(errors="replace") if isinstance(told, bytes) else told).partition("\n")[0]
