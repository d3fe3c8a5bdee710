"""Class2Relational, the ATL zoo's example that transformation engines are measured by: tables for classes.

A class is a table with a key. An attribute with one value is a column of its class's table, one with several a table
of its own with the key of the owner in it; where a value is an object, there is the key of that. The metamodels are
the zoo's own, `Class.ecore` and `Relational.ecore`, or any with these names. Keys are of the data type `Integer`, which
has to be in the source model.
"""

from typing import Any

import neomodel as nm
from neomodel import trace

class2relational = nm.Transformation("Class2Relational")


@class2relational.constant
def key_type(model: nm.Model) -> Any:
    """The data type of keys."""
    types = (kind for kind in model.roots if kind.eClass.name == "DataType")
    return next((kind for kind in types if kind.name == "Integer"), None)


@class2relational.helper
def is_multiple(attribute: Any) -> bool:
    """Whether it holds several values. By the zoo's metamodel that may be text, not a truth value."""
    return attribute.multiValued in (True, "true")


@class2relational.helper
def is_plain(attribute: Any) -> bool:
    """Whether its values are no objects."""
    return attribute.type.eClass.name == "DataType"


@class2relational.rule
def table(source: "Class.Class", table: "Relational.Table", key: "Relational.Column"):
    table.name = source.name
    table.col = [key, *(trace(attribute) for attribute in source.attr if not is_multiple(attribute))]
    table.key = [key]
    key.name = "objectId"
    key.type = trace(key_type())


@class2relational.rule
def data_type(source: "Class.DataType", type: "Relational.Type"):  # noqa: A002  what it is called there
    type.name = source.name


@class2relational.rule(when=lambda attribute: is_plain(attribute) and not is_multiple(attribute))
def value(attribute: "Class.Attribute", column: "Relational.Column"):
    column.name = attribute.name
    column.type = trace(attribute.type)


@class2relational.rule(when=lambda attribute: not is_plain(attribute) and not is_multiple(attribute))
def foreign_key(attribute: "Class.Attribute", column: "Relational.Column"):
    column.name = f"{attribute.name}Id"
    column.type = trace(key_type())


@class2relational.rule(abstract=True, when=is_multiple)
def values(
    attribute: "Class.Attribute", table: "Relational.Table", owner: "Relational.Column", value: "Relational.Column"
):
    table.name = f"{attribute.owner.name}_{attribute.name}"
    table.col = [owner, value]
    owner.name = f"{attribute.owner.name}Id"
    owner.type = trace(key_type())


@class2relational.rule(extends=values, when=is_plain)
def plain_values(attribute: "Class.Attribute", value: "Relational.Column"):
    value.name = attribute.name
    value.type = trace(attribute.type)


@class2relational.rule(extends=values, when=lambda attribute: not is_plain(attribute))
def foreign_keys(attribute: "Class.Attribute", value: "Relational.Column"):
    value.name = f"{attribute.name}Id"
    value.type = trace(key_type())
