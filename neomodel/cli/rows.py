"""Rows as they lie in the store: what `show` falls back to for what is no object it can read."""

from typing import Any

from neomodel.cli.text import name_text, plain, value_text
from neomodel.stores import Row


def row_lines(key: bytes, row: Row) -> list[str]:
    """A row for people: its key, then its cells. Text as text, other bytes as 0x and hex digits, long values cut."""
    return [name_text(key), *cell_lines(row)]


def cell_lines(row: Row) -> list[str]:
    return [f"  {name_text(column)} = {value_text(value)}" for column, value in row.items()]


def row_as_json(key: bytes, row: Row) -> dict[str, Any]:
    """A row for programs, without loss."""
    return {"key": plain(key), "cells": cells_as_json(row)}


def cells_as_json(row: Row) -> list[dict[str, Any]]:
    return [{"column": plain(column), "value": plain(value)} for column, value in row.items()]
