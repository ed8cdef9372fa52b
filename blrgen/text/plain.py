"""Expressions in ASCII that SymPy reads back to the same value.

The text is meant for ``sympy.sympify(text, locals=...)`` with every name of the
derivation given as a local: scalars as symbols, vectors and matrices as
``MatrixSymbol`` of concrete sizes, and ``d`` as the size.  An inverse is
``S**(-1)``, a transpose ``m.T``, a multiple of the identity ``delta*Identity(d)``,
the number aᵀb is ``trace(a.T*b)`` and log|S| is ``log(det(S))``.
"""

from __future__ import annotations

from blrgen.errors import InternalError
from blrgen.text.layout import (
    Call,
    Cases,
    Compare,
    Constant,
    Group,
    Indexed,
    Inner,
    Name,
    Node,
    Number,
    Power,
    Product,
    Real,
    Root,
    Sum,
    Total,
    Transpose,
    Unit,
    Words,
)

SUM, PRODUCT, POWER, ATOM = range(4)  # how tightly the outermost operation binds


class Plain:
    """The ASCII printer."""

    def text(self, node: Node, tight: int = SUM) -> str:
        """The node's text, in brackets when it binds more loosely than `tight`."""
        text, binding = self._visit(node)
        return text if binding >= tight else f"({text})"

    def equation(self, left: Node, relation: str, right: Node) -> str:
        """Left relation right, on one line."""
        return f"{self.text(left)} {relation} {self.text(right)}"

    def _visit(self, node: Node) -> tuple[str, int]:
        method = getattr(self, "_" + type(node).__name__.lower(), None)
        if method is None:
            raise InternalError(f"no ASCII for {type(node).__name__}")
        found: tuple[str, int] = method(node)
        return found

    def _number(self, n: Number) -> tuple[str, int]:
        return (str(n.p), ATOM) if n.q == 1 else (f"{n.p}/{n.q}", PRODUCT)

    def _real(self, n: Real) -> tuple[str, int]:
        return n.text, ATOM

    def _name(self, n: Name) -> tuple[str, int]:
        return n.name, ATOM

    def _indexed(self, n: Indexed) -> tuple[str, int]:
        return f"head({n.name})" if n.head else n.name, ATOM

    def _total(self, n: Total) -> tuple[str, int]:
        return f"total({self.text(n.of, SUM - 1)})", ATOM

    def _constant(self, n: Constant) -> tuple[str, int]:
        return n.name, ATOM

    def _unit(self, n: Unit) -> tuple[str, int]:
        return "Identity(d)", ATOM

    def _words(self, n: Words) -> tuple[str, int]:
        return n.text, ATOM

    def _group(self, n: Group) -> tuple[str, int]:
        return "(" + ", ".join(self.text(a) for a in n.items) + ")", ATOM

    def _sum(self, n: Sum) -> tuple[str, int]:
        out = ""
        for k, (sign, term) in enumerate(n.terms):
            mark = (" + " if sign > 0 else " - ") if k else ("" if sign > 0 else "-")
            out += mark + self.text(term, PRODUCT)
        return out, SUM

    def _product(self, n: Product) -> tuple[str, int]:
        top = "*".join(self.text(f, POWER) for f in n.top)
        if n.bottom:
            below = "*".join(self.text(f, POWER) for f in n.bottom)
            top = f"{top or '1'}/" + (below if len(n.bottom) == 1 else f"({below})")
        word = "*".join(self.text(f, POWER) for f in n.word)
        return "*".join(part for part in (top, word) if part), PRODUCT

    def _power(self, n: Power) -> tuple[str, int]:
        return f"{self.text(n.base, ATOM)}**{self.text(n.exponent, ATOM)}", POWER

    def _root(self, n: Root) -> tuple[str, int]:
        return f"sqrt({self.text(n.of)})", ATOM

    def _transpose(self, n: Transpose) -> tuple[str, int]:
        return f"{self.text(n.of, ATOM)}.T", ATOM

    def _inner(self, n: Inner) -> tuple[str, int]:
        return "trace(" + self._product(Product((), (), n.word))[0] + ")", ATOM

    def _compare(self, n: Compare) -> tuple[str, int]:
        left, right = self.text(n.left), self.text(n.right)
        if n.relation in ("=", "!="):
            return f"{'Eq' if n.relation == '=' else 'Ne'}({left}, {right})", ATOM
        return f"{left} {n.relation} {right}", SUM - 1

    def _cases(self, n: Cases) -> tuple[str, int]:
        arms = [f"({self.text(v)}, {'True' if c is None else self.text(c)})" for v, c in n.arms]
        return f"Piecewise({', '.join(arms)})", ATOM

    def _call(self, n: Call) -> tuple[str, int]:
        args = [self.text(a, SUM - 1) for a in n.args]
        if n.name == "logdet":
            return f"log(det({args[0]}))", ATOM
        if n.name in ("multigammaln", "multipolygamma"):
            return self._over_size(n)
        if n.name == "log1p":
            return f"log(1 + {self.text(n.args[0], PRODUCT)})", ATOM
        if n.name == "expm1":
            return f"exp({args[0]}) - 1", SUM
        if n.name in ("E_q", "E_at"):
            return f"E[{args[0]}]({', '.join(args[1:])})", ATOM
        return f"{n.name}({', '.join(args)})", ATOM

    def _over_size(self, n: Call) -> tuple[str, int]:
        """log Γ_d(a) and ψ_d(a) as the sums over j = 1…d that they are."""
        *order, a, size = n.args
        place = f"{self.text(a)} + (1 - j)/2"
        d = self.text(size, ATOM)
        if order:
            body = f"polygamma({self.text(order[0])}, {place})"
            return f"Sum({body}, (j, 1, {self.text(size)}))", ATOM
        sums = f"Sum(loggamma({place}), (j, 1, {self.text(size)}))"
        return f"{d}*({d} - 1)*log(pi)/4 + {sums}", SUM
