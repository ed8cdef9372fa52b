"""Which lines of an emitted file were run, and the same file with short blocks of rows.

Rows are done in blocks and chunks of some hundreds, and loops four at a time: at sizes that can be
run exactly, the one would never be left and the other never be entered.  So the file is run once
more with short blocks, at larger sizes, and whatever line of a function was never run is told.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import Any

FILE = "<emitted>"
LONG = 64, 2**16  # blocks of rows, and rows from which on there are chunks: powers of two


def parsed(source: str, *, short: bool = False) -> ast.Module:
    """The file as a syntax tree; with short blocks, each line where it was."""
    tree = ast.parse(source)
    if short:
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and type(node.value) is int:
                node.value = shortened(node.value)
    return tree


def shortened(n: int) -> int:
    """2 for a long power of two, 1 for one less."""
    for less in (0, 1):
        whole = n + less
        if LONG[0] <= whole <= LONG[1] and whole & (whole - 1) == 0:
            return 2 - less
    return n


@contextmanager
def recorded(lines: set[int]) -> Iterator[None]:
    """The lines of the emitted file that are run meanwhile."""

    def local(frame: FrameType, event: str, _: Any) -> Any:
        lines.add(frame.f_lineno)
        return local

    def outer(frame: FrameType, event: str, _: Any) -> Any:
        return local if frame.f_code.co_filename == FILE else None

    before = sys.gettrace()
    sys.settrace(outer)
    try:
        yield
    finally:
        sys.settrace(before)


def left_out(source: str, run: set[int]) -> list[str]:
    """Lines that were never run, in the file's own functions of which some line was."""
    tree = ast.parse(source)
    end = next(x.lineno for x in tree.body if isinstance(x, ast.ClassDef))
    found = []
    for code in compile(tree, FILE, "exec").co_consts:
        if isinstance(code, CodeType) and code.co_firstlineno < end:
            start = code.co_firstlineno
            lines = {y for *_, y in code.co_lines() if y is not None and y > start}
            lines -= unless_defined(tree)
            lines -= {x for x in lines if source.splitlines()[x - 1].lstrip().startswith("def ")}
            if lines & run:
                found += sorted(lines - run)
    return [f"{x}: {source.splitlines()[x - 1].strip()}" for x in found]


def unless_defined(tree: ast.Module) -> set[int]:
    """Lines of what stands for x where x is not a number: `x if x == x else …`."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.IfExp) and isinstance(node.test, ast.Compare):
            (right,) = node.test.comparators
            same = ast.dump(node.test.left) == ast.dump(right)
            if same and isinstance(node.test.ops[0], ast.Eq) and node.orelse.end_lineno:
                found |= set(range(node.orelse.lineno, node.orelse.end_lineno + 1))
    return found
