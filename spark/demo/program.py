"""A program as a large company would have it: Java-like classes with their fields, written to a file of XMI.

``python -m spark.demo.program program.xmi [--elements 100000]`` writes it; beside it its metamodel, `program.ecore`,
and `tables.ecore`, that of what `metamodels.transformations.class2relational` makes of it.
"""

import argparse
import itertools
from collections.abc import Iterator
from pathlib import Path
from random import Random

from metamodels import zoo
from neomodel.xmi.ecore_writing import write_ecore

DOMAINS = [
    "Account",
    "Booking",
    "Claim",
    "Contract",
    "Customer",
    "Delivery",
    "Invoice",
    "Ledger",
    "Order",
    "Payment",
    "Policy",
    "Product",
    "Shipment",
    "Tariff",
]
PARTS = [
    "Address",
    "Archive",
    "Balance",
    "Batch",
    "Detail",
    "Entry",
    "Event",
    "History",
    "Item",
    "Limit",
    "Line",
    "Position",
    "Request",
    "Rule",
    "Status",
    "Term",
]
ROLES = [
    "Bean",
    "Builder",
    "Cache",
    "Command",
    "Config",
    "Dao",
    "Dto",
    "Factory",
    "Filter",
    "Handler",
    "Listener",
    "Mapper",
    "Policy",
    "Proxy",
    "Service",
    "View",
]
FIELDS = [
    "amount",
    "code",
    "comment",
    "count",
    "created",
    "currency",
    "due",
    "id",
    "label",
    "limit",
    "name",
    "note",
    "number",
    "owner",
    "rate",
    "state",
    "total",
]
TYPES = ("Integer", "String", "Boolean", "Date", "Decimal")
FIELDS_OF_A_CLASS = 8
_HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<xmi:XMI xmi:version="2.0" xmlns:xmi="http://www.omg.org/XMI" xmlns:Class="Class">
"""


def write(path: Path, elements: int) -> int:
    """A file of about so many elements, always the same; returns how many there are. Memory does not grow."""
    classes = max(1, (elements - len(TYPES)) // (FIELDS_OF_A_CLASS + 1))
    with path.open("w", encoding="utf-8") as file:
        file.write(_HEAD)
        for name in TYPES:
            file.write(f'  <Class:DataType xmi:id="{name}" name="{name}"/>\n')
        for number, name in zip(range(classes), _names(), strict=False):
            file.write(f'  <Class:Class xmi:id="c{number}" name="{name}">\n')
            file.writelines(_fields(number, classes))
            file.write("  </Class:Class>\n")
        file.write("</xmi:XMI>\n")
    return len(TYPES) + classes * (FIELDS_OF_A_CLASS + 1)


def _names() -> Iterator[str]:
    """BookingEntryService and the like; numbered when all have been had."""
    for edition in itertools.count(1):
        for domain, part, role in itertools.product(DOMAINS, PARTS, ROLES):
            yield f"{domain}{part}{role}{edition if edition > 1 else ''}"


def _fields(number: int, classes: int) -> Iterator[str]:
    """Mostly plain ones; some refer to classes nearby, as those of a module do, and a few to any."""
    chance = Random(number)
    for at, name in enumerate(chance.sample(FIELDS, FIELDS_OF_A_CLASS)):
        kind = chance.choice(TYPES)
        if at == 0:
            near = chance.randrange(max(0, number - 20), number + 1)
            kind = f"c{chance.randrange(classes) if chance.random() < 0.05 else near}"
        several = ' multiValued="true"' if chance.random() < 0.2 else ""
        yield f'    <attr name="{name}" type="{kind}"{several}/>\n'


def main() -> None:
    """Write the file that the command line names, and the metamodels beside it."""
    parser = argparse.ArgumentParser(prog="python -m spark.demo.program", description="Write a model to try things on.")
    parser.add_argument("file", type=Path, help="the file of XMI to write, such as program.xmi")
    parser.add_argument("--elements", type=int, default=100_000, help="about how many")
    given = parser.parse_args()
    file: Path = given.file
    written = write(file, given.elements)
    beside = {file.with_suffix(".ecore"): zoo.classes, file.with_name("tables.ecore"): zoo.relational}
    for path, package in beside.items():
        write_ecore(package.value, path)
    print(f"{file}: {written:,} elements; beside it {' and '.join(path.name for path in beside)}")


if __name__ == "__main__":
    main()
