"""The URL of an HBase store.

    hbase://HOST:PORT,HOST:PORT?thrift2=PORT,PORT&servers=HOST:PORT,HOST:PORT

Each ``HOST:PORT`` is the Thrift1 gateway of a pair; in the same order `thrift2` has the port of its Thrift2 gateway on
that host, and `servers` (may be left out) the region server it stands beside, by the address that HBase has for it.
An IPv6 address goes in brackets: ``[::1]:9090``.

    prefix=team_    put before the names of all tables; what lies outside is not seen
    timeout=30      seconds to wait for an answer
    insecure=1      needed for a gateway that is not on this machine: nothing is encrypted and nobody asks who you are

"""

import ipaddress
from urllib.parse import SplitResult, parse_qsl, urlsplit

import attrs

from neomodel.errors import InvalidStore

_FORM = "it must look like hbase://HOST:PORT,HOST:PORT?thrift2=PORT,PORT"
_PARAMETERS = {"thrift2", "servers", "prefix", "timeout", "insecure"}


@attrs.frozen
class GatewayAddress:
    host: str
    port1: int
    port2: int
    server: str | None


@attrs.frozen
class HBaseUrl:
    gateways: list[GatewayAddress]
    prefix: str
    timeout: float


def parse(url: str) -> HBaseUrl:
    """What the URL says, or `InvalidStore` with what is wrong with it."""
    parts, url = _split(url), _hidden(url)
    told = dict(parse_qsl(parts.query, keep_blank_values=True))
    if parts.path.strip("/") or parts.fragment or "@" in parts.netloc:
        raise InvalidStore(url, _FORM)
    if unknown := told.keys() - _PARAMETERS:
        raise InvalidStore(url, f"unknown parameter {min(unknown)!r}; there are {', '.join(sorted(_PARAMETERS))}")
    firsts = [_address(url, text) for text in parts.netloc.split(",")]
    seconds = told.get("thrift2", "").split(",")
    servers = told["servers"].split(",") if "servers" in told else [None] * len(firsts)
    if not len(firsts) == len(seconds) == len(servers):
        raise InvalidStore(url, "thrift2, and servers if given, must have as many entries as there are gateways")
    gateways = [
        GatewayAddress(host, port, _port(url, second), server)
        for (host, port), second, server in zip(firsts, seconds, servers, strict=True)
    ]
    for gateway in gateways:
        if told.get("insecure") != "1" and not _loopback(gateway.host):
            reason = (
                f"{gateway.host} is not this machine, and a Thrift gateway neither encrypts nor asks for a password"
            )
            raise InvalidStore(url, f"{reason}; if its network is trusted, add insecure=1")
    return HBaseUrl(gateways, told.get("prefix", ""), _timeout(url, told.get("timeout", "30")))


def _address(url: str, text: str) -> tuple[str, int]:
    host, colon, port = text.rpartition(":")
    bare = host[1:-1] if host.startswith("[") and host.endswith("]") else host
    if not colon or not bare or (bare == host and ":" in host):
        raise InvalidStore(url, f"{text!r} is no HOST:PORT of a Thrift1 gateway; an IPv6 address goes in brackets")
    return bare, _port(url, port)


def _port(url: str, text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) < 65536:
        raise InvalidStore(url, f"{text!r} is no port; each gateway needs one, and one in thrift2")
    return int(text)


def _timeout(url: str, text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0
    if not 0 < seconds < 3600:
        raise InvalidStore(url, f"timeout is {text!r}, expected seconds, such as 30")
    return seconds


def _loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _split(url: str) -> SplitResult:
    try:
        return urlsplit(url)
    except ValueError as exc:
        raise InvalidStore(_hidden(url), _FORM) from exc


def _hidden(url: str) -> str:
    """The URL without a name or password that may stand in it: before an @, or in a parameter that is not ours."""
    scheme, slashes, rest = url.partition("://")
    place, mark, query = rest.rpartition("@")[2].partition("?")
    told = [pair.partition("=") for pair in query.split("&")]
    shown = [name + equals + (value if name in _PARAMETERS or not value else "...") for name, equals, value in told]
    return f"{scheme}{slashes}{place}{mark}{'&'.join(shown)}"
