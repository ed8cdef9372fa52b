"""Sums over components, and how many there are, as statements of their own.

A rule that couples the components of a vector is run in passes over them:

    total_a = Σ a_i                     the first pass adds up,
    k = f(total_a)                      numbers are computed once,
    a_i ← g(a_i, k)                     the next pass uses them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from blrgen.program import nodes as n
from blrgen.program.naming import describe
from blrgen.program.program import Phase, Program, Statement, numbered
from blrgen.program.types import SCALAR

LONGEST = 12  # letters of what is added up, in a name


def totals(program: Program) -> Program:
    """Every sum over components (and every count) in the bodies under a name."""
    if not any(
        isinstance(x, n.OVER_COMPONENTS) for s in program.statements for x in n.walk(s.expr)
    ):
        return program
    taken = set(program.scope)
    return program.with_phases(lambda p: _phase(p, taken))


def _phase(phase: Phase, taken: set[str]) -> Phase:
    body: list[Statement] = []
    found: dict[n.Node, str] = {}

    def change(node: n.Node) -> n.Node:
        if not isinstance(node, n.OVER_COMPONENTS):
            return node
        if node not in found:
            found[node] = _free(_name(node), taken)
            taken.add(found[node])
            body.append(Statement(found[node], node, SCALAR))
        return n.Ref(found[node])

    for s in phase.body:
        if isinstance(s.expr, n.OVER_COMPONENTS):
            inner = s.expr.rebuilt(lambda child: n.transform(child, change))
            found.setdefault(inner, s.name)
            body.append(replace(s, expr=inner))
            continue
        body.append(replace(s, expr=n.transform(s.expr, change)))
    return replace(phase, body=tuple(body))


def _free(name: str, taken: set[str]) -> str:
    """The name, or the next number at its end."""
    if name not in taken:
        return name
    return numbered(f"{name.rstrip('0123456789').removesuffix('_')}_", 2, taken)


def _name(node: n.Node) -> str:
    if isinstance(node, n.Count):
        return node.label
    if isinstance(node, n.LogTotal):
        return "log_total_1"
    words = describe(node.children[0])
    short = words is not None and len(words) <= LONGEST
    return f"total_{words}" if short else "total_1"


def over_components(statements: Iterable[Statement]) -> tuple[str, ...]:
    """Names of numbers that are made from a whole array, directly or through others."""
    found: dict[str, None] = {}
    for s in statements:
        if s.type != SCALAR:
            continue
        direct = any(isinstance(x, n.OVER_COMPONENTS) for x in n.walk(s.expr))
        if direct or any(x in found for x in n.names(s.expr)):
            found[s.name] = None
    return tuple(found)
