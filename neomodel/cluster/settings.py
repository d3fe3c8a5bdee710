"""The settings of HBase, HDFS and ZooKeeper, written into the cluster's `conf` folder.

Everything binds to 127.0.0.1. What matters to a store: gateways without TLS are in their default mode (thread pool,
binary protocol, buffered transport) and drop a client that was idle for 60 s; a gateway rides out the death of a region
server by retrying for up to two minutes, so a client sees one slow call and no error.
"""

from collections.abc import Mapping
from pathlib import Path
from xml.sax.saxutils import escape

from neomodel.cluster.certificate import PASSWORD, keystore
from neomodel.cluster.plan import HOST, Plan

LOGGING = """\
log4j.rootLogger=WARN,stderr
log4j.appender.stderr=org.apache.log4j.ConsoleAppender
log4j.appender.stderr.target=System.err
log4j.appender.stderr.layout=org.apache.log4j.PatternLayout
log4j.appender.stderr.layout.ConversionPattern=%d %p [%t] %c{1}: %m%n
"""


def write_settings(folder: Path, plan: Plan) -> None:
    """Bring `conf` in line with the plan."""
    conf, data = folder / "conf", folder / "data"
    distributed = plan.servers > 1
    root = f"hdfs://{HOST}:{plan.ports['namenode']}" if distributed else f"file://{data}"
    core = {"fs.defaultFS": root if distributed else "file:///", "hadoop.tmp.dir": folder / "tmp"}
    write_xml(conf / "core-site.xml", core)
    write_xml(conf / "hdfs-site.xml", hdfs(data, plan.ports) if distributed else {})
    write_xml(
        conf / "hbase-site.xml",
        {
            "hbase.rootdir": f"{root}/hbase",
            "hbase.tmp.dir": folder / "tmp",
            **hbase(plan),
            **recovery(distributed),
            **(secure(folder) if plan.tls else {}),
        },
    )
    (conf / "zoo.cfg").write_text(zookeeper(data, plan.ports["zookeeper"], distributed))
    (conf / "log4j.properties").write_text(LOGGING)


def hbase(plan: Plan) -> dict[str, object]:
    return {
        "hbase.cluster.distributed": "true",  # we start each daemon ourselves, also where they share a JVM
        "hbase.unsafe.stream.capability.enforce": str(plan.servers > 1).lower(),  # plain files can't promise to sync
        "hbase.zookeeper.quorum": HOST,
        "hbase.zookeeper.property.clientPort": plan.ports["zookeeper"],
        **{
            f"hbase.{daemon}.{name}": HOST
            for daemon in ("master", "regionserver")
            for name in ("hostname", "ipc.address")
        },
        **{f"hbase.{daemon}.info.port": -1 for daemon in ("master", "regionserver", "thrift")},
        "hbase.regionserver.handler.count": 10,
        # A gateway keeps twice as much for every open scanner, and that of a client that died as long as this.
        "hbase.client.scanner.max.result.size": 64 * 1024,
        "hbase.client.scanner.timeout.period": 20_000,
        "hbase.thrift.minWorkerThreads": 200,  # each client has one; further ones wait till a queue of 1,000 is full
        "hbase.master.wait.on.regionservers.mintostart": plan.servers,
        "hbase.master.wait.on.regionservers.maxtostart": plan.servers,  # else the master waits for still more
        "hbase.master.wait.on.regionservers.interval": 200,
        "hbase.regionserver.msginterval": 300,  # also the first pause of a server that is up before its master
    }


def recovery(distributed: bool) -> dict[str, object]:
    """Replace a dead region server within some 10 s, and keep its clients waiting that long."""
    return {
        # One server has none to take over; there only a machine that was asleep would be told apart from a dead one.
        "zookeeper.session.timeout": 6_000 if distributed else 40_000,
        "hbase.client.pause": 10,
        "hbase.client.pause.server.overloaded": 100,
        "hbase.client.retries.number": 120,
        "hbase.rpc.timeout": 10_000,
        "hbase.client.operation.timeout": 120_000,
        "hbase.client.meta.operation.timeout": 60_000,
        "hbase.lease.recovery.first.pause": 300,
        "hbase.lease.recovery.pause": 300,
        "hbase.lease.recovery.dfs.timeout": 5_000,
    }


def secure(folder: Path) -> dict[str, object]:
    """Gateways that speak Thrift over HTTPS: HBase has TLS in that mode only. They drop a client after 30 s, not 60."""
    return {
        "hbase.regionserver.thrift.http": "true",
        "hbase.thrift.ssl.enabled": "true",
        "hbase.thrift.ssl.keystore.store": keystore(folder),
        "hbase.thrift.ssl.keystore.type": "pkcs12",
        "hbase.thrift.ssl.keystore.password": PASSWORD,
        "hbase.thrift.ssl.keystore.keypassword": PASSWORD,
    }


def hdfs(data: Path, ports: Mapping[str, int]) -> dict[str, object]:
    return {
        "dfs.replication": 1,  # one machine, one disk: a second copy would protect from nothing
        "dfs.namenode.name.dir": data / "namenode",
        "dfs.namenode.rpc-address": f"{HOST}:{ports['namenode']}",
        "dfs.namenode.http-address": f"{HOST}:{ports['namenode.http']}",
        "dfs.namenode.handler.count": 6,
        "dfs.namenode.safemode.extension": 0,
        "dfs.namenode.datanode.registration.ip-hostname-check": "false",
        "dfs.datanode.data.dir": data / "datanode",
        "dfs.datanode.address": f"{HOST}:{ports['datanode']}",
        "dfs.datanode.ipc.address": f"{HOST}:{ports['datanode.ipc']}",
        "dfs.datanode.http.address": f"{HOST}:{ports['datanode.http']}",
        "dfs.datanode.handler.count": 6,
        "dfs.client.block.write.replace-datanode-on-failure.policy": "NEVER",
        "dfs.heartbeat.interval": 1,
        "dfs.permissions.enabled": "false",
    }


def zookeeper(data: Path, port: int, distributed: bool) -> str:
    lines = {
        "dataDir": data / "zookeeper",
        "clientPort": port,
        "clientPortAddress": HOST,
        "tickTime": 1000 if distributed else 2000,
        "maxClientCnxns": 0,
        "admin.enableServer": "false",
    }
    return "".join(f"{name}={value}\n" for name, value in lines.items())


def write_xml(file: Path, properties: Mapping[str, object]) -> None:
    lines = [f"<property><name>{k}</name><value>{escape(str(v))}</value></property>\n" for k, v in properties.items()]
    file.write_text(f"<configuration>\n{''.join(lines)}</configuration>\n")
