"""The exact rule: transported steps, formulae by hand, which precision, fixed points, spaces."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
import sympy as sp
from numeric import gauss_hermite, spd, symmetric, value

from blrgen.algebra.calculus import gradient
from blrgen.algebra.ranks import like
from blrgen.api import derive
from blrgen.core import Derivation
from blrgen.errors import SpaceError
from blrgen.geometry.points import interior_points
from blrgen.read.family import find_family, list_families, read_family
from blrgen.read.sizes import size_symbols
from blrgen.rule.expand import expanded
from blrgen.rule.spaces import MEAN, NATURAL, WORKING, Element, gradient_in
from blrgen.value.evaluate import evaluate

pytestmark = pytest.mark.core

WHOLE = [n for n in list_families() if read_family(n).components is None]
SPOT = {
    "meanstd": ("a/sigma**2", "-1/(2*sigma**2)", 'a = "(-oo, oo)"\nsigma = "(0, oo)"'),
    "logstd": ("a*exp(-2*r)", "-exp(-2*r)/2", 'a = "(-oo, oo)"\nr = "(-oo, oo)"'),
}
TEXT = """
name = "{name}"
title = "Gaussian in another chart"
variable = "theta"
support = "(-oo, oo)"
statistics = ["theta", "theta**2"]
[natural]
lam1 = {{ domain = "(-oo, oo)", working = "{one}" }}
lam2 = {{ domain = "(-oo, 0)", working = "{two}" }}
[working]
{working}
"""
ONE = """
name = "{name}"
title = "Centred Gaussian"
variable = "theta"
support = "(-oo, oo)"
statistics = ["theta**2"]
[natural]
lam = {{ domain = "(-oo, 0)", working = "{chart}" }}
[working]
{working} = "(0, oo)"
"""
COVARIANCE = """
name = "covariance"
title = "Gaussian with full covariance, in the covariance"
variable = "theta"
support = "R^d"
statistics = ["theta", "outer(theta, theta)"]
[natural]
lam1 = { domain = "R^d", working = "inv(V)*m" }
lam2 = { domain = "-SPD", working = "-inv(V)/2" }
[working]
m = "R^d"
V = "SPD"
"""
OTHERS = {
    **{n: TEXT.format(name=n, one=a, two=b, working=w) for n, (a, b, w) in SPOT.items()},
    "precision-only": ONE.format(name="precision-only", chart="-s/2", working="s"),
    "variance-only": ONE.format(name="variance-only", chart="-1/(2*v)", working="v"),
    "covariance": COVARIANCE,
}


def derived(name: str, folder: Path, *flags: str) -> Derivation:
    if name not in OTHERS:
        return derive(name, flags)
    path = folder / "f.toml"
    path.write_text(OTHERS[name])
    return derive(str(path), flags)


def number(x: Any, env: dict[str, Any]) -> Any:
    """The value of a scalar expression, special functions and numbers by quadrature included."""
    with mpmath.workdps(20):
        return float(evaluate(x, {s: mpmath.mpf(env[s.name]) for s in x.free_symbols}))


def inside(d: Derivation) -> dict[str, Any]:
    """An interior member of a scalar family, a small step, inputs of moderate size."""
    rng = np.random.default_rng(0)
    (point,) = interior_points(d.family, 1)
    env: dict[str, Any] = {q.name: 0.3 + rng.random() for q in d.rule.of("input")}
    env |= {k.name: float(v) for k, v in point.items()} | {"rho": 0.01}
    env |= {w.name: number(x, env) for w, x in d.geometry.working_of_natural.items()}
    for letter, entry in d.expectation.metric:
        env[letter.name] = number(entry, env)
    return env


def environment(d: Derivation, size: int) -> dict[str, Any]:
    rng = np.random.default_rng(size)
    env: dict[str, Any] = {"rho": 0.2, "d": float(size)}
    for q in d.rule.of("state", "input"):
        if q.rank == "vector":
            env[q.name] = rng.standard_normal((size, 1))
        elif q.rank == "symmetric":
            env[q.name] = spd(rng, size) if q.kind == "state" else symmetric(rng, size)
        else:
            env[q.name] = abs(rng.standard_normal()) + 0.3 if q.domain.startswith(
                "(0") or q.name == "h" else rng.standard_normal()  # fmt: skip
    return env


# matrices beside numbers, or several sizes: the same claim in geometry/test_matrix_families
SIZED = [n for n in list_families() if size_symbols(read_family(n)) and n != "gaussian-full"]


SCALAR = [n for n in WHOLE if read_family(n).elementwise]


@pytest.mark.sweep(16)
@pytest.mark.parametrize("name", SCALAR)
def test_working_step_of_scalar_families(name: str) -> None:
    """λ(ψ⁺) = λ(ψ) − ρ∇_μ(E_q[ℓ] − 𝓗), as below, at an interior member."""
    d = derive(str(find_family(name)))  # a recipe may have the same name
    g, env = d.geometry, inside(d)
    after = env | {k: number(x, env) for k, x in expanded(d.rule).items()}
    for lam, slope, pull in zip(
        g.natural, d.expectation.mean_gradient, g.entropy_gradient, strict=True
    ):
        now = number(g.natural_of_working[lam], env)
        pulled = 0 if d.expectation.folded else number(g.to_working(pull), env)
        moved = now - env["rho"] * (number(slope, env) - pulled)
        if d.expectation.folded:
            moved -= env["rho"] * now
        new = number(g.natural_of_working[lam], after)
        np.testing.assert_allclose(new, moved, rtol=1e-9, atol=1e-11)


@pytest.mark.sweep(6)
@pytest.mark.parametrize("size", [1, 3])
@pytest.mark.parametrize("name", [n for n in (*WHOLE, *OTHERS) if n not in (*SIZED, *SCALAR)])
def test_working_step_is_the_natural_step_transported(name: str, size: int, tmp_path: Path) -> None:
    """λ(ψ⁺) = λ(ψ) − ρ∇_μ(E_q[ℓ] − 𝓗), with the gradient taken from geometry and expectation."""
    d = derived(name, tmp_path)
    g, env = d.geometry, environment(d, size)
    after = {k: value(x, env) for k, x in expanded(d.rule).items()}
    for lam, slope, pull in zip(
        g.natural, d.expectation.mean_gradient, g.entropy_gradient, strict=True
    ):
        now = value(g.natural_of_working[lam], env)
        moved = now - env["rho"] * (value(slope, env) - value(g.to_working(pull), env))
        new = value(g.natural_of_working[lam], env | after)
        np.testing.assert_allclose(new, moved, rtol=1e-9, atol=1e-11)


def test_formulae_by_hand() -> None:
    """paper.md §1 and §3."""
    m, s, g, h, rho = 0.4, 1.3, -0.7, 2.1, 0.3
    env = {"m": m, "s": s, "v": 1 / s, "g": g, "h": h, "rho": rho}
    new = {k: value(x, env) for k, x in expanded(derive("gaussian-diag").rule).items()}
    assert new["s"] == pytest.approx((1 - rho) * s + rho * h)
    assert new["m"] == pytest.approx(m - rho * g / ((1 - rho) * s + rho * h))
    new = {k: value(x, env) for k, x in expanded(derive("gaussian").rule).items()}
    assert 1 / new["v"] == pytest.approx((1 - rho) * s + rho * h)
    assert new["m"] == pytest.approx(m - rho * g / ((1 - rho) * s + rho * h))
    new = {k: value(x, env) for k, x in expanded(derive("gaussian-fixed").rule).items()}
    assert new["m"] == pytest.approx(m - rho * g)
    natural = derive("gaussian", ["coordinates=working"])
    new = {k: value(x, env) for k, x in expanded(natural.rule).items()}
    v = 1 / s
    assert new["m"] == pytest.approx(m - rho * v * g)
    assert new["v"] == pytest.approx(v - rho * 2 * v**2 * (h / 2 - 1 / (2 * v)))
    env = {"lam": 0.6, "lminus": 1.7, "lplus": -0.2, "rho": rho}
    new = {k: value(x, env) for k, x in expanded(derive("bernoulli-sign").rule).items()}
    assert new["lam"] == pytest.approx((1 - rho) * 0.6 - rho * (-0.2 - 1.7) / 2)


@pytest.mark.parametrize("name", ["gaussian-diag", "gaussian-full"])
def test_the_new_precision_divides_the_mean_step(name: str) -> None:
    rule = derive(name).rule
    scale = "s" if name == "gaussian-diag" else "S"
    names = {x.name for x in rule.expr("m_next").free_symbols}
    assert f"{scale}_next" in names
    assert scale not in names
    order = [a.name for a in rule.assignments]
    assert order.index(f"{scale}_next") < order.index("m_next")


LOGISTIC = (
    lambda x: -1 / (1 + np.exp(x)) + x,
    lambda x: np.exp(x) / (1 + np.exp(x)) ** 2 + 1,
    0.413126805979683,
    0.828868291887001,
)
POISSON = (
    lambda x: np.exp(x) - 3 + x,
    lambda x: np.exp(x) + 1,
    0.687422729064258,
    0.301879750481268,
)


@pytest.mark.parametrize("problem", [LOGISTIC, POISSON], ids=["logistic", "poisson"])
@pytest.mark.parametrize(
    ("what", "flags"),
    [
        ("gaussian-diag", []), ("gaussian", []), ("natural-gradient", []),
        ("gaussian-diag", ["retraction"]), ("gaussian", ["coordinates=working", "retraction"]),
        ("gaussian-diag", ["momentum"]), ("gaussian-diag", ["precision=old"]),
    ],
)  # fmt: skip
def test_fixed_points(problem: Any, what: str, flags: list[str]) -> None:
    """The numbers of paper.md §6, with expectations by Gauss–Hermite quadrature."""
    slope, curve, m, v = problem
    d = derive(what, flags)
    rule = expanded(d.rule)
    at = {"m": 0.0, "s": 1.0, "v": 1.0, "m_prev": 0.0, "s_prev": 1.0}
    posterior = dict(d.rule.posterior)
    for _ in range(130):
        env = at | {"rho": 0.3, "beta1": 0.2}
        mean, variance = value(posterior["mean"], env), 1 / value(posterior["precision"], env)
        env["g"], env["h"] = (gauss_hermite(f, mean, variance) for f in (slope, curve))
        at = at | {k: float(value(x, env)) for k, x in rule.items()}
    env = at | {"rho": 0.3}
    assert math.isclose(value(posterior["mean"], env), m, abs_tol=1e-12)
    assert math.isclose(1 / value(posterior["precision"], env), v, abs_tol=1e-12)


def test_sums_across_spaces() -> None:
    x = sp.Symbol("x")
    lam, mu = Element(NATURAL, (x,)), Element(MEAN, (x,))
    assert (lam + RHO * gradient_in(MEAN, (x,))).space == NATURAL
    assert gradient_in(WORKING, (x,)).space != WORKING
    with pytest.raises(SpaceError) as mixed:
        lam - RHO * gradient_in(NATURAL, (x,))
    text = str(mixed.value)
    assert "natural" in text
    assert "mean" in text
    assert "Fisher" in text
    with pytest.raises(SpaceError):
        lam + mu
    with pytest.raises(SpaceError):
        lam + x


RHO = sp.Symbol("rho", positive=True)
LOSSES = {
    "log(1 + exp(-theta))": lambda x: np.logaddexp(0, -x),
    "0.5*(y - theta)**2": lambda x: 0.5 * (0.8 - x) ** 2,
    "log(cosh(theta)) + k*theta**3/6": lambda x: np.log(np.cosh(x)) + 0.3 * x**3 / 6,
}


@pytest.mark.sweep(4)
@pytest.mark.parametrize("text", LOSSES)
@pytest.mark.parametrize("flags", [["delta"], ["delta", "stochastic"], ["stochastic"]])
def test_derivatives_of_an_elementwise_loss(text: str, flags: list[str]) -> None:
    """The rule with the loss put in = the abstract rule fed with finite differences."""
    f = LOSSES[text]
    with_loss, abstract = derive("gaussian-diag", flags, loss=text), derive("gaussian-diag", flags)
    env = {"m": 0.37, "s": 1.4, "rho": 0.2, "eps": -0.6, "y": 0.8, "k": 0.3}
    place = env["m"] if "delta" in flags else env["m"] + env["eps"] / math.sqrt(env["s"])
    e = 1e-4
    env["g"] = (f(place + e) - f(place - e)) / (2 * e)
    env["h"] = (f(place + e) - 2 * f(place) + f(place - e)) / e**2
    assert not {"g", "h"} & {q.name for q in with_loss.rule.quantities}
    for k, x in expanded(with_loss.rule).items():
        assert value(x, env) == pytest.approx(value(expanded(abstract.rule)[k], env), rel=1e-6)


@pytest.mark.parametrize(
    "flags", [[], ["ess"], ["prior=apart"], ["ess", "prior=apart", "rename=m:q"], ["fixed-scale"]]
)
def test_expectations_of_a_quartic_follow_the_candidate(flags: list[str]) -> None:
    """E_q[12θ²] and what is left an input, with the mean and precision the rule now has."""
    d = derive("gaussian-diag", flags, loss="theta**4")
    base = derive("gaussian-diag", flags)
    env = {"m": 0.4, "q": 0.4, "s": 1.7, "rho": 0.3, "N": 5.0, "delta": 0.2}
    posterior = dict(base.rule.posterior)
    mean, variance = value(posterior["mean"], env), 1 / value(posterior["precision"], env)
    env["g"] = gauss_hermite(lambda x: 4 * x**3, mean, variance)
    env["h"] = gauss_hermite(lambda x: 12 * x**2, mean, variance)
    assert "h" not in d.rule
    for k, x in expanded(d.rule).items():
        assert value(x, env) == pytest.approx(value(expanded(base.rule)[k], env), rel=1e-9)


@pytest.mark.parametrize("size", [1, 2, 3, 4])
@pytest.mark.parametrize("flags", [["delta"], ["stochastic"], []])
def test_matrix_losses(flags: list[str], size: int) -> None:
    """Ridge and a logistic loss in matrices, against finite differences."""
    texts = ["0.5*dot(y - X*theta, y - X*theta) + 0.5*delta*dot(theta, theta)"]
    if flags == ["delta"]:
        texts.append("log(1 + exp(-dot(a, theta))) + 0.5*delta*dot(theta, theta)")
    rng = np.random.default_rng(size)
    x, y, a = (rng.standard_normal(n) for n in ((size + 2, size), (size + 2, 1), (size, 1)))
    m, s = rng.standard_normal((size, 1)), spd(rng, size)
    theta = rng.standard_normal((size, 1))
    functions = [
        lambda t: 0.5 * float(np.sum((y - x @ t) ** 2)) + 0.15 * float(np.sum(t**2)),
        lambda t: float(np.logaddexp(0, -np.sum(a * t))) + 0.15 * float(np.sum(t**2)),
    ]
    for text, f in zip(texts, functions, strict=False):
        d, abstract = derive("gaussian-full", flags, loss=text), derive("gaussian-full", flags)
        place = theta if "stochastic" in flags else m
        eye, e = np.eye(size), 1e-3
        g = np.array(
            [[(f(place + e * c[:, None]) - f(place - e * c[:, None])) / (2 * e)] for c in eye]
        )
        h = np.array([
            [
                (f(place + e * (b + c)[:, None]) - f(place + e * (b - c)[:, None])
                 - f(place - e * (b - c)[:, None]) + f(place - e * (b + c)[:, None])) / (4 * e * e)
                for c in eye
            ]
            for b in eye
        ])  # fmt: skip
        env = {"m": m, "S": s, "X": x, "y": y, "a": a, "theta": theta, "g": g, "H": h,
               "delta": 0.3, "rho": 0.4, "d": float(size)}  # fmt: skip
        for k, new in expanded(d.rule).items():
            wanted = value(expanded(abstract.rule)[k], env)
            np.testing.assert_allclose(value(new, env), wanted, rtol=1e-5, atol=1e-6)


def test_ridge_loses_its_starting_point() -> None:
    d = derive(
        "gaussian-full", ["delta", "rho=1"],
        loss="0.5*dot(y - X*theta, y - X*theta) + 0.5*delta*dot(theta, theta)",
    )  # fmt: skip
    for x in expanded(d.rule).values():
        assert {s.name for s in x.free_symbols} <= {"X", "y", "delta"}


def test_natural_coordinates_of_matrices_need_no_chart(tmp_path: Path) -> None:
    """λ₁ and λ₂ meet in every entry of F: eliminating them gives F⁻¹F = 1 at any size."""
    path = tmp_path / "f.toml"
    path.write_text(COVARIANCE.split("[working]")[0].replace(', working = "inv(V)*m"', "")
                    .replace(', working = "-inv(V)/2"', ""))  # fmt: skip
    d = derive(str(path))
    l1, l2 = d.geometry.natural
    y1, y2 = like(l1, "Y1"), like(l2, "Y2")
    pairing = sum(map(d.geometry.ring.inner, (y1, y2), d.geometry.mean))
    r1, r2 = (next(p.symbol for p in d.expectation.probes if p.name == n) for n in ("r1", "r2"))
    rng = np.random.default_rng(3)
    for size in (1, 2, 3):
        a = rng.normal(size=(size, size))
        env = {"lam1": rng.normal(size=(size, 1)), "lam2": -a @ a.T - np.eye(size),
               "Y1": rng.normal(size=(size, 1)), "Y2": a + a.T, "d": float(size)}  # fmt: skip
        scores = {r1.name: value(gradient(pairing, l1), env),
                  r2.name: value(gradient(pairing, l2), env)}  # fmt: skip
        for found, wanted in zip(d.expectation.mean_gradient, ("Y1", "Y2"), strict=True):
            np.testing.assert_allclose(value(found, {**env, **scores}), env[wanted], rtol=1e-9)
