"""Parts of bytes, wherever they lie, one after another as an Arrow array.

numpy copies bytes one by one, by an index for each, or items of one size. So parts are copied by length: all that are
equally long, seen as items of that size, in one go. To copy a part so takes as long as to copy some five bytes alone.
"""

from typing import Any

import numpy as np
import pyarrow as pa

Numbers = Any
"""An array of numpy: of integers, or of booleans."""

_LONG = 256  # bytes: longer ones are seldom equally long, and copied one by one


def binary(data: Numbers, starts: Numbers, lengths: Numbers) -> Any:
    """An Arrow array of the parts of `data` that begin there and are so long; null where the length is negative.
    `IndexError` if one lies beyond its end."""
    present = lengths >= 0
    lengths = np.maximum(lengths, 0)
    offsets = np.zeros(len(lengths) + 1, np.int32)
    offsets[1:] = np.cumsum(lengths)
    missing = int(len(present) - present.sum())
    valid = pa.py_buffer(np.packbits(present, bitorder="little")) if missing else None
    buffers = [valid, pa.py_buffer(offsets), pa.py_buffer(_joined(data, starts, lengths, offsets))]
    return pa.Array.from_buffers(pa.binary(), len(lengths), buffers, missing)


def _joined(data: Numbers, starts: Numbers, lengths: Numbers, places: Numbers) -> Numbers:
    found = np.empty(places[-1], np.uint8)
    capped = np.minimum(lengths, _LONG + 1)
    order = np.argsort(capped.astype(np.uint16), kind="stable")  # of small numbers quicker than of others
    done = 0
    for length, count in enumerate(np.bincount(capped).tolist()):
        some = order[done : done + count]
        done += count
        if length > _LONG:
            for place, start, size in np.stack([places[some], starts[some], lengths[some]], axis=1).tolist():
                if start + size > len(data):
                    raise IndexError(start)
                found[place : place + size] = data[start : start + size]
        elif length and count:
            _items(found, length)[places[some]] = _items(data, length)[starts[some]]
    return found


def _items(data: Numbers, size: int) -> Numbers:
    """Bytes as items of that size, one that begins at each of them."""
    return np.ndarray(max(len(data) - size + 1, 0), f"V{size}", data, strides=(1,))
