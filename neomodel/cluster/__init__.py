"""A real HBase on this machine, for development and tests: HBase 2.6 with its Thrift gateways, from Maven Central.

    cluster = up("hbase", servers=3)      # or 1: a single server on plain files
    cluster.url
    down("hbase")

**The store URL** names the gateway pairs and what each stands beside:

    hbase://127.0.0.1:9090,127.0.0.1:9092?thrift2=9091,9093&servers=127.0.0.1:9094,127.0.0.1:9095

Each `host:port` is the Thrift1 side of a pair. In the same order, `thrift2` has the port of its Thrift2 side on that
host, and `servers` the region server it stands beside, by the address that HBase gives for the regions held there.

With ``up(..., tls=True)`` the gateways speak TLS, and the URL goes on with ``&tls=1&ca=FILE``, their certificate.

Everything listens on 127.0.0.1 only and asks for no password: any user of the machine can read and write the data.
"""

from neomodel.cluster.control import HostedRegion
from neomodel.cluster.handle import Cluster
from neomodel.cluster.local import Status, down, status, up, url

__all__ = ["Cluster", "HostedRegion", "Status", "down", "status", "up", "url"]
