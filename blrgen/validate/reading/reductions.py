"""Sums, products and quantifiers over axes, of arrays of known lengths."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np

from blrgen.validate.reading.graph import Node
from blrgen.validate.reading.machine import Machine
from blrgen.validate.reading.making import arrayed
from blrgen.validate.reading.table import meaning
from blrgen.validate.reading.values import Array, Cond, Num, Whole


def over(
    mc: Machine, x: Any, axis: Any, keepdims: Any, f: Callable[[list[Node]], Node], kind: str = "f"
) -> Any:
    """f of the entries along an axis, or of all."""
    x = arrayed(mc, x)
    if x.generic and x.rank:
        raise mc.sizes("a reduction over an axis")
    keep = isinstance(keepdims, Cond) and keepdims.node.op == "truth" and keepdims.node.data
    if keepdims is not None and not (isinstance(keepdims, Cond) and keepdims.node.op == "truth"):
        raise mc.refuse("keyword keepdims= that is no truth value")
    if axis is None:
        out = f(list(x.data.reshape(-1)))
        if keep:
            box = np.empty((1,) * x.rank, dtype=object)
            box[...] = out
            return Array(box, kind)
        return mc.scalar(out, kind, counted=out.number is not None or out.is_truth)
    if not isinstance(axis, Whole) or axis.mark:
        raise mc.refuse("keyword axis= that is no known number")
    if not -x.rank <= axis.value < x.rank:
        raise mc.raises("an axis that is not there")
    moved = np.moveaxis(x.data, axis.value, -1)
    data = np.empty(moved.shape[:-1], dtype=object)
    for index in np.ndindex(data.shape):
        data[index] = f(list(moved[index]))
    if keep:
        data = np.expand_dims(data, axis.value)
    if data.ndim == 0:
        one: Node = data.item()
        return mc.scalar(one, kind, counted=one.number is not None or one.is_truth)
    return Array(data, kind)


def added(mc: Machine, nodes: list[Node]) -> Node:
    """Σ, from left to right."""
    nodes = [mc.as_number(n) for n in nodes]
    if not nodes:
        return mc.graph.number(0)
    total = reduce(lambda a, b: mc.graph.arithmetic("add", a, b), nodes)
    return mc.graph.tallied(total, nodes, 0)


def multiplied(mc: Machine, nodes: list[Node]) -> Node:
    """Π, from left to right."""
    nodes = [mc.as_number(n) for n in nodes]
    if not nodes:
        return mc.graph.number(1)
    product = reduce(lambda a, b: mc.graph.arithmetic("mul", a, b), nodes)
    return mc.graph.tallied(product, nodes, 1)


def _no_truths(mc: Machine, x: Any) -> Any:
    if arrayed(mc, x).kind != "f":
        raise mc.refuse("a sum of truth values or of whole numbers")
    return x


@meaning(
    "numpy.sum",
    "array.sum",
    text="Σ over an axis or all",
    example=("x + np.sum(x, axis=0)", "x + x.sum()"),
)
def _sum(mc: Machine, a: Any, axis: Any = None, *, keepdims: Any = None) -> Any:
    return over(mc, _no_truths(mc, a), axis, keepdims, lambda n: added(mc, n))


@meaning(
    "numpy.prod",
    "array.prod",
    text="Π over an axis or all",
    example=("x + np.prod(x)", "x + x.prod()"),
)
def _prod(mc: Machine, a: Any, axis: Any = None, *, keepdims: Any = None) -> Any:
    return over(mc, _no_truths(mc, a), axis, keepdims, lambda n: multiplied(mc, n))


@meaning(
    "numpy.mean",
    "array.mean",
    text="Σ / n over an axis or all",
    example=("x + np.mean(x)", "x + x.mean()"),
)
def _mean(mc: Machine, a: Any, axis: Any = None, *, keepdims: Any = None) -> Any:
    def mean(nodes: list[Node]) -> Node:
        return mc.graph.arithmetic("div", added(mc, nodes), mc.graph.number(len(nodes)))

    return over(mc, _no_truths(mc, a), axis, keepdims, mean)


def _register_extreme(name: str, op: str, text: str) -> None:
    names = (f"numpy.{name}", f"numpy.a{name}", f"array.{name}")
    examples = (f"x + np.{name}(x)", f"x + np.a{name}(x)", f"x + x.{name}()")

    @meaning(*names, text=text, example=examples)
    def f(mc: Machine, a: Any, axis: Any = None, *, keepdims: Any = None) -> Any:
        def extreme(nodes: list[Node]) -> Node:
            if not nodes:
                raise mc.raises("an extreme of nothing")
            return reduce(lambda x, y: mc.graph.make(op, (x, y)), nodes)

        return over(mc, _no_truths(mc, a), axis, keepdims, extreme)


_register_extreme("max", "max", "the largest over an axis or of all")
_register_extreme("min", "min", "the smallest over an axis or of all")


@meaning("numpy.cumsum", text="sums of the first 1, 2, … of a vector", example="x + np.cumsum(x)")
def _cumsum(mc: Machine, a: Any, /) -> Any:
    x = arrayed(mc, _no_truths(mc, a))
    if x.generic:
        raise mc.sizes("sums of the first elements")
    if x.rank != 1:
        raise mc.refuse("np.cumsum of what is no vector")
    data = x.data.copy()
    for k in range(1, len(data)):
        data[k] = added(mc, [data[k - 1], data[k]])
    return Array(data, x.kind)


def _quantifier(
    mc: Machine, x: Any, axis: Any, build: Callable[[Node, Node], Node], none: bool
) -> Any:
    if isinstance(x, Cond):
        return x
    x = arrayed(mc, x)
    if x.kind != "b":
        raise mc.refuse("any or all of what is no truth value")
    if x.generic and x.rank:
        known = mc.decide(x.data.reshape(-1)[0])
        mc.needs(x.data.reshape(-1)[0])
        if known is None:
            raise mc.sizes("any or all of a condition that the domains do not decide")
        return Cond(mc.graph.truth(known))
    return over(mc, x, axis, None, lambda n: reduce(build, n, mc.graph.truth(none)), "b")


@meaning(
    "numpy.any",
    "array.any",
    text="whether one of the conditions holds",
    example=("x if np.any(x > 0.5) else y", "x if (x > 0.5).any() else y"),
)
def _any(mc: Machine, a: Any, axis: Any = None) -> Any:
    return _quantifier(mc, a, axis, mc.graph.either, False)


@meaning(
    "numpy.all",
    "array.all",
    text="whether all of the conditions hold",
    example=("x if np.all(x > 0) else y", "x if (x > 0).all() else y"),
)
def _all(mc: Machine, a: Any, axis: Any = None) -> Any:
    return _quantifier(mc, a, axis, mc.graph.both, True)


def _register(name: str, f: Callable[..., Node], words: str) -> None:
    @meaning(f"math.{name}", text=words, example=f"x * math.{name}([rho])")
    def g(mc: Machine, items: Any, /) -> Any:
        from blrgen.validate.reading import loops

        values = loops.finite(mc, items)
        out = f(mc, [mc.node(v) for v in values])
        return Num(out, out.number is not None)


_register("fsum", added, "Σ of numbers one by one")
_register("prod", multiplied, "Π of numbers one by one")
