"""Metamodels that ship with neomodel, each built on its public API."""
