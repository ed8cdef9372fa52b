"""The meaning of expressions."""

from __future__ import annotations

import ast
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from blrgen.validate.reading import calls, loops
from blrgen.validate.reading.arithmetic import NAMES, binary, negate
from blrgen.validate.reading.attributes import attribute
from blrgen.validate.reading.comparisons import SIGNS, compare
from blrgen.validate.reading.comprehensions import comprehension
from blrgen.validate.reading.functions import logical
from blrgen.validate.reading.indexing import item
from blrgen.validate.reading.machine import Machine
from blrgen.validate.reading.making import converted
from blrgen.validate.reading.scopes import bind, lookup
from blrgen.validate.reading.values import (
    Array,
    Cond,
    Dict,
    Function,
    Iter,
    Known,
    List,
    Mark,
    Num,
    Scope,
    Several,
    Size,
    Slice,
    Text,
    Whole,
)


def value(mc: Machine, scope: Scope, node: ast.expr) -> Any:
    """The value of an expression."""
    mc.line = mc.graph.line = getattr(node, "lineno", mc.line)
    meaning = MEANING.get(type(node))
    if meaning is None:
        raise mc.refuse(f"the expression {type(node).__name__}")
    mc.spend()
    return meaning(mc, scope, node)


def _constant(mc: Machine, scope: Scope, node: ast.Constant) -> Any:
    return literal(mc, node.value)


def literal(mc: Machine, x: Any) -> Any:
    """A number in the decimal it is written in, a word, a truth value."""
    if x is None or x is Ellipsis:
        return x
    if isinstance(x, bool):
        return Cond(mc.graph.truth(x))
    if isinstance(x, int):
        if abs(x) > 10**30:
            raise mc.refuse("a whole number beyond 10^30")
        return Whole(x)
    if isinstance(x, float):
        if x != x or x in (float("inf"), float("-inf")):
            raise mc.refuse("a number too large for a float")
        return mc.number(Fraction(repr(x)))
    if isinstance(x, str):
        return Text(x)
    raise mc.refuse(f"a literal of type {type(x).__name__}")


def _name(mc: Machine, scope: Scope, node: ast.Name) -> Any:
    return lookup(mc, scope, node.id)


def _binary(mc: Machine, scope: Scope, node: ast.BinOp) -> Any:
    a, b = value(mc, scope, node.left), value(mc, scope, node.right)
    name = type(node.op).__name__
    if name in ("BitAnd", "BitOr"):
        return logical(mc, name.removeprefix("Bit").lower(), a, b)
    op = NAMES.get(name)
    if op is None:
        raise mc.refuse(f"the operator {name}")
    mc.line = mc.graph.line = node.lineno
    return binary(mc, op, a, b)


def _unary(mc: Machine, scope: Scope, node: ast.UnaryOp) -> Any:
    x = value(mc, scope, node.operand)
    if isinstance(node.op, ast.USub):
        return negate(mc, x)
    if isinstance(node.op, ast.UAdd) and isinstance(x, Whole | Num):
        return x
    if isinstance(node.op, ast.UAdd) and isinstance(x, Array):
        return converted(mc, x, None, new=True)
    if isinstance(node.op, ast.Not):
        return Cond(mc.graph.truth(not mc.truth(x)))
    if isinstance(node.op, ast.Invert) and isinstance(x, Array) and x.kind == "b":
        return logical(mc, "not", x)
    raise mc.refuse(f"the operator {type(node.op).__name__}")


def _compare(mc: Machine, scope: Scope, node: ast.Compare) -> Any:
    left = value(mc, scope, node.left)
    for k, (op, right) in enumerate(zip(node.ops, node.comparators, strict=True)):
        x = value(mc, scope, right)
        found = _one(mc, op, left, x)
        if k == len(node.ops) - 1:
            return found
        if not mc.truth(found):
            return Cond(mc.graph.truth(False))
        left = x
    return None


def _one(mc: Machine, op: ast.cmpop, a: Any, b: Any) -> Any:
    if isinstance(op, ast.Is | ast.IsNot):
        if a is not None and b is not None:
            raise mc.refuse("`is` between two values")
        return Cond(mc.graph.truth((a is b) == isinstance(op, ast.Is)))
    name = SIGNS.get(type(op).__name__)
    if name is None:
        raise mc.refuse(f"the comparison {type(op).__name__}")
    return compare(mc, name, a, b)


def _boolean(mc: Machine, scope: Scope, node: ast.BoolOp) -> Any:
    """and, or: of truth values only, as they give back an operand."""
    stop = isinstance(node.op, ast.Or)
    for x in node.values:
        v = value(mc, scope, x)
        if isinstance(v, Array):
            mc.truth(v)
        if not isinstance(v, Cond):
            raise mc.refuse("`and` or `or` of what is no truth value")
        if mc.truth(v) == stop:
            return Cond(mc.graph.truth(stop))
    return Cond(mc.graph.truth(not stop))


def _conditional(mc: Machine, scope: Scope, node: ast.IfExp) -> Any:
    chosen = node.body if mc.truth(value(mc, scope, node.test)) else node.orelse
    return value(mc, scope, chosen)


def _starred(mc: Machine, scope: Scope, items: list[ast.expr]) -> list[Any]:
    out: list[Any] = []
    for x in items:
        if isinstance(x, ast.Starred):
            out += loops.finite(mc, value(mc, scope, x.value))
        else:
            out.append(value(mc, scope, x))
    return out


def _items(mc: Machine, scope: Scope, items: list[ast.expr]) -> list[Any]:
    return [at_once(mc, v) for v in _starred(mc, scope, items)]


def _tuple(mc: Machine, scope: Scope, node: ast.Tuple) -> Any:
    items = tuple(_items(mc, scope, node.elts))
    starred = any(isinstance(e, ast.Starred) for e in node.elts)
    return mc.weighed(Several(items) if starred else items)


def _list(mc: Machine, scope: Scope, node: ast.List) -> Any:
    mc.bounds.meets(Mark(), len(node.elts))
    plain = not any(isinstance(e, ast.Starred) for e in node.elts)
    return List(mc.weighed(_items(mc, scope, node.elts)), mc.depth, plain)


def _dict(mc: Machine, scope: Scope, node: ast.Dict) -> Any:
    items: dict[str, Any] = {}
    for k, v in zip(node.keys, node.values, strict=True):
        key = value(mc, scope, k) if k is not None else None
        if not isinstance(key, Text):
            raise mc.refuse("a dictionary's key that is no word")
        items[key.text] = at_once(mc, value(mc, scope, v))
    return Dict(items)


def _subscript(mc: Machine, scope: Scope, node: ast.Subscript) -> Any:
    x = value(mc, scope, node.value)
    key = value(mc, scope, node.slice)
    mc.line = mc.graph.line = node.lineno
    return item(mc, x, key)


def _slice(mc: Machine, scope: Scope, node: ast.Slice) -> Any:
    return Slice(*[None if x is None else value(mc, scope, x)
                   for x in (node.lower, node.upper, node.step)])  # fmt: skip


def _attribute(mc: Machine, scope: Scope, node: ast.Attribute) -> Any:
    x = value(mc, scope, node.value)
    mc.line = mc.graph.line = node.lineno
    return attribute(mc, x, node.attr)


def _call(mc: Machine, scope: Scope, node: ast.Call) -> Any:
    f = value(mc, scope, node.func)
    line = node.lineno
    args = _starred(mc, scope, node.args)
    keywords: list[tuple[str, Any]] = []
    if not (isinstance(f, Known) and f.name in AT_ONCE):
        for v in args:
            at_once(mc, v)
    for k in node.keywords:
        v = at_once(mc, value(mc, scope, k.value))
        if k.arg is None:
            if not isinstance(v, Dict):
                raise mc.refuse("** of what is no dictionary")
            keywords += list(v.items.items())
        else:
            keywords.append((k.arg, v))
    mc.line = mc.graph.line = line
    names = [k for k, _ in keywords]
    if len(set(names)) < len(names):
        raise mc.raises("an argument given twice")
    out = calls.call(mc, f, args, dict(keywords))
    mc.line = mc.graph.line = line
    return out


def at_once(mc: Machine, v: Any) -> Any:
    """Refuse what Python computes later than here."""
    if isinstance(v, Iter) and v.lazy:
        raise mc.refuse("an iterator that is not used at once")
    return v


AT_ONCE = ("sum", "list", "tuple", "max", "min", "math.fsum", "math.prod", "functools.reduce")


def _lambda(mc: Machine, scope: Scope, node: ast.Lambda) -> Any:
    return calls.made(mc, scope, "lambda", node)


def _comprehension(mc: Machine, scope: Scope, node: ast.ListComp | ast.GeneratorExp) -> Any:
    return comprehension(mc, scope, node)


def _walrus(mc: Machine, scope: Scope, node: ast.NamedExpr) -> Any:
    v = at_once(mc, value(mc, scope, node.value))
    s = scope
    while s.outer is not None and node.target.id not in s.local:
        s = s.outer
    bind(mc, s, node.target.id, v)
    return s.names[node.target.id]


MEANING: dict[type, Callable[..., Any]] = {
    ast.Constant: _constant, ast.Name: _name, ast.BinOp: _binary, ast.UnaryOp: _unary,
    ast.Compare: _compare, ast.BoolOp: _boolean, ast.IfExp: _conditional, ast.Tuple: _tuple,
    ast.List: _list, ast.Dict: _dict, ast.Subscript: _subscript, ast.Slice: _slice,
    ast.Attribute: _attribute, ast.Call: _call, ast.Lambda: _lambda,
    ast.ListComp: _comprehension, ast.GeneratorExp: _comprehension, ast.NamedExpr: _walrus,
}  # fmt: skip

__all__ = ["Function", "Size", "literal", "value"]
