"""Sums and differences of exponentials, where those overflow or cancel.

log(1 − eˣ) → log1mexp(x), log(eˣ − 1) → logexpm1(x), log(eˣ − eʸ) → x + log1mexp(y − x),
log(Σ c eˣ) → logaddexp of two at a time, log cosh x and log sinh x by functions of their own,
eˣ/(eˣ − 1)ᵏ → 1/((1 − e⁻ˣ)(eˣ − 1)ᵏ⁻¹): nothing overflows above the line.
"""

from __future__ import annotations

from blrgen.program import nodes as n
from blrgen.program.logistic import factors, is_call

_OWN = {"expm1": "logexpm1", "cosh": "logcosh", "sinh": "logsinh"}
_MOST = 6  # terms of a sum that are taken two at a time


def log_of_exponentials(arg: n.Node) -> n.Node | None:
    """log of the argument, where it is such a sum; None for anything else."""
    for name, own in _OWN.items():
        if is_call(arg, name):
            return n.Call(own, arg.children)
    if isinstance(arg, n.Neg) and is_call(arg.arg, "expm1"):
        return n.Call("log1mexp", arg.arg.children)
    if isinstance(arg, n.Sub) and is_call(arg.right, "exp"):
        (low,) = arg.right.children
        if arg.left == n.ONE:
            return n.Call("log1mexp", (low,))
        if is_call(arg.left, "exp"):
            (high,) = arg.left.children
            return n.add(high, n.Call("log1mexp", (n.Sub(low, high),)))
    return _log_sum(arg)


def _log_sum(arg: n.Node) -> n.Node | None:
    """log Σ c eˣ of three terms and more, the constants positive numbers."""
    if not isinstance(arg, n.Add) or not 2 < len(arg.args) <= _MOST:
        return None
    levels = [_level(a) for a in arg.args]
    if any(x is None for x in levels) or sum(x != n.ZERO for x in levels) < 2:
        return None
    one = n.ONE in arg.args
    kept = [x for a, x in zip(arg.args, levels, strict=True) if x is not None and a != n.ONE]
    total = kept[0]
    for x in kept[1:]:
        total = n.Call("logaddexp", (total, x))
    return n.Call("softplus", (total,)) if one else total


def _level(term: n.Node) -> n.Node | None:
    """x + log c of c eˣ."""
    if isinstance(term, n.Const):
        return n.Call("log", (term,)) if term != n.ONE and term.value > 0 else n.ZERO
    parts = factors(term)
    exps = [f for f in parts if is_call(f, "exp")]
    rest = [f for f in parts if f not in exps]
    if len(exps) != 1 or any(not isinstance(f, n.Const) or f.value <= 0 for f in rest):
        return None
    logs = [n.Call("log", (f,)) for f in rest]
    return n.add(*exps[0].children, *logs) if logs else exps[0].children[0]


def turned(node: n.Div) -> n.Node:
    """One eˣ above is taken against one eˣ − 1 below."""
    above, below = factors(node.top), factors(node.bottom)
    for e in [f for f in above if is_call(f, "exp")]:
        for f in below:
            base, power = (f.base, f.exponent) if isinstance(f, n.Pow) else (f, 1)
            inner = base.arg if isinstance(base, n.Neg) else base
            if not is_call(inner, "expm1") or inner.children != e.children:
                continue
            above.remove(e)
            below.remove(f)
            opposite: n.Node = n.Call("expm1", (n.neg(e.children[0]),))  # e⁻ˣ − 1
            if not isinstance(base, n.Neg):
                opposite = n.neg(opposite)
            left = [] if power == 1 else [base if power == 2 else n.Pow(base, power - 1)]
            return n.div(n.mul(*above), n.mul(*below, opposite, *left))
    return node
