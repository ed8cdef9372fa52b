"""Rows in chunks, each on a thread, by functions that are compiled once and let others run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numba import get_num_threads

from blrgen.runtime.arrays import Array

CHUNKS = 16  # at most
SUMMED = 1 << 19  # numbers in all chunks' sums together, at which there may be four at least
WHOLE_ROWS = 256  # of which a chunk has a whole number
FEW = 8  # places of an axis whose loops are worth writing out


def _as_length(size: int) -> tuple[int, ...]:
    """Return a tuple as long as a short axis: a compiler knows the length of a tuple."""
    return (0,) * size if size <= FEW else ()


def _by_rows(
    kernel: Callable[..., Any],
    rows: int,
    least: int,
    arrays: Sequence[Array],
    sums: Sequence[Array],
    largest: Sequence[Array],
    *numbers: Any,
) -> None:
    """Run a kernel on all rows; write the sums, and the largest numbers, that it finds.

    Where there are many rows, chunks of them are shared out among threads.  How many there are
    depends on sizes alone, and what they add is added up in their order: the result is the same
    for any number of threads.
    """
    for x in sums:
        x[...] = 0
    for x in largest:
        x[...] = -np.inf
    added = sum(x.size for x in (*sums, *largest))
    chunks = min(CHUNKS, rows // least, max(4, SUMMED // max(added, 1)))
    if chunks < 2:
        kernel(*arrays, *sums, *largest, 0, rows, *numbers)
        return
    each = -(-rows // (chunks * WHOLE_ROWS)) * WHOLE_ROWS
    parts = [np.repeat(x[None], chunks, axis=0) for x in (*sums, *largest)]

    def chunk(c: int) -> None:
        ends = min(rows, c * each), min(rows, (c + 1) * each)
        kernel(*arrays, *(x[c] for x in parts), *ends, *numbers)

    threads = min(get_num_threads(), chunks)
    if threads < 2:
        for c in range(chunks):
            chunk(c)
    else:
        with ThreadPoolExecutor(threads) as pool:
            for _ in pool.map(chunk, range(chunks)):
                pass
    for c in range(chunks):
        for x, part in zip(sums, parts, strict=False):
            x += part[c]
        for x, part in zip(largest, parts[len(sums) :], strict=True):
            np.maximum(x, part[c], out=x)
