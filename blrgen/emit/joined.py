"""Kernels on stretches of arrays, with threads, and with new noise.

Each thread takes a stretch of whole portions and runs the kernel on it.  Where noise is drawn
the arrays are walked block by block: the noise of a block is made in memory that never leaves
the fastest cache.  What number an element has, and so its noise, is its place in the elements
of all arrays: it depends neither on the threads nor on how the parameters are split.
"""

from __future__ import annotations

from dataclasses import replace

from blrgen.emit.tree import nodes as t
from blrgen.emit.uses import use
from blrgen.program import nodes as n
from blrgen.program.kernels import Kernel
from blrgen.program.program import fresh
from blrgen.program.ways import Joined

# what the loops around a kernel call their own
_LOOPS = frozenset({
    "key", "stretch", "part", "here", "at", "begin", "low", "high", "words", "numbers", "arrays",
})  # fmt: skip


# law → the function that fills blocks with it in compiled code
FILLED = {"normal": "_standard_normal", "logistic": "_logistic", "uniform": "_uniform"}


def own_names(j: Joined) -> dict[str, str]:
    """What the arrays of the kernel are called around it."""
    taken = {*_LOOPS, *j.kernel.arrays}
    return {x: fresh(x, taken) if x in _LOOPS else x for x in j.kernel.arrays}


def drivers(j: Joined) -> tuple[t.Function, ...]:
    """With new noise, block by block, where there is some; with threads."""
    return (*([_anew(j)] if j.noise else []), _threads(j))


def _driver(
    j: Joined, name: str, summary: str, wholes: tuple[str, ...], body: tuple[t.Statement, ...]
) -> t.Function:
    """A function that hands its arrays and numbers on."""
    rows = tuple(own_names(j)[a] for a in j.rows)
    return t.Function(
        name, rows, wholes, (), body, summary,
        reals_of=rows[0], numbers=j.kernel.scalars, handed=True, ordered=True,
    )  # fmt: skip


def _threads(j: Joined) -> t.Function:
    rows = [own_names(j)[a] for a in j.rows]
    part, here, stretch = map(t.name, ("part", "here", "stretch"))
    start, stop = (t.Times(x, stretch) for x in (part, t.plus(part, t.Whole(1))))
    stretches = [t.Entry(a, (here,)) for a in rows]
    place = [t.name("key"), t.plus(t.name("at"), start)]
    numbers = _numbers(j.kernel)
    given = [*place, *numbers, *stretches] if j.noise else [*stretches, *numbers]
    body: tuple[t.Statement, ...] = (
        t.Assign(here, t.Apply("slice", (start, stop))),
        t.Invoke(j.serial, tuple(given), False),
    )
    loop = t.For(part.name, t.Whole(0), t.RoundedUp(t.Length(rows[0]), stretch), body, side=True)
    summary = f"Run `{j.serial}` on stretches of the arrays, with threads."
    wholes = ("stretch", "key", "at") if j.noise else ("stretch",)
    return replace(_driver(j, j.threaded, summary, wholes, (loop,)), parallel=True)


def _anew(j: Joined) -> t.Function:
    own, k = own_names(j), j.kernel
    length, block, words = t.Length(own[j.rows[0]]), t.name(use("BLOCK")), t.name("words")
    key, at, begin, low, high = map(t.name, ("key", "at", "begin", "low", "high"))
    end = t.Least((t.plus(begin, block), length))
    filled = [
        t.Invoke(
            f"{FILLED[x.law]}_block",
            (
                t.name(own[x.array]), words, t.Apply("np.uint64", (key,)), t.Whole(stream),
                t.plus(at, begin), *map(t.Float, x.numbers),
            ),
        )
        for stream, x in enumerate(j.noise)
    ]  # fmt: skip
    made = {x.array for x in j.noise}
    new = t.Span(t.Difference(low, begin), t.Difference(high, begin))
    calls, before = list[t.Statement](), 0
    for part in k.parts or (k,):
        given = [t.Entry(own[a], (new if a in made else t.Span(low, high),)) for a in part.arrays]
        numbers = _share(part, before, len(k.scalars))
        calls.append(t.Invoke(part.name, (*given, *numbers), False))
        before += len(part.scalars)
    body: tuple[t.Statement, ...] = (
        *filled,
        t.Assign(t.Several((low, high)), t.Several((t.Greatest((begin, t.Whole(0))), end))),
        *calls,
    )
    start = n.neg(t.Remainder(at, block))
    loop = t.For(begin.name, start, length, body, step=block)
    names = ", then ".join(f"`{part.name}`" for part in k.parts or (k,))
    summary = f"Run {names} with new noise, of the elements from `at` on."
    return _driver(j, j.serial, summary, ("key", "at"), (*_scratch(j), loop))


def _scratch(j: Joined) -> list[t.Statement]:
    """Memory for a block's words and its noise.

    The first noise lies beside its words, not at their places in another page: loads would
    wait for stores.
    """
    size, block, words = t.name(use("WORDS")), t.name("BLOCK"), t.name("words")
    half = t.Part(words, (t.Span(t.Quotient(size, t.Whole(2))),))
    beside = t.Part(t.Retyped(half, own_names(j)[j.rows[0]]), (t.Span(None, block),))
    names = [own_names(j)[x.array] for x in j.noise]
    rest = [t.Make(x, (block,)) for x in names[1:]]
    return [t.Make(words.name, (size,), "word"), t.Assign(t.name(names[0]), beside), *rest]


def _numbers(k: Kernel) -> list[n.Node]:
    """The kernel's numbers as the argument of a loop around it, which only hands them on."""
    return [t.name("numbers")] if k.scalars else []


def _share(k: Kernel, before: int, every: int) -> list[n.Node]:
    """The numbers of one of several kernels, among all that are handed on."""
    after = before + len(k.scalars)
    if len(k.scalars) in (0, every):
        return _numbers(k)
    ends = t.Span(t.Whole(before) if before else None, t.Whole(after) if after < every else None)
    return [t.Part(t.name("numbers"), (ends,))]
