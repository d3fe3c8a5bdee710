"""Stores around stores. Each takes any store, is a store itself, and changes one thing; they can be stacked."""

from neomodel.stores.wrappers.base import Call, WrappedStore, WrappedTable
from neomodel.stores.wrappers.caching import Caching
from neomodel.stores.wrappers.counting import Counting
from neomodel.stores.wrappers.faulty import Fault, Faulty, faults
from neomodel.stores.wrappers.reading import Reading

__all__ = ["Caching", "Call", "Counting", "Fault", "Faulty", "Reading", "WrappedStore", "WrappedTable", "faults"]
