"""Loops whose results do not depend on how a sum is added up, and in which NaN stays NaN.

A sum carries what its rounding loses along; log Σ exp keeps the largest exponent apart and
takes one pass.  The larger of an element and a number is Python's `max`, one instruction,
where the number is known to be none but a number: it keeps its first argument where nothing
is larger.
"""

from __future__ import annotations

from collections.abc import Collection

from blrgen.emit.tree import nodes as t
from blrgen.emit.tree.kernels import Body
from blrgen.emit.tree.memory import Context, Memory
from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a
from blrgen.program.axes.schedule import Item, Schedule

LOWEST = n.neg(n.Named("inf"))
PAIRS = {  # the function that adds to a pair, and what it starts from
    "sum": ("_added", (n.ZERO, n.ZERO)),
    "lse": ("_exp_added", (LOWEST, n.ZERO)),
}


class Careful(Body):
    """Statements of loops over one axis; `known` are numbers that are never NaN."""

    def __init__(self, plan: Schedule, memory: Memory, known: Collection[str]) -> None:
        super().__init__(plan, memory)
        self.known = frozenset(known)
        self.pairs: dict[str, tuple[n.Node, n.Node]] = {}

    def function(self, name: str, many: bool) -> str:
        """One result for one argument, whatever is computed beside it."""
        return "sigmoid" if name == "logistic" else name

    def expr(self, e: n.Node, item: Item, ctx: Context, many: bool) -> n.Node:
        """With choices and extremes as this kind of loop has them."""
        e = super().expr(e, item, ctx, many)
        if isinstance(e, n.Select) and not many and not e.same:
            return n.Call("_where", (e.condition, e.yes, e.no))
        if not isinstance(e, n.Call) or e.name not in ("max", "min"):
            return e
        own = [x for x in e.args if not self.known.issuperset(x.names)]
        if len(own) != 1 or not many:
            return n.Call(f"{e.name}imum", e.args)
        return n.Call(e.name, (own[0], *(x for x in e.args if x is not own[0])))

    def pair(self, item: Item) -> tuple[n.Node, n.Node]:
        """The two numbers in which a reduction runs."""
        name = item.let.name
        if name not in self.pairs:
            short = name.removeprefix("log_").removeprefix("total_")
            own = self.memory.own
            self.pairs[name] = (
                (t.name(self.memory.values[name]), t.name(own(f"lost_{short}")))
                if self.op(item) == "sum"
                else (t.name(own(f"top_{short}")), t.name(own(f"share_{short}")))
            )
        return self.pairs[name]

    def op(self, item: Item) -> str:
        """How the item reduces."""
        assert isinstance(item.let.expr, a.Red)
        return item.let.expr.op

    def added(self, item: Item, value: n.Node) -> t.Statement:
        """One term more."""
        pair = self.pair(item)
        return t.Assign(t.Several(pair), n.Call(PAIRS[self.op(item)][0], (*pair, value)))

    def local(self, item: Item, total: n.Node, value: n.Node) -> list[t.Statement]:
        return [self.added(item, value)]

    def around(
        self, items: list[Item], depth: int, ctx: Context
    ) -> tuple[list[t.Statement], list[t.Statement]]:
        """The pairs of the sums inside of a loop: what they start from, and what they give."""
        before: list[t.Statement] = []
        after: list[t.Statement] = []
        for item in items:
            e = item.let.expr
            if not isinstance(e, a.Red):
                continue
            pair = self.pair(item)
            before.append(t.Assign(t.Several(pair), t.Several(PAIRS[self.op(item)][1])))
            if e.more is not None:
                after.append(self.added(item, self.expr(e.more, item, ctx, False)))
            if self.op(item) == "sum":
                after.append(t.Increase(*pair))
            else:
                whole = n.add(pair[0], n.Call("log", (pair[1],)))
                after.append(t.Assign(t.name(self.memory.values[item.let.name]), whole))
        return before, after
