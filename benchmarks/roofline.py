"""Memory itself: a pass over as many arrays as a step reads and writes, in place.

The kernel is written for a `Shape` alone.  Not a copy: a store to an array that was not
read first makes the processor fetch it (write-allocate), which understates what an update
in place can reach by a third.  Its arithmetic is one multiplication and addition a store,
and with its coefficients it stays at finite, ordinary numbers for ever.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from benchmarks.prepare import Shape

_HEAD = '''"""A pass over {reads} arrays, {updates} updated in place, {outputs} only written."""

from numba import njit, prange

FASTMATH = {{"contract", "nsz", "arcp", "afn"}}


@njit(cache=True, fastmath=FASTMATH, error_model="numpy")
def serial(start, stop, {names}, keep, share):
{slices}
    keep = {first}.dtype.type(keep)
    share = {first}.dtype.type(share)
    for i in range({first}.size):
        total = {total}
{stores}


@njit(cache=True, parallel=True, fastmath=FASTMATH, error_model="numpy")
def threads(count, {names}, keep, share):
    size = {first}.size
    stretch = (size // count + 64) // 64 * 64
    for k in prange(count):
        start = min(k * stretch, size)
        serial(start, min(start + stretch, size), {names}, keep, share)
'''


def source(shape: Shape) -> str:
    """The kernel's text, for one thread and for several."""
    read = [f"a{k}" for k in range(shape.arrays - shape.outputs)]
    out = [f"b{k}" for k in range(shape.outputs)]
    stores = [f"        {a}[i] = keep * {a}[i] + share * total" for a in read[: shape.updates]]
    stores += [f"        {b}[i] = share * total" for b in out]
    return _HEAD.format(
        reads=shape.reads,
        updates=shape.updates,
        outputs=shape.outputs,
        names=", ".join([*read, *out]),
        first=read[0],
        total=" + ".join(f"{a}[i]" for a in read),
        slices="\n".join(f"    {x} = {x}[start:stop]" for x in [*read, *out]),
        stores="\n".join(stores),
    )


def passes(
    shape: Shape, size: int, dtype: str, threads: int, held: Sequence[Any] = ()
) -> dict[str, Callable[[], None]]:
    """One pass, in one thread and in several where there are, over the arrays of the step.

    Where arrays lie decides up to a tenth of the time, so that only the very same arrays tell
    how far a step is from memory itself.  What it reads keeps its values: 1·a + 0·total.
    """
    from benchmarks import arrays
    from benchmarks.emitted import loaded
    from benchmarks.prepare import written

    module = loaded(str(written(source(shape))))
    keep, share = (1.0, 0.0) if held else (0.5, 0.25 / shape.reads)
    given = list(held) or [arrays.full(size, dtype, 1.0) for _ in range(shape.arrays)]

    def serial() -> None:
        module.serial(0, size, *given, keep, share)

    def parallel() -> None:
        module.threads(threads, *given, keep, share)

    return {"serial": serial} | ({"parallel": parallel} if threads > 1 else {})
