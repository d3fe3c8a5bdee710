"""Objects that are found by their keys, whoever holds them."""

import gc

import pytest

import neomodel as nm

stock = nm.package("stock", "http://stock")


@stock.define(key=["sku"])
class Product:
    sku: str
    price: int = 0


@pytest.mark.parametrize("held", [True, False])
def test_an_object_with_a_key_that_is_there_is_that_object_whether_or_not_somebody_holds_it(held: bool) -> None:
    repository = nm.connect(f"memory:keys-{held}")
    repository.register(stock)
    model = repository.create("m")
    model.roots.append(first := stock.Product(sku="a", price=4))
    if not held:
        del first
        gc.collect()

    again = stock.Product(sku="a", price=5)
    model.roots.append(again)
    again.price += 1

    assert [(found.sku, found.price) for found in model.all(stock.Product)] == [("a", 6)]
    assert len(model.roots) == 1
