"""Numbers in front of a quotient or a clip go to its terms, where they meet other numbers.

    a·max(−c, min(c, (p x + q y)/d))  =  max(−a c, min(a c, (a p x + a q y)/d)),   a > 0

Products of numbers are computed once a step, in double precision, so an element is left with
as many operations and with fewer roundings.  A sum takes a number in where at most one of its
terms has none of its own, and where nothing else reads the sum.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from blrgen.program import nodes as n
from blrgen.program.part import Part

CLIPS = ("max", "min")


def absorbed(part: Part) -> Part:
    """The body with the numbers before quotients and clips inside them."""
    change = _Numbers(part).change
    return part.mapped(lambda e: n.transform(e, change))


class _Numbers:
    def __init__(self, part: Part) -> None:
        self.numbers = {x for x, sizes in part.sizes.items() if not sizes}
        self.domains = {v.name: v.domain for v in part.rule.of("hyper")}
        self.times: Mapping[n.Node, int] = Counter(
            x for s in part.body for x in n.walk(s.expr) if isinstance(x, n.Add)
        )

    def change(self, node: n.Node) -> n.Node:
        """a·(…)/d, a·max(…) with a inside; whatever it is not stays."""
        top = node.top if isinstance(node, n.Div) else node
        if not isinstance(top, n.Mul) or self.is_number(top):
            return node
        inside = [f for f in top.args if not self.is_number(f)]
        a = n.mul(*(f for f in top.args if self.is_number(f)))
        if len(inside) != 1 or not n.names(a):
            return node
        if isinstance(node, n.Div):
            taken = self.into_sum(a, inside[0])
            return node if taken is None else n.div(taken, node.bottom)
        return self.into(a, inside[0]) or node

    def into(self, a: n.Node, x: n.Node) -> n.Node | None:
        """a·x for a quotient of a sum, or a clip of one."""
        if isinstance(x, n.Div):
            taken = self.into_sum(a, x.top)
            return None if taken is None else n.div(taken, x.bottom)
        if not isinstance(x, n.Call) or x.name not in CLIPS or not self.is_positive(a):
            return None
        parts = [self.times_number(a, y) if self.is_number(y) else self.into(a, y) for y in x.args]
        known = tuple(y for y in parts if y is not None)
        return n.Call(x.name, known) if len(known) == len(parts) else None

    def into_sum(self, a: n.Node, x: n.Node) -> n.Node | None:
        """a·(p x + q y) with a p and a q; a term that is a number is as good."""
        if not isinstance(x, n.Add) or self.times[x] > 1:
            return None
        plain = [t for t in x.args if not self.has_number(t)]
        return n.add(*(self.times_number(a, t) for t in x.args)) if len(plain) < 2 else None

    def times_number(self, a: n.Node, x: n.Node) -> n.Node:
        if isinstance(x, n.Neg):
            return n.neg(self.times_number(a, x.arg))
        if isinstance(x, n.Div):
            return n.div(n.mul(a, x.top), x.bottom)
        return n.mul(a, x)

    def has_number(self, term: n.Node) -> bool:
        """Whether a·term needs no operation more than the term."""
        term = term.arg if isinstance(term, n.Neg) else term
        if isinstance(term, n.Div):
            return self.has_number(term.top) or self.is_number(term.bottom)
        factors = term.args if isinstance(term, n.Mul) else (term,)
        return any(self.is_number(f) for f in factors)

    def is_number(self, node: n.Node) -> bool:
        return all(x in self.numbers for x in n.names(node))

    def is_positive(self, node: n.Node, strictly: bool = True) -> bool:
        """Whether a number is above 0, or not below it, in all of its domain."""
        if isinstance(node, n.Const):
            return node.value > 0 if strictly else node.value >= 0
        if isinstance(node, n.Ref):
            domain = self.domains.get(node.name, "")
            return domain.startswith("(0,") or (not strictly and domain.startswith("[0,"))
        if isinstance(node, n.Add):
            some = any(self.is_positive(x) for x in node.args)
            return (some or not strictly) and all(self.is_positive(x, False) for x in node.args)
        if isinstance(node, n.Mul | n.Div):
            return all(self.is_positive(x, strictly) for x in node.children)
        return False
