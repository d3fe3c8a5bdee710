"""What `make bench` writes: one table, plots that are SVG, and on what it was measured."""

import xml.etree.ElementTree as ElementTree

from benchmarks import machine, plots
from benchmarks.measure import Case, Comparison, Growth, measure, table


def _compared(title: str, peer: str) -> Comparison:
    case = Case("counting", "numbers", 1000, lambda: sum(range(1000)), lambda: sum(range(1000)), 0.001)
    return Comparison(title, peer, [measure(case, rounds=1)])


def test_all_comparisons_are_one_table_with_peers_and_raw_floors_apart() -> None:
    lines = table([_compared("LMDB", "raw py-lmdb"), _compared("Objects", "PyEcore")]).splitlines()

    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| ")]
    assert cells[0] == ["on what", "operation", "per second", "neomodel", "peer", "raw floor", "ratio", "wanted"]
    assert [(row[0], row[4].partition(":")[0], row[5].partition(":")[0]) for row in cells[2:]] == [
        ("LMDB", "", "raw py-lmdb"),
        ("Objects", "PyEcore", ""),
    ]


def test_the_plots_are_drawings_with_what_was_measured() -> None:
    grown = Growth("An object", "objects", [10, 1000], {"creation, µs each": [3.0, 4.0]})

    for drawn, said in (
        (plots.ratios([_compared("LMDB", "raw py-lmdb")]), "counting"),
        (plots.growths([grown]), "creation, µs each"),
    ):
        assert said in {text.text for text in ElementTree.fromstring(drawn).iter("{http://www.w3.org/2000/svg}text")}


def test_the_machine_is_told() -> None:
    assert "cores" in machine.told()
