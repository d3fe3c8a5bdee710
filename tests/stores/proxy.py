"""A TCP proxy between a client and a gateway that loses, tears and delays answers when told to.

An *exchange* is a request and the answer to it. A fault is for the next exchanges to begin, on whatever connection; the
client can tell it from a real one in no way.
"""

import select
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from enum import Enum
from typing import Self

LOOPBACK = "127.0.0.1"
CHUNK = 2**16


class Fault(Enum):
    """What happens to an exchange."""

    SWALLOWED = "the request is never forwarded, the connection is cut"
    LOST = "the request is forwarded, the connection is cut before the answer"
    TORN = "the connection is cut in the middle of the answer"
    SLOW = "the answer comes late, but in time"
    LATE = "the answer comes after the client's time-out"
    LATE_REQUEST = "the request is forwarded after the client's time-out"


class Proxy:
    """Listens on a port of its own for as long as it is open. `timeout` is that of the client it is put before."""

    def __init__(self, target: int, timeout: float, host: str = LOOPBACK) -> None:
        self.host = host
        self.port = 0
        self.connections = 0
        self.exchanges = 0
        self._target = target
        self._holds = {Fault.SLOW: timeout / 4, Fault.LATE: timeout * 1.5, Fault.LATE_REQUEST: timeout * 1.5}
        self._lock = threading.Lock()
        self._faults: list[Fault | None] = []
        self._open: set[socket.socket] = set()
        self._holding = 0
        self._answers_left: int | None = None
        self._listener: socket.socket | None = None
        self.listen()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.refuse()

    def inflict(self, fault: Fault, times: int = 1, *, after: int = 0) -> None:
        """What the next exchanges suffer, `after` some that don't."""
        with self._lock:
            self._faults = [None] * after + [fault] * times

    def heal(self) -> None:
        """From now on all is forwarded at once, and connections are accepted. What is held back stays so."""
        with self._lock:
            self._faults = []
        self.listen()

    def refuse(self) -> None:
        """Cut all connections and refuse new ones."""
        with self._lock:
            listener, self._listener = self._listener, None
            cut = list(self._open)
        if listener:
            listener.shutdown(socket.SHUT_RDWR)  # wakes the thread that accepts
            listener.close()
        for end in cut:
            _shut(end)

    def refuse_after(self, answers: int) -> None:
        """`refuse` as soon as so many more have been given."""
        with self._lock:
            self._answers_left = answers

    def listen(self) -> None:
        """Accept connections, on the port that it has had before."""
        if self._listener:
            return
        family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
        self._listener = socket.create_server((self.host, self.port), family=family)
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, args=(self._listener,), daemon=True).start()

    @property
    def open_connections(self) -> int:
        with self._lock:
            return len(self._open) // 2

    def idle(self) -> bool:
        """Whether nothing is held back, so that nothing can arrive any more that had been sent before."""
        with self._lock:
            return not self._holding

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                client, _ = listener.accept()
            except OSError:  # closed by `refuse`
                return
            threading.Thread(target=self._forward, args=(client,), daemon=True).start()

    def _forward(self, client: socket.socket) -> None:
        try:
            server = socket.create_connection((LOOPBACK, self._target))
        except OSError:
            client.close()
            return
        for end in (client, server):
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with self._lock:
            self._open |= {client, server}
            self.connections += 1
        try:
            with suppress(OSError):  # one end is gone
                self._exchanges(client, server)
        finally:
            with self._lock:
                self._open -= {client, server}
            client.close()
            server.close()

    def _exchanges(self, client: socket.socket, server: socket.socket) -> None:
        """Forward one exchange after the other until one end closes, or a fault does."""
        while request := client.recv(CHUNK):
            if not self._exchange(client, server, request, self._begin()):
                return

    def _exchange(self, client: socket.socket, server: socket.socket, request: bytes, fault: Fault | None) -> bool:
        """Whether the connection is to be kept, once the client speaks again."""
        if fault is Fault.SWALLOWED:
            return False
        with self._held(fault, Fault.LATE_REQUEST):
            server.sendall(request)
        answered = False
        while True:
            readable, _, _ = select.select([client, server], [], [])
            if server in readable:
                answer = server.recv(CHUNK)
                if fault is Fault.TORN:
                    client.sendall(answer[: len(answer) // 2])
                if not answer or fault in (Fault.LOST, Fault.TORN):
                    return False
                if last := self._is_the_last():  # then the client gets it together with the end of the connection
                    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 1)
                with self._held(None if answered else fault, Fault.SLOW, Fault.LATE):
                    client.sendall(answer)
                self.passed(client, answer)
                if last:
                    self.refuse()
                answered = True
            elif answered:
                return True
            elif request := client.recv(CHUNK):  # more of it
                server.sendall(request)
            else:
                return False

    def passed(self, client: socket.socket, answer: bytes) -> None:
        """Some of an answer went to a client; for who overrides it."""

    def _begin(self) -> Fault | None:
        with self._lock:
            self.exchanges += 1
            return self._faults.pop(0) if self._faults else None

    def _is_the_last(self) -> bool:
        with self._lock:
            if self._answers_left is None:
                return False
            self._answers_left -= 1
            if self._answers_left:
                return False
            self._answers_left = None
            return True

    @contextmanager
    def _held(self, fault: Fault | None, *when: Fault) -> Iterator[None]:
        """Wait first, if the fault is one of these."""
        if fault not in when:
            yield
            return
        with self._lock:
            self._holding += 1
        try:
            time.sleep(self._holds[fault])
            yield
        finally:
            with self._lock:
                self._holding -= 1


def _shut(end: socket.socket) -> None:
    with suppress(OSError):  # it was so already
        end.shutdown(socket.SHUT_RDWR)
