"""Forms that keep their digits where the textbook ones lose them.

log(1+x) → log1p(x), exp(x)−1 → expm1(x), log(1+eˣ) → softplus(x),
quotients of sums of exponentials as in `fractions_of_sums`, what those leave of eᵖˣ/(1+eˣ)^q
as powers of logistic (`logistic`), log(eˣ+e⁻ˣ) = log(2 cosh x) → logcosh2(x),
logarithms of other sums and differences of exponentials as in `exponential_sums`,
1−tanh²x → 4σ(2x)σ(−2x), or a factor cosh²x where it divides, also where tanh x has a
name: the difference is 0 from x = 9 on in float32, and what is divided by it is lost;
1−x² → (1−x)(1+x) where x is given.  All are identities on the whole real line.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a
from blrgen.program.exponential_sums import log_of_exponentials, turned
from blrgen.program.fractions_of_sums import without_overflow
from blrgen.program.logistic import beside_one, factors, is_call, logistic_powers
from blrgen.program.part import Part


def stable(part: Part) -> Part:
    """Every equation of the body in its stable form."""
    return replace(part, body=stable_equations(part.body))


def stable_equations(body: Sequence[a.Let]) -> tuple[a.Let, ...]:
    """Equations in their stable forms; an entry that is a tanh is seen at its place."""
    made = {s.name: s for s in body if is_call(s.expr, "tanh")}

    def tanhs(e: n.Node) -> dict[n.Node, n.Node]:
        found = {x: made[x.name] for x in a.refs(e) if x.name in made}
        return {
            x: a.swapped(s.expr, dict(zip(s.letters, x.index, strict=True)))
            for x, s in found.items()
        }

    return tuple(replace(s, expr=stable_form(s.expr, tanhs(s.expr))) for s in body)


def stable_form(node: n.Node, named: Mapping[n.Node, n.Node] | None = None) -> n.Node:
    """One expression in its stable form; `named` are the names that stand for a tanh."""
    known = named or {}

    def multiply(x: n.Node) -> n.Node:
        return _undo_division(x, known) if isinstance(x, n.Div) else x

    def change(x: n.Node) -> n.Node:
        x = _rewrite(x)
        argument = _of_one_minus_tanh_squared(x, known)
        return _one_minus_square(x) if argument is None else _sech_squared(argument)

    return n.transform(without_overflow(n.transform(node, multiply), known), change)


def _undo_division(node: n.Div, named: Mapping[n.Node, n.Node]) -> n.Node:
    """a/(b(1 − tanh²x)) → a cosh²x/b: no division by what has underflowed."""
    above, below = factors(node.top), []
    for factor in factors(node.bottom):
        argument = _of_one_minus_tanh_squared(factor, named)
        if argument is None:
            below.append(factor)
        else:
            above = [*above, n.Pow(n.Call("cosh", (argument,)), 2)]
    if len(above) == len(factors(node.top)):
        return node
    return n.div(n.mul(*above), n.mul(*below)) if below else n.mul(*above)


def _sech_squared(x: n.Node) -> n.Node:
    """1/cosh²x = 4σ(2x)σ(−2x): nothing overflows."""
    double = n.mul(n.TWO, x)
    sigmas = (n.Call("logistic", (y,)) for y in (double, n.neg(double)))
    return n.mul(n.Const.of(4), *sigmas)


def _one_minus_square(node: n.Node) -> n.Node:
    """1 − x² = (1 − x)(1 + x) for what is given: 1 − x is exact where x is close to 1."""
    if not isinstance(node, n.Sub) or node.left != n.ONE or not isinstance(node.right, n.Pow):
        return node
    x = node.right.base
    if node.right.exponent != 2 or not isinstance(x, n.Ref):
        return node
    return n.mul(n.Sub(n.ONE, x), n.add(n.ONE, x))


def _of_one_minus_tanh_squared(node: n.Node, named: Mapping[n.Node, n.Node]) -> n.Node | None:
    """Argument x of 1 − tanh(x)², None for anything else."""
    if not isinstance(node, n.Sub) or node.left != n.ONE or not isinstance(node.right, n.Pow):
        return None
    base = node.right.base
    base = named.get(base, base)
    return base.children[0] if node.right.exponent == 2 and is_call(base, "tanh") else None


def _rewrite(node: n.Node) -> n.Node:
    if isinstance(node, n.Call) and node.name == "log":
        return _logarithm(node)
    if isinstance(node, n.Call) and node.name == "softplus":
        return node
    if isinstance(node, n.Sub) and node.right == n.ONE and is_call(node.left, "exp"):
        return n.Call("expm1", node.left.children)
    if isinstance(node, n.Add) and len(node.args) == 2 and n.neg(n.ONE) in node.args:
        (rest,) = (a for a in node.args if a != n.neg(n.ONE))
        return n.Call("expm1", rest.children) if is_call(rest, "exp") else node
    if isinstance(node, n.Sub) and node.left == n.ONE and is_call(node.right, "exp"):
        return n.Neg(n.Call("expm1", node.right.children))
    if isinstance(node, n.Div):
        node = turned(node)
    if isinstance(node, n.Div):
        flat = _flat_quotient(node)
        return logistic_powers(flat) if isinstance(flat, n.Div) else flat
    return node


def _logarithm(node: n.Call) -> n.Node:
    (arg,) = node.args
    together = log_of_exponentials(arg)
    if together is not None:
        return together
    rest = beside_one(arg)
    if rest is not None:
        if is_call(rest, "exp"):
            return n.Call("softplus", rest.children)
        if isinstance(rest, n.Neg) and is_call(rest.arg, "exp"):
            return n.Call("log1mexp", rest.arg.children)
        return n.Call("log1p", (rest,))
    doubled = isinstance(arg, n.Mul) and len(arg.args) == 2 and arg.args[0] == n.TWO
    if doubled and is_call(arg.children[1], "cosh"):
        return n.Call("logcosh2", arg.children[1].children)
    if isinstance(arg, n.Add) and len(arg.args) == 2 and all(is_call(a, "exp") for a in arg.args):
        left, right = (a.children[0] for a in arg.args)
        if right == n.neg(left) or left == n.neg(right):
            return n.Call("logcosh2", (left if right == n.neg(left) else right,))
    return node


def _flat_quotient(node: n.Div) -> n.Node:
    """a/(b·(1/c)) → a·c/b: one division, and no division by what has underflowed."""
    below = node.bottom.args if isinstance(node.bottom, n.Mul) else (node.bottom,)
    inverses = [f for f in below if isinstance(f, n.Div) and f.top == n.ONE]
    if not inverses:
        return node
    rest = n.mul(*[f for f in below if f not in inverses])
    top = n.mul(node.top, *[f.bottom for f in inverses])
    return n.div(top, rest)
