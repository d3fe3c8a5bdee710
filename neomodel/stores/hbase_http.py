"""Thrift over HTTPS, the one mode in which HBase's gateways speak TLS.

A call is one POST, and is sent once: nothing here tries again. The connection is kept for the next call, and made anew
in between if the other side has announced that it ends it. Certificates are always verified, with the CAs of the
system or those of a file.
"""

import http.client
import io
import os
import socket
import ssl
from base64 import b64encode
from collections.abc import Callable
from contextlib import suppress
from http import HTTPStatus

from thriftpy2.transport import TTransportException

from neomodel.stores.hbase_url import Tls

IDLE = 20  # seconds; a gateway in this mode closes a connection that was idle for 30
CONNECT = 5  # seconds to wait for a connection, and as many for the TLS handshake
_THRIFT = "application/x-thrift"
_CREDENTIALS = (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN, HTTPStatus.PROXY_AUTHENTICATION_REQUIRED)


class Refused(TTransportException):
    """It was asked, and did nothing: it lets us not in, or is no gateway of this mode. Others would say the same."""


def https(tls: Tls, timeout: float) -> Callable[[str, int], "HttpsTransport"]:
    """What makes transports to a host and port. Raises `OSError` if the file of CAs can't be read."""
    context = ssl.create_default_context(cafile=tls.ca)
    return lambda host, port: HttpsTransport(host, port, timeout, context, tls)


class HttpsTransport:
    """A transport for thriftpy2. As those on sockets, it has a `sock`, which is None if there is no connection."""

    idle = IDLE

    def __init__(self, host: str, port: int, timeout: float, context: ssl.SSLContext, tls: Tls) -> None:
        self.host = host.strip("[]")
        self.port = port
        self._timeout = timeout
        self._context = context
        self._known = tls.user is not None
        self._headers = _headers(tls)
        self._process = os.getpid()
        self._http = http.client.HTTPConnection(self.host, port, timeout=min(timeout, CONNECT))
        self._http.auto_open = 0  # or it would connect by itself, without TLS
        self._closed = True
        self._request = bytearray()
        self._answer = io.BytesIO()

    @property
    def sock(self) -> socket.socket | None:
        return self._http.sock

    def is_open(self) -> bool:
        return not self._closed

    def open(self) -> None:
        self._closed = False
        try:
            self._http.connect()
            self._http.sock = self._context.wrap_socket(self._http.sock, server_hostname=self.host)
            self._http.sock.settimeout(self._timeout)
        except (OSError, ValueError) as exc:  # the latter for what can be no host's name
            told = _no_tls(exc) if self._http.sock else str(exc)
            self.close()
            raise TTransportException(TTransportException.NOT_OPEN, told) from exc

    def close(self) -> None:
        """Of what a forked child has from its parent, only its own end."""
        self._closed = True
        if self._http.sock and self._process == os.getpid():
            with suppress(OSError):  # the other side was quicker
                self._http.sock.shutdown(socket.SHUT_RDWR)
        self._http.close()

    def write(self, data: bytes) -> None:
        self._request += data

    def flush(self) -> None:
        """Send what was written, and have the answer for `read`."""
        request, self._request = bytes(self._request), bytearray()
        if self._closed:
            raise TTransportException(TTransportException.NOT_OPEN, "the connection is closed")
        if self._http.sock is None:  # as announced with the last answer
            self.open()
        try:
            self._http.request("POST", "/", request, self._headers)
            with self._http.getresponse() as response:
                self._check(response)
                self._answer = io.BytesIO(response.read())
        except http.client.HTTPException as exc:
            told = "the connection ended" if isinstance(exc, http.client.RemoteDisconnected) else type(exc).__name__
            raise TTransportException(
                TTransportException.UNKNOWN, f"no answer from {self.host}:{self.port} ({told})"
            ) from exc

    def read(self, size: int) -> bytes:
        return self._answer.read(size)

    def _check(self, response: http.client.HTTPResponse) -> None:
        """Of what the other side says in words, nothing is repeated: it might be what we had sent."""
        status = response.status
        told = f"{self.host}:{self.port} answered {status} {http.client.responses.get(status, '')}".rstrip()
        if status in _CREDENTIALS:
            remedy = "check the name and password" if self._known else "it wants a name and password"
            raise Refused(TTransportException.NOT_OPEN, f"{told}: {remedy}")
        if 300 <= status < 500:
            raise Refused(TTransportException.NOT_OPEN, f"{told}: it is no Thrift gateway in HTTP mode")
        if status != HTTPStatus.OK:
            raise TTransportException(TTransportException.UNKNOWN, told)
        if response.headers.get_content_type() != _THRIFT:
            raise TTransportException(TTransportException.UNKNOWN, f"{told}, but not in Thrift")


def _headers(tls: Tls) -> dict[str, str]:
    headers = {"Content-Type": _THRIFT, "Accept": _THRIFT, "User-Agent": "neomodel"}
    if tls.user is not None:
        headers["Authorization"] = f"Basic {b64encode(f'{tls.user}:{tls.password}'.encode()).decode()}"
    return headers


def _no_tls(exc: Exception) -> str:
    if isinstance(exc, ssl.SSLCertVerificationError):
        told = exc.verify_message.rstrip(".")
        return f"its certificate is not trusted: {told}; check the host name, or name its CA with ca=FILE"
    reason = exc.reason if isinstance(exc, ssl.SSLError) else None
    told = reason or ("no answer in time" if isinstance(exc, TimeoutError) else "it hung up")
    return f"TLS could not be agreed on ({told}); tls=1 is for gateways in HTTP mode with TLS"
