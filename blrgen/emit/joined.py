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
    "table", "ends", "like", "threads", "key", "stretch", "part", "which", "first", "last", "begin",
    "end", "low", "high", "start", "size", "words", "numbers",
})  # fmt: skip


@dataclass(frozen=True)
class Joined:
    """A kernel that is called on every piece; `noise`: name → function."""

    kernel: Kernel
    noise: tuple[tuple[str, str], ...] = ()

    @property
    def name(self) -> str:
        return f"{self.kernel.name}_{'anew' if self.noise else 'arrays'}"

    @property
    def stretch(self) -> str:
        return f"{self.kernel.name}_{'new_' if self.noise else ''}stretch"

    @property
    def threads(self) -> str:
        """The function for one array, whose pieces need no addresses."""
        return f"{self.kernel.name}_threads"

    @property
    def rows(self) -> tuple[str, ...]:
        """The arrays, in the order in which their addresses are given."""
        made = {name for name, _ in self.noise}
        return tuple(a for a in self.kernel.arrays if a not in made)


def _renamed(j: Joined) -> dict[str, str]:
    """What the arrays of the kernel are called inside the loops; its numbers go by together."""
    taken = {*_LOOPS, *j.kernel.arrays}
    return {x: fresh(x, taken) if x in _LOOPS else x for x in j.kernel.arrays}


def joined_kernels(j: Joined) -> list[str]:
    """The sources of two functions: for a stretch, and for all stretches with threads."""
    own = _renamed(j)
    common = ["table: Array", "ends: Array", "like: Array"]
    rest = [*(["key: int"] if j.noise else []), *_numbers(j.kernel, ": float")]
    one = [*common, "first: int", "last: int", *rest]
    key = ["key"] if j.noise else []
    handed = ["table", "ends", "like", "first", "last", *key, *_numbers(j.kernel)]
    return [
        _stretch(j, own, call(f"def {j.stretch}(", one, _RESULT)),
        fill(
            "joined/threads.py.jinja",
            decorator=fill("numba/threads.py.jinja"),
            signature=call(f"def {j.name}(", [*common, "threads: int", *rest], _RESULT),
            summary=f"Run `{j.stretch}` on all stretches, with threads.",
            call=call(f"        {j.stretch}(", handed),
        ),
    ]


def _numbers(k: Kernel, kind: str = "") -> list[str]:
    """The kernel's numbers as the arguments of a loop around it, which only hands them on."""
    return [f"*numbers{kind}"] if k.scalars else []


def one_array(j: Joined) -> str:
    """The source of the function for one large array, with threads."""
    own, k = _renamed(j), j.kernel
    arrays = [own[a] for a in k.arrays]
    typed = [*(f"{a}: Array" for a in arrays), "threads: int", *_numbers(k, ": float")]
    return fill(
        "joined/one_array.py.jinja",
        decorator=fill("numba/threads.py.jinja"),
        signature=call(f"def {j.threads}(", typed, _RESULT),
        summary=f"Run `{k.name}` on stretches of one array, with threads.",
        length=arrays[0],
        call=call(f"        {k.name}(", [*(f"{a}[first:last]" for a in arrays), *_numbers(k)]),
    )


def _stretch(j: Joined, own: dict[str, str], signature: str) -> str:
    """The function that runs the kernel on the pieces of arrays in a stretch."""
    new = " with new noise" if j.noise else ""
    given = {
        "decorator": fill("numba/decorator.py.jinja"),
        "signature": signature,
        "summary": f"Run `{j.kernel.name}` on a stretch of the elements of all arrays{new}.",
        "calls": "\n".join(_calls(j, own, 12 if j.noise else 8)),
    }
    if not j.noise:
        return fill("joined/stretches.py.jinja", **given)
    scratch = ["    words = np.empty(WORDS, np.uint32)"]
    # the first beside its words, not at their places in another page: loads would wait for stores
    places = ["words[WORDS // 2 :].view(like.dtype)[:BLOCK]"]
    places += ["np.empty(BLOCK, like.dtype)"] * (len(j.noise) - 1)
    scratch += [f"    {own[x]} = {made}" for (x, _), made in zip(j.noise, places, strict=True)]
    filled = [
        f"        {function}_block({own[name]}, words, np.uint64(key), {stream}, begin)"
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
    made = {name: f"{own[name]}[low - begin : high - begin]" for name, _ in j.noise}
    k, given = j.kernel, own | made
    return [
        *rows,
        call(f"{margin}{k.name}(", [*(given[x] for x in k.arrays), *_numbers(k)]),
    ]
