"""Compiled kernels on whole arrays, or on stretches of them with threads."""

from __future__ import annotations

from collections.abc import Sequence
from os import getpid
from typing import Any

from numba import config, get_num_threads

from blrgen.runtime.arrays import Array

THREADED = 65536  # elements from which a thread of its own is worth its start
PORTION = 2048  # elements of which a thread takes a whole number, so that blocks stay whole
PROCESS = getpid()  # where this was imported


def _run(serial: Any, threaded: Any, rows: Sequence[Sequence[Array]], *numbers: float) -> None:
    """Run a kernel on lists of arrays, place by place; with threads if it has a form for them."""
    dtype = None
    for arrays in zip(*rows, strict=True):
        if arrays[0].dtype is not dtype:
            dtype = arrays[0].dtype
            typed = [tuple(map(dtype.type, numbers))] if numbers else []
        if threaded and (stretch := _stretch(arrays[0].size)):
            threaded(stretch, *typed, *arrays)
        else:
            serial(*arrays, *typed)


def _stretch(size: int) -> int:
    """Return how many elements a thread takes; 0: one takes all, as in a process forked off."""
    few = size < THREADED or config.NUMBA_NUM_THREADS == 1 or getpid() != PROCESS
    threads = 1 if few else min(get_num_threads(), 1 + size // THREADED)
    return (size // threads // PORTION + 1) * PORTION if threads > 1 else 0


def _run_anew(
    serial: Any, threaded: Any, rng: Any, rows: Sequence[Sequence[Array]], *numbers: float
) -> None:
    """Run a kernel that makes noise, of which the generator gives the key.

    Arrays of one dtype take their noise from one stream, however their elements are split.
    """
    together = len({array.dtype for array in rows[0]}) == 1
    key, first = 0, 0
    for place, arrays in enumerate(zip(*rows, strict=True)):
        if place == 0 or not together:
            key, first = int(rng.integers(2**63)), 0
        typed = [tuple(map(arrays[0].dtype.type, numbers))] if numbers else []
        if stretch := _stretch(arrays[0].size):
            threaded(stretch, key, first, *typed, *arrays)
        else:
            serial(key, first, *typed, *arrays)
        first += arrays[0].size
