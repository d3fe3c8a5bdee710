"""Transformations that ship with neomodel, one to a module, each built on its public API."""
