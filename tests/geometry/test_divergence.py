"""KL, Rényi and their relatives: against quadrature of the two densities, and as identities."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
import scipy.stats
import sympy as sp
from numeric import spd, value

from blrgen.algebra.nodes import has_nodes
from blrgen.core import Family
from blrgen.errors import UserError
from blrgen.geometry.geometry import Geometry, geometry_of
from blrgen.geometry.integrate import exponent_of
from blrgen.geometry.points import interior_points
from blrgen.geometry.tabulated import Measure
from blrgen.read.family import list_families, read_family
from blrgen.value.evaluate import evaluate
from tests.shipped import shipped

QUARTIC = """
name = "quartic"
title = "No closed form"
variable = "x"
support = "(-oo, oo)"
statistics = ["x", "x**4"]
[natural]
eta1 = "(-oo, oo)"
eta2 = "(-oo, 0)"
"""
SCALAR = [n for n in list_families() if read_family(n).elementwise]
SINGLE = [n for n in SCALAR if not isinstance(getattr(read_family(n), "variables", None), tuple)
          or len(read_family(n).variables) == 1]  # fmt: skip


def pair(f: Family) -> tuple[dict[Any, Any], dict[Any, Any]]:
    """Two members with the same constants."""
    p, q = interior_points(f, 2)
    return p, {**q, **{c.symbol: p[c.symbol] for c in f.fixed}}


def expectation(f: Family, point: dict[Any, Any], what: Any) -> Any:
    """E_q of a function of the variable, by quadrature or summation."""
    table = Measure(f).table(point)
    with mpmath.workdps(400):  # nodes lie close to the ends
        values = [evaluate(what, {f.variable: x}) for x in table.x]
    return table.mean(values)


@pytest.mark.sweep(10)
@pytest.mark.parametrize("name", SINGLE)
def test_kl_against_quadrature(name: str) -> None:
    """KL = E_q[log q − log q′] > 0 = H(q, q′) − 𝓗(q), at two interior members."""
    g = shipped(name)
    f = g.family
    if has_nodes(g.log_partition):
        pytest.skip("no closed form: its numbers are those of the same quadrature")
    p, q = pair(f)
    with mpmath.workdps(20):
        gap = exponent_of(f, g.ring).subs(p) - exponent_of(f, g.ring).subs(q)
        other = sp.N(g.log_partition.subs(q) - g.log_partition.subs(p), 25)
        wanted = expectation(f, p, sp.expand(gap)) + mpmath.mpf(str(other))
    names = [{x.name: v for x, v in at.items()} for at in (p, q)]
    found, error = g.divergence.at(g.divergence.kl, *names)
    assert found > 0
    assert error < 1e-14 * found
    assert abs(found - wanted) < 1e-10 * max(1, abs(wanted))
    cross, _ = g.divergence.at(g.divergence.cross_entropy, *names)
    entropy = sp.N(g.entropy.subs(p), 20)
    assert abs(cross - mpmath.mpf(str(entropy)) - found) < 1e-12 * max(1, abs(cross))


@pytest.mark.sweep(6)
@pytest.mark.parametrize("name", list_families())
def test_every_identity_is_proved(name: str) -> None:
    g = shipped(name)
    proofs = g.divergence.proofs
    assert len(proofs) >= 4
    assert {p.claim: p.level for p in proofs if not p.proved} == {}


@pytest.mark.sweep(6)
@pytest.mark.parametrize("name", SINGLE)
def test_renyi(name: str) -> None:
    """Positive, increasing in α, → KL as α → 1, and at ½ twice the Bhattacharyya distance."""
    d = shipped(name).divergence
    f = d.geometry.family
    if has_nodes(d.geometry.log_partition):
        pytest.skip("no closed form: every number is a quadrature")
    p, q = ({x.name: v for x, v in at.items()} for at in pair(f))
    at = [d.at(d.renyi, {**p, "alpha": a}, q)[0] for a in (0.25, 0.5, 0.75)]
    assert 0 < at[0] < at[1] < at[2]
    kl = d.at(d.kl, p, q)[0]
    near = d.at(d.renyi, {**p, "alpha": sp.Rational(10**9 - 1, 10**9)}, q)[0]
    assert abs(near - kl) < 1e-6 * kl
    assert abs(at[1] - 2 * d.at(d.bhattacharyya, p, q)[0]) < 1e-14 * at[1]
    if f.working:
        chart = {w.name: geometry_at(d.geometry, w, p) for w in d.geometry.working}
        other = {w.name: geometry_at(d.geometry, w, q) for w in d.geometry.working}
        fixed = {c.name: p[c.name] for c in f.fixed}
        moved = d.at(d.renyi_in_working, {**chart, **fixed, "alpha": 0.25}, other)[0]
        assert abs(moved - at[0]) < 1e-12 * at[0]
        assert abs(d.at(d.kl_in_working, {**chart, **fixed}, other)[0] - kl) < 1e-12 * kl


def geometry_at(g: Geometry, w: Any, point: dict[str, Any]) -> Any:
    """A working parameter at a natural point, as an exact number of 40 digits."""
    image = g.working_of_natural[w]
    known = {x: point[x.name] for x in image.free_symbols}
    return sp.Rational(str(sp.N(image.subs(known), 40)))


@pytest.mark.parametrize("step", [1e-3, 1e-8, 1e-14])
def test_members_close_together_lose_no_digits(step: float) -> None:
    """KL(m, m + δ) = δ²/2 for the same variance: all digits, where doubles would have none."""
    d = shipped("gaussian").divergence
    one = {"lam1": 0.5, "lam2": -0.5}
    other = {"lam1": 0.5 + step, "lam2": -0.5}
    found, _ = d.at(d.kl, one, other)
    assert abs(found / ((0.5 + step - 0.5) ** 2 / 2) - 1) < 1e-14
    assert d.at(d.kl, one, one) == (0, 0)


def test_the_known_forms() -> None:
    d = shipped("gaussian").divergence
    m, v, n, w = sp.symbols("m v m_0 v_0", positive=True)
    known = ((m - n) ** 2 + v) / (2 * w) - sp.Rational(1, 2) + sp.log(w / v) / 2
    shown = sp.sympify(str(d.kl_in_working), locals={"m": m, "v": v, "m_0": n, "v_0": w})
    assert sp.expand_log(sp.expand(shown - known), force=True).expand() == 0
    swapped = d.exchanged(d.in_working(d.kl)) - d.in_working(d.reverse_kl)
    assert sp.expand(swapped) == 0


def test_the_condition_of_renyi_is_the_natural_domain() -> None:
    """N(m, v): αλ₂ + (1−α)λ′₂ < 0; beyond it the integral diverges."""
    d = shipped("gaussian").divergence
    ((mixed, domain),) = d.renyi_condition.members
    assert domain.upper == 0
    inside = {"lam2": -1, "lam2_0": -3, "alpha": 1.2}
    assert mixed.subs({x: inside[x.name] for x in mixed.free_symbols}) < 0
    outside = {"lam2": -1, "lam2_0": -3, "alpha": 1.6}
    assert mixed.subs({x: outside[x.name] for x in mixed.free_symbols}) > 0


@pytest.mark.parametrize("dim", [1, 3])
def test_matrix_gaussian_against_samples_of_the_formula(dim: int) -> None:
    """KL of two full Gaussians, against scipy's densities at the Gauss–Hermite mean."""
    d = shipped("gaussian-full").divergence
    rng = np.random.default_rng(dim)
    s, t = spd(rng, dim), spd(rng, dim)
    m, n = rng.standard_normal((dim, 1)), rng.standard_normal((dim, 1))
    env = {"m": m, "S": s, "m_0": n, "S_0": t, "d": float(dim)}
    q = scipy.stats.multivariate_normal(m[:, 0], np.linalg.inv(s))
    r = scipy.stats.multivariate_normal(n[:, 0], np.linalg.inv(t))
    # log q − log q′ is quadratic: its mean is exact on the 2d points m ± √d Lₖ
    low = np.linalg.cholesky(np.linalg.inv(s)) * np.sqrt(dim)
    points = np.concatenate([m[:, 0] + low.T, m[:, 0] - low.T])
    wanted = np.mean(q.logpdf(points) - r.logpdf(points))
    assert value(d.kl_in_working, env) == pytest.approx(wanted, rel=1e-10)


def test_without_a_closed_form(tmp_path: Path) -> None:
    """The Bregman form holds with A as a node; its numbers are quadratures."""
    path = tmp_path / "quartic.toml"
    path.write_text(QUARTIC)
    try:
        g = geometry_of(read_family(str(path)))
    except UserError as refused:
        pytest.skip(f"no numeric log-partition yet: {refused}")
    d = g.divergence
    eta1, eta2 = g.natural
    one, other = (mpmath.mpf(1) / 2, mpmath.mpf(-1)), (mpmath.mpf(-1) / 2, mpmath.mpf(-2))
    at = {eta1: one[0], eta2: one[1], d.prime[eta1]: other[0], d.prime[eta2]: other[1]}
    with mpmath.workdps(15):
        found = evaluate(d.kl, at)
        q, r = (lambda x: x / 2 - x**4), (lambda x: -x / 2 - 2 * x**4)
        mass = [mpmath.quad(lambda x, f=f: mpmath.exp(f(x)), [-5, 0, 5]) for f in (q, r)]
        wanted = (
            mpmath.quad(lambda x: mpmath.exp(q(x)) * (q(x) - r(x)), [-5, 0, 5]) / mass[0]
            + mpmath.log(mass[1])
            - mpmath.log(mass[0])
        )
    assert abs(found - wanted) < 1e-9 * wanted
