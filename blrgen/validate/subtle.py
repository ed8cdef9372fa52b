"""Mistakes that a run on a few numbers does not show: each changes one assignment of a function.

A value kept between calls, one branch, one value, a size, an input changed through an alias, a
cast, an exception that is swallowed, a point at which there is no value any more.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from textwrap import indent

from blrgen.validate.mutate import Mutant

KINDS = ("state kept", "one branch", "one value", "beyond a size", "alias", "cast",
         "exception swallowed", "definedness lost")  # fmt: skip


def subtle(source: str, state: str, given: str, rate: str, function: str = "step") -> list[Mutant]:
    """Mutants of every assignment of a name; `given` is an input and `rate` a hyperparameter."""
    tree = ast.parse(source)
    (found,) = [n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == function]
    out = []
    for node in found.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            for kind, text in _changes(
                ast.unparse(node.targets[0]), ast.unparse(node.value), state, given, rate
            ):
                changed = _replaced(source, node, text)
                if kind == "state kept":
                    changed = _with_memory(changed, found)
                out.append(Mutant(kind, node.lineno, ast.unparse(node), text, changed))
    return out


def _changes(name: str, value: str, state: str, given: str, rate: str) -> Iterator[tuple[str, str]]:
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
