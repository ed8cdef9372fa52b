"""The arguments of a call as values, and what the call gave back for each state."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import sympy as sp

from blrgen.core import Rule
from blrgen.validate import reference
from blrgen.validate.match import Matching, outcome
from blrgen.validate.reading.graph import Graph, Node
from blrgen.validate.reading.machine import Machine
from blrgen.validate.reading.signals import Refused
from blrgen.validate.reading.values import Array, Dict, Function, List, Num, Record

Expr = Any
Shape = tuple[int, ...]


def signature(f: Function) -> dict[str, Any]:
    """Argument → its default, or that it has none."""
    a = f.node.args
    if a.vararg or a.kwarg:
        raise Refused("a step function with * or ** in its arguments", f.node.lineno)
    empty = inspect.Parameter.empty
    positional = [x.arg for x in (*a.posonlyargs, *a.args)]
    found: dict[str, Any] = dict.fromkeys(positional, empty)
    for name, d in zip(reversed(positional), reversed(a.defaults), strict=False):
        found[name] = ast.unparse(d)
    for x, d in zip(a.kwonlyargs, a.kw_defaults, strict=True):
        found[x.arg] = empty if d is None else ast.unparse(d)
    return found


def positional_only(f: Function) -> int:
    """How many arguments have no name for a caller."""
    return len(f.node.args.posonlyargs)


class Elements:
    """Arguments of an elementwise rule: numbers, one element for all, or arrays of a shape."""

    def __init__(
        self, rule: Rule, graph: Graph, shape: Shape, *, generic: bool, flat: bool = False
    ) -> None:
        self.rule, self.graph, self.shape, self.generic, self.flat = (
            rule,
            graph,
            shape,
            generic,
            flat,
        )
        self.elements = reference.Elements(rule)

    def value(self, name: str) -> Any:
        """The argument for a quantity of the rule."""
        if name not in self.rule:
            return self._computed(name)
        q = self.rule[name]
        known = reference.expanded(self.rule)
        if name in known:
            return self._computed(name)
        if not self.elements.is_array(q) or not self.shape:
            return Num(self.graph.symbol(name), integral=q.kind == "counter")
        return self._filled(lambda tag: self.graph.symbol(name + tag))

    def _filled(self, make: Callable[[str], Node]) -> Array:
        data = np.empty(self.shape, dtype=object)
        for index in np.ndindex(*self.shape):
            data[index] = make("" if self.generic else "".join(f"_{i}" for i in index))
        axes = tuple(range(len(self.shape))) if self.generic else None
        return Array(data, "f", axes)

    def _computed(self, name: str) -> Any:
        """What the rule computes before the step, given as an argument: where it was probed."""
        e = reference.expanded(self.rule)[name]
        arrays = {q.name for q in self.rule.quantities if self.elements.is_array(q)}

        def make(tag: str) -> Node:
            return node_of(e, self.graph, lambda s: s.name + (tag if s.name in arrays else ""))

        if not self.shape:
            return Num(make(""))
        return self._filled(make)


def node_of(e: Expr, g: Graph, name: Callable[[Any], str]) -> Node:
    """An expression of a rule as nodes."""
    if e.is_Rational:
        from fractions import Fraction

        return g.number(Fraction(int(e.p), int(e.q)))
    if e.is_Symbol:
        return g.symbol(name(e))
    args = [node_of(a, g, name) for a in e.args]
    if e.is_Add or e.is_Mul:
        out = args[0]
        for a in args[1:]:
            out = g.arithmetic("add" if e.is_Add else "mul", out, a)
        return out
    if e.is_Pow:
        return g.make("sqrt", args[:1]) if e.exp == sp.S.Half else g.arithmetic("pow", *args)
    op = {"tanh": "tanh", "exp": "exp", "log": "log", "Abs": "abs", "sign": "sign"}.get(
        type(e).__name__
    )
    if op is None:
        raise Refused(f"{type(e).__name__} in an argument that the rule computes")
    return g.make(op, args)


class _Named(tuple):  # type: ignore[type-arg]
    """A record as `outcome` looks at one."""

    names: tuple[str, ...] = ()

    def _asdict(self) -> dict[str, Any]:
        return dict(zip(self.names, self, strict=True))


def returned(x: Any) -> Any:
    """What a function gave back, as Python's own containers."""
    if isinstance(x, List):
        return list(x.items)
    if isinstance(x, Dict):
        return dict(x.items)
    if isinstance(x, Record):
        made = _Named(x.values)
        made.names = x.names
        return made if x.is_tuple else dict(zip(x.names, x.values, strict=True))
    return x


def contents(x: Any) -> Any:
    """What an array holds now."""
    return x.data.copy() if isinstance(x, Array) else x


def same(a: Any, b: Any) -> bool:
    """Whether an array still holds what it held."""
    if isinstance(a, np.ndarray):
        return isinstance(b, np.ndarray) and all(
            x is y for x, y in zip(a.reshape(-1), b.reshape(-1), strict=True)
        )
    return a is b


class Outcome:
    """State → its new value, and what else the call did to its arguments."""

    def __init__(
        self, mc: Machine, given: dict[str, Any], before: dict[str, Any], result: Any,
        matching: Matching, function: str,
    ) -> None:  # fmt: skip
        changed = {n: not same(before[n], contents(x)) for n, x in given.items()}
        states = matching.states
        self.nothing = result is None
        self.idle = self.nothing and not any(changed[n] for n in states)
        if self.nothing:
            self.values = {n: given[n] for n in states}
        else:
            self.values = outcome(returned(result), given, changed, matching, function)
        self.inputs_changed = [n for n in given if changed[n] and n not in states]
        self.in_place = {
            n: given[n] for n in states if changed[n] and self.values[n] is not given[n]
        }
        self.shared = self._shared(mc, given) if mc.written else ""

    def _shared(self, mc: Machine, given: dict[str, Any]) -> str:
        """A result in the memory of an input, of another state or of another result."""
        results = [(n, x) for n, x in self.values.items() if isinstance(x, Array)]
        for k, (n, x) in enumerate(results):
            others = [(m, y) for m, y in given.items() if m != n and isinstance(y, Array)]
            others += [(m, y) for m, y in results[:k]]
            for m, y in others:
                if np.shares_memory(x.data, y.data):
                    return f"the new {n} shares its memory with {m}"
        return ""
