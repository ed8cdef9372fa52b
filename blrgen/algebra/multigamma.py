"""The multivariate gamma function of symbolic size, and its derivatives.

    log Γ_d(a) = d(d−1)/4 log π + Σ_{j=1}^d log Γ(a + (1−j)/2)
    ∂^{k+1}/∂a^{k+1} log Γ_d(a) = ψ_d^{(k)}(a) = Σ_{j=1}^d ψ^{(k)}(a + (1−j)/2)

Where d is a number both are written out.
"""

from __future__ import annotations

from typing import Any

import sympy as sp
from sympy.core.function import ArgumentIndexError

Expr = Any
_LARGEST = 64  # sizes up to which the sum is written out


def _shifted(a: Expr, d: Expr) -> list[Expr] | None:
    """a + (1−j)/2 for j = 1…d, where d is a number."""
    if not d.is_Integer or not 1 <= d <= _LARGEST:
        return None
    return [a + sp.Rational(1 - j, 2) for j in range(1, int(d) + 1)]


class multigammaln(sp.Function):  # type: ignore[misc]
    """log Γ_d(a): log ∫_{SPD} |X|^{a−(d+1)/2} e^{−tr X} dX."""

    nargs = 2

    @classmethod
    def eval(cls, a: Expr, d: Expr) -> Expr:
        places = _shifted(a, d)
        if places is None:
            return None
        return d * (d - 1) / 4 * sp.log(sp.pi) + sp.Add(*[sp.loggamma(x) for x in places])

    def fdiff(self, argindex: int = 1) -> Expr:
        if argindex != 1:
            raise ArgumentIndexError(self, argindex)
        return multipolygamma(sp.S.Zero, *self.args)


class multipolygamma(sp.Function):  # type: ignore[misc]
    """ψ_d^{(k)}(a), the (k+1)-th derivative of log Γ_d."""

    nargs = 3

    @classmethod
    def eval(cls, k: Expr, a: Expr, d: Expr) -> Expr:
        places = _shifted(a, d)
        return None if places is None else sp.Add(*[sp.polygamma(k, x) for x in places])

    def fdiff(self, argindex: int = 2) -> Expr:
        if argindex != 2:
            raise ArgumentIndexError(self, argindex)
        k, a, d = self.args
        return multipolygamma(k + 1, a, d)
