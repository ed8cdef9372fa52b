"""Calls: of functions of the file, and of names of the table."""

from __future__ import annotations

import ast
from typing import Any

from blrgen.limits import CALLS as DEPTH
from blrgen.validate.reading.machine import Machine
from blrgen.validate.reading.scopes import bound_in
from blrgen.validate.reading.values import (
    Array,
    Cond,
    Dict,
    Function,
    Known,
    List,
    Method,
    Num,
    Partial,
    Record,
    RecordClass,
    Scope,
    Several,
    Text,
    Whole,
)

COMPILERS = ("numba.njit", "numba.jit")
OPTIONS = (
    "cache",
    "nogil",
    "parallel",
    "nopython",
    "boundscheck",
    "error_model",
    "inline",
    "fastmath",
)


def call(mc: Machine, f: Any, args: list[Any], keywords: dict[str, Any]) -> Any:
    """f(*args, **keywords)."""
    from blrgen.validate.reading import table

    if isinstance(f, Function):
        return _called(mc, f, args, keywords)
    if isinstance(f, Partial):
        return call(mc, f.function, [*f.args, *args], {**dict(f.keywords), **keywords})
    if isinstance(f, Known):
        return table.apply(mc, f.name, args, keywords)
    if isinstance(f, Method):
        return table.apply(mc, f.name, [f.owner, *args], keywords)
    if isinstance(f, RecordClass):
        return _record(mc, f, args, keywords)
    if isinstance(f, Num | Whole | Array | tuple):
        raise mc.raises("a call of what is no function")
    raise mc.refuse(f"a call of {mc.called(f)}")


def made(mc: Machine, scope: Scope, name: str, node: Any, *, compiled: bool = False) -> Function:
    """A function with its defaults, which are values that cannot change."""
    from blrgen.validate.reading.expressions import value

    a = node.args
    defaults = tuple(_fixed(mc, value(mc, scope, d)) for d in a.defaults)
    kw = tuple(None if d is None else (_fixed(mc, value(mc, scope, d)),) for d in a.kw_defaults)
    for arg in (*a.posonlyargs, *a.args, *a.kwonlyargs, a.vararg, a.kwarg):
        if arg is not None and arg.annotation is not None:
            annotation(mc, arg.annotation)
    return Function(name, node, scope, defaults, kw, compiled)


def _fixed(mc: Machine, x: Any) -> Any:
    if isinstance(x, List | Dict | Array) or (isinstance(x, tuple) and not all(
        isinstance(v, Whole | Num | Text | Cond) for v in x
    )):  # fmt: skip
        raise mc.refuse("a default that can change")
    return x


def defined(mc: Machine, scope: Scope, node: ast.FunctionDef) -> Function:
    """def: what its decorators say and nothing else."""
    compiled = False
    for d in node.decorator_list:
        compiled |= _compiles(mc, scope, d)
    if node.returns is not None:
        annotation(mc, node.returns)
    for n in ast.walk(node):
        if isinstance(n, ast.Yield | ast.YieldFrom | ast.Await | ast.Global | ast.Nonlocal):
            mc.line = n.lineno
            raise mc.refuse(f"the statement {type(n).__name__.lower()}")
    return made(mc, scope, node.name, node, compiled=compiled)


def _compiles(mc: Machine, scope: Scope, d: ast.expr) -> bool:
    """Whether a decorator is one of Numba's, with options that change no value."""
    from blrgen.validate.reading.expressions import value

    mc.line = d.lineno
    f = value(mc, scope, d.func if isinstance(d, ast.Call) else d)
    if not (isinstance(f, Known) and f.name in COMPILERS):
        raise mc.refuse(f"the decorator {ast.unparse(d)}")
    if isinstance(d, ast.Call):
        if d.args:
            raise mc.refuse("a signature for compiled code")
        for k in d.keywords:
            if k.arg not in OPTIONS or not isinstance(k.value, ast.Constant | ast.Set):
                raise mc.refuse(f"the option {k.arg}")
            words = {getattr(x, "value", None) for x in getattr(k.value, "elts", [])}
            plain = isinstance(k.value, ast.Constant) and k.value.value is False
            if k.arg == "fastmath" and not plain and words != {"contract"}:
                raise mc.refuse("the option fastmath")
    return True


def annotation(mc: Machine, node: ast.expr) -> None:
    """An annotation is read for what it could do, which is nothing."""
    allowed = (ast.Name, ast.Attribute, ast.Subscript, ast.Constant, ast.Tuple, ast.List,
               ast.BinOp, ast.BitOr, ast.Load)  # fmt: skip
    for n in ast.walk(node):
        if not isinstance(n, allowed):
            mc.line = node.lineno
            raise mc.refuse("an annotation that is no type")


def _called(mc: Machine, f: Function, args: list[Any], keywords: dict[str, Any]) -> Any:
    from blrgen.validate.reading.expressions import value
    from blrgen.validate.reading.statements import block

    names = bindings(mc, f, args, keywords)
    is_lambda = isinstance(f.node, ast.Lambda)
    body = [] if is_lambda else f.node.body
    scope = Scope(names, frozenset(names) | bound_in(body), f.scope)
    mc.calls += 1
    if any(f.node is n for n in mc.active):
        raise mc.refuse("a function that calls itself")
    mc.active.append(f.node)
    if mc.calls > DEPTH:
        raise mc.refuse(f"more than {DEPTH} calls inside calls")
    mc.compiled += f.compiled
    try:
        if is_lambda:
            return value(mc, scope, f.node.body)
        flow = block(mc, scope, body)
        return flow[1] if flow is not None else None
    finally:
        mc.calls -= 1
        mc.active.pop()
        mc.compiled -= f.compiled


def bindings(mc: Machine, f: Function, args: list[Any], keywords: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a call by name."""
    a = f.node.args
    positional = [x.arg for x in (*a.posonlyargs, *a.args)]
    names: dict[str, Any] = dict(zip(positional, args, strict=False))
    if len(args) > len(positional) and a.vararg is None:
        raise mc.raises("too many arguments")
    if a.vararg is not None:
        names[a.vararg.arg] = Several(args[len(positional) :])
    known = [x.arg for x in (*a.args, *a.kwonlyargs)]
    rest: dict[str, Any] = {}
    for k, v in keywords.items():
        if k in names and k in known:
            raise mc.raises("an argument given twice")
        if k not in known:
            if a.kwarg is None:
                raise mc.raises(f"no argument {k}")
            rest[k] = v
            continue
        names[k] = v
    if a.kwarg is not None:
        names[a.kwarg.arg] = Dict(rest)
    for name, d in zip(reversed(positional), reversed(f.defaults), strict=False):
        names.setdefault(name, d)
    for arg, kw in zip(a.kwonlyargs, f.kw_defaults, strict=True):
        if kw is not None:
            names.setdefault(arg.arg, kw[0])
    missing = [n for n in (*positional, *(x.arg for x in a.kwonlyargs)) if n not in names]
    if missing:
        raise mc.raises(f"no value for {missing[0]}")
    return names


def _record(mc: Machine, f: RecordClass, args: list[Any], keywords: dict[str, Any]) -> Any:
    given = {**f.defaults, **dict(zip(f.names, args, strict=False)), **keywords}
    if (
        len(args) > len(f.names)
        or set(given) != set(f.names)
        or set(keywords) & set(f.names[: len(args)])
    ):
        raise mc.raises(f"the arguments of {f.name}")
    return Record(f.names, tuple(given[n] for n in f.names), f.is_tuple)
