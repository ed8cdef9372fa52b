"""A kernel in pieces: what calls them block by block, so that all stays in cache."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from blrgen.emit.tree import nodes as t
from blrgen.emit.uses import use
from blrgen.program import nodes as n
from blrgen.program.kernels import Kernel
from blrgen.program.pieces import Given, pieces
from blrgen.program.program import fresh


def in_pieces(k: Kernel, looped: Callable[[Kernel], t.Function]) -> tuple[t.Function, ...]:
    """The functions of the pieces, then the one that calls them block by block."""
    made = pieces(k)
    order = (*k.arrays, *made.kept)
    taken = {*k.program.sizes, *order, "first", "last"}
    places: dict[str, str] = {}
    for x in order:
        places[x] = fresh(f"{x}_here", taken)
        taken.add(places[x])

    def given(x: Given) -> n.Node:
        return t.Float(x) if isinstance(x, Fraction) else t.name(places.get(x, x))

    calls: list[t.Statement] = [
        t.Invoke(piece.name, tuple(map(given, arguments)), False) for piece, arguments in made.calls
    ]
    return (*map(looped, made.kernels), _block_by_block(k, made.kept, places, calls))


def _block_by_block(
    k: Kernel, kept: tuple[str, ...], places: dict[str, str], calls: list[t.Statement]
) -> t.Function:
    """The pieces on a block of elements after another, with memory for what is kept."""
    length, block = t.Length(k.arrays[0]), t.name(use("BLOCK"))
    first, last = t.name("first"), t.name("last")
    here = [t.View(places[a], t.Entry(a, (t.Span(first, last),))) for a in k.arrays]
    whole = t.Difference(last, first)
    here += [t.View(places[a], t.Entry(a, (t.Span(None, whole),))) for a in kept]
    end = t.Assign(last, t.Least((t.plus(first, block), length)))
    loop = t.For(first.name, t.Whole(0), length, (end, *here, *calls), step=block)
    room = [t.Make(a, (t.Least((block, length)),)) for a in kept]
    return t.Function(
        k.name, k.arrays, (), (), (*room, loop), k.summary, reals_of=k.arrays[0],
        numbers=k.scalars, ordered=True,
    )  # fmt: skip
