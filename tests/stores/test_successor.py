"""`successor`: new values for the cell that `swap` compares."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from neomodel.stores import is_by, signed, successor


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


def test_signed_versions_carry_the_token_of_the_block_in_its_thread_alone() -> None:
    with signed("0123456789ab"):
        ours = successor(b"3-x")
        with ThreadPoolExecutor(1) as pool:
            others = pool.submit(successor, b"3-x").result()
    after = successor(b"3-x")

    assert ours == b"4-0123456789ab"
    assert [is_by(version, "0123456789ab") for version in (ours, others, after, None)] == [True, False, False, False]
