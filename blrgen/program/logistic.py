"""Quotients of exponentials that would overflow, as powers of the logistic function.

With σ(x) = 1/(1+e⁻ˣ): eᵖˣ/(1+eˣ)^q = σ(x)ᵖ σ(−x)^(q−p) for 0 ≤ p ≤ q, and every factor is
between 0 and 1.
"""

from __future__ import annotations

from fractions import Fraction

from blrgen.program import nodes as n


def logistic_powers(node: n.Div) -> n.Node:
    """The quotient with each 1/(1+eˣ)^q, and the eᵖˣ above it, in terms of σ."""
    above, below = factors(node.top), factors(node.bottom)
    made: list[n.Node] = []
    for factor in list(below):
        base, q = (factor.base, factor.exponent) if isinstance(factor, n.Pow) else (factor, 1)
        rest = beside_one(base)
        if rest is None or not is_call(rest, "exp") or q < 1:
            continue
        x = rest.children[0]
        below.remove(factor)
        p = _taken(above, x, q)
        made += [_power(x, p), _power(n.neg(x), q - p)]
    if not made:
        return node
    top = n.mul(*above, *[f for f in made if f != n.ONE])
    return n.div(top, n.mul(*below)) if below else top


def factors(node: n.Node) -> list[n.Node]:
    """The factors of a product."""
    return list(node.args) if isinstance(node, n.Mul) else [node]


def _taken(above: list[n.Node], x: n.Node, q: int) -> int:
    """Take an eᵖˣ with 0 ≤ p ≤ q out of the factors above; its p, or 0."""
    for factor in above:
        base, power = (factor.base, factor.exponent) if isinstance(factor, n.Pow) else (factor, 1)
        if not is_call(base, "exp"):
            continue
        ratio = _ratio(base.children[0], x)
        if ratio is not None:
            p = ratio * power
            if p.denominator == 1 and 0 <= p <= q:
                above.remove(factor)
                return int(p)
    return 0


def _ratio(y: n.Node, x: n.Node) -> Fraction | None:
    """y/x where both are multiples of one expression."""
    (a, core_y), (b, core_x) = _multiple(y), _multiple(x)
    return a / b if core_y == core_x and b else None


def _multiple(node: n.Node) -> tuple[Fraction, n.Node]:
    """(c, rest) of c·rest."""
    if isinstance(node, n.Neg):
        c, rest = _multiple(node.arg)
        return -c, rest
    if isinstance(node, n.Mul) and isinstance(node.args[0], n.Const):
        c, rest = _multiple(n.mul(*node.args[1:]))
        return Fraction(node.args[0].value) * c, rest
    return Fraction(1), node


def _power(x: n.Node, k: int) -> n.Node:
    if k == 0:
        return n.ONE
    call = n.Call("logistic", (x,))
    return call if k == 1 else n.Pow(call, k)


def beside_one(node: n.Node) -> n.Node | None:
    """X of 1 + x (or of 1 − x, negated); None for anything else."""
    if isinstance(node, n.Add) and n.ONE in node.args:
        rest = list(node.args)
        rest.remove(n.ONE)
        return n.add(*rest)
    if isinstance(node, n.Sub) and node.left == n.ONE:
        return n.neg(node.right)
    if isinstance(node, n.Sub):
        rest_of_left = beside_one(node.left)
        return None if rest_of_left is None else n.Sub(rest_of_left, node.right)
    return None


def is_call(node: n.Node, name: str) -> bool:
    """Whether the node is a call of that function."""
    return isinstance(node, n.Call) and node.name == name
