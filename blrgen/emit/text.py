"""Small helpers for laying out Python source."""

from __future__ import annotations

from collections.abc import Iterable

WIDTH = 100


def call(prefix: str, arguments: Iterable[str], suffix: str = ")") -> str:
    """`prefix` + arguments + `suffix` on one line if it fits, else the arguments on their own.

    `prefix` carries the indentation and ends with the opening bracket.
    """
    arguments = list(arguments)
    line = f"{prefix}{', '.join(arguments)}{suffix}"
    if len(line) <= WIDTH:
        return line
    margin = " " * (len(prefix) - len(prefix.lstrip()))
    inner = f"{margin}    {', '.join(arguments)}"
    if len(inner) <= WIDTH:
        return f"{prefix}\n{inner}\n{margin}{suffix}"
    rows = "\n".join(f"{margin}    {a}," for a in arguments)
    return f"{prefix}\n{rows}\n{margin}{suffix}"


def assignment(name: str, expression: str, indent: int) -> str:
    """`name = expression`, in brackets over several lines where one is too long."""
    margin = " " * indent
    line = f"{margin}{name} = {expression}"
    if len(line) <= WIDTH:
        return line
    rows = operands(expression, (" & ",))
    rows = rows if len(rows) > 1 else operands(expression, (" + ", " - "))
    if len(rows) == 1 and indent + 4 + len(expression) > WIDTH:
        rows = operands(expression, (" * ", " / "))
    inner = f"\n{margin}    ".join(rows)
    return f"{margin}{name} = (\n{margin}    {inner}\n{margin})"


def filled(words: Iterable[str], indent: int) -> list[str]:
    """Lines of as many words as fit."""
    margin = " " * indent
    rows = [margin]
    for word in words:
        if rows[-1] != margin and len(rows[-1]) + len(word) + 1 > WIDTH:
            rows.append(margin)
        rows[-1] += word if rows[-1] == margin else f" {word}"
    return rows


def operands(expression: str, operators: tuple[str, ...]) -> list[str]:
    """The expression split before its outermost signs of some operators."""
    rows, depth, start = [], 0, 0
    for k, c in enumerate(expression):
        depth += c in "(["
        depth -= c in ")]"
        if depth == 0 and expression[k : k + 3] in operators:
            rows.append(expression[start:k])
            start = k + 1
    rows.append(expression[start:])
    return rows


def sentence_list(words: Iterable[str]) -> str:
    """a, b and c."""
    *front, last = list(words)
    return f"{', '.join(front)} and {last}" if front else last
