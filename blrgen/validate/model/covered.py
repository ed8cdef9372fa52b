"""Which lines of an emitted file were run, and the same file with short blocks of rows.

Rows are done in blocks and chunks of some hundreds, and loops four at a time: at sizes that can be
run exactly, the one would never be left and the other never be entered.  So the file is run once
more with short blocks, at larger sizes, and whatever line of a function was never run is told.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Container, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import CodeType, FrameType
from typing import Any

from blrgen.decide.towers import telling

FILE = "<emitted>"
MOST_ROUNDS = 500  # over local blocks
LONG = 64, 2**16  # blocks of rows, and rows from which on there are chunks: powers of two


def parsed(source: str, *, short: bool = False, rounds: int = 0) -> ast.Module:
    """The file as a syntax tree; with short blocks or few rounds, each line where it was."""
    tree = ast.parse(source)
    for node in ast.walk(tree) if rounds else ():
        if isinstance(node, ast.Constant) and node.value == MOST_ROUNDS:
            node.value = rounds
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


@dataclass
class Seen:
    """The lines that were run, and of each function's whole numbers the largest."""

    lines: set[int] = field(default_factory=set)
    largest: dict[tuple[str, str], int] = field(default_factory=dict)
    signs: set[int] = field(default_factory=set)  # lines that asked whether a number is above 0

    def sign(self) -> None:
        """Note the line of the emitted file that asks."""
        frame: FrameType | None = sys._getframe()
        while frame is not None and frame.f_code.co_filename != FILE:
            frame = frame.f_back
        if frame is not None:
            self.signs.add(frame.f_lineno)

    def note(self, frame: FrameType) -> None:
        """What the sizes of a function were."""
        for name, value in frame.f_locals.items():
            if type(value) is int:
                key = (frame.f_code.co_name, name)
                self.largest[key] = max(value, self.largest.get(key, value))


@contextmanager
def recorded(seen: Seen) -> Iterator[None]:
    """The lines of the emitted file that are run meanwhile."""

    def local(frame: FrameType, event: str, _: Any) -> Any:
        seen.lines.add(frame.f_lineno)
        if event == "return":
            seen.note(frame)
        return local

    def outer(frame: FrameType, event: str, _: Any) -> Any:
        return local if frame.f_code.co_filename == FILE else None

    before = sys.gettrace()
    sys.settrace(outer)
    try:
        with telling(seen.sign):
            yield
    finally:
        sys.settrace(before)


def left_out(source: str, seen: Seen) -> list[str]:
    """Lines that were never run, in the file's own functions of which some line was."""
    tree = ast.parse(source)
    end = next(x.lineno for x in tree.body if isinstance(x, ast.ClassDef))
    found, run = [], seen.lines
    passed = unless_defined(tree) | never_four(tree, seen)
    for code in compile(tree, FILE, "exec").co_consts:
        if isinstance(code, CodeType) and code.co_firstlineno < end:
            start = code.co_firstlineno
            lines = {y for *_, y in code.co_lines() if y is not None and y > start}
            lines -= passed
            lines -= {x for x in lines if source.splitlines()[x - 1].lstrip().startswith("def ")}
            if lines & run:
                found += sorted(lines - run)
    return [f"{x}: {source.splitlines()[x - 1].strip()}" for x in found]


def by_sign(source: str, seen: Seen) -> list[int]:
    """Lines of the file's own functions that went one way only, as a number has no sign here.

    Support functions may ask, as they are tested where they are written.
    """
    end = next(x.lineno for x in ast.parse(source).body if isinstance(x, ast.ClassDef))
    return sorted(x for x in seen.signs if x < end)


def at_numbers(source: str) -> list[int]:
    """Lines of the file's own functions that ask whether something is a number other than 0.

    Random numbers are none of those: what is done there is never seen.
    """
    found = set()
    for f in ast.parse(source).body:
        if isinstance(f, ast.ClassDef):
            break
        named = {t.id for x in ast.walk(f) if isinstance(x, ast.Assign) and _constant(x.value, ())
                 for t in x.targets if isinstance(t, ast.Name)}  # fmt: skip
        for x in ast.walk(f):
            if isinstance(x, ast.Compare) and any(isinstance(y, ast.Eq | ast.NotEq) for y in x.ops):
                sides = (x.left, *x.comparators)
                found |= {x.lineno for side in sides if _constant(side, named)}
    return sorted(found)


def _constant(x: ast.expr, named: Container[str]) -> bool:
    """Whether it is written as a number that is not 0, or a name of one."""
    if isinstance(x, ast.UnaryOp):
        return _constant(x.operand, named)
    if isinstance(x, ast.Call) and isinstance(x.func, ast.Name) and x.func.id == "real":
        return len(x.args) == 1 and _constant(x.args[0], named)
    if isinstance(x, ast.Constant):
        return isinstance(x.value, int | float) and x.value != 0
    return isinstance(x, ast.Name) and x.id in named


def never_four(tree: ast.Module, seen: Seen) -> set[int]:
    """Lines of loops four at a time along a size below 4 in all runs: one that the text fixes.

    Every other size is at least 4 in one of them.
    """
    found = set()
    for f in (x for x in tree.body if isinstance(x, ast.FunctionDef)):
        for loop in (x for x in ast.walk(f) if isinstance(x, ast.For)):
            stop = _four(loop.iter)
            if stop is None:
                continue
            known = {x.id: seen.largest.get((f.name, x.id), 4) for x in ast.walk(stop)
                     if isinstance(x, ast.Name)}  # fmt: skip
            if eval(ast.unparse(stop), {}, known) == 0:
                found |= {y for x in loop.body for y in range(x.lineno, (x.end_lineno or 0) + 1)}
    return found


def _four(e: ast.expr) -> ast.expr | None:
    """Where `range(0, … // 4 * 4, 4)` stops; it grows with every name in it."""
    if (
        not isinstance(e, ast.Call)
        or len(e.args) != 3
        or not ast.unparse(e).endswith("// 4 * 4, 4)")
    ):
        return None
    plain = (ast.Name, ast.Constant, ast.BinOp, ast.operator, ast.expr_context)
    stop = e.args[1]
    return stop if all(isinstance(x, plain) for x in ast.walk(stop)) else None


def unless_defined(tree: ast.Module) -> set[int]:
    """Lines of what stands for x where x is not a number: `x if x == x else …`."""
    found = set()
    for node in ast.walk(tree):
        test = node.test if isinstance(node, ast.IfExp) else None
        if isinstance(node, ast.IfExp) and isinstance(test, ast.Compare) and len(test.ops) == 1:
            (right,) = test.comparators
            same = ast.dump(test.left) == ast.dump(right)
            if same and isinstance(test.ops[0], ast.Eq) and node.orelse.end_lineno:
                found |= set(range(node.orelse.lineno, node.orelse.end_lineno + 1))
    return found
