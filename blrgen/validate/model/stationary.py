"""Each update is where the objective stands still in its block, as an identity.

A block of q: its slope is λ_update − λ, so E[L] must have of the block's statistics just
Σ_j ⟨λ_j, E T_j⟩ + E[log h]: nothing else of them may be left.  A point: the solved value is
put into the slope of E[L], with those of points that come later; what is left, cleared of
denominators, must be zero.  A definite X is tested by X g X, an element of a simplex by
x_k g_k − x_k Σ_j x_j g_j: on it the slope rests up to a constant.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from blrgen.algebra.indexed.build import (
    Put,
    add,
    divided,
    moved,
    multiplied,
    put,
    subtracted,
    summed,
    symbol,
)
from blrgen.algebra.indexed.calculus import NoDerivative, partial
from blrgen.algebra.indexed.values import Atom, Expression, Index
from blrgen.decide.proof import NOT_COMPARED, Proof
from blrgen.expect.blocks.block import element_measure
from blrgen.expect.blocks.templates import holds
from blrgen.expect.blocks.values import Block
from blrgen.expect.factors.names import table_of
from blrgen.rule.model.points import Point
from blrgen.rule.model.prepare import expecting_of, points_of, prepared
from blrgen.rule.model.values import Equation, ModelDerivation
from blrgen.validate.model.blocks import whole_rows

ROUNDS = 4  # of clearing denominators


def prove_updates(d: ModelDerivation) -> tuple[tuple[str, Proof], ...]:
    """Of every block of q."""
    return tuple((u.block.name, of_block(d, u.block)) for u in d.updates)


def of_block(d: ModelDerivation, b: Block) -> Proof:
    """E[L] has nothing else of the block's statistics than what the update pairs with them."""
    claim = f"the objective rests in q({b.name}) at the update"
    if not d.stepped and all(p.expected == p.coefficient for p in b.parts):
        why = "the update is the full conditional itself, in which nothing is expected"
        return Proof("identity", claim, why)
    if any(u.block.given for u in d.updates):
        return Proof(NOT_COMPARED, claim, "E[L] does not show what is summed out")
    blocks = [u.block for u in d.updates]
    q = expecting_of(blocks, [[d.model.node(x) for x in y.nodes] for y in blocks])
    stepped = d.stepped & {x for node in b.nodes for x in d.model.node(node).names}
    joint, words = d.expected_joint, "E[L] has of E[T] what the update pairs with it, nothing else"
    if stepped:  # where r u + s u² stands for f: it has the derivatives of E[f] by Bonnet and Price
        joint = q.of(add(*(f.total for f in dict(d.tangents)[b.name])))
        words = "the same of E[L] with what has the gradient of each E[f] (Bonnet, Price)"
    paired = [q.of(b.base)]
    measure = element_measure(table_of(d.model), [d.model.node(x) for x in b.nodes])
    for p in b.parts:
        e = multiplied(measure, p.expected, symbol(p.statistic.symbol, *p.statistic.places))
        for i in p.statistic.places:
            e = summed(e, i)
        paired.append(e)
    rest = subtracted(whole_rows(joint), whole_rows(add(*paired)))
    names = frozenset(p.statistic.name for p in b.parts)
    left = [t for t, _ in rest.terms if any(holds(a, names) for a, _ in t.factors)]
    if left:
        return Proof(NOT_COMPARED, claim, f"{len(left)} terms have another normal form")
    return Proof("identity", claim, words)


def prove_points(d: ModelDerivation) -> tuple[tuple[str, Proof], ...]:
    """Of every point with a closed value; the others are solved in numbers."""
    names = {x for u in d.points for x in u.names}
    own = prepared(d.model, tuple(x for x in names if d.model.node(x).kind != "param"))
    points = {p.name: p for p in points_of(own)}
    closed = {e.target: e for u in d.points for e in u.equations if e.target in points}
    return tuple((x, of_point(d, points[x], closed)) for u in d.points for x in u.names)


def of_point(d: ModelDerivation, p: Point, closed: Mapping[str, Equation]) -> Proof:
    """The slope of E[L] is zero at the solved values."""
    claim = f"the slope of E[L] by {p.name} is zero at the update"
    if p.name not in closed:
        return Proof(NOT_COMPARED, claim, "it is solved in numbers")
    try:
        g = resting(p, partial(d.expected_joint, p.name, p.places))
    except NoDerivative as e:
        return Proof(NOT_COMPARED, claim, f"{e} has no derivative with a name here")
    for u in reversed(d.points):  # what comes later may hold what came before
        g = put(g, {x: _value(closed[x]) for x in u.names if x in closed})
    g = put(g, {e.target: _value(e) for e in d.sums})
    if vanishes(g):
        return Proof("identity", claim, "zero in the normal form, cleared of denominators")
    return Proof(NOT_COMPARED, claim, "its normal form does not show it")


def resting(p: Point, g: Expression) -> Expression:
    """What is zero exactly where the objective rests in the point's domain."""
    x = symbol(p.symbol, *p.places)
    if p.kind == "simplex":
        own = multiplied(x, g)
        return subtracted(own, multiplied(x, summed(own, p.places[-1])))
    if p.kind != "spd":
        return g
    *front, i, j = p.places
    a, b = Index(i.axis, "`a"), Index(i.axis, "`b")
    inner = moved(g, {i: a, j: b})
    e = multiplied(symbol(p.symbol, *front, i, a), inner, symbol(p.symbol, *front, b, j))
    return summed(summed(e, a), b)


def vanishes(e: Expression) -> bool:
    """Whether it is zero, if need be times the sums that stand below its lines."""
    for _ in range(ROUNDS):
        below = _below(e)
        if not e or not below:
            break
        e = divided(e, list(below.items()))
    return not e


def _below(e: Expression) -> dict[Atom, Fraction]:
    """Factors with negative powers that no sum runs over."""
    found: dict[Atom, Fraction] = {}
    for term, _ in e.terms:
        bound = {r.index for r in term.bound}
        for a, p in term.factors:
            if p < 0 and not bound & set(a.letters):
                found[a] = min(p, found.get(a, p))
    return found


def _value(e: Equation) -> Put:
    return lambda indices: moved(e.value, dict(zip(e.places, indices, strict=True)))
