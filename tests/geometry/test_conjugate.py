"""Conjugate priors: exact Bayes by quadrature, the families found, predictive densities."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
import scipy.stats
import sympy as sp
from numeric import spd, value

from blrgen.geometry import recognise
from blrgen.geometry.geometry import Geometry, geometry_of
from blrgen.read.family import read_family

pytestmark = pytest.mark.core

GAMMA = """
name = "spot-gamma"
title = "Gamma"
variable = "y"
support = "(0, oo)"
statistics = ["log(y)", "y"]
base_measure = "1/y"
log_partition = "loggamma(k1) - k1*log(-k2)"
[natural]
k1 = "(0, oo)"
k2 = "(-oo, 0)"
[working]
a = { domain = "(0, oo)", natural = "k1" }
b = { domain = "(0, oo)", natural = "-k2" }
"""
BETA = """
name = "spot-beta"
title = "Beta"
variable = "y"
support = "(0, 1)"
statistics = ["log(y)", "log(1 - y)"]
log_partition = "loggamma(k1 + 1) + loggamma(k2 + 1) - loggamma(k1 + k2 + 2)"
[natural]
k1 = "(-1, oo)"
k2 = "(-1, oo)"
[working]
a = { domain = "(0, oo)", natural = "k1 + 1" }
b = { domain = "(0, oo)", natural = "k2 + 1" }
"""
HEAD = """
name = "{name}"
title = "A likelihood"
variable = "x"
support = "{support}"
statistics = ["{statistic}"]
{more}
[natural]
eta = "{domain}"
{tail}
"""


def likelihood(name: str, support: str, statistic: str, domain: str, more: str = "",
               tail: str = "") -> str:  # fmt: skip
    return HEAD.format(name=name, support=support, statistic=statistic, domain=domain, more=more,
                       tail=tail)  # fmt: skip


POISSON = likelihood(
    "pois", "integers >= 0", "x", "(-oo, oo)",
    'base_measure = "1/factorial(x)"\nlog_partition = "exp(eta)"',
    '[working]\nrate = { domain = "(0, oo)", natural = "exp(eta)" }',
)  # fmt: skip
EXPONENTIAL = likelihood(
    "expo", "(0, oo)", "x", "(-oo, 0)", 'log_partition = "-log(-eta)"',
    '[working]\nmean = { domain = "(0, oo)", natural = "-1/eta" }',
)  # fmt: skip
BERNOULLI = likelihood("bern", "{0, 1}", "x", "(-oo, oo)")
GEOMETRIC = likelihood(
    "geom", "integers >= 0", "x", "(-oo, 0)", 'log_partition = "-log(1 - exp(eta))"'
)
NORMAL = likelihood(
    "norm", "(-oo, oo)", "x", "(-oo, oo)", 'base_measure = "exp(-x**2/(2*w))"',
    '[working]\nm = { domain = "(-oo, oo)", natural = "w*eta" }\n[fixed]\nw = "(0, oo)"',
)  # fmt: skip
LAPLACE = likelihood(
    "lapl", "(-oo, oo)", "abs(x)", "(-oo, 0)", 'log_partition = "log(2) - log(-eta)"'
)
DATA = {  # likelihood, its data, the law of which function of which name, parameters after the data
    "pois": (POISSON, [2, 0, 5], "rate", lambda c, n: scipy.stats.gamma(c, scale=1 / n)),
    "expo": (EXPONENTIAL, [0.5, 2.0], "1/mean",
             lambda c, n: scipy.stats.gamma(n + 1, scale=1 / c)),
    "bern": (BERNOULLI, [0, 1, 1], "mu", lambda c, n: scipy.stats.beta(c, n - c)),
    "geom": (GEOMETRIC, [3, 0], "exp(eta)", lambda c, n: scipy.stats.beta(c, n + 1)),
    "norm": (NORMAL, [0.3, -1.2], "m",
             lambda c, n: scipy.stats.norm(c / n, (1.7 / n) ** 0.5)),
    "lapl": (LAPLACE, [0.3, -1.2], "-eta", lambda c, n: scipy.stats.gamma(n + 1, scale=1 / c)),
}  # fmt: skip
CHI, NU = sp.Rational(3, 2), sp.Rational(11, 4)


def read(text: str, folder: Path, name: str) -> Geometry:
    path = folder / f"{name}.toml"
    path.write_text(text)
    return geometry_of(read_family(str(path)))


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The families to look among: two written on the spot and the house's Gaussian."""
    for name, text in (("spot-gamma", GAMMA), ("spot-beta", BETA)):
        (tmp_path / f"{name}.toml").write_text(text)
    paths = [str(tmp_path / "spot-gamma.toml"), str(tmp_path / "spot-beta.toml"), "gaussian"]
    monkeypatch.setattr(recognise, "candidates", lambda size: tuple(paths) if size == 1 else ())


@pytest.mark.parametrize("name", DATA)
@pytest.mark.usefixtures("shelf")
def test_the_posterior_is_the_family_found(name: str, tmp_path: Path) -> None:
    """Prior × likelihood, normalised by quadrature over λ, has scipy's density."""
    text, data, shown, law = DATA[name]
    g = read(text, tmp_path, name)
    c = g.conjugate
    found = c.recognised
    assert found is not None
    assert found.proof.proved
    assert str(found.coordinates[0].shown) == shown
    assert set(map(str, found.conditions)) <= {
        str(c.nu), str(c.chi[0]), f"{c.nu} + 1", f"-{c.chi[0]} + {c.nu}",
    }  # fmt: skip
    w = {p.symbol: sp.Rational(17, 10) for p in g.family.fixed}
    (t,) = g.family.statistics
    total = CHI + sum(sp.nsimplify(t.subs(g.family.variable, x), rational=True) for x in data)
    count = NU + len(data)
    if name in ("bern",):
        assert 0 < total < count
    kappa = [k.subs({c.chi[0]: total, c.nu: count, **w}) for k in found.kappa]
    posterior = law(float(total), float(count))
    names = [p.symbol for p in found.family.natural]
    base = found.family.base_measure
    for y in posterior.ppf([0.1, 0.5, 0.8]):
        at = {found.family.variable: sp.Float(y, 20)}
        e = sum(k * s for k, s in zip(kappa, found.family.statistics, strict=True))
        log_density = sp.N((e + sp.log(base)).subs(at) - _a(found, dict(zip(names, kappa,
                           strict=True))), 20)  # fmt: skip
        assert float(log_density) == pytest.approx(posterior.logpdf(y), abs=1e-9)


def _a(found: Any, at: dict[Any, Any]) -> Any:
    from blrgen.algebra.ring import ring_of
    from blrgen.geometry.integrate import log_integral

    return log_integral(found.family, ring_of(found.family)).log_partition.subs(at)


@pytest.mark.parametrize("name", DATA)
@pytest.mark.usefixtures("shelf")
def test_the_prior_carries_the_jacobian(name: str, tmp_path: Path) -> None:
    """log p(ψ) − log p(λ(ψ)) = log|dλ/dψ| up to a constant, whatever the chart."""
    g = read(DATA[name][0], tmp_path, name)
    c = g.conjugate
    if not g.family.working:
        assert sp.expand(c.log_prior_in_working - c.log_prior).free_symbols <= {c.nu}
        assert c.log_jacobian == 0
        return
    (psi,), (lam,) = g.working, g.natural
    slope = abs(sp.diff(g.natural_of_working[lam], psi))
    fixed = {p.symbol: sp.Rational(17, 10) for p in g.family.fixed}
    gap = c.log_prior_in_working - c.log_prior.subs(lam, g.natural_of_working[lam]) - sp.log(slope)
    at = {c.chi[0]: CHI, c.nu: NU, **fixed}
    values = [sp.N(gap.subs({**at, psi: x}), 20) for x in (sp.Rational(1, 3), sp.Rational(4, 5))]
    assert abs(values[0] - values[1]) < 1e-15


@pytest.mark.parametrize("name", DATA)
@pytest.mark.usefixtures("shelf")
def test_the_predictive_density(name: str, tmp_path: Path) -> None:
    """∫ q(x|λ) p(λ|χ, ν) dλ by quadrature, in the natural parameter."""
    g = read(DATA[name][0], tmp_path, name)
    c, (lam,) = g.conjugate, g.natural
    log_predictive = c.log_predictive
    assert log_predictive is not None
    chi = sp.Rational(3, 2)
    fixed = {p.symbol: sp.Rational(17, 10) for p in g.family.fixed}
    at = {c.chi[0]: chi, c.nu: NU, **fixed}
    prior = sp.lambdify(lam, c.log_prior.subs(at), "mpmath")
    ends = {"pois": [-40, -3, 0, 2, 5], "bern": [-60, -4, 0, 4, 60], "norm": [-9, 0, 9]}
    reach = ends.get(name, [-60, -9, -2, -0.5, -0.1, -1e-3, -1e-6])
    with mpmath.workdps(20):
        mass = mpmath.quad(lambda v: mpmath.exp(prior(v)), reach)
        for x in (1, 0):
            (t,) = (s.subs(g.family.variable, x) for s in g.family.statistics)
            more = sp.lambdify(lam, (lam * t - g.log_partition).subs(fixed), "mpmath")
            both = mpmath.quad(lambda v, more=more: mpmath.exp(prior(v) + more(v)), reach)
            base = sp.N(g.family.base_measure.subs({g.family.variable: x, **fixed}), 20)
            wanted = mpmath.log(both / mass) + mpmath.log(mpmath.mpf(str(base)))
            value = sp.N(log_predictive.subs({**at, g.family.variable: x}), 20)
            assert abs(mpmath.mpf(str(value)) - wanted) < 1e-6 * max(1, abs(wanted))


@pytest.mark.usefixtures("shelf")
def test_known_predictives(tmp_path: Path) -> None:
    """Poisson–gamma is negative binomial, exponential–gamma Lomax."""
    g = read(POISSON, tmp_path, "pois")
    c = g.conjugate
    at = {c.chi[0]: CHI, c.nu: NU}
    law = scipy.stats.nbinom(1.5, 2.75 / 3.75)
    for k in (0, 3, 11):
        value = float(sp.N(c.log_predictive.subs({**at, g.family.variable: k})))
        assert value == pytest.approx(law.logpmf(k), abs=1e-12)
    g = read(EXPONENTIAL, tmp_path, "expo")
    c = g.conjugate
    lomax = scipy.stats.lomax(3.75, scale=1.5)
    value = float(sp.N(c.log_predictive.subs({**at, g.family.variable: sp.Rational(7, 3)})))
    assert value == pytest.approx(lomax.logpdf(7 / 3), abs=1e-12)


@pytest.mark.usefixtures("shelf")
def test_what_is_no_shipped_family_is_not_named(tmp_path: Path) -> None:
    """The gamma likelihood's prior has log Γ(a): no family here has that statistic."""
    g = read(GAMMA, tmp_path, "spot")
    assert g.conjugate.recognised is None
    assert g.conjugate.log_predictive is None


def test_the_normal_has_a_normal_gamma_prior_and_a_student_predictive() -> None:
    """x | χ, ν ~ t with 2a degrees of freedom, about m, scale² = b(κ + 1)/(aκ)."""
    g = geometry_of(read_family("gaussian"))
    c = g.conjugate
    found = c.recognised
    assert found is not None
    assert found.proof.proved
    assert found.family.name == "normal-gamma"
    assert [str(y.shown) for y in found.coordinates] == ["m", "1/v"]
    at = {c.chi[0]: sp.Rational(3, 4), c.chi[1]: sp.Rational(7, 2), c.nu: sp.Rational(5, 2)}
    values = {str(x): float(v.subs(at)) for x, v in found.working}
    law = scipy.stats.t(
        2 * values["a"], loc=values["m"],
        scale=(values["b"] * (values["kappa"] + 1) / (values["a"] * values["kappa"])) ** 0.5,
    )  # fmt: skip
    for x in (-1.5, 0.0, 0.8):
        shown = float(sp.N(c.log_predictive.subs({**at, g.family.variable: x})))
        assert shown == pytest.approx(law.logpdf(x), abs=1e-11)


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_the_full_normal_has_a_normal_wishart_prior(dim: int) -> None:
    """Its predictive is scipy's multivariate t, in every dimension."""
    g = geometry_of(read_family("gaussian-full"))
    c = g.conjugate
    found = c.recognised
    assert found is not None
    assert found.proof.proved
    assert found.family.name == "normal-wishart"
    rng = np.random.default_rng(dim)
    chi1, chi2, nu = rng.standard_normal((dim, 1)), 4 * spd(rng, dim), 2.5
    env = {"chi1": chi1, "chi2": chi2 + chi1 @ chi1.T / nu, "nu": nu, "d": float(dim)}
    working = {str(x): value(v, env) for x, v in found.working}
    free = working["n"] - dim + 1
    kappa = working["kappa"]
    shape = np.linalg.inv(working["V"]) * (kappa + 1) / (kappa * free)
    law = scipy.stats.multivariate_t(working["m"][:, 0], shape, df=free)
    theta = rng.standard_normal((dim, 1))
    shown = value(c.log_predictive, {**env, "theta": theta})
    assert shown == pytest.approx(law.logpdf(theta[:, 0]), rel=1e-10)
