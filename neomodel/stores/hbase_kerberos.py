"""Kerberos, by the MIT library that the system has: just the calls of its C interface (RFC 2744) that a client needs.

Who we are comes from where that library looks: a ticket got with kinit, or the keytab in `$KRB5_CLIENT_KTNAME`. No
password passes through here.
"""

import ctypes
from ctypes import POINTER, byref, c_char_p, c_int, c_size_t, c_uint32, c_void_p, cast
from functools import cache
from typing import Any

_LIBRARY = "libgssapi_krb5.so.2"
_MUTUAL, _SEQUENCE, _PRIVATE, _INTEGRAL = 2, 8, 16, 32  # what a context is to have
_ERRORS = 0xFFFF0000  # of a status; the rest tells more of a success


class KerberosFailed(Exception):
    """What the library says went wrong, in its own words."""


class _Buffer(ctypes.Structure):
    _fields_ = (("length", c_size_t), ("value", c_void_p))


class _Oid(ctypes.Structure):
    _fields_ = (("length", c_uint32), ("elements", c_void_p))


# The bytes stay where they are as long as the module does, which is what a pointer into them needs.
_KERBEROS_BYTES = c_char_p(b"\x2a\x86\x48\x86\xf7\x12\x01\x02\x02")
_SERVICE_BYTES = c_char_p(b"\x2a\x86\x48\x86\xf7\x12\x01\x02\x01\x04")
_KERBEROS = _Oid(9, cast(_KERBEROS_BYTES, c_void_p))
_SERVICE = _Oid(10, cast(_SERVICE_BYTES, c_void_p))


@cache
def library() -> Any:
    """The library, its calls declared. Raises `OSError` if the system has none."""
    loaded = ctypes.CDLL(_LIBRARY)
    number, numbers, handles, oid, buffer = (
        c_uint32,
        POINTER(c_uint32),
        POINTER(c_void_p),
        POINTER(_Oid),
        POINTER(_Buffer),
    )
    calls: dict[str, list[Any]] = {
        "gss_import_name": [numbers, buffer, oid, handles],
        "gss_release_name": [numbers, handles],
        "gss_init_sec_context": [
            *(numbers, c_void_p, handles, c_void_p, oid, number, number),
            *(c_void_p, buffer, c_void_p, buffer, numbers, c_void_p),
        ],
        "gss_delete_sec_context": [numbers, handles, buffer],
        "gss_wrap": [numbers, c_void_p, c_int, number, buffer, POINTER(c_int), buffer],
        "gss_unwrap": [numbers, c_void_p, buffer, buffer, POINTER(c_int), numbers],
        "gss_display_status": [numbers, number, c_int, oid, numbers, buffer],
        "gss_release_buffer": [numbers, buffer],
    }
    for name, arguments in calls.items():
        function = getattr(loaded, name)
        function.argtypes = arguments
        function.restype = number
    return loaded


class Context:
    """One conversation with a service, such as ``hbase@gateway.example.org``, in which each side knows the other.

    Not for several threads at a time. Every call raises `KerberosFailed` if the library refuses.
    """

    def __init__(self, service: str) -> None:
        self._service = service.encode()
        self._handle = c_void_p()
        self.complete = False

    def step(self, token: bytes) -> bytes:
        """What to send after `token` has come, nothing for the first time; all is agreed on if `complete` says so."""
        name = c_void_p()
        _call("gss_import_name", _given(self._service), byref(_SERVICE), byref(name))
        answer = _Buffer()
        wanted = _MUTUAL | _SEQUENCE | _PRIVATE | _INTEGRAL
        arguments = (None, byref(self._handle), name, byref(_KERBEROS), wanted, 0, None, _given(token), None)
        try:
            status = _call("gss_init_sec_context", *arguments, byref(answer), None, None)
        finally:
            _call("gss_release_name", byref(name))
        self.complete = status == 0
        return _taken(answer)

    def wrap(self, data: bytes, *, private: bool) -> bytes:
        """Signed, so that the other side knows it is from us and in its place; encrypted if `private`."""
        answer, was_private = _Buffer(), c_int()
        _call("gss_wrap", self._handle, int(private), 0, _given(data), byref(was_private), byref(answer))
        wrapped = _taken(answer)
        if private and not was_private.value:
            raise KerberosFailed("it did not encrypt what was to be encrypted")
        return wrapped

    def unwrap(self, data: bytes, *, private: bool) -> bytes:
        """What the other side wrapped, known to be from it, in its place, and encrypted if `private`."""
        answer, was_private = _Buffer(), c_int()
        status = _call("gss_unwrap", self._handle, _given(data), byref(answer), byref(was_private), None)
        unwrapped = _taken(answer)
        if status or (private and not was_private.value):
            raise KerberosFailed("what came was not encrypted, or not in its place")
        return unwrapped

    def close(self) -> None:
        if self._handle:
            _call("gss_delete_sec_context", byref(self._handle), None)


def _call(name: str, *arguments: Any) -> int:
    reason = c_uint32()
    status: int = getattr(library(), name)(byref(reason), *arguments)
    if status & _ERRORS:
        raise KerberosFailed(f"{_told(status, 1)}: {_told(reason.value, 2)}")
    return status


def _told(status: int, kind: int) -> str:
    text, ignored, more = _Buffer(), c_uint32(), c_uint32()
    library().gss_display_status(byref(ignored), status, kind, byref(_KERBEROS), byref(more), byref(text))
    return " ".join(_taken(text).decode(errors="replace").split())


def _given(data: bytes) -> Any:
    """For the library to read from. The buffer keeps the bytes alive."""
    kept = c_char_p(data)
    buffer = _Buffer(len(data), cast(kept, c_void_p))
    buffer.kept = kept
    return buffer


def _taken(buffer: _Buffer) -> bytes:
    """What the library has written, which is then given back to it."""
    data = ctypes.string_at(buffer.value, buffer.length) if buffer.value else b""
    ignored = c_uint32()
    library().gss_release_buffer(byref(ignored), byref(buffer))
    return data
