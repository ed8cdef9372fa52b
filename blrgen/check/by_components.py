"""Stages for families of vectors by their components: numbers at several small sizes.

What was derived for every size is held against the density itself, summed or integrated
over its support at K = 2, 3, 4 (a box of d axes at d = 1, 2).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import mpmath
import numpy as np

from blrgen.algebra.components import Component
from blrgen.check.finding import NotChecked, Wrong, digits, within
from blrgen.value.arithmetic import EXTENDED
from blrgen.value.instance import Instance

if TYPE_CHECKING:
    from blrgen.check.context import Context
    from blrgen.geometry.sized import PointSums, Sized

Expr = Any
TOLERANCE = 1e-10
_ROUNDING = 1e-12


def applies(context: Context, stage: str) -> bool:
    """Whether this stage is one of numbers, and the family one of components."""
    return context.family.components is not None and stage in _STAGES


def run(context: Context, stage: str) -> tuple[str, str]:
    """The line of a stage."""
    return _STAGES[stage](context)


def pairs(context: Context) -> list[tuple[Sized, PointSums]]:
    """The geometry and the density at the same places."""
    from blrgen.geometry.sized import PointSums, Sized, places

    if "_by_components" not in vars(context):
        both = [
            (Sized(context.geometry, sizes, point), PointSums(context.family, sizes, point))
            for sizes, point in places(context.family)
        ]
        vars(context)["_by_components"] = [(s, q) for s, q in both if q.settled]
    found: list[tuple[Sized, PointSums]] = vars(context)["_by_components"]
    if not found:
        raise NotChecked("the quadrature does not settle at any point")
    return found


def _where(context: Context) -> str:
    sizes = sorted({f"{k} = {v}" for s, _ in pairs(context) for k, v in s.sizes.items()})
    return f"{len(pairs(context))} points" + (f", {', '.join(sizes)}" if sizes else "")


class _Worst:
    """The largest gap so far; beyond the tolerance it is a refutation."""

    def __init__(self) -> None:
        self.gap = 0.0

    def compare(self, s: Sized, what: str, claimed: Any, should: Any) -> None:
        gap = float(abs(claimed - should) / max(1, abs(should)))
        self.gap = max(self.gap, gap)
        if not gap <= TOLERANCE:
            raise Wrong(what, _place(s), digits(claimed), digits(should))


def _place(s: Sized) -> dict[str, Any]:
    """Sizes and components by name, for a message."""
    found: dict[str, Any] = {str(k): v for k, v in s.sizes.items()}
    for name, v in s.point.items():
        entries = v if isinstance(v, list) else [v]
        text = [str(mpmath.nstr(e, 6)) for e in entries]
        found[name] = f"[{', '.join(text)}]" if isinstance(v, list) else text[0]
    return found


def _names(context: Context, s: Sized) -> list[str]:
    """What each component of the statistics is called."""
    found = []
    for p, t in zip(context.family.natural, context.family.statistics, strict=True):
        if isinstance(p.symbol, Component):
            found += [f"{t}[{k + 1}]" for k in range(s.here.whole(p.symbol.size))]
        else:
            found.append(str(t))
    return found


def _normalised(context: Context) -> tuple[str, str]:
    worst = _Worst()
    for s, q in pairs(context):
        worst.compare(s, "A = log ∫ h exp⟨λ, T⟩", s.log_partition, q.log_partition)
    return "numeric", f"within {within(worst.gap)} of the density's mass at {_where(context)}"


def _mean(context: Context) -> tuple[str, str]:
    worst = _Worst()
    for s, q in pairs(context):
        for name, a, b in zip(_names(context, s), s.mean, q.mean, strict=True):
            worst.compare(s, f"E[{name}]", a, b)
    return "numeric", f"∇A within {within(worst.gap)} of E[T] at {_where(context)}"


def _covariance(context: Context) -> tuple[str, str]:
    worst = _Worst()
    for s, q in pairs(context):
        names = _names(context, s)
        for i, row in enumerate(s.fisher):
            for j, entry in enumerate(row):
                worst.compare(s, f"Cov[{names[i]}, {names[j]}]", entry, q.covariance[i][j])
    return "numeric", f"∇²A within {within(worst.gap)} of Cov[T] at {_where(context)}"


def _convexity(context: Context) -> tuple[str, str]:
    for s, _ in pairs(context):
        fisher = np.array([[float(x) for x in row] for row in s.fisher])
        scale = max(1.0, float(np.abs(fisher).max()))
        skew = float(np.abs(fisher - fisher.T).max())
        if not skew <= _ROUNDING * scale:
            raise Wrong("F − Fᵀ", _place(s), digits(skew), "0", "F is not symmetric")
        lowest = float(np.linalg.eigvalsh(fisher)[0])
        if not lowest > 0:
            raise Wrong("the smallest eigenvalue of F", _place(s), digits(lowest), "positive",
                        "the Fisher information is not positive definite")  # fmt: skip
    return "numeric", f"F is symmetric positive definite at {_where(context)}"


def _entropy(context: Context) -> tuple[str, str]:
    worst = _Worst()
    for s, q in pairs(context):
        worst.compare(s, "𝓗 = −E[log q]", s.entropy, q.entropy)
    return "numeric", f"within {within(worst.gap)} of −E[log q] at {_where(context)}"


def _entropy_gradient(context: Context) -> tuple[str, str]:
    """F∇_μ𝓗 = ∇_λ𝓗 = −Cov(T, log q)."""
    worst = _Worst()
    for s, q in pairs(context):
        exponent, top = q._table
        log_q = exponent + top - q.log_partition
        middle = q.expectation(log_q)
        pulled = [
            mpmath.fsum(x * g for x, g in zip(row, s.entropy_gradient, strict=True))
            for row in s.fisher
        ]
        for name, t, a in zip(_names(context, s), q.statistics, pulled, strict=True):
            should = -q.expectation((t - q.expectation(t)) * (log_q - middle))
            worst.compare(s, f"∂𝓗 along the parameter of {name}", a, should)
    return "numeric", f"{_case(context)}; within {within(worst.gap)} of −Cov(T, log q)"


def _case(context: Context) -> str:
    from blrgen.expect.base_measure import log_base_of

    base = log_base_of(context.geometry)
    if base.case == "constant":
        return "h is constant: ∇_μ𝓗 = −λ"
    if base.case == "span" and base.gradient is not None:
        return f"log h in the span of T: ∇_μ𝓗 = −λ − ({', '.join(map(str, base.gradient))})"
    return "h depends on the variable: ∇_μ𝓗 = −λ − ∇_μE[log h]"


def _parametrisations(context: Context) -> tuple[str, str]:
    """λ(ψ(λ)) = λ, and A in working coordinates is A."""
    geometry, worst = context.geometry, _Worst()
    if not context.family.working:
        return "identity", "one: the natural parameters"
    in_working = geometry.to_working(geometry.log_partition)
    for s, _ in pairs(context):
        names = {p.name: s.point[p.name] for p in context.family.fixed}
        names |= dict(_valued(s.here, geometry.working_of_natural))
        there = Instance(s.sizes, names, EXTENDED)
        worst.compare(s, "A in working parameters", there.value(in_working), s.log_partition)
        for x, e in geometry.natural_of_working.items():
            _compare_vectors(worst, s, f"{x} from the working parameters", x, there, e)
    return "numeric", f"A and λ within {within(worst.gap)} in both at {_where(context)}"


def _valued(here: Instance, chart: dict[Expr, Expr]) -> Iterator[tuple[str, Any]]:
    for x, e in chart.items():
        yield x.name, here.like(e, x)


def _compare_vectors(worst: _Worst, s: Sized, what: str, x: Expr, there: Instance, e: Expr) -> None:
    should = s.point[x.name]
    found = there.vector(e, x.size) if isinstance(x, Component) else [there.value(e)]
    for a, b in zip(found, should if isinstance(should, list) else [should], strict=True):
        worst.compare(s, what, a, b)


def _inverse_mean(context: Context) -> tuple[str, str]:
    """λ(μ(λ)) = λ: the closed form, or Newton's method."""
    from blrgen.geometry.component_newton import natural_of_mean
    from blrgen.geometry.inverse import mean_symbols

    geometry, worst = context.geometry, _Worst()
    inverse = geometry.inverse_mean
    for s, _ in pairs(context):
        fixed = {p.name: s.point[p.name] for p in context.family.fixed}
        means: dict[str, Any] = {}
        for mu, x, e in zip(mean_symbols(geometry), geometry.natural, geometry.mean, strict=True):
            means[mu.name] = s.here.like(e, x)
        if inverse is not None:
            there = Instance(s.sizes, {**fixed, **means}, EXTENDED)
            for x, e in zip(geometry.natural, inverse, strict=True):
                _compare_vectors(worst, s, f"{x} of E[T]", x, there, e)
            continue
        found = natural_of_mean(geometry, s.sizes, list(means.values()), fixed)
        if not found.converged:
            raise NotChecked(f"Newton's method did not settle within {found.steps} steps")
        for x, value in zip(geometry.natural, found.natural, strict=True):
            there = Instance(s.sizes, {x.name: value}, EXTENDED)
            _compare_vectors(worst, s, f"{x} of E[T]", x, there, x)
    kind = "closed form" if inverse is not None else "Newton's method"
    return "numeric", f"{kind}; λ(μ) within {within(worst.gap)} of λ at {_where(context)}"


_STAGES: dict[str, Callable[[Context], tuple[str, str]]] = {
    "normalised": _normalised,
    "mean": _mean,
    "covariance": _covariance,
    "convexity": _convexity,
    "entropy": _entropy,
    "entropy gradient": _entropy_gradient,
    "parametrisations": _parametrisations,
    "inverse mean": _inverse_mean,
}
