"""Kernels run over all arrays at once: many or large ones, with threads and noise.

The elements of all arrays are numbered one after the other.  Each thread takes a stretch of
the numbers, made of whole blocks, and calls the kernel on the pieces of arrays in it.  Where
noise is drawn the stretch is walked block by block: the noise of a block is made in a scratch
array that never leaves the fastest cache.  What number an element has, and so its noise,
depends neither on the threads nor on how the parameters are split into arrays.
"""

from __future__ import annotations

from dataclasses import dataclass

from blrgen.emit.kernels import Kernel
from blrgen.emit.templates import fill
from blrgen.emit.text import call
from blrgen.program.program import fresh

_RESULT = ") -> None:"
# what the loops around a kernel call their own
_LOOPS = frozenset({
    "table", "ends", "like", "threads", "key", "stretch", "part", "which", "first", "last", "stop",
    "low", "high", "start", "size",
})  # fmt: skip


@dataclass(frozen=True)
class Joined:
    """A kernel that is called on every piece; `noise`: name → function."""

    kernel: Kernel
    summary: str
    noise: tuple[tuple[str, str], ...] = ()

    @property
    def name(self) -> str:
        return f"{self.kernel.name}_{'anew' if self.noise else 'arrays'}"

    @property
    def rows(self) -> tuple[str, ...]:
        """The arrays, in the order in which their addresses are given."""
        made = {name for name, _ in self.noise}
        return tuple(a for a in self.kernel.arrays if a not in made)


def _renamed(j: Joined) -> dict[str, str]:
    """What the arrays and numbers of the kernel are called inside the loops."""
    taken = {*_LOOPS, *j.kernel.arrays, *j.kernel.scalars}
    return {x: fresh(x, taken) if x in _LOOPS else x for x in (*j.kernel.arrays, *j.kernel.scalars)}


def joined_kernel(j: Joined, decorator: str) -> str:
    """The source of the function."""
    own = _renamed(j)
    key = ["key: int"] if j.noise else []
    arguments = ["table: Array", "ends: Array", "like: Array", "threads: int", *key]
    arguments += [f"{own[s]}: float" for s in j.kernel.scalars]
    given = {
        "decorator": decorator,
        "signature": call(f"def {j.name}(", arguments, _RESULT),
        "summary": j.summary,
        "calls": "\n".join(_calls(j, own, 16 if j.noise else 12)),
    }
    if not j.noise:
        return fill("joined/stretches.py.jinja", **given)
    scratch = [f"        {own[name]} = np.empty(BLOCK, like.dtype)" for name, _ in j.noise]
    filled = [
        f"            {function}({own[name]}[: last - first], np.uint64(key), {stream}, first)"
        for stream, (name, function) in enumerate(j.noise)
    ]
    return fill(
        "joined/blocks.py.jinja", scratch="\n".join(scratch), noise="\n".join(filled), **given
    )


def _calls(j: Joined, own: dict[str, str], indent: int) -> list[str]:
    """The arrays' pieces under their own names, then the kernel."""
    margin = " " * indent
    rows = [
        f"{margin}{own[name]} = _view(table[{place}, which], start, size, like)"
        for place, name in enumerate(j.rows)
    ]
    made = {name: f"{own[name]}[low - first : high - first]" for name, _ in j.noise}
    k, given = j.kernel, own | made
    return [
        *rows,
        call(f"{margin}{k.name}(", [given[x] for x in (*k.arrays, *k.scalars)]),
    ]
