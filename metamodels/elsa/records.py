"""The metamodel: which systems there are, and what a record of one is.

The systems are objects of a model, `elsa` if no other name is given. The records of each are in a model of its own,
``elsa.NAME``: keys in their order, split into regions as they grow, with a past that can be cut off on its own. They
are a ledger, so there are rows, and no objects, of `Record`.
"""

import neomodel as nm

elsa = nm.package("elsa", "http://neomodel/elsa")


@elsa.define(key=["name"])
class System:
    """An external system that is mirrored."""

    name: str = nm.attribute(id=True)
    lead: int = nm.attribute(0, type="ELong")
    """By how many microseconds an event of it may be later than its ingest time, at most."""


@elsa.define(key=["key"])
class Record:
    """A record of an external system: what it says at which time. `values` has the form of the bytes."""

    key: str
    value: nm.Timeline[bytes]
