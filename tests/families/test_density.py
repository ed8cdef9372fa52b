"""Every file in families/: what is derived against sums of the density itself, to 1e-10.

A family that is added is tested here without a line being written: at random points inside
its domain and near every edge of it.
"""

from __future__ import annotations

import random
from functools import cache
from typing import Any

import mpmath
import pytest
import sympy as sp
from mass import Mass, mass_of

from blrgen.algebra.nodes import has_nodes
from blrgen.core import Family, Parameter
from blrgen.read.family import list_families, read_family
from blrgen.value.digits import evaluate_at
from tests.shipped import shipped

SCALAR = [
    name for name in list_families()
    if (f := read_family(name)).elementwise and not f.joint and f.components is None
]  # fmt: skip
NEAR = sp.Rational(1, 50)


@cache
def geometry(name: str) -> Any:
    return shipped(name)


def between(p: Parameter, point: dict[Any, Any], share: sp.Rational, edge: int = 0) -> Any:
    """A number of the domain: `share` > 0 from an end, or near one (1 the lower, 2 the upper)."""
    low, high = (sp.sympify(e if e is not None else s).subs(point)
                 for e, s in ((p.domain.lower, -sp.oo), (p.domain.upper, sp.oo)))  # fmt: skip
    if p.domain.whole:
        return low + 3 + 2 * edge if low.is_finite else sp.Integer(2)
    if low.is_finite and high.is_finite:
        s = NEAR if edge == 1 else 1 - NEAR if edge == 2 else share / (1 + share)
        return low + (high - low) * s
    if low.is_finite:
        return low + (NEAR if edge == 1 else 12 if edge == 2 else share)
    if high.is_finite:
        return high - (NEAR if edge == 2 else 12 if edge == 1 else share)
    return {0: share - 1, 1: -6, 2: 6}[edge] + sp.Rational(1, 7)


def points(family: Family) -> list[dict[Any, Any]]:
    """Two random points, then one near each edge of each natural parameter."""
    draw = random.Random(family.name)
    made = []
    for near in [None, None, *((p.name, e) for p in family.natural for e in (1, 2))]:
        point: dict[Any, Any] = {}
        for p in (*family.fixed, *family.natural):
            share = sp.Rational(draw.randint(20, 300), 100)
            edge = near[1] if near is not None and near[0] == p.name else 0
            point[p.symbol] = between(p, point, share, edge)
        made.append(point)
    return made


def close(e: Any, point: dict[Any, Any], wanted: Any, size: Any = 1) -> bool:
    """Within 1e-10 of the value itself, or of the size of what may pass through zero."""
    value, _ = evaluate_at(e, point, 15)
    return bool(abs(value - wanted) <= mpmath.mpf(10) ** -10 * max(abs(wanted), size))


@pytest.mark.sweep(6)
@pytest.mark.parametrize("name", SCALAR)
def test_everything_agrees_with_the_density(name: str) -> None:
    g = geometry(name)
    slow = has_nodes(g.entropy)
    for point in points(g.family)[: 1 if slow else None]:
        mass: Mass = mass_of(g.family, point)
        deviation = [mpmath.sqrt(row[i]) for i, row in enumerate(mass.covariance)]
        assert close(g.log_partition, point, mass.log_mass), ("A", point)
        assert close(g.entropy, point, mass.entropy), ("entropy", point)
        for mu, wanted, size in zip(g.mean, mass.mean, deviation, strict=True):
            assert close(mu, point, wanted, size), ("mean", point)
        for row, wanted_row, a in zip(g.fisher, mass.covariance, deviation, strict=True):
            for e, wanted, b in zip(row, wanted_row, deviation, strict=True):
                assert close(e, point, wanted, a * b), ("fisher", point)
        with mpmath.workdps(30):
            slope = mpmath.lu_solve(mpmath.matrix(mass.covariance), -mpmath.matrix(mass.with_log_q))
        if not slow:
            for e, wanted in zip(g.entropy_gradient, slope, strict=True):
                assert close(e, point, wanted), ("entropy gradient", point)


@pytest.mark.parametrize("name", SCALAR)
def test_the_fisher_matrix_is_symmetric_and_positive_definite(name: str) -> None:
    g = geometry(name)
    slow = has_nodes(g.entropy)
    for point in points(g.family)[: 1 if slow else None]:
        with mpmath.workdps(40):
            f = mpmath.matrix([
                [evaluate_at(e, point, 12 if slow else 30)[0] for e in row] for row in g.fisher
            ])  # fmt: skip
            assert f == f.T
            mpmath.cholesky(f)  # raises where it is not positive definite


@pytest.mark.sweep(8)
@pytest.mark.parametrize("name", SCALAR)
def test_kl_is_the_bregman_divergence_and_not_negative(name: str) -> None:
    """Σ q (log q − log q′) of the density itself, and A(λ′) − A(λ) − ⟨λ′ − λ, μ⟩."""
    g = geometry(name)
    family = g.family
    here, there = points(family)[:2]
    there = {p.symbol: between(p, here, sp.Rational(3, 2)) for p in family.natural} | {
        p.symbol: here[p.symbol] for p in family.fixed
    }
    mass, other = mass_of(family, here), mass_of(family, there)
    natural = [p.symbol for p in family.natural]
    move = [mpmath.mpf(sp.N(here[x] - there[x], 30)._mpf_) for x in natural]
    by_density = mpmath.fdot(move, mass.mean) - mass.log_mass + other.log_mass
    bregman = g.log_partition.subs(there) - g.log_partition.subs(here) - sum(
        (there[x] - here[x]) * mu.subs(here) for x, mu in zip(natural, g.mean, strict=True)
    )  # fmt: skip
    both = here | {g.divergence.prime[x]: there[x] for x in natural}
    assert close(g.divergence.kl, both, by_density)
    assert close(bregman, {}, by_density)
    assert by_density > 0
    same = here | {g.divergence.prime[x]: here[x] for x in natural}
    assert close(g.divergence.kl, same, 0)
