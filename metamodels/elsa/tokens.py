"""Tokens: which states of the systems something was computed from, in a short text.

The text is base 64 for URLs, without padding, of: the form (1 byte), the mark of the store (4), event and ingest time
(8 each, signed), then for every system with an ingest time of its own that time (8) and its name, preceded by its
length (1); at the end a CRC of all that (2), so that a typing error is no other token.
"""

import base64
import struct
import zlib
from collections.abc import Mapping
from types import MappingProxyType

import attrs

import neomodel as nm
from neomodel.times import Time, micros

_FORM = 1
_HEAD = struct.Struct(">B4sqq")
_OWN = struct.Struct(">qB")
_CRC = struct.Struct(">H")


def _fixed(times: Mapping[str, int]) -> Mapping[str, int]:
    return MappingProxyType(dict(sorted(times.items())))


@attrs.frozen
class Token:
    """The states of all systems of a store up to an event time, as known at an ingest time, or some at others. The same
    token gives the same answers for ever, or is refused where what it names is not kept any more. A value: `str` and
    `parse` are each other's inverse."""

    store: str
    event: int
    ingest: int
    own: Mapping[str, int] = attrs.field(factory=dict, converter=_fixed, hash=False)
    """The ingest times of systems that have others."""

    def ingest_of(self, system: str) -> int:
        return self.own.get(system, self.ingest)

    def with_ingest(self, times: Mapping[str, Time] | None = None, /, **more: Time) -> "Token":
        """The same, but with what was known of these systems at other times: new data of one system, and the others
        as they were. Whether the times are stable is asked when it is used."""
        given = {**(times or {}), **more}
        named = {name: micros(f"the ingest time of {name!r}", time) for name, time in given.items()}
        return attrs.evolve(self, own={**self.own, **named})

    def __str__(self) -> str:
        data = _HEAD.pack(_FORM, bytes.fromhex(self.store), self.event, self.ingest)
        for name, time in self.own.items():
            data += _OWN.pack(time, len(name.encode())) + name.encode()
        data += _CRC.pack(zlib.crc32(data) & 0xFFFF)
        return base64.urlsafe_b64encode(data).decode().rstrip("=")

    def __reduce__(self) -> tuple[object, ...]:
        return Token.parse, (str(self),)

    @classmethod
    def parse(cls, text: "str | Token") -> "Token":
        """The token that this text is of; `InvalidValue` if it is of none."""
        if isinstance(text, Token):
            return text
        try:
            data = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
            body, crc = data[: -_CRC.size], data[-_CRC.size :]
            form, store, event, ingest = _HEAD.unpack_from(body)
            sound = form == _FORM and _CRC.unpack(crc) == (zlib.crc32(body) & 0xFFFF,)
            own, at = {}, _HEAD.size
            while sound and at < len(body):
                time, length = _OWN.unpack_from(body, at)
                at += _OWN.size + length
                own[body[at - length : at].decode()] = time
        except (ValueError, TypeError, struct.error):
            sound = False
        if not sound:
            raise nm.InvalidValue("a token", text, "one that a store has given, unchanged")
        return cls(store.hex(), event, ingest, own)
