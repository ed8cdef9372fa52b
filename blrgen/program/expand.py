"""Calls that a target lacks, written with those it has; finite wherever their value is."""

from __future__ import annotations

from collections.abc import Collection

from blrgen.program import nodes as n


def expanded(node: n.Node, native: Collection[str] = ()) -> n.Node:
    """One expression, likewise."""
    return n.transform(node, lambda x: x if _name(x) in native else _rewrite(x))


def _name(node: n.Node) -> str:
    return node.name if isinstance(node, n.Call) else ""


def _rewrite(node: n.Node) -> n.Node:
    if not isinstance(node, n.Call):
        return node
    x = node.args[0]
    if node.name == "softplus":  # log(1 + eˣ) = max(x, 0) + log1p(e^−|x|)
        return n.add(n.Call("max", (x, n.ZERO)), _log1p_exp(n.neg(n.Call("abs", (x,)))))
    if node.name == "logistic":  # 1/(1 + e⁻ˣ) = e^min(x, 0)/(1 + e^−|x|)
        top = n.Call("exp", (n.Call("min", (x, n.ZERO)),))
        return n.div(top, n.add(n.ONE, n.Call("exp", (n.neg(n.Call("abs", (x,))),))))
    if node.name == "logcosh2":  # log(2 cosh x) = |x| + log1p(e^−2|x|)
        size = n.Call("abs", (x,))
        return n.add(size, _log1p_exp(n.neg(n.mul(n.TWO, size))))
    return node


def _log1p_exp(x: n.Node) -> n.Node:
    return n.Call("log1p", (n.Call("exp", (x,)),))


_X = n.Ref("x")
_LOGISTIC = _rewrite(n.Call("logistic", (_X,)))


def collected(e: n.Node) -> n.Node:
    """What of a logistic function is still together is that function: arrays compute it whole.

    logistic(x) for e^min(x, 0)/(1 + e^−|x|).
    """
    smaller = e.top.args[0] if isinstance(e, n.Div) and isinstance(e.top, n.Call) else e
    if not isinstance(smaller, n.Call) or smaller.name != "min":
        return e
    x = smaller.args[0]
    whole = n.substituted(_LOGISTIC, {_X.name: x}) == e
    return n.Call("logistic", (x,)) if whole else e
