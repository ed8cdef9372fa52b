"""Loops over the counter: `for _ in range(t): b *= beta` is βᵗ, by induction over the turns.

One turn is read with values that another turn may have left, which can be any number.  A name
whose value x becomes x·c, x/c, x + c or x − c, with a c that no turn changes, has a closed form.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

from blrgen.validate.reading.graph import Node, reachable
from blrgen.validate.reading.machine import Machine
from blrgen.validate.reading.scopes import bound_in
from blrgen.validate.reading.values import Array, Num, Poison, Scope, Span, Whole

SIMPLE = (ast.Assign, ast.AugAssign, ast.Pass, ast.Expr)


def over_counter(mc: Machine, scope: Scope, node: ast.For, span: Span) -> None:
    """The loop's names after as many turns as the counter says."""
    from blrgen.validate.reading.statements import block

    turns = _turns(mc, span)
    body = [s for s in node.body if not isinstance(s, ast.Pass)]
    if node.orelse or not all(_plain(s) for s in body) or not isinstance(node.target, ast.Name):
        raise mc.refuse("a loop over the counter with more than assignments to names")
    names = sorted(bound_in(body) & scope.names.keys())
    before = {n: scope.names[n] for n in names}
    for n, x in before.items():
        if isinstance(x, Num | Whole):
            scope.names[n] = any_number(mc, x)
    left = {n: scope.names[n] for n in names}
    scope.names[node.target.id] = Poison()
    changes, decided = mc.changes, len(mc.taken)
    block(mc, scope, body)
    if mc.changes != changes or len(mc.taken) != decided:
        raise mc.refuse("a loop over the counter that does more than to count")
    unknown = {x.node.index for x in left.values() if isinstance(x, Num)}
    for n in bound_in(body):
        if n in before:
            after = scope.names[n]
            scope.names[n] = _closed(mc, before[n], left[n], after, turns, unknown)
        else:
            scope.names[n] = Poison()
    scope.names[node.target.id] = Poison()


def any_number(mc: Machine, x: Num | Whole) -> Num:
    """A number of which nothing is known: what other turns of a loop have left.

    It may be a whole number, and what is made like it an array of those.
    """
    return Num(mc.graph.symbol(f"another turn {len(mc.graph.nodes)}"), integral=True)


def _plain(s: ast.stmt) -> bool:
    if not isinstance(s, SIMPLE):
        return False
    targets = s.targets if isinstance(s, ast.Assign) else [s.target] if isinstance(
        s, ast.AugAssign) else []  # fmt: skip
    return all(
        isinstance(n, ast.Name | ast.Tuple | ast.expr_context) for t in targets for n in ast.walk(t)
    )


def _turns(mc: Machine, span: Span) -> Node:
    """stop − start, which must be at least 1 whenever the counter is."""
    assert isinstance(span.stop, Num)
    g, n = mc.graph, span.stop.node
    shift = 0
    if n.op in ("add", "sub") and n.args[1].number is not None:
        sign = 1 if n.op == "add" else -1
        shift, n = sign * int(n.args[1].number), n.args[0]
    if n.op != "symbol" or not span.stop.integral:
        raise mc.refuse("a range of a number that is not the counter")
    if span.step.value != 1 or span.start.mark:
        raise mc.refuse("a range over the counter with another step")
    shift -= span.start.value
    if shift < -1:
        raise mc.refuse("a range over the counter that is empty for some of its values")
    return n if not shift else g.arithmetic("add", n, g.number(shift))


def _closed(
    mc: Machine, before: Any, left: Any, after: Any, turns: Node, unknown: Iterable[int]
) -> Any:
    """x after all turns, from what one turn makes of it."""
    if after is left:
        return before
    if not all(isinstance(x, Num | Whole) for x in (before, left, after)) or isinstance(
        after, Array
    ):
        raise mc.refuse("a loop over the counter that changes more than numbers")
    g, x, y = mc.graph, mc.node(left), mc.node(after)
    start, integral = mc.node(before), mc.integral(before, after)
    made = _form(mc, x, y, start, turns, set(unknown))
    if made is None:
        raise mc.refuse("a loop over the counter whose turns have no closed form here")
    return Num(made if made.number is None else g.number(made.number), True, integral)


def _form(
    mc: Machine, x: Node, y: Node, start: Node, turns: Node, unknown: set[int]
) -> Node | None:
    g = mc.graph
    if len(y.args) != 2:
        return None
    for old, c in (y.args, y.args[::-1]):
        if old is not x or any(k.index in unknown for k in reachable([c])):
            continue
        if y.op in ("mul", "div") and (y.op == "mul" or old is y.args[0]):
            power = g.arithmetic("pow", c, turns)
            return (
                power if start.number == 1 and y.op == "mul" else g.arithmetic(y.op, start, power)
            )
        if y.op in ("add", "sub") and (y.op == "add" or old is y.args[0]):
            return g.arithmetic(y.op, start, g.arithmetic("mul", turns, c))
    return None
