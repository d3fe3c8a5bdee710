"""A gateway that is not well: it understands every call, and answers as it is told to."""

import socket
import threading
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Self

from thriftpy2.protocol import TBinaryProtocol
from thriftpy2.thrift import TException, TMessageType, TProcessor
from thriftpy2.transport import TBufferedTransport, TSocket

from tests.stores.proxy import LOOPBACK


class SickGateway:
    """Listens on a port of its own for as long as it is open; `answer` gets the name of a call and its arguments, and
    returns or raises what is to be answered. With `confused`, the answers bear the numbers of other questions."""

    def __init__(self, service: Any, answer: Callable[..., Any], *, confused: bool = False) -> None:
        self.asked: Counter[str] = Counter()
        self._service = service
        self._answer = answer
        self._confused = confused
        self._listener = socket.create_server((LOOPBACK, 0))
        self.port: int = self._listener.getsockname()[1]
        self._open: list[socket.socket] = []

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        for end in (self._listener, *self._open):
            with suppress(OSError):  # the other side was quicker
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def called(*arguments: Any) -> Any:
            self.asked[name] += 1
            return self._answer(name, *arguments)

        return called

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:  # closed
                return
            self._open.append(client)
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        protocol = TBinaryProtocol(TBufferedTransport(TSocket(sock=client)), decode_response=False)
        processor = TProcessor(self._service, self)
        with suppress(TException, OSError):  # the client has gone
            while True:
                name, number, result, call = processor.process_in(protocol)
                try:
                    result.success = call()
                except Exception as exc:  # noqa: BLE001  whatever it is, it is the answer
                    processor.handle_exception(exc, result)
                protocol.write_message_begin(name, TMessageType.REPLY, number + self._confused)
                result.write(protocol)
                protocol.write_message_end()
                protocol.trans.flush()
