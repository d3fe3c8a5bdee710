"""Parts of bytes as an Arrow array: the same as one slice after another."""

import random

import numpy as np
import pytest

from neomodel.stores.lmdb_parts import binary

DATA = random.Random(1).randbytes(20_000)


@pytest.mark.parametrize("most", [0, 1, 40, 256, 257, 3000])
@pytest.mark.parametrize("count", [0, 1, 2000])
def test_parts_of_any_length_in_any_order_are_joined(most: int, count: int) -> None:
    chance = random.Random(most + count)
    lengths = [chance.randint(-1, most) for _ in range(count)]
    starts = [chance.randint(0, len(DATA) - max(length, 0)) for length in lengths]  # up to the very end

    found = binary(np.frombuffer(DATA, np.uint8), np.array(starts, np.int64), np.array(lengths, np.int64))

    found.validate(full=True)
    assert found.to_pylist() == [
        None if length < 0 else DATA[start : start + length] for start, length in zip(starts, lengths, strict=True)
    ]


@pytest.mark.parametrize(("start", "length"), [(19_990, 11), (30_000, 1), (19_000, 1001), (0, 20_001), (0, 65_600)])
def test_a_part_beyond_the_end_is_refused(start: int, length: int) -> None:
    with pytest.raises(IndexError):
        binary(np.frombuffer(DATA, np.uint8), np.array([0, start]), np.array([3, length]))
