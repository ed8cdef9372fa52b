"""Which states fade away, and may be 0 where they are almost 0.

A state with x⁺ = a x + …, a in [0, 1) for every element, falls by that factor where nothing
is added.  It ends among the denormal numbers, where a x rounds to x again, and stays there;
arithmetic with them is slow.  What is stored may be 0 instead of |x| < 2⁻¹²⁶ (2⁻¹⁰²² in
float64) where

* x is a numerator: it stands in sums, products and functions with a slope of at most 1;
* what divides it has a floor, a number or a root as one of its terms, since x and a plain
  average below it may fade together and their quotient need not;
* the states that it is added to stand in no divisor, root or comparison themselves;
* no draw reads it, so that a step that draws again sees what is stored.

A result then changes by at most 2⁻¹²⁶ times what x is multiplied by.  Scales fail this: √v
of a denormal v is a normal number, and v = 0 would divide by zero.
"""

from __future__ import annotations

from collections.abc import Collection
from fractions import Fraction

from blrgen.program import nodes as n
from blrgen.program.program import Program, Variable
from blrgen.program.types import ENTRIES, SCALAR

GENTLE = ("abs", "max", "min", "sin", "cos", "tanh", "logistic", "softplus")  # slope at most 1


def fading(program: Program) -> tuple[str, ...]:
    """The states that may be stored as 0 where they are denormal."""
    return tuple(v.name for v in program.of("state") if _fades(program, v) and _safe(program, v))


def _fades(program: Program, state: Variable) -> bool:
    """Whether x⁺ = a x + … with a number a in [0, 1), and x may be 0."""
    bounded = state.gap is not None or state.domain not in ("", "(-oo, oo)")
    next_value = _written(program).get(state.name)
    if state.type != ENTRIES or bounded or next_value is None:
        return False
    terms = next_value.args if isinstance(next_value, n.Add) else (next_value,)
    own = [t for t in terms if state.name in n.names(t)]
    if len(own) != 1 or not isinstance(own[0], n.Mul):
        return False
    factors = [f for f in own[0].args if f != n.Ref(state.name)]
    return len(factors) == len(own[0].args) - 1 and all(_shrinks(program, f) for f in factors)


def _shrinks(program: Program, factor: n.Node) -> bool:
    """Whether a factor is a number in [0, 1): as it is, or as 1 less such a number."""
    if isinstance(factor, n.Const):
        return 0 <= factor.value < 1
    if isinstance(factor, n.Sub) and factor.left == n.ONE and isinstance(factor.right, n.Ref):
        return _within_one(program, factor.right.name)
    return isinstance(factor, n.Ref) and _within_one(program, factor.name)


def _within_one(program: Program, name: str) -> bool:
    """Whether a hyperparameter lies between 0 and 1; which of the ends belong does not matter."""
    if name not in program or program[name].kind != "hyper":
        return False
    low, comma, high = program[name].domain.strip("[]()").partition(",")
    try:
        return bool(comma) and Fraction(low.strip()) >= 0 and Fraction(high.strip()) <= 1
    except ValueError:
        return False


def _safe(program: Program, state: Variable) -> bool:
    """Whether x is a numerator everywhere, and what it is added to is not in a divisor."""
    if any(state.name in n.names(s.expr) for s in program.phase("draw").body):
        return False
    moved = {state.name}
    for phase in program.phases:
        for s in phase.body:
            if not _is_numerator(s.expr, moved, program):
                return False
            if moved & set(n.names(s.expr)):
                moved.add(s.name)
    if any(moved & set(n.names(e)) and key != "mean" for key, e in program.posterior):
        return False
    others = {x for p in program.phases for x, local in p.writes if local in moved} - {state.name}
    return all(_is_numerator(s.expr, others, program) for s in program.statements)


def _is_numerator(node: n.Node, moved: Collection[str], program: Program) -> bool:
    """Whether a small change of some names changes the value by a multiple of it only."""
    if not any(x in moved for x in n.names(node)):
        return True
    if isinstance(node, n.Div):
        above = _is_numerator(node.top, moved, program)
        return above and not set(moved) & set(n.names(node.bottom)) and _floor(node.bottom, program)
    if isinstance(node, n.Select):
        inside = set(moved) & set(n.names(node.condition))
        return not inside and all(_is_numerator(c, moved, program) for c in (node.yes, node.no))
    gentle = isinstance(node, n.Call) and node.name in GENTLE
    if gentle or isinstance(node, n.Ref | n.Add | n.Sub | n.Mul | n.Neg | n.Pow):
        return all(_is_numerator(c, moved, program) for c in node.children)
    return False


def _floor(divisor: n.Node, program: Program) -> bool:
    """Whether a divisor stays away from 0 while averages fade: a number, a root, or a sum with."""
    if all(x in program and program.scope[x] == SCALAR for x in n.names(divisor)):
        return True
    if isinstance(divisor, n.Add):
        return any(_floor(t, program) for t in divisor.args)
    if isinstance(divisor, n.Mul):
        return all(_floor(f, program) for f in divisor.args)
    if isinstance(divisor, n.Div):
        return _floor(divisor.top, program)
    return isinstance(divisor, n.Call) and divisor.name == "sqrt"


def _written(program: Program) -> dict[str, n.Node]:
    """State → its next value, as the statement that makes it says."""
    made = {s.name: s.expr for s in program.statements}
    return {x: made[local] for p in program.phases for x, local in p.writes if local in made}
