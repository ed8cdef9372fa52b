"""E[g(j)] of a binomial j: what a count among n draws is expected to give.

∂/∂p E_{n,p}[g(j)] = n E_{n−1,p}[g(j + 1) − g(j)]
"""

from __future__ import annotations

from typing import Any

import sympy as sp

Expr = Any
COUNT = sp.Symbol("j", nonnegative=True)  # not an integer: log Γ is to stay as it is


class binomial_mean(sp.Function):  # type: ignore[misc]
    """E[g(j)] of j ~ Binomial(n, p); g is written in `COUNT`."""

    nargs = 3
    bound = 1  # g is a function of COUNT

    @classmethod
    def eval(cls, g: Expr, n: Expr, p: Expr) -> Expr:
        if not g.has(COUNT):
            return g
        terms = [a.as_independent(COUNT, as_Add=False) for a in sp.Add.make_args(sp.expand(g))]
        if len(terms) == 1 and terms[0][0] == 1:
            return None
        return sp.Add(*[weight * cls(body, n, p) for weight, body in terms])

    @property
    def free_symbols(self) -> set[Any]:
        bound: set[Any] = super().free_symbols
        return bound - {COUNT}

    def _eval_is_real(self) -> bool:
        return True

    def derivative(self, x: Expr, once: Any) -> Expr:
        """By p; n and g are known constants."""
        g, n, p = self.args
        if n.has(x) or g.has(x):
            return self.fdiff()
        step = difference(g)
        return n * binomial_mean(step, n - 1, p) * once(p, x)

    def plain(self) -> Expr:
        """The sum written out."""
        g, n, p = self.args
        weight = sp.binomial(n, COUNT) * p**COUNT * (1 - p) ** (n - COUNT)
        return sp.Sum(weight * g, (COUNT, 0, n))


def difference(g: Expr) -> Expr:
    """g(j + 1) − g(j), with log Γ taken down."""
    step = g.xreplace({COUNT: COUNT + 1}) - g
    lowered = step.replace(
        sp.loggamma, lambda z: sp.loggamma(z - 1) + sp.log(z - 1) if z.has(COUNT + 2) else
        sp.loggamma(z)
    )  # fmt: skip
    return sp.expand(lowered)
