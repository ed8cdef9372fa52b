"""The multivariate Γ function and its derivatives, of a size that is known at run time.

    log Γ_d(x) = d(d−1)/4 log π + Σ log Γ(y),   ψ_d⁽ᵏ⁾(x) = Σ ψ⁽ᵏ⁾(y),   y = x − j/2, j < d

and ψ′_d(x) − d/x, d log x − ψ_d(x), which lose their digits for large x unless every term
is what is left of it: all of them positive.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from blrgen.emit.special import coefficients as co
from blrgen.emit.special.helper import Expr, Helper

RANGES = ((-8, 8), (0, 1.2))  # of what x is above (d − 1)/2, and of d


def _at(above: float, size: float) -> tuple[float, float]:
    """A point inside: x from what it is above its bound, a whole d."""
    d = float(round(size))
    return (d - 1) / 2 + max(above, d * 2.0**-20), d  # apart from the bound in float32 too


def _parts(term: Callable[[Any], Any]) -> Callable[..., Any]:
    """Σ |term(y)|: what an error is compared with where terms have both signs."""

    def scale(x: Any, d: Any, value: Any) -> Any:
        return max(abs(value), sum(abs(term(x - j / 2)) for j in range(int(d))))

    return scale


def _helper(
    name: str, said: str, says: str, term: str, meaning: Callable[..., Expr], **more: Any
) -> Helper:
    values = {
        "name": name, "said": said, "sum": more.pop("sum"), "term": term,
        "constant": repr(more.pop("constant", 0.0)),
    }  # fmt: skip
    return Helper(
        name, meaning, values,
        ranges=more.pop("ranges", RANGES), place=_at,
        near=((0.5, 1.0), (1.0, 2.0), (10.0, 5.0), (1e6, 3.0), (30.0, 33.0)),
        whole=(1,), says=says, template="multivariate",
        uses=("_real_of", "_where", *more.pop("calls", ())), **more,
    )  # fmt: skip


def multigammaln() -> Helper:
    """log Γ_d."""
    import mpmath

    def meaning(x: Expr, d: Expr) -> Expr:
        from blrgen.algebra.multigamma import multigammaln as node

        return node(x, d)

    return _helper(
        "_multigammaln", "log Γ_d(x)", "multigammaln(x, d)", "_loggamma(y)", meaning,
        sum="d(d − 1)/4 log π + Σ log Γ(y)", constant=co.decimal("quarter log pi"),
        reference=lambda x, d: (
            d * (d - 1) / 4 * mpmath.log(mpmath.pi)
            + mpmath.fsum(mpmath.loggamma(x - mpmath.mpf(j) / 2) for j in range(int(d)))
        ),
        scale=_parts(mpmath.loggamma),
    )  # fmt: skip


def multipolygamma(order: int) -> Helper:
    """ψ_d and its derivatives."""
    import mpmath

    def meaning(x: Expr, d: Expr) -> Expr:
        import sympy as sp

        from blrgen.algebra.multigamma import multipolygamma as node

        return node(sp.Integer(order), x, d)

    called = {0: "_digamma", 1: "_trigamma"}.get(order, f"_polygamma_{order}")
    symbol = {0: "ψ", 1: "ψ′", 2: "ψ″", 3: "ψ‴"}.get(order, f"ψ⁽{order}⁾")
    return _helper(
        f"_multipolygamma_{order}", f"{symbol}_d(x)", f"multipolygamma({order}, x, d)",
        f"{called}(y)", meaning, sum=f"Σ {symbol}(y)",
        reference=lambda x, d: mpmath.fsum(
            mpmath.polygamma(order, x - mpmath.mpf(j) / 2) for j in range(int(d))
        ),
        scale=_parts(mpmath.digamma) if order == 0 else None, calls=(called,),
    )  # fmt: skip


def multitrigamma_rest() -> Helper:
    """ψ′_d without its leading term."""

    def meaning(x: Expr, d: Expr) -> Expr:
        import sympy as sp

        from blrgen.algebra.multigamma import multipolygamma as node

        return node(sp.S.One, x, d) - d / x

    return _helper(
        "_multitrigamma_rest", "ψ′_d(x) − d/x", "multipolygamma(1, x, d) - d/x",
        "_trigamma_rest(y) + half / x / y", meaning,
        sum="Σ ψ′(y) − 1/y + j/(2xy)",
    )  # fmt: skip


def log_minus_multidigamma() -> Helper:
    """d log x − ψ_d(x)."""

    def meaning(x: Expr, d: Expr) -> Expr:
        import sympy as sp

        from blrgen.algebra.multigamma import multipolygamma as node

        return d * sp.log(x) - node(sp.S.Zero, x, d)

    return _helper(
        "_log_minus_multidigamma", "d log x − ψ_d(x)", "d*log(x) - multipolygamma(0, x, d)",
        "_log_minus_digamma(y) + np.log1p(half / y)", meaning,
        sum="Σ log y − ψ(y) + log(x/y)",
    )  # fmt: skip
