"""`make bench`: print every table. A figure below what is wanted is marked, and the exit status says so."""

import sys

from benchmarks import elsa, hbase_store, lmdb_store, objects, spark_read, spark_write, transforming, xmi_in, xmi_out

tables = [
    lmdb_store.report(),
    *hbase_store.report(),
    *objects.report(),
    *xmi_in.report(),
    xmi_out.report(),
    *spark_read.report(),
    *spark_write.report(),
    *transforming.report(),
    *elsa.report(),
]
print("\n\n".join(tables))
sys.exit(any("**below**" in text for text in tables))
