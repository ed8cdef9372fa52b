"""Forms that a compiled loop computes with fewer calls.

A library's functions take whole arrays, and the logistic function is written for them as
e^min(x, 0)/(1 + e^−|x|), two exponentials.  One element has a function of its own.
"""

from __future__ import annotations

from blrgen.program import nodes as n
from blrgen.program.expand import expanded

_X = n.Sym("x")
_LOGISTIC = expanded(n.Call("logistic", (_X,)))


def looped(expr: n.Node) -> n.Node:
    """An expression as a loop computes it."""
    return n.transform(expr, _own)


def _own(node: n.Node) -> n.Node:
    if not isinstance(node, n.Div) or not isinstance(node.top, n.Call) or node.top.name != "exp":
        return node
    (smaller,) = node.top.args
    if not isinstance(smaller, n.Call) or smaller.name != "min":
        return node
    x = smaller.args[0]
    same = n.substituted(_LOGISTIC, {_X.name: x}) == node
    return n.Call("sigmoid", (x,)) if same else node
