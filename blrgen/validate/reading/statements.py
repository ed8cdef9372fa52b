"""The meaning of statements."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from typing import Any

from blrgen.validate.reading import calls, loops
from blrgen.validate.reading.arithmetic import NAMES
from blrgen.validate.reading.expressions import at_once, value
from blrgen.validate.reading.indexing import item, store
from blrgen.validate.reading.machine import MOST_SHOWN, Machine
from blrgen.validate.reading.scopes import bind, lookup
from blrgen.validate.reading.storing import augmented
from blrgen.validate.reading.values import (
    Array,
    Diagonal,
    Known,
    Lengths,
    Num,
    Scope,
    Size,
    Text,
    Whole,
)

Flow = tuple[str, Any] | None  # ("return", value), ("break", None), ("continue", None)


def block(mc: Machine, scope: Scope, body: Iterable[ast.stmt]) -> Flow:
    """Statements in turn, until one leaves."""
    for node in body:
        flow = statement(mc, scope, node)
        if flow is not None:
            return flow
    return None


def statement(mc: Machine, scope: Scope, node: ast.stmt) -> Flow:
    """One statement."""
    mc.line = mc.graph.line = node.lineno
    mc.spend()
    meaning = MEANING.get(type(node))
    if meaning is None:
        raise mc.refuse(f"the statement {NAMED.get(type(node), type(node).__name__.lower())}")
    return meaning(mc, scope, node)


def assign(mc: Machine, scope: Scope, target: ast.expr, v: Any, *, constant: bool = False) -> None:
    """target = v, for names, entries, slices and nested tuples of them."""
    if isinstance(target, ast.Name | ast.Subscript):
        at_once(mc, v)
    if isinstance(target, ast.Name):
        bind(mc, scope, target.id, v, constant=constant)
        _record(mc, target.lineno, target.id, v)
    elif isinstance(target, ast.Subscript):
        x = value(mc, scope, target.value)
        store(mc, x, value(mc, scope, target.slice), v)
        if isinstance(x, Array):
            _record(mc, target.lineno, ast.unparse(target), x)
    elif isinstance(target, ast.Tuple | ast.List):
        _unpack(mc, scope, target.elts, v)
    else:
        raise mc.refuse("an assignment to an attribute")


def _record(mc: Machine, line: int, name: str, v: Any) -> None:
    """Keep a value as it is now, to find the line that is wrong; not more of them than needed."""
    if isinstance(v, Array):
        mc.shown += v.data.size
        v = v.data.copy() if mc.shown <= MOST_SHOWN else None
    mc.records.append((line, name, v))


def _unpack(mc: Machine, scope: Scope, targets: list[ast.expr], v: Any) -> None:
    stars = [k for k, t in enumerate(targets) if isinstance(t, ast.Starred)]
    items = list(v) if isinstance(v, Lengths) and not stars else loops.finite(mc, v)
    if not stars:
        if len(items) != len(targets):
            raise mc.raises(f"{len(items)} values for {len(targets)} names")
        for t, x in zip(targets, items, strict=True):
            assign(mc, scope, t, x)
        return
    (k,) = stars
    after = len(targets) - k - 1
    if len(items) < len(targets) - 1:
        raise mc.raises(f"{len(items)} values for {len(targets)} names")
    from blrgen.validate.reading.values import List

    middle = List(items[k : len(items) - after], mc.depth)
    parts = [*items[:k], middle, *items[len(items) - after :]]
    for t, x in zip(targets, parts, strict=True):
        assign(mc, scope, t.value if isinstance(t, ast.Starred) else t, x)


def _assign(mc: Machine, scope: Scope, node: ast.Assign) -> Flow:
    v = value(mc, scope, node.value)
    constant = isinstance(node.value, ast.Constant)
    for target in node.targets:
        assign(mc, scope, target, v, constant=constant)
    return None


def _annotated(mc: Machine, scope: Scope, node: ast.AnnAssign) -> Flow:
    calls.annotation(mc, node.annotation)
    if node.value is not None:
        assign(mc, scope, node.target, value(mc, scope, node.value))
    return None


def _augmented(mc: Machine, scope: Scope, node: ast.AugAssign) -> Flow:
    op = NAMES.get(type(node.op).__name__)
    if op is None:
        raise mc.refuse(f"the operator {type(node.op).__name__}=")
    target = node.target
    if isinstance(target, ast.Name):
        if target.id not in scope.names and target.id not in scope.local:
            raise mc.refuse(f"{target.id} of an outer function changed")
        old = lookup(mc, scope, target.id)
        new = augmented(mc, op, old, value(mc, scope, node.value))
        assign(mc, scope, target, new)
        return None
    if not isinstance(target, ast.Subscript):
        raise mc.refuse("an assignment to an attribute")
    x, key = value(mc, scope, target.value), value(mc, scope, target.slice)
    old = item(mc, x, key)
    new = augmented(mc, op, old, value(mc, scope, node.value))
    if not isinstance(old, Array) or isinstance(key, Diagonal):
        store(mc, x, key, new)
    if isinstance(x, Array):
        _record(mc, target.lineno, ast.unparse(target), x)
    return None


def _if(mc: Machine, scope: Scope, node: ast.If) -> Flow:
    chosen = node.body if mc.truth(value(mc, scope, node.test)) else node.orelse
    return block(mc, scope, chosen)


def _return(mc: Machine, scope: Scope, node: ast.Return) -> Flow:
    v = None if node.value is None else at_once(mc, value(mc, scope, node.value))
    items = v if isinstance(v, tuple) else (v,)
    several = isinstance(node.value, ast.Tuple) and len(node.value.elts) == len(items)
    for k, x in enumerate(items):
        line = node.value.elts[k].lineno if several else node.lineno  # type: ignore[union-attr]
        if isinstance(x, Array | Num | Whole):
            _record(mc, line, f"returned {k}", x)
    return ("return", v)


def _def(mc: Machine, scope: Scope, node: ast.FunctionDef) -> Flow:
    bind(mc, scope, node.name, calls.defined(mc, scope, node))
    return None


def _assert(mc: Machine, scope: Scope, node: ast.Assert) -> Flow:
    if not mc.truth(value(mc, scope, node.test)):
        mc.line = node.lineno
        raise mc.raises("an assertion fails")
    return None


def _raise(mc: Machine, scope: Scope, node: ast.Raise) -> Flow:
    raise mc.raises("an exception is raised")


def _expression(mc: Machine, scope: Scope, node: ast.Expr) -> Flow:
    if not isinstance(node.value, ast.Constant):
        value(mc, scope, node.value)
    return None


def _with(mc: Machine, scope: Scope, node: ast.With) -> Flow:
    """`with np.errstate(divide="ignore")` only."""
    for part in node.items:
        call = part.context_expr
        if part.optional_vars is not None or not isinstance(call, ast.Call):
            raise mc.refuse("the statement with")
        f = value(mc, scope, call.func)
        words = [value(mc, scope, k.value) for k in call.keywords]
        quiet = all(isinstance(w, Text) and w.text in ("ignore", "warn") for w in words)
        if f != Known("numpy.errstate") or call.args or not quiet:
            raise mc.refuse("the statement with")
    return block(mc, scope, node.body)


MEANING: dict[type, Callable[..., Flow]] = {
    ast.Assign: _assign, ast.AnnAssign: _annotated, ast.AugAssign: _augmented, ast.If: _if,
    ast.Return: _return, ast.FunctionDef: _def, ast.Assert: _assert, ast.Raise: _raise,
    ast.Expr: _expression, ast.With: _with, ast.For: loops.for_loop, ast.While: loops.while_loop,
    ast.Pass: lambda *_: None, ast.Break: lambda *_: ("break", None),
    ast.Continue: lambda *_: ("continue", None),
}  # fmt: skip
NAMED: dict[type, str] = {ast.ImportFrom: "import", ast.ClassDef: "class", ast.Delete: "del"}
__all__ = ["Size", "block", "statement"]
