"""∇_μ E_q[ℓ]: identities found on the density, enumeration, the score; all against numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
import sympy as sp
from numeric import gauss_hermite, spd, value

from blrgen.algebra.ranks import symmat, vec
from blrgen.algebra.ring import Elementwise
from blrgen.expect import expectation_of
from blrgen.expect.base_measure import log_base_of
from blrgen.expect.identities import NoIdentity, find_identity
from blrgen.geometry.geometry import geometry_of
from blrgen.read.family import find_family, read_family

pytestmark = pytest.mark.core

LOSSES: dict[str, tuple[Any, Any, Any]] = {
    "cos": (np.cos, lambda x: -np.sin(x), lambda x: -np.cos(x)),
    "fourth power": (lambda x: x**4, lambda x: 4 * x**3, lambda x: 12 * x**2),
    "logistic": (
        lambda x: np.logaddexp(0, -x),
        lambda x: -1 / (1 + np.exp(x)),
        lambda x: np.exp(x) / (1 + np.exp(x)) ** 2,
    ),
    "exp": (np.exp, np.exp, np.exp),
}


def house(name: str) -> Any:
    return geometry_of(read_family(find_family(name)))


def written(text: str, folder: Path) -> Any:
    path = folder / "f.toml"
    path.write_text(text)
    return geometry_of(read_family(str(path)))


def test_bonnet_and_price_are_found() -> None:
    """∂_m q = −∂_θ q; ∂_v q = ½ ∂²_θ q, ∂_s q = −∂²_θ q/(2s²): found, not stated."""
    for name, scale in (("gaussian", sp.S.Half), ("gaussian-diag", None)):
        e = expectation_of(house(name))
        bonnet, price = e.identities
        assert (e.route, bonnet.order, bonnet.left, bonnet.right) == ("identities", 1, -1, 1)
        x = price.parameter
        assert price.order == 2
        assert sp.cancel(price.left - (scale if scale is not None else -1 / (2 * x**2))) == 0


def test_bonnet_and_price_for_matrices() -> None:
    e = expectation_of(house("gaussian-full"))
    bonnet, price = e.identities
    s, h, g, m = symmat("S"), symmat("H"), vec("g"), vec("m")
    assert (bonnet.order, bonnet.left, bonnet.right) == (1, -1, 1)
    assert (price.order, price.left, price.right) == (2, -(s**-1) / 2, s**-1)
    assert e.working_gradient == (g, -(s**-1) * h * s**-1 / 2)
    assert e.mean_gradient == (g - h * m, h / 2)


@pytest.mark.parametrize("chart", ["gaussian", "gaussian-diag"])
@pytest.mark.parametrize("loss", LOSSES)
def test_identities_on_concrete_losses(chart: str, loss: str) -> None:
    """∂_ψ E_q[ℓ] by differences of quadratures, against the identity's right-hand side."""
    f, slope, curve = LOSSES[loss]
    e = expectation_of(house(chart))
    m, spread = 0.4, 0.6

    def variance(x: float) -> float:
        return x if chart == "gaussian" else 1 / x

    env = {
        "m": m, "v": spread, "s": spread,
        "g": gauss_hermite(slope, m, variance(spread)),
        "h": gauss_hermite(curve, m, variance(spread)),
    }  # fmt: skip
    step = 1e-4
    by_mean = (
        gauss_hermite(f, m + step, variance(spread)) - gauss_hermite(f, m - step, variance(spread))
    ) / (2 * step)
    by_scale = (
        gauss_hermite(f, m, variance(spread + step)) - gauss_hermite(f, m, variance(spread - step))
    ) / (2 * step)
    assert value(e.working_gradient[0], env) == pytest.approx(by_mean, rel=1e-6)
    assert value(e.working_gradient[1], env) == pytest.approx(by_scale, rel=1e-6)


@pytest.mark.parametrize("loss", LOSSES)
def test_gradient_in_the_mean_parameters(loss: str) -> None:
    """E_q[ℓ] as a function of (μ₁, μ₂), differenced there."""
    f, slope, curve = LOSSES[loss]
    e = expectation_of(house("gaussian-diag"))
    m, s = -0.3, 1.7
    env = {"m": m, "s": s, "g": gauss_hermite(slope, m, 1 / s), "h": gauss_hermite(curve, m, 1 / s)}

    def of_mu(first: float, second: float) -> float:
        return gauss_hermite(f, first, second - first**2)

    mu, step = (m, 1 / s + m**2), 1e-4
    wanted = (
        (of_mu(mu[0] + step, mu[1]) - of_mu(mu[0] - step, mu[1])) / (2 * step),
        (of_mu(mu[0], mu[1] + step) - of_mu(mu[0], mu[1] - step)) / (2 * step),
    )
    for mine, theirs in zip(e.mean_gradient, wanted, strict=True):
        assert value(mine, env) == pytest.approx(theirs, rel=1e-5)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_matrix_identities_on_a_quartic(d: int) -> None:
    """ℓ = (aᵀθ)⁴: E = 3w² + 6w(aᵀm)² + (aᵀm)⁴ with w = aᵀS⁻¹a, differenced in S and m."""
    rng = np.random.default_rng(d)
    a, m, s = rng.standard_normal((d, 1)), rng.standard_normal((d, 1)), spd(rng, d)

    def loss(mean: Any, precision: Any) -> float:
        w, c = float((a.T @ np.linalg.inv(precision) @ a)[0, 0]), float((a.T @ mean)[0, 0])
        return 3 * w**2 + 6 * w * c**2 + c**4

    w, c = float((a.T @ np.linalg.inv(s) @ a)[0, 0]), float((a.T @ m)[0, 0])
    env = {"m": m, "S": s, "d": float(d), "g": 4 * (c**3 + 3 * c * w) * a,
           "H": 12 * (c**2 + w) * (a @ a.T)}  # fmt: skip
    by_m, by_s = (value(x, env) for x in expectation_of(house("gaussian-full")).working_gradient)
    for _ in range(3):
        dm = rng.standard_normal((d, 1))
        ds = spd(rng, d) - spd(rng, d)
        e = 1e-5
        assert (loss(m + e * dm, s) - loss(m - e * dm, s)) / (2 * e) == pytest.approx(
            float((by_m.T @ dm)[0, 0]), rel=1e-5, abs=1e-6
        )
        assert (loss(m, s + e * ds) - loss(m, s - e * ds)) / (2 * e) == pytest.approx(
            float(np.trace(by_s @ ds)), rel=1e-5, abs=1e-6
        )


def test_what_is_no_identity_raises() -> None:
    ring = Elementwise()
    theta, k = sp.Symbol("theta", real=True), sp.Symbol("k", real=True)
    with pytest.raises(NoIdentity, match="leaves"):
        find_identity(-(theta**2) / 2 + k * theta**3, k, theta, ring)


TWO = """
name = "two"
title = "Two points"
variable = "z"
support = "{0, 1}"
statistics = ["z"]
[natural]
eta = "(-oo, oo)"
"""
THREE = (
    TWO.replace("{0, 1}", "{-1, 0, 2}")
    .replace('["z"]', '["z", "z**2"]')
    .replace('eta = "(-oo, oo)"', 'eta1 = "(-oo, oo)"\neta2 = "(-oo, oo)"')
)
SIX = THREE.replace("{-1, 0, 2}", "{-2, -1, 0, 1, 2, 3}")
SHORT = THREE.replace('["z", "z**2"]', '["z"]').replace('\neta2 = "(-oo, oo)"', "")


@pytest.mark.parametrize("text", [TWO, THREE, SHORT, SIX])
def test_enumeration(text: str, tmp_path: Path) -> None:
    """∇_λ E_q[ℓ] = F ∇_μ E_q[ℓ], differenced; more points than statistics included."""
    g = written(text, tmp_path)
    e = expectation_of(g)
    assert e.route == "enumeration"
    points = [float(p) for p in sorted(g.family.support.points)]
    losses = {p.name: 0.3 * i**2 - 0.7 * i + 0.2 for i, p in enumerate(e.probes)}
    lam = [0.4, -0.3][: len(g.natural)]

    def mean_loss(at: list[float]) -> float:
        t = [[p, p * p][: len(at)] for p in points]
        w = np.exp([np.dot(at, row) for row in t])
        return float(np.dot(w / w.sum(), list(losses.values())))

    env = {n.name: v for n, v in zip(g.natural, lam, strict=True)} | losses
    for letter, entry in e.metric:
        env[letter.name] = value(entry, env)
    fisher = np.array([[value(x, env) for x in row] for row in g.fisher])
    mine = fisher @ [value(x, env) for x in e.mean_gradient]
    for i in range(len(lam)):
        up, down = list(lam), list(lam)
        up[i] += 1e-5
        down[i] -= 1e-5
        assert mine[i] == pytest.approx((mean_loss(up) - mean_loss(down)) / 2e-5, rel=1e-7)


GAMMA = """
name = "gamma"
title = "Gamma"
variable = "x"
support = "(0, oo)"
statistics = ["log(x)", "x"]
base_measure = "1/x"
log_partition = "loggamma(eta1) - eta1*log(-eta2)"
[natural]
eta1 = "(0, oo)"
eta2 = "(-oo, 0)"
"""


def test_the_score_route_against_differences(tmp_path: Path) -> None:
    """∇_λ E_q[log(1+x)] of a gamma: F∇_μ with r_i = E[ℓ(T_i − μ_i)], against differences."""
    g = written(GAMMA, tmp_path)
    e = expectation_of(g, route="score")
    assert e.route == "score"

    def loss(x: Any) -> Any:
        return mpmath.log(1 + x)

    def mean(f: Any, at: tuple[float, float]) -> float:
        norm = mpmath.gamma(at[0]) / mpmath.power(-at[1], at[0])
        return float(
            mpmath.quad(lambda x: f(x) * x ** (at[0] - 1) * mpmath.exp(at[1] * x) / norm,
                        [0, 1, 5, 20, 80])
        )  # fmt: skip

    at = (2.3, -1.4)
    env: dict[str, Any] = {"eta1": at[0], "eta2": at[1]}
    mu = [value(x, env) for x in g.mean]
    env |= {
        "r1": mean(lambda x: loss(x) * (mpmath.log(x) - mu[0]), at),
        "r2": mean(lambda x: loss(x) * (x - mu[1]), at),
    }
    fisher = np.array([[value(x, env) for x in row] for row in g.fisher])
    mine = fisher @ [value(x, env) for x in e.mean_gradient]
    h = 1e-4
    for i in range(2):
        up = tuple(a + h * (j == i) for j, a in enumerate(at))
        down = tuple(a - h * (j == i) for j, a in enumerate(at))
        assert mine[i] == pytest.approx((mean(loss, up) - mean(loss, down)) / (2 * h), rel=1e-6)  # type: ignore[arg-type]


@pytest.mark.parametrize("weights", ["binomial(2, x)", "exp(x**3)", "1/(1 + x)", "2 + cos(x)"])
def test_on_as_many_points_as_unknowns_every_log_h_is_affine(weights: str, tmp_path: Path) -> None:
    """Three levels with T = (x, x²): log h = c₀ + c₁x + c₂x², however h is written."""
    geometry = written(
        'name = "levels"\nvariable = "x"\nsupport = "{0, 1, 2}"\nstatistics = ["x", "x**2"]\n'
        f'base_measure = "{weights}"\n[natural]\na = "(-oo, oo)"\nb = "(-oo, oo)"\n',
        tmp_path,
    )
    log_h = [sp.log(geometry.family.base_measure.subs(geometry.family.variable, k))
             for k in range(3)]  # fmt: skip
    slope = -(3 * log_h[0] - 4 * log_h[1] + log_h[2]) / 2
    bend = (log_h[0] - 2 * log_h[1] + log_h[2]) / 2
    a, b = geometry.natural
    for found, wanted in zip(geometry.entropy_gradient, (-a - slope, -b - bend), strict=True):
        gap = found - wanted
        assert not gap.free_symbols  # a constant difference to −λ, not a long quotient
        assert abs(sp.N(gap, 30)) < 1e-25
    assert log_base_of(geometry).case == "span"
