"""Programs of a model → functions of a target: as values, and as text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from blrgen.emit.tree import nodes as t
from blrgen.emit.tree import numba, numpy
from blrgen.emit.tree.arrays import array_function
from blrgen.emit.tree.staged import staged
from blrgen.program.axes.nodes import Program
from blrgen.program.axes.prepared import scheduled


@dataclass(frozen=True)
class Target:
    """How programs become functions that return their outs, and what their file holds."""

    name: str
    make: Callable[[Program, str], tuple[t.Function, ...]]
    text: Callable[[t.Function], str]
    constants: tuple[tuple[str, str], ...]  # of a file, name and text
    imports: tuple[str, ...]
    once: str = ""  # the target for what is run once: compiling takes longer than it would save


def _looped(program: Program, name: str) -> tuple[t.Function, ...]:
    return staged(scheduled(program), name)


def _cached(f: t.Function) -> str:
    return numba.function(f, cached=True)


def _quiet(f: t.Function) -> str:
    return f'@np.errstate(all="ignore")\n{numpy.function(f)}'


def _whole(program: Program, name: str) -> tuple[t.Function, ...]:
    return (array_function(program, name),)


ALIAS = ("Array", "Array: TypeAlias = NDArray[Any]")
FAST = ("FASTMATH", 'FASTMATH = {"contract", "nsz", "arcp", "afn"}  # NaN stays NaN')
SUMS = ("SUMS", 'SUMS = FASTMATH | {"reassoc"}  # sums in the order that is fastest')
EVERY = ("Any", "NDArray", "TypeAlias", "np", "Mapping")

TARGETS = {
    "numba": Target("numba", _looped, _cached, (ALIAS, FAST, SUMS),
                    (*EVERY, "math", "njit"), "numpy"),
    "numpy": Target("numpy", _whole, _quiet, (ALIAS,), (*EVERY, "math")),
}  # fmt: skip
