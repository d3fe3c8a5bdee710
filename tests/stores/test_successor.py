"""`successor`: new values for the cell that `swap` compares."""

import pytest

from neomodel.stores import successor


@pytest.mark.parametrize(("version", "number"), [(None, 1), (b"1-abc", 2), (b"9-0", 10), (b"41", 42), (b"", 1)])
def test_a_successor_counts_on(version: bytes | None, number: int) -> None:
    assert successor(version).startswith(b"%d-" % number)


def test_no_two_successors_are_the_same() -> None:
    assert len({successor(b"1-a") for _ in range(1000)}) == 1000


def test_a_successor_has_a_successor() -> None:
    version = None
    for number in range(1, 12):
        version = successor(version)
        assert int(version.partition(b"-")[0]) == number
