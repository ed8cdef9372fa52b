"""Stages for families of several variables or of symbolic size: numbers at d = 1 and d = 2.

The density is summed by `geometry.nested` at concrete sizes; a claim that is wrong in a
constant shows at d = 1, one that is wrong in how it depends on the dimension at d = 2.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from blrgen.algebra.ring import Matrix
from blrgen.check.finding import NotChecked, Wrong, digits, within
from blrgen.core import Family

if TYPE_CHECKING:
    from blrgen.check.context import Context
    from blrgen.geometry.at_sizes import Comparison

Expr = Any
_SIZES = ((1, 0), (2, 0), (3, 0))
_ROUNDING = 1e-9


def applies(context: Context, stage: str) -> bool:
    """Whether this stage is one of numbers, and the family one that needs sizes."""
    family: Family = context.family
    sized = isinstance(context.ring, Matrix) or bool(family.joint)
    return sized and not family.factors and stage in _STAGES


def run(context: Context, stage: str) -> tuple[str, str]:
    """The line of a stage."""
    return _STAGES[stage](context, stage)


def _comparisons(context: Context) -> list[Comparison]:
    from blrgen.geometry.at_sizes import comparisons

    if "_by_sizes" not in vars(context):
        vars(context)["_by_sizes"] = list(comparisons(context.geometry))
    found: list[Comparison] = vars(context)["_by_sizes"]
    if not found:
        raise NotChecked("too many dimensions for quadrature, also at d = 1")
    return found


def _compared(context: Context, stage: str) -> tuple[str, str]:
    """Every comparison of the stage; the first that fails is shown."""
    from blrgen.geometry.at_sizes import TOLERANCE

    all_ = [c for c in _comparisons(context) if c.stage == stage]
    own = [c for c in all_ if stage != "entropy gradient" or np.isfinite(c.claimed)]
    if all_ and not own:  # needs F⁻¹
        raise NotChecked("F has no inverse in double precision at any of the points")
    for c in own:
        if not c.gap <= TOLERANCE:
            raise Wrong(c.what, dict(c.place), digits(c.claimed), digits(c.found))
    worst = within(max(c.gap for c in own))
    text = f"within {worst} of the density {_where(context, [c.size for c in own])}"
    if len(own) < len(all_):
        text += f"; {len(all_) - len(own)} left out, where F is singular in double precision"
    return "numeric", f"{_case(context)}; {text}" if stage == "entropy gradient" else text


def _case(context: Context) -> str:
    geometry = context.geometry
    absorbed = geometry.absorbed_base
    if absorbed is not None:
        return f"log h in the span of T: ∇_μ𝓗 = −λ − ({', '.join(map(str, absorbed[1]))})"
    if geometry.expected_log_base.free_symbols.isdisjoint(geometry.natural):
        return "h is constant: ∇_μ𝓗 = −λ"
    return "h depends on the variable: ∇_μ𝓗 = −λ − ∇_μE[log h]"


def _where(context: Context, sizes: list[int]) -> str:
    from blrgen.read.sizes import size_symbols

    names = [str(s) for s in size_symbols(context.family)]
    if not names:
        return f"at {_points(context)} points"
    *front, last = map(str, sorted(set(sizes)))
    said = f"{', '.join(front)} and {last}" if front else last
    return f"at {' = '.join(names)} = {said}"


def _points(context: Context) -> int:
    return len({c.place for c in _comparisons(context)})


def _convexity(context: Context, stage: str) -> tuple[str, str]:
    """The Fisher form on a basis of the natural parameters."""
    from blrgen.geometry.at_sizes import fisher_matrix
    from blrgen.geometry.points_at_sizes import point_inside, sizes_at

    for size, turn in _SIZES[:2]:
        here = point_inside(context.family, sizes_at(context.family, size), turn)
        fisher = fisher_matrix(context.geometry, here)
        scale = max(1.0, float(np.abs(fisher).max()))
        if not np.abs(fisher - fisher.T).max() <= _ROUNDING * scale:
            raise Wrong("F − Fᵀ", {}, digits(np.abs(fisher - fisher.T).max()), "0",
                        "F is not symmetric")  # fmt: skip
        lowest = float(np.linalg.eigvalsh(fisher)[0])
        if not lowest > 0:
            raise Wrong("the smallest eigenvalue of F", {"size": size}, digits(lowest), "positive",
                        "the Fisher information is not positive definite")  # fmt: skip
    return "numeric", f"F is symmetric positive definite {_where(context, [1, 2])}"


def _sizes_from_means(context: Context) -> None:
    """Of numbers alone no size can be told: the caller says it, and there is nothing to invert."""
    from blrgen.read.sizes import size_symbols

    family = context.family
    told = {s for p in (*family.natural, *family.fixed) for s in _sizes(p.symbol)}
    missing = [str(s) for s in size_symbols(family) if s not in told]
    if missing:
        raise NotChecked(f"mean parameters that are numbers do not tell {', '.join(missing)}")


def _sizes(x: Expr) -> set[Expr]:
    return {s for size in getattr(x, "shape", ()) for s in size.free_symbols}


def _parametrisations(context: Context, stage: str) -> tuple[str, str]:
    """λ(ψ(λ)) = λ, and A in working coordinates is A, as numbers."""
    from blrgen.geometry.at_sizes import place_of
    from blrgen.geometry.points_at_sizes import point_inside, sizes_at

    family, geometry = context.family, context.geometry
    if not family.working:
        return "identity", "one: the natural parameters"
    in_working, worst = geometry.to_working(geometry.log_partition), 0.0
    for size, turn in _SIZES:
        here = point_inside(family, sizes_at(family, size), turn)
        there = here.with_({
            x: here.like(e, x) for x, e in geometry.working_of_natural.items()
        })  # fmt: skip
        bare = there.without(geometry.natural)
        pairs = [("A in working parameters", bare.value(in_working),
                  here.value(geometry.log_partition))]  # fmt: skip
        for x in geometry.natural:
            back = bare.like(geometry.natural_of_working[x], x)
            pairs.append((f"{x} from the working parameters", back, here.values[x]))
        for what, claimed, should in pairs:
            gap = float(np.abs(claimed - should).max() / max(1.0, np.abs(should).max()))
            worst = max(worst, gap)
            if not gap <= _ROUNDING:
                raise Wrong(what, dict(place_of(family, here)), str(claimed), str(should))
    return "numeric", f"A and λ within {within(worst)} in both {_where(context, [1, 2, 3])}"


def _inverse_mean(context: Context, stage: str) -> tuple[str, str]:
    """λ(μ(λ)) = λ at concrete sizes, by whatever way there is."""
    _sizes_from_means(context)
    from blrgen.geometry.at_sizes import place_of, said
    from blrgen.geometry.inside import exactly
    from blrgen.geometry.points_at_sizes import point_inside, sizes_at

    family, geometry, worst = context.family, context.geometry, 0.0
    for size, turn in _SIZES:
        here = point_inside(family, sizes_at(family, size), turn)
        at = exactly(here)
        mean = [at.like(m, x) for m, x in zip(geometry.mean, geometry.natural, strict=True)]
        fixed = {p.name: at.value(p.symbol) for p in family.fixed}
        found = geometry.natural_of_mean(mean, fixed)
        if not found.converged:
            raise NotChecked(f"from μ at {said(place_of(family, here))}: {found.reason}")
        for x, value in zip(geometry.natural, found.values, strict=True):
            should = here.values[x]
            value = np.asarray(value).reshape(np.shape(should))
            gap = float(np.abs(value - should).max() / max(1.0, np.abs(should).max()))
            worst = max(worst, gap)
            if not gap <= _ROUNDING:
                raise Wrong(f"{x} of E[T]", dict(place_of(family, here)), str(value), str(should))
    text = f"λ(μ) within {within(worst)} of λ {_where(context, [1, 2, 3])}"
    return "numeric", f"{way(context)}; {text}"


def way(context: Context) -> str:
    """How natural parameters are found from mean ones."""
    geometry = context.geometry
    if geometry.inverse_mean is not None:
        return "closed form"
    if geometry.elimination is not None:
        return f"one equation, for {geometry.elimination.held.name}"
    return "Newton's steps"


_STAGES: dict[str, Callable[[Context, str], tuple[str, str]]] = {
    **dict.fromkeys(("normalised", "mean", "covariance", "entropy", "entropy gradient"), _compared),
    "convexity": _convexity,
    "parametrisations": _parametrisations,
    "inverse mean": _inverse_mean,
}
