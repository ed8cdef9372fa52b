"""The tree → a file for Numba: the functions, and below them those that they call."""

from __future__ import annotations

import inspect
import textwrap

from blrgen.emit.special import helper
from blrgen.emit.support import support_of, table
from blrgen.emit.text import WIDTH, call
from blrgen.emit.tree import nodes as t
from blrgen.emit.tree import support
from blrgen.emit.tree.printer import Expressions, Lines
from blrgen.program import nodes as n

CONSTANTS = """Array: TypeAlias = NDArray[Any]
FASTMATH = {"contract", "nsz", "arcp", "afn"}  # NaN stays NaN
SUMS = FASTMATH | {"reassoc"}  # sums in the order that is fastest
ASIDE = {"prange": True} | dict.fromkeys(
    ("comprehension", "reduction", "inplace_binop", "setitem", "numpy", "stencil", "fusion"), False
)"""
IMPORTS = ("Any", "NDArray", "TypeAlias", "math", "njit", "np", "prange")
INLINED = '@njit(fastmath=SUMS, error_model="numpy", inline="always")'
SUPPORT = {x: f for x, f in vars(support).items() if x.startswith("_") and inspect.isfunction(f)}


def text(functions: tuple[t.Function, ...]) -> str:
    """A file that stands alone."""
    names = t.support(functions)
    own = closed([x for x in names if x in SUPPORT])
    others = [x for x in names if x not in SUPPORT]
    found = support_of("numba", others)
    head = f"from __future__ import annotations\n\n{found.imports(IMPORTS)}\n\n{CONSTANTS}"
    parts = [head, *found.made, *found.texts]
    parts += [f"{INLINED}\n{inspect.getsource(SUPPORT[x])}" for x in own]
    return "\n\n".join(p.strip("\n") for p in [*parts, *map(function, functions)]) + "\n"


def closed(names: list[str]) -> list[str]:
    """With what they call, in the order of the module."""
    found = set(names)
    while True:
        more = {y for x in found for y in SUPPORT[x].__code__.co_names if y in SUPPORT}
        if more <= found:
            return [x for x in SUPPORT if x in found]
        found |= more


def function(f: t.Function, cached: bool = False) -> str:
    """One function; `cached` where its file keeps what is compiled."""
    arguments = [f"{x}: Array" for x in f.arrays] + [f"{x}: int" for x in f.wholes]
    arguments += [f"{x}: float" for x in f.reals]
    aside = ", parallel=ASIDE" if f.parallel else ""
    words = f'{"cache=True, " if cached else ""}fastmath=SUMS, error_model="numpy"{aside}'
    kind = "Any" if f.returns else "None"
    lines = [f"@njit({words})", *call(f"def {f.name}(", arguments, f") -> {kind}:").split("\n")]
    lines += documented(f.summary)
    lines += Lines(Expressions()).body(f.once, 4)
    if f.reals_of and _is_typed(f):
        lines.append(f"    real = {f.reals_of}.dtype.type")
    elif _is_typed(f):
        lines.append("    real = np.float64")
    write = Lines(Expressions())
    return "\n".join([*lines, *write.body(f.body, 4), *write.returned(f.returns, 4)])


def documented(summary: str) -> list[str]:
    """The docstring of a function: what is too long for a line goes on below."""
    first, comma, rest = summary.partition(", ")
    if len(summary) <= WIDTH - 10 or not comma:
        return [f'    """{summary}"""']
    more = textwrap.wrap(f"{rest[0].upper()}{rest[1:]}", WIDTH - 4)
    return [f'    """{first}.', "", *(f"    {x}" for x in more), '    """']


def _is_typed(f: t.Function) -> bool:
    """Whether it makes arrays or numbers of the arrays' type."""
    for s in t.statements(f.body):
        if isinstance(s, t.Make):
            return True
        if any(isinstance(x, t.Real) for e in t.expressions(s) for x in n.walk(e)):
            return True
    return False


def known(name: str) -> bool:
    """Whether files can hold the function."""
    defined = table("numba").definitions
    return name in SUPPORT or name in defined or helper(name) is not None
