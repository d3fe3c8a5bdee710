"""The way to HBase: gateway pairs, pools of connections, fail-over.

A *gateway pair* is a Thrift1 and a Thrift2 gateway on one host, usually beside one region server. **A connection that
has seen any error is closed**, as an answer to an earlier call may still come on it, and one that the other side has
closed, or soon will, is not used.

An operation that failed before it left is tried on another gateway. One that left is tried again, also if its gateway
answered with an error that another may not have, but only if its `Call` says that doing it twice does no harm. A
gateway that failed is asked last for a while.
"""

import os
import select
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from operator import attrgetter
from typing import Any, TypeVar

import attrs
import happybase
from thriftpy2.protocol import TCyBinaryProtocol
from thriftpy2.thrift import TException
from thriftpy2.transport import TCyBufferedTransport, TSocket, TTransportException

from neomodel.errors import was_closed
from neomodel.stores.hbase_client import Client, Late, reason, thrift2
from neomodel.stores.hbase_errors import Call, answers
from neomodel.stores.hbase_http import CONNECT, Refused

IDLE = 45  # seconds; a gateway closes a connection that was idle for 60
ROUNDS = 2  # how often all gateways are tried
_WARM = 0.01  # seconds for which a connection is taken to be as it was, by calls that only read
_SHUNNED = 5.0  # seconds for which a gateway that failed is asked last

T = TypeVar("T")
P = TypeVar("P")
Dial = Callable[[str, int], Any]
"""Makes transports to a host and port, not opened yet, that have what `_Socket` has."""


def side_by_side(jobs: Sequence[Callable[[], T]], most: int) -> list[T]:
    """All answers, in order. If there are several jobs, each runs in a thread, and `most` of them at a time."""
    if len(jobs) == 1:
        return [jobs[0]()]
    with ThreadPoolExecutor(min(len(jobs), most) or 1, thread_name_prefix="neomodel-hbase") as threads:
        return list(threads.map(lambda job: job(), jobs))


class NotSent(Exception):
    """There was no connection, so nothing was asked."""


@attrs.define
class _Link:
    """One connection: what calls are made on, what lies beneath, and since when it is idle."""

    client: Any
    socket: Any
    idle_since: float = 0.0

    def fresh(self, *, careful: bool) -> bool:
        """Whether it is still good, as far as can be seen; if not `careful`, it is not looked at after a moment."""
        if not self.socket.sock:
            return False
        idle = time.monotonic() - self.idle_since
        if idle < _WARM and not careful:
            return True
        if idle > min(IDLE, self.socket.idle):
            return False
        poll = select.poll()  # unlike `select.select`, for files of any number
        poll.register(self.socket.sock, select.POLLIN)
        return not poll.poll(0)  # nobody speaks unasked: what can be read now is the end, or a stray answer

    def close(self) -> None:
        self.socket.close()


class _HappyConnection(happybase.Connection):  # type: ignore[misc]
    """A happybase connection over a transport of ours."""

    def __init__(self, link: Any) -> None:
        self._link = link
        super().__init__(link.host, link.port, autoconnect=False)

    def _refresh_thrift_client(self) -> None:
        self.transport = self._transport_class(self._link)
        protocol = self._protocol_class(self.transport, decode_response=False)
        self.client = Client(happybase.connection.Hbase, protocol)


def _idle(links: list[_Link], *, careful: bool) -> _Link | None:
    """One of them that is still good. Those that are not are closed."""
    while links:
        try:
            link = links.pop()
        except IndexError:  # another thread was quicker
            return None
        if link.fresh(careful=careful):
            return link
        link.close()
    return None


class Port:
    """One gateway: a pool of connections to it. Thread-safe; a forked child has a pool of its own."""

    def __init__(self, host: str, number: int, dial: Dial, connect: Callable[[Any], _Link]) -> None:
        self.host = host
        self.number = number
        self._dial = dial
        self._connect = connect
        self._pool: tuple[int, list[_Link]] = (os.getpid(), [])
        self._shunned_until = 0.0

    def __str__(self) -> str:
        return f"[{self.host}]:{self.number}" if ":" in self.host else f"{self.host}:{self.number}"

    def ask(self, question: Callable[[Any], T], *, careful: bool) -> T:
        """The answer to one question. The connection is kept for others only if nothing went wrong."""
        links = self._links()
        link = _idle(links, careful=careful) or self._open()
        try:
            answer = question(link.client)
        except BaseException:
            link.close()
            raise
        link.idle_since = time.monotonic()
        links.append(link)
        return answer

    @contextmanager
    def client(self) -> Iterator[Any]:
        """A connection for several questions, kept for others only if nothing went wrong."""
        link = _idle(self._links(), careful=True) or self._open()
        try:
            yield link.client
        except BaseException:
            link.close()
            raise
        link.idle_since = time.monotonic()
        self._links().append(link)

    def shun(self) -> None:
        self._shunned_until = time.monotonic() + _SHUNNED

    @property
    def shunned(self) -> bool:
        return self._shunned_until > 0 and self._shunned_until > time.monotonic()

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

    def _open(self) -> _Link:
        try:
            return self._connect(self._dial(self.host, self.number))
        except (TException, OSError) as exc:
            raise NotSent(f"{self} can't be reached ({reason(exc)})") from exc


def _connect1(link: Any) -> _Link:
    connection = _HappyConnection(link)
    connection.open()
    _speed_up(link)
    return _Link(connection, link)


def _connect2(link: Any) -> _Link:
    transport = TCyBufferedTransport(link)
    protocol = TCyBinaryProtocol(transport, decode_response=False)  # type: ignore[no-untyped-call]
    client = Client(thrift2().THBaseService, protocol)
    transport.open()
    _speed_up(link)
    return _Link(client, link)


class _Socket(TSocket):
    """A socket that a forked child closes for itself only: it must not shut down what the parent is talking on.

    happybase closes its connections whenever they are collected, so it is not enough to leave them alone.
    """

    idle = IDLE
    _here = staticmethod(os.getpid)  # one that is collected when Python ends finds no modules any more

    def __init__(self, **how: Any) -> None:
        super().__init__(**how)  # type: ignore[no-untyped-call]
        self._process = self._here()
        self._heard = False

    def read(self, sz: int) -> bytes:
        data: bytes = super().read(sz)  # type: ignore[no-untyped-call]
        if not self._heard and data.startswith((b"\x15\x03", b"HTTP/")):  # a TLS alert, a status line
            told = f"{self.host}:{self.port} speaks TLS or HTTP; if it is a gateway with TLS, the URL needs tls=1"
            raise Refused(TTransportException.NOT_OPEN, told)
        self._heard = True
        return data

    def close(self) -> None:
        if self.sock and self._process != self._here():
            self.sock.close()
            self.sock = None
        super().close()  # type: ignore[no-untyped-call]


def plain(timeout: float) -> Dial:
    """What makes sockets on which nothing is encrypted."""
    answer = int(timeout * 1000)
    connect = min(answer, CONNECT * 1000)

    def dial(host: str, port: int) -> Any:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return _Socket(host=host, port=port, socket_family=family, socket_timeout=answer, connect_timeout=connect)

    return dial


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


_ONE: Callable[[Pair], Port] = attrgetter("one")
_TWO: Callable[[Pair], Port] = attrgetter("two")


class Gateways:
    """All pairs of a store. Every call goes through `one` or `two`, which do the fail-over."""

    def __init__(self, pairs: list[Pair], timeout: float, settling: int) -> None:
        self.pairs = pairs
        self.timeout = timeout
        self.settling = settling
        """Microseconds after which others take it that what was stamped is stored."""
        self.latest = settling * 3 // 4
        """Microseconds after which a write that was stamped is not sent any more."""
        self._closed = False

    def beside(self, server: str | None) -> Pair:
        """The pair beside a region server, or one that will do as well."""
        return next((pair for pair in self.pairs if pair.server == server), self.pairs[0])

    def one(self, call: Call, ask: Callable[[Any], T], *, near: Pair | None = None) -> T:
        """`ask` of a happybase connection, if possible that of the pair `near`."""
        return self._try(call, self._turns(call, near, _ONE), ask)

    def two(self, call: Call, ask: Callable[[Any], T], *, near: Pair | None = None) -> T:
        """`ask` of a Thrift2 client, if possible that of the pair `near`."""
        return self._try(call, self._turns(call, near, _TWO), ask)

    def stream_one(
        self, call: Call, ask: Callable[[Any, P], Iterator[tuple[P, T]]], position: P, *, near: Pair | None = None
    ) -> Iterator[T]:
        """What ``ask(connection, position)`` yields, each item with the position after it, from whichever gateway: if
        one breaks off, another goes on from the last position. Gives up when all have failed in a row."""
        return self._stream(call, self._turns(call, near, _ONE), ask, position)

    def stream_two(
        self, call: Call, ask: Callable[[Any, P], Iterator[tuple[P, T]]], position: P, *, near: Pair | None = None
    ) -> Iterator[T]:
        """As `stream_one`, of Thrift2 clients."""
        return self._stream(call, self._turns(call, near, _TWO), ask, position)

    def close(self) -> None:
        self._closed = True
        for pair in self.pairs:
            pair.close()

    def _turns(self, call: Call, near: Pair | None, side: Callable[[Pair], Port]) -> list[Port]:
        """The gateways to ask, one after the other: the nearest first, and last those that failed lately."""
        if self._closed:
            raise was_closed(call.subject.url)
        ports = [side(pair) for pair in self.pairs]
        if len(ports) > 1:
            ports.sort(key=lambda port: (port.shunned, near is None or port is not side(near)))
        return ports * ROUNDS

    def _try(self, call: Call, turns: list[Port], ask: Callable[[Any], T]) -> T:
        sent = False
        failure: Exception = NotSent("there is no gateway")
        careful = call.writes  # one that goes into a dead connection ends as unknown, for nothing
        for port in turns:
            try:
                return port.ask(ask, careful=careful)
            except (Refused, Late) as exc:
                failure = exc
                break
            except (NotSent, TException, OSError) as exc:
                self._raise_if_final(call, port, exc)
                failure = exc
                sent |= not isinstance(exc, NotSent)
                if sent and not call.repeatable:
                    break
                careful = True
        raise call.failed(reason(failure), sent=sent) from failure

    def _stream(
        self, call: Call, turns: list[Port], ask: Callable[[Any, P], Iterator[tuple[P, T]]], position: P
    ) -> Iterator[T]:
        failures = 0
        while True:
            port = turns[failures]
            try:
                with port.client() as client:
                    for after, item in ask(client, position):
                        yield item
                        position, failures = after, 0
            except (NotSent, TException, OSError) as exc:
                self._raise_if_final(call, port, exc)
                failures += 1
                if failures == len(turns) or isinstance(exc, Refused):
                    raise call.failed(reason(exc), sent=True) from exc
            else:
                return

    def _raise_if_final(self, call: Call, port: Port, exc: Exception) -> None:
        """Raise what another gateway would say as well; else this one is left alone for a while."""
        if isinstance(exc, answers()) and (told := call.refused(exc, str(port))):
            raise told from exc
        port.shun()
