"""Thrift over SASL with Kerberos, which HBase's gateways speak if `hbase.thrift.security.qop` is set.

First a negotiation: messages of a status byte, a length of four bytes, and a body (Thrift's own), whose bodies are
those of RFC 4752. Then frames of a length and as many bytes, each wrapped by Kerberos. Here nothing but encryption will
do: a gateway whose qop is not `privacy` is refused.
"""

import struct
from collections.abc import Callable
from typing import Any

from thriftpy2.transport import TTransportException

from neomodel.stores.hbase_http import CONNECT
from neomodel.stores.hbase_kerberos import Context, KerberosFailed, library

_START, _OK, _COMPLETE = 1, 2, 5  # the statuses of an orderly negotiation
_LONGEST_MESSAGE = 2**20
_LONGEST_FRAME = 2**30
_PRIVATE = 4  # the bit for "encrypted" among the layers that a server offers
_OVERHEAD = 1024  # more than Kerberos adds to a frame


def sasl(plain: Callable[[str, int], Any], service: str) -> Callable[[str, int], "SaslTransport"]:
    """What makes transports to a host and port over those of `plain`. `service` is NAME, or NAME/HOST if the gateways
    are known to Kerberos by another host than the URL has. Raises `OSError` if the system has no Kerberos."""
    library()
    name, _, alias = service.partition("/")
    return lambda host, port: SaslTransport(plain(host, port), f"{name}@{alias or host}")


class SaslTransport:
    """A transport for thriftpy2. As those on sockets, it has a `sock`, which is None if there is no connection."""

    def __init__(self, inner: Any, service: str) -> None:
        self.host, self.port, self.idle = inner.host, inner.port, inner.idle
        self._inner = inner
        self._service = service
        self._context = Context(service)
        self._longest = 0
        self._request = bytearray()
        self._answer = bytearray()

    @property
    def sock(self) -> Any:
        return self._inner.sock

    def is_open(self) -> bool:
        return bool(self._inner.is_open())

    def open(self) -> None:
        self._inner.open()
        self._context = Context(self._service)
        patience = self.sock.gettimeout()
        try:
            self.sock.settimeout(min(patience, CONNECT))
            self._negotiate()
            self.sock.settimeout(patience)
        except (KerberosFailed, TTransportException, OSError) as exc:
            self.close()
            told = getattr(exc, "message", None) or exc
            reason = f"Kerberos could not be agreed on with {self._service} ({told})"
            raise TTransportException(TTransportException.NOT_OPEN, reason) from exc

    def close(self) -> None:
        self._inner.close()
        self._context.close()

    def write(self, data: bytes) -> None:
        self._request += data

    def flush(self) -> None:
        request, self._request = bytes(self._request), bytearray()
        parts = [request[first : first + self._longest] for first in range(0, len(request), self._longest)]
        try:
            frames = [self._context.wrap(part, private=True) for part in parts]
        except KerberosFailed as exc:
            raise TTransportException(TTransportException.NOT_OPEN, str(exc)) from exc
        self._inner.write(b"".join(struct.pack("!I", len(frame)) + frame for frame in frames))
        self._inner.flush()

    def read(self, size: int) -> bytes:
        if not self._answer:
            (length,) = struct.unpack("!I", self._exactly(4))
            if length > _LONGEST_FRAME:
                raise TTransportException(TTransportException.UNKNOWN, f"a frame of {length} bytes can't be")
            try:
                self._answer += self._context.unwrap(self._exactly(length), private=True)
            except KerberosFailed as exc:
                raise TTransportException(TTransportException.UNKNOWN, str(exc)) from exc
        data = bytes(self._answer[:size])
        del self._answer[:size]
        return data

    def _negotiate(self) -> None:
        first = self._context.step(b"")  # before anything is sent: this fails if we have no ticket
        self._send(_START, b"GSSAPI")
        self._send(_OK, first)
        while not self._context.complete:
            self._send(_OK, self._context.step(self._receive(_OK)))
        offer = self._context.unwrap(self._receive(_OK), private=False)
        self._longest = longest_frame(offer) - _OVERHEAD
        chosen = bytes([_PRIVATE]) + offer[1:4]
        self._send(_OK, self._context.wrap(chosen, private=False))
        self._receive(_COMPLETE)

    def _send(self, status: int, body: bytes) -> None:
        self._inner.write(struct.pack("!BI", status, len(body)) + body)

    def _receive(self, expected: int) -> bytes:
        status, length = struct.unpack("!BI", self._exactly(5))
        if length > _LONGEST_MESSAGE:
            raise TTransportException(TTransportException.UNKNOWN, "it does not speak SASL")
        body = self._exactly(length)
        if status != expected:
            told = " ".join(body.decode(errors="replace").split())[:200] or f"status {status}"
            raise TTransportException(TTransportException.UNKNOWN, f"it says: {told}")
        return body

    def _exactly(self, size: int) -> bytes:
        data = bytearray()
        while len(data) < size:
            data += self._inner.read(size - len(data))
        return bytes(data)


def longest_frame(offer: bytes) -> int:
    """What a server takes at once, by the four bytes in which it says that and which layers it has. Raises
    `KerberosFailed` if encryption is not among them."""
    if len(offer) != 4 or not offer[0] & _PRIVATE:
        raise KerberosFailed("it does not encrypt; its hbase.thrift.security.qop must be privacy")
    return max(int.from_bytes(offer[1:], "big"), 2 * _OVERHEAD)
