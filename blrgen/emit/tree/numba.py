"""The tree → a file for Numba: the functions, and below them those that they call."""

from __future__ import annotations

import textwrap

from blrgen.emit.support import support_of
from blrgen.emit.text import WIDTH, call
from blrgen.emit.tree import nodes as t
from blrgen.emit.tree.printer import Expressions, Lines, arguments, is_typed, unpacked
from blrgen.emit.uses import use

CONSTANTS = """Array: TypeAlias = NDArray[Any]
FASTMATH = {"contract", "nsz", "arcp", "afn"}  # NaN stays NaN
SUMS = FASTMATH | {"reassoc"}  # sums in the order that is fastest
ASIDE = {"prange": True} | dict.fromkeys(
    ("comprehension", "reduction", "inplace_binop", "setitem", "numpy", "stencil", "fusion"), False
)"""
IMPORTS = ("Any", "NDArray", "TypeAlias", "math", "njit", "np", "prange")


def text(functions: tuple[t.Function, ...]) -> str:
    """A file that stands alone."""
    found = support_of("numba", t.support(functions))
    head = f"from __future__ import annotations\n\n{found.imports(IMPORTS)}\n\n{CONSTANTS}"
    parts = [head, *found.made, *found.texts]
    return "\n\n".join(p.strip("\n") for p in [*parts, *map(function, functions)]) + "\n"


def function(f: t.Function, cached: bool = False) -> str:
    """One function; `cached` where its file keeps what is compiled."""
    lines = [] if f.called else [decorator(f, cached)]
    lines += call(f"def {f.name}(", arguments(f), f") -> {f.result}:").split("\n")
    lines += [*documented(f.summary), *Lines(Expressions()).body(f.once, 4), *unpacked(f)]
    if is_typed(f):
        lines.append(
            f"    real = {f.reals_of}.dtype.type" if f.reals_of else "    real = np.float64"
        )
    write = Lines(Expressions())
    return "\n".join([*lines, *write.body(f.body, 4), *write.returned(f.returns, 4)])


def decorator(f: t.Function, cached: bool = False) -> str:
    """How it is compiled; where sums keep their order it is kept beside the file."""
    options = ["cache=True"] if f.ordered or cached else []
    if f.parallel:
        options.append(f"parallel={f.ordered or 'ASIDE'}")
    options += [f"fastmath={'FASTMATH' if f.ordered else 'SUMS'}", 'error_model="numpy"']
    options += ["forceinline=True"] if f.inlined else []
    options += ["nogil=True"] if f.apart else []
    return f"@{use('njit')}({', '.join(options)})"


def documented(summary: str) -> list[str]:
    """The docstring of a function: what is too long for a line goes on below."""
    first, comma, rest = summary.partition(", ")
    if len(summary) <= WIDTH - 10 or not comma:
        return [f'    """{summary}"""']
    more = textwrap.wrap(f"{rest[0].upper()}{rest[1:]}", WIDTH - 4)
    return [f'    """{first}.', "", *(f"    {x}" for x in more), '    """']
