"""What does not change from element to element is computed once a step.

1 − β₁, β₁ᵗ, α/(1 − β₁ᵗ) … move to the scalar section; the loop is left with array
elements, typed scalars and constants.  In a product the scalar factors of
numerator and denominator are gathered into one coefficient.  Numbers that come from
sums over the components stay in the body, before the pass that reads them.
"""

from __future__ import annotations

from dataclasses import replace

from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a
from blrgen.program.naming import is_correction, name_for
from blrgen.program.part import Part, is_whole


def hoist(part: Part) -> Part:
    """Move the step-only expressions of a body to its numbers."""
    return _Hoister(part).part()


class _Hoister:
    def __init__(self, before: Part) -> None:
        self.before, self.taken = before, before.taken
        held = [v for v in before.rule.variables if not v.type.shape]
        self.positive = {v.name for v in held if v.domain.startswith("(0,")}
        self.names = {v.name for v in held if v.kind != "intermediate"}
        self.found: dict[n.Node, str] = {s.expr: s.name for s in before.numbers}
        self.numbers = list(before.numbers)
        self.body: list[a.Let] = []
        self.late: set[str] = set()  # numbers made from whole arrays
        self.known: dict[n.Node, bool] = {}  # whether a tree is a number

    def part(self) -> Part:
        for s in self.before.body:
            if not s.letters and self.is_scalar(s.expr):
                self.keep(s)
            elif is_whole(s):
                self.body.append(replace(s, expr=s.expr.rebuilt(self.visit)))
                self.late.add(s.name)
                self.names.add(s.name)
            elif not s.letters:  # a number made of matrices reads better in one piece
                self.body.append(s)
            else:
                self.body.append(replace(s, expr=self.visit(s.expr)))
        return replace(self.before, numbers=tuple(self.numbers), body=tuple(self.body))

    def keep(self, s: a.Let) -> None:
        """A number: before all passes, or between two of them."""
        self.names.add(s.name)
        if self.late.isdisjoint(n.names(s.expr)):
            self.numbers.append(s)
            return
        self.late.add(s.name)
        self.body.append(s)

    def is_scalar(self, node: n.Node) -> bool:
        """Whether it is made of numbers alone; names are known before they are read."""
        if node not in self.known:
            whole = isinstance(node, a.Red | a.Lin | a.Is | a.Extent)
            own = not isinstance(node, n.Ref) or (node.name in self.names and not node.index)
            self.known[node] = own and not whole and all(map(self.is_scalar, node.children))
        return self.known[node]

    def named(self, node: n.Node) -> n.Node:
        """The scalar expression under a name of its own; a leaf stays."""
        if isinstance(node, n.Const | n.Ref):
            return node
        if isinstance(node, n.Neg):
            return n.neg(self.named(node.arg))
        if node not in self.found and not is_correction(node):
            node = n.transform(node, lambda x: self.named(x) if is_correction(x) else x)
        if node not in self.found:
            name = name_for(node, self.taken)
            self.taken.add(name)
            self.found[node] = name
            self.keep(a.Let(name, (), node))
        return n.Ref(self.found[node])

    def visit(self, node: n.Node) -> n.Node:
        if isinstance(node, a.Lin | a.Is) or (isinstance(node, a.Ref) and node.index):
            return node
        if isinstance(node, n.Compare):
            return node.rebuilt(self.visit)
        if self.is_scalar(node):
            return self.named(node)
        if isinstance(node, n.Mul | n.Div):
            return self.product(node)
        return node.rebuilt(self.visit)

    def product(self, node: n.Node) -> n.Node:
        """Coefficient · arrays / arrays."""
        top, bottom = (node.top, node.bottom) if isinstance(node, n.Div) else (node, n.ONE)
        scalar_top, array_top = self.split(top)
        scalar_bottom, array_bottom = self.split(bottom)
        coefficient, divisor = scalar_top, scalar_bottom
        # a/√x is one instruction, without a number beside the root
        apart = scalar_bottom != n.ONE and _has_root(array_bottom) and self.over_zero(scalar_bottom)
        if scalar_top != n.ONE or apart:  # else a reciprocal would round twice
            coefficient, divisor = n.div(scalar_top, scalar_bottom), n.mul()
        above = n.mul(self.named(coefficient), self.visit_each(array_top))
        below = n.mul(self.named(divisor), self.visit_each(array_bottom))
        return n.div(above, below)

    def over_zero(self, node: n.Node) -> bool:
        """Whether a number is known to be positive: 1/0 is no number before the loop."""
        signed = any(isinstance(x, n.Sub | n.Neg) for x in n.walk(node))
        return not signed and self.positive.issuperset(n.names(node))

    def split(self, node: n.Node) -> tuple[n.Node, n.Node]:
        """The scalar factors and the others."""
        factors = node.args if isinstance(node, n.Mul) else (node,)
        scalars = [f for f in factors if self.is_scalar(f)]
        return n.mul(*scalars), n.mul(*[f for f in factors if not self.is_scalar(f)])

    def visit_each(self, node: n.Node) -> n.Node:
        factors = node.args if isinstance(node, n.Mul) else (node,)
        return n.mul(*[self.visit(f) for f in factors])


def _has_root(node: n.Node) -> bool:
    """Whether a square root is a factor."""
    return any(map(n.is_root, node.args if isinstance(node, n.Mul) else (node,)))
