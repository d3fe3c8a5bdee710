"""Typed object graphs too large for memory, kept in LMDB or HBase."""

__version__ = "0.1.0"
