"""An HTTPS server before a gateway, as sites have them: it may ask for a name and password, and may misbehave.

`front.pem` has its certificate, and the key to it, which is therefore no secret: it is good for 127.0.0.1, in tests.
"""

import http.client
import ssl
import threading
from base64 import b64encode
from collections.abc import Callable
from enum import Enum
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self

CERTIFICATE = Path(__file__).with_name("front.pem")
LOOPBACK = "127.0.0.1"


class Trick(Enum):
    """What happens to a request instead of its being forwarded and answered."""

    CUT = "it is forwarded, and the connection cut before the answer"
    SHORT = "it is forwarded, and the connection cut in the middle of the answer"
    LAST = "it is forwarded and answered, and then the connection is ended, as announced"
    PAGE = "it is answered with a page for people"
    GARBAGE = "it is answered with what is no HTTP"


class Front:
    """Listens on a port of its own for as long as it is open. `requests` counts all that came."""

    def __init__(self, target: int, ca: str, password: str | None = None, user: str = "ada") -> None:
        self.requests = 0
        self.connections = 0
        self._target = (target, ssl.create_default_context(cafile=ca))
        self._wanted = password and f"Basic {b64encode(f'{user}:{password}'.encode()).decode()}"
        self._tricks: list[Trick | int | None] = []
        self._server = _Server((LOOPBACK, 0), self._handler())
        self.port: int = self._server.server_port
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def play(self, *tricks: Trick | int | None) -> None:
        """What happens to the next requests, one after the other: a trick, an answer with that status, or nothing."""
        self._tricks = list(tricks)

    def _handler(self) -> Callable[..., BaseHTTPRequestHandler]:
        front = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self) -> None:
                front.connections += 1
                super().setup()

            def do_POST(self) -> None:
                request = self.rfile.read(int(self.headers["Content-Length"]))
                front.requests += 1
                if front._wanted and self.headers["Authorization"] != front._wanted:
                    self.answer(401, b"")
                    return
                trick = front._tricks.pop(0) if front._tricks else None
                if isinstance(trick, int):
                    self.answer(trick, b"")
                elif trick is Trick.PAGE:
                    self.answer(200, b"<html>", "text/html")
                elif trick is Trick.GARBAGE:
                    self.wfile.write(b"\0\0\0\4what\r\n\r\n")
                    self.close_connection = True
                else:
                    self.relay(front.forward(request), trick)

            def relay(self, answer: bytes, trick: Trick | None) -> None:
                self.close_connection = trick is not None
                if trick is not Trick.CUT:
                    self.answer(200, answer, cut=len(answer) // 2 if trick is Trick.SHORT else None)

            def answer(
                self, status: int, body: bytes, kind: str = "application/x-thrift", cut: int | None = None
            ) -> None:
                self.send_response(
                    status, f"to {self.headers['Authorization']}"
                )  # who repeats that, tells the password
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                if self.close_connection:
                    self.send_header("Connection", "close")
                self.end_headers()
                self.wfile.write(body[:cut])

            def log_message(self, *_: Any) -> None:
                """Tell nobody."""

        return Handler

    def forward(self, request: bytes) -> bytes:
        port, context = self._target
        upstream = http.client.HTTPSConnection(LOOPBACK, port, timeout=30, context=context)
        try:
            upstream.request("POST", "/", request, {"Content-Type": "application/x-thrift"})
            return upstream.getresponse().read()
        finally:
            upstream.close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, *how: Any) -> None:
        super().__init__(*how)
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(CERTIFICATE)
        # Handshakes are for the threads of the connections: a client that never makes its would hold up all others.
        self.socket = context.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)

    def handle_error(self, *_: Any) -> None:
        """A client that does not trust us, or has hung up: what it is told is what tests look at."""
