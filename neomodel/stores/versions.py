"""Versions: what a compare-and-swap of a row compares, and whose writes they tell of."""

import os
import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager


def successor(version: bytes | None) -> bytes:
    """A new value for `VERSION` after `version`: the next number, and a token nobody else can have made.

    The number is for people. The token tells whose write it was when an answer got lost.
    """
    if not version:
        return b"1-" + _tokens.next()
    number = int(version.partition(b"-")[0])
    return b"%d-%s" % (number + 1, _tokens.next())


_DRAWN = 500  # tokens at a time


class _Tokens:
    """Random tokens of 12 letters, drawn many at a time. A forked process draws its own."""

    def __init__(self) -> None:
        self._drawn: Iterator[bytes] = iter(())
        os.register_at_fork(after_in_child=self._forget)

    def _forget(self) -> None:
        self._drawn = iter(())

    def next(self) -> bytes:
        if _signature.token is not None:
            return _signature.token
        found = next(self._drawn, None)
        if found is None:
            letters = secrets.token_hex(6 * _DRAWN).encode()
            self._drawn = iter([letters[at : at + 12] for at in range(0, len(letters), 12)])
            found = next(self._drawn)
        return found


class _Signature(threading.local):
    """The token that this thread puts into all versions; None: each has one of its own."""

    token: bytes | None = None


_signature = _Signature()
_tokens = _Tokens()


@contextmanager
def signed(token: str) -> Iterator[None]:
    """Let every version that this thread makes in the block carry one token, so that it can be told from the rows which
    of them a job has written. Numbers still tell its versions of one row apart."""
    before, _signature.token = _signature.token, token.encode()
    try:
        yield
    finally:
        _signature.token = before


def is_signed() -> bool:
    """Whether this thread signs what it writes: then every write to a row has to be a version of it."""
    return _signature.token is not None


def is_by(version: bytes | None, token: str) -> bool:
    """Whether a version was made by who signs with that token."""
    return version is not None and version.partition(b"-")[2] == token.encode()
