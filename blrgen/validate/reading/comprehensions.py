"""Comprehensions: the items of every turn; over an axis of any length, one that stands for all."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from blrgen.limits import TURNS as LONGEST
from blrgen.validate.reading.loops import as_long, element, generic_axis, read_once, turns
from blrgen.validate.reading.machine import Loop, Machine
from blrgen.validate.reading.scopes import bound_in
from blrgen.validate.reading.values import Array, Dict, Iter, List, Listed, Scope, Whole


def comprehension(mc: Machine, scope: Scope, node: ast.ListComp | ast.GeneratorExp) -> Any:
    """A list of what the element is in every turn; over an axis of any length, an array of them."""
    from blrgen.validate.reading.expressions import at_once, value

    if any(isinstance(n, ast.NamedExpr) for n in ast.walk(node)) or any(
        g.is_async for g in node.generators
    ):
        raise mc.refuse("a name bound in a comprehension")
    local = bound_in([g.target for g in node.generators])
    inner = Scope({}, local, scope)
    first = at_once(mc, value(mc, scope, node.generators[0].iter))
    axis = generic_axis(mc, first)
    if axis is not None:
        return _mapped(mc, inner, node, first, axis)
    out: list[Any] = []
    counted = as_long(first)
    mc.depth += counted
    try:
        for _ in _nested(mc, inner, node.generators, 0, first):
            out.append(mc.carried(value(mc, inner, node.elt)))
            if len(out) > LONGEST:
                raise mc.refuse(f"a list of more than {LONGEST:,} items")
    finally:
        mc.depth -= counted
    if isinstance(node, ast.GeneratorExp):
        return Iter("items", tuple(out), lazy=True)
    return List(out, mc.depth)


def _nested(
    mc: Machine, inner: Scope, generators: list[ast.comprehension], k: int, first: Any
) -> Iterator[None]:
    from blrgen.validate.reading.expressions import at_once, value
    from blrgen.validate.reading.statements import assign

    if k == len(generators):
        yield None
        return
    g = generators[k]
    iterable = first if k == 0 else at_once(mc, value(mc, inner, g.iter))
    for x in turns(mc, iterable):
        assign(mc, inner, g.target, x, constant=True)
        if all(mc.truth(value(mc, inner, c)) for c in g.ifs):
            yield from _nested(mc, inner, generators, k + 1, first)


def _mapped(mc: Machine, inner: Scope, node: Any, first: Any, axis: int) -> Any:
    """[f(i) for i in range(n)]: one element, which stands for all."""
    import numpy as np

    from blrgen.validate.reading.expressions import value
    from blrgen.validate.reading.statements import assign

    if len(node.generators) > 1 or node.generators[0].ifs:
        raise mc.sizes("a comprehension with conditions or several loops")
    if any(loop.axis in (axis, -1) or axis == -1 for loop in mc.loops):
        raise mc.sizes("two loops over the same axis")
    mc.loops.append(Loop(axis))
    try:
        one = element(mc, first, axis)
        with read_once(mc):
            assign(mc, inner, node.generators[0].target, one, constant=True)
            v = value(mc, inner, node.elt)
    finally:
        mc.loops.pop()
    if isinstance(v, Array) and v.generic and v.rank:
        return Listed(Array(v.data.reshape((1, *v.data.shape)), v.kind, (axis, *(v.axes or ()))))
    if isinstance(v, Array | tuple | List | Dict) or v is None:
        raise mc.sizes("a list of something else than numbers")
    data = np.empty((1,), dtype=object)
    data[0] = mc.node(v)
    kind = "i" if isinstance(v, Whole) else "f"
    return Listed(Array(data, kind, (axis,)))
