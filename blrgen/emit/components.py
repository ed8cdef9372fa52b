"""Kernels of rules that couple the components of a vector: passes with numbers between them.

Each array is one vector.  What a pass reads element by element is computed in it, again in
a later pass that needs it too, so that nothing of the size of the vector is stored.  Sums
carry what their rounding has lost along.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from blrgen.emit.kernels import Kernel
from blrgen.emit.plan import phase_of
from blrgen.emit.printers import ArrayPrinter, ElementPrinter, PythonPrinter
from blrgen.emit.shorten import shortened
from blrgen.emit.templates import fill
from blrgen.emit.text import assignment, call
from blrgen.emit.uses import use
from blrgen.program import nodes as n
from blrgen.program.program import Statement, fresh
from blrgen.program.totals import levels
from blrgen.program.types import SCALAR

if TYPE_CHECKING:
    from blrgen.core import Derivation

Line = tuple[str, n.Node]
LOOP = 8


@dataclass(frozen=True)
class Running:
    """A sum while it runs: two numbers, how they start, what adds to them, and the result."""

    pair: tuple[str, str]
    start: str
    add: str
    end: tuple[str, ...]


class NumberPrinter(ElementPrinter):
    """What is computed once, between two passes."""

    functions = ArrayPrinter.functions

    def choice(self, node: n.Select) -> tuple[str, int]:
        return self.call(use("_where"), self(node.condition), self(node.yes), self(node.no))


class Passes:
    """The body of a loop kernel over components."""

    def __init__(
        self, k: Kernel, lines: Sequence[Line], printer: PythonPrinter, zero: str,
        store: Callable[[str, str], str],
    ) -> None:  # fmt: skip
        self.kernel, self.printer, self.zero, self.store = k, printer, zero, store
        types = {s.name: s.type for s in phase_of(k.program).body}
        self.body = [Statement(name, expr, types[name]) for name, expr in lines]
        self.levels = levels(self.body)
        self.numbers_as = NumberPrinter(printer.names)
        self.taken = {*k.arrays, *k.scalars, zero, "i", *(s.name for s in self.body)}

    def text(self) -> str:
        """All passes, the one that writes to the arrays last."""
        rows: list[str] = []
        for level in range(max(self.levels.values(), default=0) + 1):
            rows += self.numbers(level)
            sums = [s for s in self.sums if self.levels[s.name] == level + 1]
            rows += self.adding(sums)
        rows += self.writing()
        if self.kernel.returns:
            rows.append(f"    return {', '.join(self.kernel.returns)}")
        return "\n".join(rows)

    @property
    def sums(self) -> list[Statement]:
        return [s for s in self.body if isinstance(s.expr, n.Total | n.LogTotal)]

    def numbers(self, level: int) -> list[str]:
        """What is computed once, between two passes."""
        lines = [
            (s.name, s.expr)
            for s in self.body
            if s.type == SCALAR and s not in self.sums and self.levels[s.name] == level
        ]
        own = self.numbers_as
        return [self.line(x, 4, own) for x in shortened(lines, own, 4, self.taken)]

    def line(self, line: Line, indent: int, printer: PythonPrinter | None = None) -> str:
        return assignment(line[0], (printer or self.printer)(line[1]), indent)

    def adding(self, sums: list[Statement]) -> list[str]:
        """One pass for some sums."""
        if not sums:
            return []
        made = [self.log_sum(s) if isinstance(s.expr, n.LogTotal) else self.sum(s) for s in sums]
        rows = [f"    {one.start}" for one in made]
        rows.append(f"    for i in range({self.kernel.arrays[0]}.size):")
        lines = self.elements([x for s in sums for x in n.names(s.expr.children[0])])
        rows += [self.line(x, LOOP) for x in shortened(lines, self.printer, LOOP, self.taken)]
        for s, one in zip(sums, made, strict=True):
            term = (self.new(f"{s.name}_term"), s.expr.children[0])
            *before, (_, last) = shortened([term], self.printer, 2 * LOOP, self.taken)
            rows += [self.line(x, LOOP) for x in before]
            arguments = [*one.pair, self.printer(last)]
            rows.append(call(f"{' ' * LOOP}{', '.join(one.pair)} = {one.add}(", arguments))
        return rows + [f"    {row}" for one in made for row in one.end]

    def sum(self, s: Statement) -> Running:
        """Added up with what rounding loses beside it."""
        lost = self.new(f"lost_{s.name.removeprefix('total_')}")
        return Running(
            (s.name, lost),
            f"{s.name}, {lost} = {self.zero}, {self.zero}",
            use("_added"),
            (f"{s.name} += {lost}",),
        )

    def log_sum(self, s: Statement) -> Running:
        """Exponentials relative to the largest of them."""
        top, share = (
            self.new(f"{x}_{s.name.removeprefix('log_total_')}") for x in ("top", "share")
        )
        more = s.expr.children[1:]
        end = [f"{top}, {share} = _exp_added({top}, {share}, {self.numbers_as(m)})" for m in more]
        lowest = f"{self.kernel.arrays[0]}.dtype.type(-np.inf)"
        return Running(
            (top, share),
            f"{top}, {share} = {lowest}, {self.zero}",
            use("_exp_added"),
            (*end, f"{s.name} = {top} + np.log({share})"),
        )

    def new(self, name: str) -> str:
        own = fresh(name, self.taken)
        self.taken.add(own)
        return own

    def elements(self, wanted: Sequence[str]) -> list[Line]:
        """The lines of single elements that some names need, in order."""
        needed = set(wanted)
        kept: list[Line] = []
        for s in reversed(self.body):
            if s.type != SCALAR and s.name in needed:
                kept.append((s.name, s.expr))
                needed.update(n.names(s.expr))
        return kept[::-1]

    def writing(self) -> list[str]:
        """The last pass."""
        writes = self.kernel.writes
        if not writes:
            return []
        lines = self.elements([local for _, local in writes])
        rows = [f"    for i in range({self.kernel.arrays[0]}.size):"]
        rows += [self.line(x, LOOP) for x in shortened(lines, self.printer, LOOP, self.taken)]
        rows += [self.store(target, self.printer(n.Sym(local))) for target, local in writes]
        return rows


def vectors_function(derivation: Derivation, alone: bool) -> str:
    """The check that arrays are vectors, of the right size where the family fixes it."""
    sizes = [q.symbol.size for q in derivation.rule.of("state") if hasattr(q.symbol, "size")]
    fixed = int(sizes[0]) if sizes and sizes[0].is_Integer else None
    what = f"{fixed} components" if fixed else "its components"
    one = [
        "    if len(arrays) != 1:",
        '        raise ValueError(f"{len(arrays)} arrays: the rule has numbers beside one vector")',
    ]
    return fill(
        "functions/vectors.py.jinja",
        wrong=f"array.size != {fixed}" if fixed else "array.size < 1",
        wanted=f"it has one axis, for {what}",
        advice="" if alone else "; pass a list of vectors to update several",
        alone="".join(f"{row}\n" for row in one if alone),
    )
