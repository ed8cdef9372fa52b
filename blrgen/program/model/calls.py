"""Functions in expressions of the index algebra → calls that a file can make.

    log Σ_k exp(f)                   →   lse(k, f)
    log p of an entry of a simplex   →   log_share(p): 0 · log 0 is 0
    log G_ν(s)                       →   log I_ν(√s) − ν log √s
    G_{ν+1}(s)/G_ν(s)                →   I_{ν+1}(√s)/(√s I_ν(√s)), which does not overflow

G_ν(s) = I_ν(√s)/√s^ν is what the Bessel function has without its branch point.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING

from blrgen.algebra.indexed import Atom, Expression, Term
from blrgen.algebra.indexed.build import subtracted
from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a
from blrgen.program.model.products import Factor

if TYPE_CHECKING:
    from blrgen.program.model.expressions import Equations

CALLS = {"lgamma": "loggamma", "pow": "pow"}  # where programs have another name
ORDERED = ("uniform_cumulant", "multipolygamma")  # a function of its own for each order
KERNEL = "bessel_kernel"
Where = Mapping[str, str]


def called(eq: Equations, x: Atom, where: Where) -> n.Node:
    """A function of expressions."""
    if x.name == "log":
        (inner,) = x.arguments
        found = log_sum(eq, inner, where) or log_alone(eq, _alone(inner), where)
        if found is not None:
            return found
    if x.name == "polygamma":  # of a whole order
        order = x.arguments[0].number
        name = {0: "digamma", 1: "trigamma"}.get(int(order or 0), f"polygamma_{order}")
        return n.Call(name, (eq.expr(x.arguments[1], where),))
    if x.name in ORDERED:
        which, *rest = x.arguments
        return n.Call(f"{x.name}_{which.number}", tuple(eq.expr(e, where) for e in rest))
    args = tuple(eq.expr(e, where) for e in x.arguments)
    if x.name == "log_indicator":  # of what must be 0
        return n.Select(n.Compare("==", args[0], n.ZERO), n.ZERO, n.neg(n.Named("inf")))
    if x.name == "log_reaches":  # of what must not be negative
        return n.Select(n.Compare("<", args[0], n.ZERO), n.neg(n.Named("inf")), n.ZERO)
    if x.name == "besselk":  # what is computed is its logarithm
        return n.Call("exp", (n.Call("log_besselk", args),))
    return n.Call(CALLS.get(x.name, x.name), args)


def _alone(e: Expression) -> Atom | None:
    """The atom that the expression is, if it is one."""
    ((t, c),) = e.terms if len(e.terms) == 1 else ((None, 0),)
    if t is None or c != 1 or t.bound or len(t.factors) != 1:
        return None
    ((k, p),) = t.factors
    return k if p == 1 else None


def log_sum(eq: Equations, e: Expression, where: Where) -> n.Node | None:
    """log Σ exp(f), where that is what the sum is."""
    if len(e.terms) != 1:
        return None
    ((t, c),) = e.terms
    exps = [x for x, p in t.factors if x.name == "exp" and x.kind == "function" and p == 1]
    if c != 1 or not t.bound or len(exps) != 1 or len(t.factors) != 1:
        return None
    inside = dict(where)
    for r in t.bound:
        inside[r.name] = eq.letter(r.axis, r.name, inside.values())
    over = tuple(inside[r.name] for r in t.bound)
    return a.Red("lse", over, eq.expr(exps[0].arguments[0], inside))


def log_alone(eq: Equations, k: Atom | None, where: Where) -> n.Node | None:
    """log K_v(x), log G_ν(s), or log p of an entry of a simplex."""
    if k is None:
        return None
    if k.name == "besselk":
        return n.Call("log_besselk", tuple(eq.expr(y, where) for y in k.arguments))
    if k.name == KERNEL:
        return log_kernel(eq, k, where)
    if k.name not in eq.shares:
        return None
    eq.tells = True
    return n.Call("log_share", (eq.atom(k, where),))


def log_kernel(eq: Equations, k: Atom, where: Where) -> n.Node:
    """log G_ν(s); G_ν(0) = 1/(2^ν Γ(ν + 1))."""
    order, s = (eq.expr(y, where) for y in k.arguments)
    root = n.Call("sqrt", (s,))
    value = n.Call("log_besseli", (order, root))
    if order == n.ZERO:
        return value
    log_two = n.Call("log", (n.Const.of(2),))
    at_zero = n.neg(n.add(n.mul(order, log_two), n.Call("loggamma", (n.add(order, n.ONE),))))
    beside = n.Sub(value, n.mul(order, n.Call("log", (root,))))
    return n.Select(n.Compare("==", s, n.ZERO), at_zero, beside)


def factors(eq: Equations, t: Term, where: Where) -> list[Factor]:
    """The factors of a term; quotients of G_ν(s) at one s by the quotients of neighbours."""
    kernels: dict[Expression, list[tuple[Atom, Fraction]]] = defaultdict(list)
    out: list[Factor] = []
    for x, q in t.factors:
        if x.name == KERNEL and x.kind == "function" and q.denominator == 1:
            kernels[x.arguments[1]].append((x, q))
        else:
            out.append(Factor(eq.atom(x, where), q, x.known))
    for found in kernels.values():
        made = quotients(eq, found, where)
        known = all(x.known for x, _ in found)
        out += [Factor(eq.atom(x, where), q, x.known) for x, q in found if made is None]
        out += [Factor(x, Fraction(p), known) for x, p in (made or {}).items()]
    return out


def quotients(
    eq: Equations, found: list[tuple[Atom, Fraction]], where: Where
) -> dict[n.Node, int] | None:
    """Powers of G_{ν+1}/G_ν whose product the powers of G are, if those add up to 0."""
    least = found[0][0].arguments[0]
    offsets = [(subtracted(x.arguments[0], least).number, int(q)) for x, q in found]
    if sum(q for _, q in offsets) != 0 or any(k is None or k.denominator != 1 for k, _ in offsets):
        return None
    powers = {int(k): q for k, q in offsets if k is not None}
    order, s = (eq.expr(y, where) for y in found[0][0].arguments)
    root = n.Call("sqrt", (s,))
    out: dict[n.Node, int] = {}
    above = 0
    for k in range(max(powers), min(powers), -1):  # G_k = G_{k−1} (G_k/G_{k−1})
        above += powers.get(k, 0)
        if above:
            below = n.add(order, n.Const.of(k - 1))
            out[n.Call("bessel_quotient", (below, root))] = above
    return out
