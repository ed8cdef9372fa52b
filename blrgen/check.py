"""Is a family file right, stage by stage: what `blrgen check FILE.toml` runs.

    declaration    keys, names, domains, minimal statistics
    log-partition  derived, or the given one against the density itself
    charts         both directions, and the round trip
    normalised     ∫ q = 1            mean      𝔼_q[T] = ∇A
    covariance     Cov_q[T] = ∇²A     entropy   −𝔼_q[log q]
    expectation    the route by which gradients of 𝔼_q[ℓ] are found
    rule           the exact rule

A stage that fails ends the report; later ones stand on it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import mpmath
import sympy as sp

from blrgen.algebra.ring import ring_of
from blrgen.core import Family
from blrgen.errors import InternalError, UserError
from blrgen.geometry.geometry import Geometry, geometry_of, verified_integral
from blrgen.geometry.integrate import exponent_of
from blrgen.geometry.verify import interior_points, total_mass

Expr = Any
_TOLERANCE = mpmath.mpf(10) ** -10


@dataclass(frozen=True)
class Finding:
    """One stage: passed or not, how it is known, and what is wrong."""

    stage: str
    passed: bool
    text: str


def check(path: str) -> list[Finding]:
    """Every stage in order, up to the first that fails."""
    findings: list[Finding] = []
    for finding in _stages(path):
        findings.append(finding)
        if not finding.passed:
            break
    return findings


def _stages(path: str) -> Iterator[Finding]:
    from blrgen.read.family import read_family

    family, finding = _attempt("declaration", lambda: read_family(path), _declared)
    yield finding
    ring = ring_of(family)
    _, finding = _attempt(
        "log-partition", lambda: verified_integral(family, ring), lambda found: str(found[1])
    )
    yield finding
    geometry, finding = _attempt("charts", lambda: geometry_of(family), _charts)
    yield finding
    yield from _against_density(geometry)
    yield from _rule(geometry)


def _attempt(
    stage: str, make: Callable[[], Any], describe: Callable[[Any], str]
) -> tuple[Any, Finding]:
    try:
        made = make()
    except (UserError, InternalError) as e:
        return None, Finding(stage, False, str(e))
    return made, Finding(stage, True, describe(made))


def _declared(family: Family) -> str:
    return (
        f"{family.name}: {len(family.statistics)} minimal statistics, "
        f"{len(family.working)} working parameters"
    )


def _charts(geometry: Geometry) -> str:
    if not geometry.family.working:
        return "none declared: the natural parameters are the coordinates"
    pairs = [f"{k} = {v}" for k, v in geometry.natural_of_working.items()]
    return "identity: " + ", ".join(pairs) + ", and back"


def _against_density(geometry: Geometry) -> Iterator[Finding]:
    """The numbers of the geometry against quadrature or summation of the density itself."""
    family = geometry.family
    if not geometry.ring.elementwise or family.support.kind not in (
        "interval", "integers", "vector", "finite",
    ):  # fmt: skip
        yield Finding("density", True, "not checked: no quadrature over this support")
        return
    exponent = exponent_of(family, geometry.ring)
    names = [str(t) for t in family.statistics]
    worst = dict.fromkeys(("normalised", "mean", "covariance", "entropy"), mpmath.mpf(0))
    for point in interior_points(family):
        for stage, what, found, claimed in _comparisons(geometry, exponent, point, names):
            gap = abs(found - claimed) / max(1, abs(found))
            worst[stage] = max(worst[stage], gap)
            if gap > _TOLERANCE:
                shown = ", ".join(f"{k} = {v}" for k, v in point.items())
                yield Finding(
                    stage, False,
                    f"{what} should be {mpmath.nstr(found, 12)} at {shown}, "
                    f"not {mpmath.nstr(claimed, 12)}",
                )  # fmt: skip
                return
    for stage, gap in worst.items():
        yield Finding(
            stage, True, f"numeric: within {mpmath.nstr(gap, 2)} of the density at 3 points"
        )


def _comparisons(
    geometry: Geometry, exponent: Expr, point: dict[Expr, Expr], names: list[str]
) -> Iterator[tuple[str, str, Any, Any]]:
    family = geometry.family
    with mpmath.workdps(25):
        log_q = sp.expand((exponent - geometry.log_partition).subs(point))

        def mean_of(f: Expr) -> Any:
            return _expectation(family, log_q, f)

        def claimed(x: Expr) -> Any:
            return mpmath.mpf(str(sp.N(sp.sympify(x).subs(point), 25)))

        yield "normalised", "∫ q", mean_of(sp.S.One), mpmath.mpf(1)
        means = [mean_of(t) for t in family.statistics]
        for name, found, mu in zip(names, means, geometry.mean, strict=True):
            yield "mean", f"E[{name}]", found, claimed(mu)
        for i, a in enumerate(family.statistics):
            for j, b in enumerate(family.statistics[: i + 1]):
                found = mean_of(a * b) - means[i] * means[j]
                yield "covariance", f"Cov[{a}, {b}]", found, claimed(geometry.fisher[i][j])
        yield "entropy", "−E[log q]", -mean_of(log_q), claimed(geometry.entropy)


def _expectation(family: Family, log_q: Expr, f: Expr) -> Any:
    """∫ f q, with f put under the integral as a factor."""
    from blrgen.prove.evaluate import evaluate

    if family.support.kind == "finite":
        x = family.variable
        return mpmath.fsum(
            evaluate((f * sp.exp(log_q)).subs(x, p), {}) for p in family.support.points
        )
    return total_mass(family, log_q, f)


def _rule(geometry: Geometry) -> Iterator[Finding]:
    from blrgen.expect import expectation_of
    from blrgen.rule import exact_rule

    expectation, finding = _attempt(
        "expectation", lambda: expectation_of(geometry), lambda e: f"{e.route}: {e.because}"
    )
    yield finding
    if expectation is None:
        return
    _, finding = _attempt(
        "rule", lambda: exact_rule(geometry, expectation),
        lambda r: ", ".join(f"{x}_next = {v}" for x, v in r.working_next),
    )  # fmt: skip
    yield finding
