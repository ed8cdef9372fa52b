"""Kernels on stretches of arrays, with threads, and with new noise.

Each thread takes a stretch of whole portions and runs the kernel on it.  Where noise is drawn
the arrays are walked block by block: the noise of a block is made in memory that never leaves
the fastest cache.  What number an element has, and so its noise, is its place in the elements
of all arrays: it depends neither on the threads nor on how the parameters are split.
"""

from __future__ import annotations

from dataclasses import dataclass

from blrgen.emit.kernels import Kernel
from blrgen.emit.templates import fill
from blrgen.emit.text import bracketed, call
from blrgen.emit.uses import use, using
from blrgen.program.program import fresh

_RESULT = ") -> None:"
# what the loops around a kernel call their own
_LOOPS = frozenset({
    "key", "stretch", "part", "here", "first", "begin", "low", "high", "words", "numbers", "arrays",
})  # fmt: skip


@dataclass(frozen=True)
class Noise:
    """What fills an array with noise: a function's name, and the numbers of its law."""

    array: str
    function: str
    numbers: tuple[str, ...] = ()


@dataclass(frozen=True)
class Joined:
    """A kernel that is run on stretches; with `noise` it makes that first."""

    kernel: Kernel
    noise: tuple[Noise, ...] = ()

    @property
    def serial(self) -> str:
        """The function that takes whole arrays."""
        return f"{self.kernel.name}_anew" if self.noise else self.kernel.name

    @property
    def threaded(self) -> str:
        """The function that takes stretches of them, with threads."""
        return f"{self.serial}_threads"

    @property
    def rows(self) -> tuple[str, ...]:
        """The arrays that are given."""
        made = {x.array for x in self.noise}
        return tuple(a for a in self.kernel.arrays if a not in made)

    @property
    def own(self) -> dict[str, str]:
        """What the arrays of the kernel are called around it."""
        taken = {*_LOOPS, *self.kernel.arrays}
        return {x: fresh(x, taken) if x in _LOOPS else x for x in self.kernel.arrays}


def drivers(j: Joined) -> list[str]:
    """The sources: with new noise, block by block, where there is some; with threads."""
    return [*([_anew(j)] if j.noise else []), _threads(j)]


def _threads(j: Joined) -> str:
    rows = [j.own[a] for a in j.rows]
    place = ["key: int", "first: int"] if j.noise else []
    typed = ["stretch: int", *place, *_numbers(j.kernel, ": Numbers"), "*arrays: Array"]
    given = ["key", "first + part * stretch"] if j.noise else []
    numbers = _numbers(j.kernel)
    pieces = [f"{a}[here]" for a in rows]
    text = fill(
        "joined/threads.py.jinja",
        signature=call(f"def {j.threaded}(", typed, _RESULT),
        summary=f"Run `{j.serial}` on stretches of the arrays, with threads.",
        arrays=", ".join(rows) if len(rows) > 1 else bracketed(rows),
        length=rows[0],
        call=call(
            f"        {j.serial}(",
            [*given, *numbers, *pieces] if j.noise else [*pieces, *numbers],
        ),
    )
    return using(text, "njit", "prange")


def _anew(j: Joined) -> str:
    own, k = j.own, j.kernel
    rows = [own[a] for a in j.rows]
    typed = ["key: int", "first: int", *_numbers(k, ": Numbers"), "*arrays: Array"]
    # the first beside its words, not at their places in another page: loads would wait for stores
    places = ["words[WORDS // 2 :].view({0}.dtype)[:BLOCK]"]
    places += ["np.empty(BLOCK, {0}.dtype)"] * (len(j.noise) - 1)
    scratch = [
        f"    {own[x.array]} = {made.format(rows[0])}"
        for x, made in zip(j.noise, places, strict=True)
    ]
    filled = [
        call(
            f"        {use(f'{x.function}_block')}(",
            [own[x.array], "words", "np.uint64(key)", str(stream), "first + begin", *x.numbers],
        )
        for stream, x in enumerate(j.noise)
    ]
    made = {x.array: f"{own[x.array]}[low - begin : high - begin]" for x in j.noise}
    given = [made.get(a, f"{own[a]}[low:high]") for a in k.arrays]
    text = fill(
        "joined/blocks.py.jinja",
        signature=call(f"def {j.serial}(", typed, _RESULT),
        summary=f"Run `{k.name}` with new noise, of the elements from `first` on.",
        arrays=", ".join(rows) if len(rows) > 1 else bracketed(rows),
        length=rows[0],
        scratch="\n".join(scratch),
        noise="\n".join(filled),
        call=call(f"        {k.name}(", [*given, *_numbers(k)]),
    )
    return using(text, "njit", "BLOCK", "WORDS")


def _numbers(k: Kernel, kind: str = "") -> list[str]:
    """The kernel's numbers as the argument of a loop around it, which only hands them on."""
    return [f"numbers{kind}"] if k.scalars else []
