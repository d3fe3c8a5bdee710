"""The URL of an HBase store.

    hbase://HOST:PORT,HOST:PORT?thrift2=PORT,PORT&servers=HOST:PORT,HOST:PORT

Each ``HOST:PORT`` is the Thrift1 gateway of a pair; in the same order `thrift2` has the port of its Thrift2 gateway on
that host, and `servers` (may be left out) the region server it stands beside, by the address that HBase has for it.
An IPv6 address goes in brackets: ``[::1]:9090``.

    prefix=team_    put before the names of all tables; what lies outside is not seen
    timeout=30      seconds to wait for an answer
    regions=4       that a new model begins with; as it is, four for each gateway
    settling=60     seconds until a time is complete, the same for all who use the store; else timeout x 2 x gateways
    tls=1           the gateways are in HTTP mode with TLS; their certificates are verified with the CAs of the system
    ca=FILE         or with those of this file, and no others
    sasl=kerberos   the gateways ask for Kerberos, and encrypt; who we are is what the system's Kerberos says
    service=hbase   the name by which Kerberos knows them; NAME/HOST if it is by another host than stands here
    insecure=1      needed for a gateway with neither that is not on this machine

**Credentials** are sent with TLS only, as HTTP Basic authentication, which a reverse proxy before the gateways may ask
for: ``hbase://USER:PASSWORD@HOST:PORT...``, special characters percent-encoded; or ``USER@`` and the password in
`$NEOMODEL_HBASE_PASSWORD`; or none in the URL and both in `$NEOMODEL_HBASE_USER` and `$NEOMODEL_HBASE_PASSWORD`. The
URL that a store shows and hands to other processes has no password: it must be in the environment there.
"""

import ipaddress
import os
import re
from collections.abc import Mapping
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

import attrs

from neomodel.errors import InvalidStore

USER, PASSWORD = "NEOMODEL_HBASE_USER", "NEOMODEL_HBASE_PASSWORD"
_FORM = "it must look like hbase://HOST:PORT,HOST:PORT?thrift2=PORT,PORT"
_REGIONS, _MOST_REGIONS = 4, 4096  # for each gateway by default, so that each server has some to give away; in all
_PARAMETERS = {
    *("thrift2", "servers", "prefix", "timeout", "settling", "regions"),
    *("insecure", "tls", "ca", "sasl", "service"),
}


@attrs.frozen
class GatewayAddress:
    host: str
    port1: int
    port2: int
    server: str | None


@attrs.frozen
class Tls:
    """Whom to trust, if not the CAs of the system; and what to say who we are with, if anything."""

    ca: str | None = None
    user: str | None = None
    password: str | None = attrs.field(default=None, repr=False)


@attrs.frozen
class HBaseUrl:
    """`shown` is the URL without the password; without `tls` and `sasl` (the service's name) nothing is encrypted."""

    shown: str
    gateways: list[GatewayAddress]
    prefix: str
    timeout: float
    regions: int
    settling: float | None = None
    tls: Tls | None = None
    sasl: str | None = None


def parse(url: str) -> HBaseUrl:
    """What the URL says, or `InvalidStore` with what is wrong with it."""
    parts, shown = _split(url), hidden(url)
    told = dict(parse_qsl(parts.query, keep_blank_values=True))
    who, _, place = parts.netloc.rpartition("@")
    if parts.path.strip("/") or parts.fragment or "@" in parts.path + parts.query:
        raise InvalidStore(shown, f"{_FORM}, with special characters of a name, password or file percent-encoded")
    if unknown := told.keys() - _PARAMETERS:
        raise InvalidStore(shown, f"unknown parameter {min(unknown)!r}; there are {', '.join(sorted(_PARAMETERS))}")
    firsts = [_address(shown, text) for text in place.split(",")]
    if "thrift2" not in told:
        raise InvalidStore(shown, f"no port of a Thrift2 gateway is named; {_FORM}")
    seconds = told["thrift2"].split(",")
    servers = told["servers"].split(",") if "servers" in told else [None] * len(firsts)
    if not len(firsts) == len(seconds) == len(servers):
        raise InvalidStore(shown, "thrift2, and servers if given, must have as many entries as there are gateways")
    gateways = [
        GatewayAddress(host, port, _port(shown, second), server)
        for (host, port), second, server in zip(firsts, seconds, servers, strict=True)
    ]
    tls, sasl = _tls(shown, told, who), _sasl(shown, told)
    secure = tls or sasl
    if secure and "insecure" in told:
        raise InvalidStore(
            shown, "insecure is for gateways with neither tls nor sasl; to trust a CA, name it with ca=FILE"
        )
    for gateway in gateways:
        if not secure and told.get("insecure") != "1" and not _loopback(gateway.host):
            reason = f"{gateway.host} is not this machine, and as it is, it neither encrypts nor asks who you are"
            raise InvalidStore(shown, f"{reason}; add tls=1 or sasl=kerberos, or insecure=1 if its network is trusted")
    regions = _regions(shown, told.get("regions", str(_REGIONS * len(gateways))))
    timeout = _seconds(shown, "timeout", told.get("timeout", "30"))
    settling = _seconds(shown, "settling", told["settling"]) if "settling" in told else None
    return HBaseUrl(shown, gateways, told.get("prefix", ""), timeout, regions, settling, tls, sasl)


def _tls(url: str, told: Mapping[str, str], who: str) -> Tls | None:
    """How to speak TLS; None if it is not asked for."""
    if "tls" not in told:
        if who or "ca" in told:
            raise InvalidStore(url, "a name, a password and ca are for gateways with TLS; add tls=1")
        return None
    if told["tls"] != "1":
        raise InvalidStore(url, f"tls is {told['tls']!r}, expected 1, or no tls at all")
    if told.get("ca") == "":
        raise InvalidStore(url, "ca is empty, expected a file of CA certificates")
    user, password = _credentials(url, who)
    return Tls(told.get("ca"), user, password)


def _sasl(url: str, told: Mapping[str, str]) -> str | None:
    """The service to ask Kerberos for; None if SASL is not asked for."""
    if "sasl" not in told:
        if "service" in told:
            raise InvalidStore(url, "service is for gateways with Kerberos; add sasl=kerberos")
        return None
    if told["sasl"] != "kerberos":
        raise InvalidStore(url, f"sasl is {told['sasl']!r}, expected kerberos: HBase's gateways have no other")
    if "tls" in told:
        raise InvalidStore(
            url, "tls and sasl exclude one another: gateways with TLS are in HTTP mode, where SASL is not"
        )
    service = told.get("service", "hbase")
    if not re.fullmatch(r"[\w.-]+(/[\w.-]+)?", service, re.ASCII):
        raise InvalidStore(url, f"service is {service!r}, expected NAME or NAME/HOST")
    return service


def _credentials(url: str, who: str) -> tuple[str | None, str | None]:
    name, _, word = who.partition(":")
    user = unquote(name) or os.environ.get(USER)
    password = unquote(word) or os.environ.get(PASSWORD)
    if not user and not password:
        return None, None
    if not user or not password:
        missing = f"name in ${USER}" if password else f"password in ${PASSWORD}"
        raise InvalidStore(url, f"there is no {missing}, nor in the URL, to go with what there is")
    if ":" in user:
        raise InvalidStore(url, "the name has a colon in it, which HTTP can't carry")
    return user, password


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


def _seconds(url: str, name: str, text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0
    if not 0 < seconds < 3600:
        raise InvalidStore(url, f"{name} is {text!r}, expected seconds, such as 30")
    return seconds


def _regions(url: str, text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) <= _MOST_REGIONS:
        raise InvalidStore(url, f"regions is {text!r}, expected a number from 1 to {_MOST_REGIONS}")
    return int(text)


def _loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _split(url: str) -> SplitResult:
    try:
        return urlsplit(url)
    except ValueError:
        raise InvalidStore(hidden(url), _FORM) from None  # its text may have the password in it


def hidden(url: str) -> str:
    """The URL without what may be a password: all before an @ but a name, and values of parameters not ours."""
    head, at, rest = url.rpartition("@")
    if at:
        name = re.match(r"\w+://((?!%3a)[^:])*", head, re.IGNORECASE)
        head = name[0] if name else "..."
    place, mark, query = rest.partition("?")
    told = [pair.partition("=") for pair in query.split("&")]
    shown = [name + equals + (value if name in _PARAMETERS or not value else "...") for name, equals, value in told]
    return f"{head}{at}{place}{mark}{'&'.join(shown)}"
