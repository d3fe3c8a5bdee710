"""A Thrift client that takes no answer but the one to its question.

thriftpy2's own client does not compare sequence ids: after a time-out the late answer to one call is handed to the next
one on the same connection. This one does; it is also quicker, as it looks nothing up at a call.
"""

import os
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any, Self

import thriftpy2
from thriftpy2.thrift import TApplicationException, TException, TMessageType
from thriftpy2.transport import TTransportException

from neomodel.stores.clock import Watch
from neomodel.stores.hbase_wire import END

_NUMBERS = 2**31


@cache
def thrift2() -> Any:
    """The types and calls of the Thrift2 gateway."""
    return thriftpy2.load(str(Path(__file__).with_name("hbase2.thrift")), module_name="hbase2_thrift")


thrift2()  # now, as thriftpy2 holds a lock for it: a child forked meanwhile would wait for that lock for ever


class Late(TTransportException):
    """What was to be asked is too old by now, so it was not. Another gateway would be asked later still."""


class Client:
    """Has a method for each call of a Thrift service; arguments go by position.

    After any error it asks nothing more, as what would be read next may be left from before; nor does it in a forked
    child, which would talk into its parent's conversation.
    """

    def __init__(self, service: Any, protocol: Any) -> None:
        self._service = service
        self._protocol = protocol
        self._number = 0
        self._process = os.getpid()
        self._broken = False
        self._since: tuple[Watch, int] | None = None

    def within(self, since: Watch, limit: int) -> Self:
        """Itself, for one call that is sent only if not more than so many microseconds have passed: else it is `Late`.

        That is looked at when the request is ready to go and lacks no more than being handed to the system: so a
        process that was stopped before sends nothing old when it goes on.
        """
        self._since = since, limit
        return self

    def __getattr__(self, name: str) -> Any:
        if name not in self._service.thrift_services:
            raise AttributeError(name)
        request, result = getattr(self._service, f"{name}_args"), getattr(self._service, f"{name}_result")
        asking = partial(self._ask, name, request, result)
        setattr(self, name, asking)  # found at once the next time
        return asking

    def begin(self, name: str, *arguments: Any) -> Callable[[], Any]:
        """Ask, and return at once; what is returned waits for the answer. Nothing else can be asked meanwhile."""
        request, result = getattr(self._service, f"{name}_args"), getattr(self._service, f"{name}_result")
        return partial(self._receive, self._send(name, request, arguments), result)

    def ask_ready(self, name: str, arguments: bytes) -> Any:
        """Ask with arguments in Thrift's own form, but for the end of their struct: without that, it is no request."""
        return self._receive(self._send(name, None, (arguments,)), getattr(self._service, f"{name}_result"))

    def _ask(self, name: str, request: Any, result: Any, *arguments: Any) -> Any:
        return self._receive(self._send(name, request, arguments), result)

    def _send(self, name: str, request: Any, arguments: tuple[Any, ...]) -> int:
        if self._broken or self._process != os.getpid():
            raise TTransportException(TTransportException.NOT_OPEN, "a call on it failed, or it is the parent's")
        self._broken = True  # until the answer is here
        self._number = number = (self._number + 1) % _NUMBERS
        protocol = self._protocol
        protocol.write_message_begin(name, TMessageType.CALL, number)
        if request is None:
            protocol.trans.write(arguments[0])
        else:
            protocol.write_struct(request(*arguments))
            protocol.write_message_end()
        self._check_age()
        if request is None:
            protocol.trans.write(END)
        protocol.trans.flush()
        return number

    def _receive(self, number: int, result: Any) -> Any:
        answer = self._answer(number, result)
        self._broken = False
        return answer

    def _check_age(self) -> None:
        since, self._since = self._since, None
        if since is not None and (age := since[0].age()) > since[1]:
            told = (
                f"it is {age / 1e6:.1f} s old; what is sent later than after {since[1] / 1e6:g} s could change a past"
            )
            raise Late(TTransportException.NOT_OPEN, f"{told} that others take for settled")

    def _answer(self, number: int, result: Any) -> Any:
        protocol = self._protocol
        try:
            _, kind, answered = protocol.read_message_begin()
            answer = TApplicationException() if kind == TMessageType.EXCEPTION else result()
            protocol.read_struct(answer)
            protocol.read_message_end()
        except (TException, OSError):
            raise
        except Exception as exc:  # whatever reading what is no answer leads to
            raise TTransportException(TTransportException.UNKNOWN, f"no answer, but {reason(exc)!r}") from exc
        if answered != number:
            raise TTransportException(TTransportException.UNKNOWN, "an answer to another question")
        if isinstance(answer, TApplicationException):
            raise answer
        if (success := getattr(answer, "success", None)) is not None:
            return success
        for refusal in vars(answer).values():
            if refusal is not None:
                raise refusal
        if hasattr(answer, "success"):
            raise TApplicationException(TApplicationException.MISSING_RESULT, "an answer without a result")
        return None


def reason(exc: Exception) -> str:
    """The first line of what went wrong."""
    told = getattr(exc, "message", None) or str(exc) or type(exc).__name__
    return (told.decode(errors="replace") if isinstance(told, bytes) else told).partition("\n")[0]
