"""The contract suite: the same tests for every kind of store. What is not promised in `base` is not asserted here."""

import pytest


def pytest_itemcollected(item: pytest.Item) -> None:
    """Note the store for the summary."""
    if isinstance(item, pytest.Function):
        item.user_properties.append(("contract", item.callspec.params["kind"]))
