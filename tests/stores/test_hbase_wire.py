"""Puts as they go over the wire are those that the Thrift driver would send."""

from hypothesis import given
from hypothesis import strategies as some
from thriftpy2.protocol import TCyBinaryProtocol
from thriftpy2.transport import TCyBufferedTransport, TMemoryBuffer

from neomodel.stores import Cells
from neomodel.stores import hbase_calls as calls
from neomodel.stores import hbase_wire as wire
from neomodel.stores.hbase_client import thrift2

VALUES = (
    some.none() | some.binary(max_size=20) | some.sampled_from([b"\0", b"\1", b"x" * 1023, b"x" * 1024, b"\0" * 70_000])
)
COLUMNS = some.binary(max_size=8).map(lambda qualifier: b"p:" + qualifier)
ROWS = some.tuples(some.binary(min_size=1, max_size=30), some.dictionaries(COLUMNS, VALUES), some.integers(0, 2**62))


@given(some.binary(min_size=1, max_size=10), some.lists(ROWS, max_size=5))
def test_puts_are_those_of_the_driver_to_the_byte(table: bytes, rows: list[tuple[bytes, Cells, int]]) -> None:
    memory = TMemoryBuffer()
    transport = TCyBufferedTransport(memory)
    arguments = thrift2().THBaseService.putMultiple_args(table, [calls.put(*row) for row in rows])
    TCyBinaryProtocol(transport).write_struct(arguments)
    transport.flush()

    assert wire.put_multiple(table, [wire.put(*row) for row in rows]) + wire.END == memory.getvalue()
