"""Long lines, with parts of them as locals of their own.

A line that does not fit is freed of one part after the other.  Where one part is enough it
is the smallest such, a divisor if there is one; else it is the largest.  What a part takes
up is known from the printed texts of the whole line, so that nothing is printed twice.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from copy import copy
from dataclasses import dataclass, field
from itertools import accumulate

from blrgen.emit.printers import PythonPrinter
from blrgen.emit.text import WIDTH
from blrgen.program import nodes as n
from blrgen.program.program import fresh

LEAST = 3  # nodes that are never worth a name
STAND_IN = "divisor"  # as long as the name of a part is taken to be

Line = tuple[str, n.Node]


def shortened(
    lines: list[Line], printer: PythonPrinter, indent: int, taken: set[str]
) -> list[Line]:
    """Lines that do not fit, with a divisor or another part as a local of its own."""
    parts = _Parts(printer, taken)
    return [line for name, expr in lines for line in parts.of(name, expr, indent)]


@dataclass
class _Printed:
    """A line's text, and what every part of it takes up beyond a stand-in for it."""

    text: str = ""
    saved: dict[n.Node, int] = field(default_factory=dict)
    times: dict[n.Node, int] = field(default_factory=dict)


class _Parts:
    def __init__(self, printer: PythonPrinter, taken: set[str]) -> None:
        self.printer, self.taken = printer, taken

    def of(self, name: str, expr: n.Node, indent: int) -> Iterator[Line]:
        """The line, after the parts of it that have names of their own."""
        room = WIDTH - indent - len(name) - len(" = [i]")
        while len(self.printer(expr)) > room:
            seen, names = self.printed(expr), dict[n.Node, str]()
            length = len(seen.text)
            divisors = {x.bottom for x in n.walk(expr) if isinstance(x, n.Div)}
            for part, rest in _chosen(expr, seen, divisors, length - room):
                own = fresh("divisor" if part in divisors else "part", self.taken)
                self.taken.add(own)
                names[part] = own
                yield from self.of(own, part, indent)
                length -= seen.saved[part] - seen.times[part] * (len(own) - len(STAND_IN))
                if length - rest <= room:  # it fits, or there is one part without which it does
                    break
            if not names:
                break
            expr = _replaced(expr, names)
        yield name, expr

    def printed(self, expr: n.Node) -> _Printed:
        """One printing of the line, with every part of it measured where it stands."""
        seen, printer = _Printed(), copy(self.printer)
        at = printer.at

        def measured(node: n.Node, level: int) -> str:
            text = at(node, level)
            seen.saved[node] = seen.saved.get(node, 0) + len(text) - len(STAND_IN)
            seen.times[node] = seen.times.get(node, 0) + 1
            return text

        printer.at = measured  # type: ignore[method-assign]
        seen.text = printer(expr)
        return seen


def _chosen(
    expr: n.Node, seen: _Printed, divisors: Collection[n.Node], more: int
) -> Iterator[tuple[n.Node, int]]:
    """The parts to be named, one after the other; with each, the most that one of those left saves.

    The smallest without which the line fits; if there is none, the largest ones in turn.
    """
    parts = [x for x in n.walk(expr) if x is not expr and _may_have_a_name(x, seen)]
    enough = [x for x in parts if seen.saved[x] >= more]
    enough = [x for x in enough if x in divisors] or enough
    if enough:
        yield min(enough, key=n.size), 0
        return
    top = sorted(_outermost(expr, seen), key=n.size, reverse=True)
    left = [max(seen.saved[x] for x in n.walk(part) if x in seen.saved) for part in top]
    most = [*accumulate(reversed(left), max)][::-1]
    yield from zip(top, [*most[1:], 0], strict=True) if top else ()


def _may_have_a_name(node: n.Node, seen: _Printed) -> bool:
    worth = n.size(node) > LEAST and not isinstance(node, n.Neg | n.Compare)
    return worth and node in seen.saved


def _outermost(expr: n.Node, seen: _Printed) -> tuple[n.Node, ...]:
    """The parts that are in no other part, each once, in order; a long sum is its terms."""
    found: dict[n.Node, None] = {}
    for x in expr.children:
        if isinstance(expr, n.Sub) and x is expr.left and isinstance(x, n.Sub | n.Add):
            found |= dict.fromkeys(_outermost(x, seen))
        elif _may_have_a_name(x, seen):
            found[x] = None
        else:
            found |= dict.fromkeys(_outermost(x, seen))
    return tuple(found)


def _replaced(expr: n.Node, names: Mapping[n.Node, str]) -> n.Node:
    def change(node: n.Node) -> n.Node:
        name = names.get(node)
        return node.rebuilt(change) if name is None else n.Ref(name)

    return change(expr)
