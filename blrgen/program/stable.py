"""Forms that keep their digits where the textbook ones lose them.

log(1+x) → log1p(x), exp(x)−1 → expm1(x), log(1+eˣ) → softplus(x),
1/(1+e⁻ˣ) → logistic(x), log(eˣ+e⁻ˣ) = log(2 cosh x) → logcosh2(x).
All are identities on the whole real line.
"""

from __future__ import annotations

from blrgen.program import nodes as n
from blrgen.program.program import Program


def stable(program: Program) -> Program:
    """Every expression in its stable form."""
    return program.map_expressions(stable_form)


def stable_form(node: n.Node) -> n.Node:
    """One expression in its stable form."""
    return n.transform(node, _rewrite)


def _rewrite(node: n.Node) -> n.Node:
    if isinstance(node, n.Call) and node.name == "log":
        return _logarithm(node)
    if isinstance(node, n.Call) and node.name == "softplus":
        return node
    if isinstance(node, n.Sub) and node.right == n.ONE and _is_call(node.left, "exp"):
        return n.Call("expm1", node.left.children)
    if isinstance(node, n.Sub) and node.left == n.ONE and _is_call(node.right, "exp"):
        return n.Neg(n.Call("expm1", node.right.children))
    if isinstance(node, n.Div):
        return _logistic(node)
    return node


def _logarithm(node: n.Call) -> n.Node:
    (arg,) = node.args
    rest = _beside_one(arg)
    if rest is not None:
        if _is_call(rest, "exp"):
            return n.Call("softplus", rest.children)
        return n.Call("log1p", (rest,))
    doubled = isinstance(arg, n.Mul) and len(arg.args) == 2 and arg.args[0] == n.TWO
    if doubled and _is_call(arg.children[1], "cosh"):
        return n.Call("logcosh2", arg.children[1].children)
    if isinstance(arg, n.Add) and len(arg.args) == 2 and all(_is_call(a, "exp") for a in arg.args):
        left, right = (a.children[0] for a in arg.args)
        if right == n.neg(left) or left == n.neg(right):
            return n.Call("logcosh2", (left if right == n.neg(left) else right,))
    return node


def _logistic(node: n.Div) -> n.Node:
    """1/(1+e⁻ˣ) and eˣ/(1+eˣ)."""
    rest = _beside_one(node.bottom)
    if rest is None or not _is_call(rest, "exp"):
        return node
    x = rest.children[0]
    if node.top == rest:
        return n.Call("logistic", (x,))
    if node.top == n.ONE:
        return n.Call("logistic", (n.neg(x),))
    return node


def _beside_one(node: n.Node) -> n.Node | None:
    """X of 1 + x (or of 1 − x, negated); None for anything else."""
    if isinstance(node, n.Add) and n.ONE in node.args:
        rest = list(node.args)
        rest.remove(n.ONE)
        return n.add(*rest)
    if isinstance(node, n.Sub) and node.left == n.ONE:
        return n.neg(node.right)
    if isinstance(node, n.Sub):
        rest_of_left = _beside_one(node.left)
        return None if rest_of_left is None else n.Sub(rest_of_left, node.right)
    return None


def _is_call(node: n.Node, name: str) -> bool:
    return isinstance(node, n.Call) and node.name == name
