"""A Kerberos realm, and a gateway pair in it beside a running HBase, which itself knows nothing of Kerberos."""

import os
import re
import signal
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from unittest.mock import patch

import attrs

from neomodel.cluster import Cluster, processes, settings, starting
from neomodel.cluster.java import find_java
from neomodel.cluster.plan import HOST, Process

KRB5 = """\
[libdefaults]
default_realm = NEOMODEL.TEST
udp_preference_limit = 1
dns_canonicalize_hostname = false
rdns = false
[realms]
NEOMODEL.TEST = {{
  kdc = {host}:{port}
}}
"""


@attrs.frozen
class Realm:
    """The ports of the gateways, and the name by which Kerberos knows them."""

    one: int
    two: int
    service: str

    @property
    def url(self) -> str:
        return self.through(self.one, self.two)

    def through(self, one: int, two: int) -> str:
        """The URL, by other ports that lead to these."""
        return f"hbase://{HOST}:{one}?thrift2={two}&sasl=kerberos&service={self.service}"


@contextmanager
def realm(hbase: Cluster, folder: Path) -> Iterator[Realm]:
    """Meanwhile this process is ada."""
    for name in ("conf", "logs", "run", "tmp", "kdc"):
        (folder / name).mkdir()
    kdc, one, two = free_ports(3)
    (folder / "conf" / "krb5.conf").write_text(KRB5.format(host=HOST, port=kdc))
    classpath = (hbase.folder / "run" / "classpath").read_text()
    (folder / "run" / "classpath").write_text(classpath.replace('-cp "', f'-cp "{folder / "conf"}{os.pathsep}'))
    conf = folder / "conf"
    java = [
        *(find_java(), *starting.FLAGS, "-Xmx192m"),
        f"-Dlog4j.configuration={(conf / 'log4j.properties').as_uri()}",
        f"-Djava.security.krb5.conf={conf / 'krb5.conf'}",
        f"-Dneomodel.conf={conf}",
        f"@{folder / 'run' / 'classpath'}",
    ]
    gateway = Process("gateway", {"thrift1": one, "thrift2": two}, 192)
    try:
        program = Path(__file__).with_name("Kdc.java")
        processes.spawn(folder, "kdc", [*java, str(program), str(folder / "kdc"), str(kdc)])
        service = ready(folder)
        write_settings(hbase, folder, service)
        processes.spawn(folder, "gateway", [*java, "Launcher", f"thrift1:{one}", f"thrift2:{two}"])
        starting.wait_for_gateways(folder, [gateway])
        with patch.dict(os.environ, environment(folder)):
            yield Realm(one, two, service)
    finally:
        for name in ("gateway", "kdc"):
            if process := processes.running(folder, name):
                process.signal(signal.SIGKILL)
                process.ended_within(10)


def environment(folder: Path) -> dict[str, str]:
    return {
        "KRB5_CONFIG": str(folder / "conf" / "krb5.conf"),
        "KRB5_CLIENT_KTNAME": str(folder / "kdc" / "ada.keytab"),
        "KRB5CCNAME": f"FILE:{folder / 'tmp' / 'tickets'}",
    }


def write_settings(hbase: Cluster, folder: Path, service: str) -> None:
    """Gateways that want Kerberos of their clients, and do without it towards an HBase that has none."""
    conf = folder / "conf"
    principals = ("thrift", "master", "regionserver")
    kerberos = {
        "hadoop.security.authentication": "kerberos",
        "hbase.security.authentication": "kerberos",
        "hbase.thrift.security.qop": "privacy",
        "hbase.thrift.keytab.file": folder / "kdc" / "hbase.keytab",
        **{f"hbase.{daemon}.kerberos.principal": f"{service}@NEOMODEL.TEST" for daemon in principals},
        "hbase.ipc.client.fallback-to-simple-auth-allowed": "true",
    }
    settings.write_xml(conf / "core-site.xml", kerberos)
    settings.write_xml(conf / "hdfs-site.xml", {})
    site = {"hbase.rootdir": (folder / "tmp").as_uri(), **settings.hbase(hbase.plan), **settings.recovery(False)}
    settings.write_xml(conf / "hbase-site.xml", {**site, **kerberos})
    (conf / "log4j.properties").write_text(settings.LOGGING)


def ready(folder: Path) -> str:
    """The gateways' principal, once there is a realm."""

    def told() -> re.Match[str] | None:
        return re.search(r"^ready (\S+)$", processes.log_of(folder, "kdc").read_text(), re.MULTILINE)

    starting.wait_for(folder, [Process("kdc", {}, 192)], lambda: "" if told() else "there was no realm")
    found = told()
    assert found
    return found[1]


def free_ports(count: int) -> list[int]:
    with ExitStack() as stack:
        probes = [stack.enter_context(socket.socket()) for _ in range(count)]
        for probe in probes:
            probe.bind((HOST, 0))
        return [probe.getsockname()[1] for probe in probes]
