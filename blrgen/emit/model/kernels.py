"""Programs of a model → functions of a target: as values, and as text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from blrgen.emit.tree import nodes as t
from blrgen.emit.tree import numba, numpy
from blrgen.emit.tree.arrays import array_function
from blrgen.emit.tree.functions import functions
from blrgen.errors import UserError
from blrgen.program.axes.nodes import Program, Seq, Statement
from blrgen.program.axes.prepared import scheduled


@dataclass(frozen=True)
class Target:
    """How programs become functions that return their outs, and what their file holds."""

    name: str
    make: Callable[[Program, str], tuple[t.Function, ...]]
    text: Callable[[t.Function], str]
    constants: tuple[tuple[str, str], ...]  # of a file, name and text
    imports: tuple[str, ...]


def _looped(program: Program, name: str) -> tuple[t.Function, ...]:
    """Loops; a recurrence along rows of different lengths is only in whole arrays so far."""
    if any(program.letter(s.letter).under for s in _recurrences(program.body)):
        raise UserError(
            "no compiled loops yet for chains in rows of different lengths",
            why="sums over neighbours of such rows do not come out right there",
            how="--target numpy",
        )
    return functions(scheduled(program), name, returns=True)


def _recurrences(body: tuple[Statement, ...]) -> Iterator[Seq]:
    for s in body:
        if isinstance(s, Seq):
            yield s
            yield from _recurrences(s.body)


def _cached(f: t.Function) -> str:
    return numba.function(f, cached=True)


def _quiet(f: t.Function) -> str:
    return f'@np.errstate(all="ignore")\n{numpy.function(f)}'


def _whole(program: Program, name: str) -> tuple[t.Function, ...]:
    return (array_function(program, name),)


ALIAS = ("Array", "Array: TypeAlias = NDArray[Any]")
FAST = ("FASTMATH", 'FASTMATH = {"contract", "nsz", "arcp", "afn"}  # NaN stays NaN')
SUMS = ("SUMS", 'SUMS = FASTMATH | {"reassoc"}  # sums in the order that is fastest')
ASIDE = ("ASIDE", '''ASIDE = {"prange": True} | dict.fromkeys(
    ("comprehension", "reduction", "inplace_binop", "setitem", "numpy", "stencil", "fusion"), False
)''')  # fmt: skip
EVERY = ("Any", "NDArray", "TypeAlias", "np", "Mapping")

TARGETS = {
    "numba": Target("numba", _looped, _cached, (ALIAS, FAST, SUMS, ASIDE),
                    (*EVERY, "math", "njit", "prange")),
    "numpy": Target("numpy", _whole, _quiet, (ALIAS,), (*EVERY, "math")),
}  # fmt: skip
