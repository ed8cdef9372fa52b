"""One number x of a family on an interval, as x = g(t) with t on the whole line.

    (l, ∞)  x = l + exp(t)      (−∞, u)  x = u − exp(t)      (l, u)  x = l + (u − l)/(1 + exp(−t))

Where t is a combination of the statistics, Σ a_j T_j + const, E[t] is known: a rule begins there.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product

from blrgen.algebra.indexed.build import add, number, power, put, scaled, subtracted, symbol
from blrgen.algebra.indexed.calculus import NoDerivative, partial
from blrgen.algebra.indexed.functions import exp, log
from blrgen.algebra.indexed.moving import moved as moved_to
from blrgen.algebra.indexed.values import ONE, Atom, Expression, Symbol
from blrgen.expect.blocks.block import element_base, node_templates
from blrgen.expect.blocks.values import Block
from blrgen.expect.factors.names import Table
from blrgen.expect.sites.values import Line
from blrgen.read.model.values import Node

WEIGHTS = (Fraction(0), Fraction(1), Fraction(-1), Fraction(1, 2), Fraction(-1, 2))


def one_number(table: Table, node: Node, block: Block, line: Expression) -> Line | str:
    """q of the number that a predictor is; in words why there is none."""
    atom = _alone(line)
    if atom is None or len(node.names) != 1 or len(block.nodes) != 1 or block.kind != "element":
        return "only one number by itself has a rule here"
    if block.given or block.several:
        return "an element that stands for several, or is given labels, has no rule here"
    templates = node_templates(table, node)
    element = templates[0].element
    if any(t.places != element for t in templates) or len(atom.indices) != len(element):
        return "its elements are vectors"
    s = table.variables[node.names[0]].symbol
    t = Symbol(f"`t{node.name}")
    chart = _chart(s, t)
    statistics = tuple(x.value for x in templates)
    moved = [_put(x, s.name, chart) for x in (*statistics, element_base(table, node))]
    found = _combination(moved[:-1], symbol(t))
    if found is None:
        return "no coordinate on the whole line has a mean that the family knows"
    try:
        jacobian = log(partial(chart, t.name, ()))
        for x in moved:
            partial(partial(x, t.name, ()), t.name, ())
    except NoDerivative as e:
        return f"{e} has no derivative with a name"
    parts = sorted((p.statistic for p in block.parts), key=lambda x: x.positions)
    ordered = tuple(p.value for p in parts)
    at = dict(zip(parts[0].places, atom.indices, strict=True))
    return Line(block.name, atom.indices, tuple(moved_to(x, at) for x in ordered),
                tuple(p.name for p in parts), moved[-1], chart, jacobian, found, t)  # fmt: skip


def _alone(line: Expression) -> Atom | None:
    """The symbol that a predictor is."""
    if len(line.terms) != 1:
        return None
    ((term, c),) = line.terms
    alone = len(term.factors) == 1 and not term.bound and c == 1 and term.factors[0][1] == 1
    atom = term.factors[0][0]
    return (
        atom if alone and atom.kind == "symbol" and not any(i.shift for i in atom.indices) else None
    )


def _chart(s: Symbol, t: Symbol) -> Expression:
    """g(t)."""
    whole = exp(symbol(t))
    if s.lower is None and s.upper is None:
        return symbol(t)
    if s.upper is None:
        return add(number(s.lower or 0), whole)
    if s.lower is None:
        return subtracted(number(s.upper), whole)
    share = power(add(ONE, exp(scaled(symbol(t), -1))), -1)
    return add(number(s.lower), scaled(share, s.upper - s.lower))


def _put(e: Expression, name: str, chart: Expression) -> Expression:
    return put(e, {name: lambda _: chart})


def _combination(statistics: Sequence[Expression], t: Expression) -> tuple[Fraction, ...] | None:
    """a with Σ a_j T_j = t up to a number."""
    for a in product(WEIGHTS, repeat=len(statistics)):
        total = add(*(scaled(e, c) for e, c in zip(statistics, a, strict=True)))
        if subtracted(total, t).number is not None:
            return a
    return None
