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

from collections.abc import Collection, Mapping
from fractions import Fraction

from blrgen.program import nodes as n
from blrgen.program.part import Part
from blrgen.program.program import Program, Variable
from blrgen.program.types import ENTRIES, SCALAR

GENTLE = ("abs", "max", "min", "sin", "cos", "tanh", "logistic", "softplus")  # slope at most 1


Parts = Mapping[str, Part]  # the stages of a rule, by their names


def fading(program: Program, parts: Parts) -> tuple[str, ...]:
    """The states that may be stored as 0 where they are denormal."""
    states = program.of("state")
    return tuple(v.name for v in states if _fades(program, parts, v) and _safe(program, parts, v))


def _fades(program: Program, parts: Parts, state: Variable) -> bool:
    """Whether x⁺ = a x + … with a number a in [0, 1), and x may be 0."""
    bounded = state.gap is not None or state.domain not in ("", "(-oo, oo)")
    next_value = _written(parts).get(state.name)
    if state.type != ENTRIES or bounded or next_value is None:
        return False
    terms = next_value.args if isinstance(next_value, n.Add) else (next_value,)
    own = [t for t in terms if state.name in n.names(t)]
    if len(own) != 1 or not isinstance(own[0], n.Mul):
        return False
    factors = [f for f in own[0].args if not _is(f, state.name)]
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


def _is(node: n.Node, name: str) -> bool:
    """Whether a node is an entry of that name."""
    return isinstance(node, n.Ref) and node.name == name


def _safe(program: Program, parts: Parts, state: Variable) -> bool:
    """Whether x is a numerator everywhere, and what it is added to is not in a divisor."""
    drawn = parts["draw"].body if "draw" in parts else ()
    if any(state.name in n.names(s.expr) for s in drawn):
        return False
    moved = {state.name}
    body = [s for part in parts.values() for s in part.body]
    for s in body:
        if not _is_numerator(s.expr, moved, program):
            return False
        if moved & set(n.names(s.expr)):
            moved.add(s.name)
    if any(moved & set(n.names(e)) and key != "mean" for key, e in program.posterior):
        return False
    others = {x for p in parts.values() for x, local in p.writes if local in moved} - {state.name}
    return all(_is_numerator(s.expr, others, program) for s in body)


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
    if all(program.scope.get(x) == SCALAR for x in n.names(divisor)):
        return True
    if isinstance(divisor, n.Add):
        return any(_floor(t, program) for t in divisor.args)
    if isinstance(divisor, n.Mul):
        return all(_floor(f, program) for f in divisor.args)
    if isinstance(divisor, n.Div):
        return _floor(divisor.top, program)
    return isinstance(divisor, n.Call) and divisor.name == "sqrt"


def _written(parts: Parts) -> dict[str, n.Node]:
    """State → its next value, as the equation that makes it says."""
    made = {s.name: s.expr for part in parts.values() for s in part.body}
    return {x: made[local] for p in parts.values() for x, local in p.writes if local in made}
