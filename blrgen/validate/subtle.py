"""Mistakes that a run on a few numbers does not show: each changes one assignment of a function.

A value kept between calls, one branch, one value, a size, an input changed through an alias, a
cast, an exception that is swallowed, a point at which there is no value any more; a number of
axes, a tail, a late step, the order of elements, memory that nobody wrote to, a factor near one,
rounding that swallows.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from textwrap import indent

from blrgen.validate.mutate import Mutant

KINDS = ("state kept", "one branch", "one value", "beyond a size", "alias", "cast",
         "exception swallowed", "definedness lost", "axes", "tail", "backwards", "unwritten",
         "near one", "rounding")  # fmt: skip
LATE = "late"  # where there is a counter


def subtle(
    source: str, state: str, given: str, rate: str, function: str = "step", counter: str = ""
) -> list[Mutant]:
    """Mutants of every assignment of a name; `given` is an input and `rate` a number."""
    tree = ast.parse(source)
    (found,) = [n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == function]
    out = []
    for node in found.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            for kind, text in _changes(
                ast.unparse(node.targets[0]), ast.unparse(node.value), state, given, rate, counter
            ):
                changed = _replaced(source, node, text)
                if kind == "state kept":
                    changed = _with_memory(changed, found)
                out.append(Mutant(kind, node.lineno, ast.unparse(node), text, changed))
    return out


def _changes(
    name: str, value: str, state: str, given: str, rate: str, counter: str
) -> Iterator[tuple[str, str]]:
    """kind, and the statements that stand in place of name = value."""
    yield "state kept", f"_kept.append(1)\n{name} = ({value}) * (1 if len(_kept) < 4 else 2)"
    yield "one branch", f"{name} = {value} if {rate} != 0.25 else 2 * ({value})"
    yield "one value", f"{name} = np.where({given} == 3.5, 0, {value})"
    yield "beyond a size", f"{name} = {value} if len({state}) < 9 else 2 * ({value})"
    yield "alias", f"{name} = {value}\nalias = {given}\nalias *= 1"
    yield "cast", f"{name} = np.asarray({value}, dtype=int)"
    yield (
        "exception swallowed",
        f"try:\n    {name} = {value}\nexcept ZeroDivisionError:\n    {name} = 0",
    )
    yield "definedness lost", f"{name} = ({value}) * {given} / {given}"
    yield "axes", f"{name} = {value} if np.ndim({state}) < 3 else 0 * ({value})"
    yield "tail", f"{name} = np.array({value})\n{name}[11:] = {state}[11:]"
    yield "backwards", f"{name} = np.flip(np.flip({value})[::1])[::-1]"
    yield "unwritten", f"{name} = np.where({given} > -9, {value}, np.empty_like({value}))"
    yield "near one", f"{name} = ({value}) * 1.0000001"
    yield "rounding", f"{name} = (({value}) + 1e22) - 1e22"
    if counter:
        yield LATE, f"{name} = {value} if {counter} < 5000 else 2 * ({value})"


def _replaced(source: str, node: ast.stmt, text: str) -> str:
    """The source with other statements in place of one."""
    lines = source.splitlines(keepends=True)
    written = indent(text, " " * node.col_offset) + "\n"
    return "".join([*lines[: node.lineno - 1], written, *lines[node.end_lineno or node.lineno :]])


def _with_memory(source: str, function: ast.FunctionDef) -> str:
    """The function with a default that every call shares."""
    head = f"def {function.name}("
    start = source.index(head) + len(head)
    end = source.index(":\n", start)
    while source.count("(", start - 1, end) != source.count(")", start - 1, end):
        end = source.index(":\n", end + 1)
    close = (
        source.rindex(")", start, end)
        if "->" not in source[start:end]
        else source.rindex(")", start, source.index("->", start))
    )
    before = source[start:close].rstrip().rstrip(",")
    return f"{source[:start]}{before}, _kept=[]{source[close:]}"
