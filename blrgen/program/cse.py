"""Common subexpressions of a phase's body, each computed once.

Names are assigned once, so two equal trees have equal values wherever they stand; numbers
are left to the section before the body, but for those made from sums over components.
The largest repeated tree is taken out first, until none is left.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from blrgen.program import nodes as n
from blrgen.program.naming import name_for
from blrgen.program.program import Phase, Program, Statement
from blrgen.program.totals import over_components
from blrgen.program.types import SCALAR, TRUTH, Type, infer


def cse(program: Program) -> Program:
    """Every phase without repeated expressions."""
    scope = program.scope
    taken = set(scope)
    return program.with_phases(lambda p: _phase(p, scope, taken))


def _phase(phase: Phase, scope: dict[str, Type], taken: set[str]) -> Phase:
    body = phase.body
    while (tree := _largest_repeated(body, scope)) is not None:
        known = next((s.name for s in body if s.expr == tree), None)
        if known is None:
            known = name_for(tree, taken)
            taken.add(known)
            scope[known] = infer(tree, scope)
            first = next(k for k, s in enumerate(body) if tree in n.walk(s.expr))
            added = Statement(known, tree, scope[known])
            body = (*body[:first], added, *body[first:])
        body = _with_name(body, tree, known)
    return replace(phase, body=body)


def _with_name(body: tuple[Statement, ...], tree: n.Node, name: str) -> tuple[Statement, ...]:
    def change(node: n.Node) -> n.Node:
        return n.Sym(name) if node == tree else node.rebuilt(change)

    return tuple(s if s.name == name else replace(s, expr=change(s.expr)) for s in body)


def _largest_repeated(body: tuple[Statement, ...], scope: dict[str, Type]) -> n.Node | None:
    counts: Counter[n.Node] = Counter()
    for s in body:
        counts.update(node for node in n.walk(s.expr) if _is_worth_it(node))
    repeated = [tree for tree, count in counts.items() if count > 1]
    late = set(over_components(body))
    repeated = [
        tree
        for tree in repeated
        if infer(tree, scope) != TRUTH and (_costs(tree, scope) or late.intersection(n.names(tree)))
    ]
    return max(repeated, key=n.size, default=None)


def _costs(node: n.Node, scope: dict[str, Type]) -> bool:
    """A number is computed once a step and costs nothing, unless it is made of matrices."""
    return infer(node, scope) != SCALAR or isinstance(node, n.Trace | n.Dot)


def _is_worth_it(node: n.Node) -> bool:
    """A sign or a transpose costs nothing."""
    return not isinstance(node, (*n.LEAVES, n.Neg, n.Transpose, n.Compare))
