"""The hand-written algorithms against facts that do not come from their own formulas."""

from __future__ import annotations

import importlib.util
import inspect
import math
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.core

FOLDER = Path(__file__).parent
NAMES = sorted(p.stem for p in FOLDER.glob("*.py") if not p.stem.startswith("test_"))
RECIPES = [
    "adam",
    "bayesbinn",
    "bayesbinn_stale",
    "bernoulli_exact",
    "dropout",
    "gradient_descent",
    "iblr",
    "inverted_dropout",
    "ivon",
    "ivon_gradsq",
    "laplace",
    "momentum",
    "natural_gradient",
    "newton",
    "ogn",
    "ogn_batch",
    "online_newton",
    "ridge",
    "rmsprop",
    "sgd",
    "ste",
    "vadam",
    "vogn",
    "vogn_batch",
    "von",
    "von_diag",
    "vprop",
]
D = 6


def load(name: str) -> ModuleType:
    """The module of that name in this folder, by path."""
    spec = importlib.util.spec_from_file_location(f"reference_{name}", FOLDER / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def step_of(name: str) -> Callable[..., Any]:
    step: Callable[..., Any] = load(name).step
    return step


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(7)


def spd(rng: np.random.Generator, d: int = D) -> np.ndarray:
    """A random symmetric positive definite matrix."""
    a = rng.standard_normal((d, d + 2))
    return a @ a.T / d + 0.3 * np.eye(d)


def test_every_recipe_has_its_file() -> None:
    assert sorted(RECIPES) == NAMES


MATRICES = {"S", "H"}
POSITIVE = {"s", "h", "v"}
SCALARS = {
    "alpha": 0.05, "beta": 0.1, "beta1": 0.9, "beta2": 0.99, "rho": 0.2, "gamma": 0.7,
    "delta": 0.01, "N": 50.0, "h0": 1.0, "c": 1e-3, "tau": 0.8, "lam0": 0.1, "t": 3,
}  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_shapes_purity_and_finiteness(name: str, rng: np.random.Generator) -> None:
    """One new value a state, of its shape, finite, and no argument changed."""
    step = step_of(name)
    arguments: dict[str, Any] = {}
    for arg in inspect.signature(step).parameters:
        if arg in SCALARS:
            arguments[arg] = SCALARS[arg]
        elif arg in MATRICES:
            arguments[arg] = spd(rng)
        elif arg == "X":
            arguments[arg] = rng.standard_normal((9, D))
        elif arg == "y":
            arguments[arg] = rng.standard_normal(9)
        elif arg in POSITIVE:
            arguments[arg] = rng.uniform(0.5, 2.0, D)
        else:
            arguments[arg] = rng.standard_normal(D)
    before = {k: np.copy(v) for k, v in arguments.items()}
    out = step(**arguments)
    results = out if isinstance(out, tuple) else (out,)
    states = list(arguments)[: len(results)]
    for state, new in zip(states, results, strict=True):
        assert np.shape(new) == np.shape(arguments[state])
        assert np.all(np.isfinite(new))
        assert new.dtype == np.float64
    for k, v in arguments.items():
        np.testing.assert_array_equal(v, before[k])


@pytest.mark.parametrize("name", NAMES)
def test_says_what_it_is_and_where_from(name: str) -> None:
    doc = load(name).__doc__ or ""
    assert "←" in doc or "S = " in doc
    assert "Source:" in doc


@pytest.mark.parametrize("name", ["gradient_descent", "sgd"])
def test_gradient_descent_meets_the_minimum_of_a_quadratic(
    name: str, rng: np.random.Generator
) -> None:
    step, H, b = step_of(name), spd(rng), rng.standard_normal(D)
    m, rho = np.zeros(D), 1 / np.linalg.eigvalsh(H)[-1]
    for _ in range(800):
        m = step(m, H @ m - b, rho)
    np.testing.assert_allclose(m, np.linalg.solve(H, b), rtol=1e-9)


def test_momentum_is_the_two_step_form(rng: np.random.Generator) -> None:
    step, rho, gamma = step_of("momentum"), 0.03, 0.8
    m, u = rng.standard_normal(D), np.zeros(D)
    old = now = m
    for _ in range(20):
        g = np.tanh(now) + rng.standard_normal(D)
        m, u = step(m, u, g, rho, gamma)
        old, now = now, now - rho * g + gamma * (now - old)
        np.testing.assert_allclose(m, now, rtol=1e-12)
        np.testing.assert_allclose(u, -(now - old) / rho, rtol=1e-9)


def test_newton_solves_a_quadratic_at_once(rng: np.random.Generator) -> None:
    H, b, m = spd(rng), rng.standard_normal(D), rng.standard_normal(D)
    best = np.linalg.lstsq(H, b, rcond=None)[0]
    np.testing.assert_allclose(step_of("newton")(m, H @ m - b, H), best, rtol=1e-10)
    for name in ("online_newton", "von"):
        m1, S1 = step_of(name)(m, spd(rng), H @ m - b, H, 1.0)
        np.testing.assert_allclose(m1, best, rtol=1e-10)
        np.testing.assert_array_equal(S1, H)


@pytest.mark.parametrize("name", ["online_newton", "von", "iblr"])
def test_full_covariance_finds_a_gaussian_posterior(name: str, rng: np.random.Generator) -> None:
    """E_q[∇ℓ] and E_q[∇²ℓ] of a quadratic are exact, so (m, S) → (argmin, H)."""
    step, H, b = step_of(name), spd(rng), rng.standard_normal(D)
    m, S = rng.standard_normal(D), np.eye(D)
    for _ in range(120):
        m, S = step(m, S, H @ m - b, H, 0.3)
    np.testing.assert_allclose(m, np.linalg.solve(H, b), rtol=1e-8)
    np.testing.assert_allclose(S, H, rtol=1e-8)


def test_von_step_is_a_step_in_natural_coordinates(rng: np.random.Generator) -> None:
    """(S m, S) ← (1 − ρ)(S m, S) + ρ (E[H] m − E[g], E[H]): the new precision divides."""
    m, S, g, H, rho = rng.standard_normal(D), spd(rng), rng.standard_normal(D), spd(rng), 0.4
    m1, S1 = step_of("von")(m, S, g, H, rho)
    np.testing.assert_allclose(S1 @ m1, (1 - rho) * S @ m + rho * (H @ m - g), rtol=1e-10)


def test_diagonal_is_the_diagonal_of_full(rng: np.random.Generator) -> None:
    m, g = rng.standard_normal((2, D))
    s, h = rng.uniform(0.5, 2, (2, D))
    m1, S1 = step_of("von")(m, np.diag(s), g, np.diag(h), 0.3)
    m2, s2 = step_of("von_diag")(m, s, g, h, 0.3)
    np.testing.assert_allclose(m1, m2, rtol=1e-13)
    np.testing.assert_allclose(np.diag(S1), s2, rtol=1e-15)


def test_iblr_stays_positive_definite_where_von_does_not(rng: np.random.Generator) -> None:
    S, H = spd(rng), -5 * spd(rng)
    g = rng.standard_normal(D)
    m = np.zeros(D)
    assert np.linalg.eigvalsh(step_of("von")(m, S, g, H, 0.9)[1])[0] < 0
    for _ in range(30):
        a = rng.standard_normal((D, D))
        m, S = step_of("iblr")(m, S, g, 10 * (a + a.T), 0.9)
        assert np.linalg.eigvalsh((S + S.T) / 2)[0] > 0
        S = (S + S.T) / 2


def test_iblr_in_one_dimension_is_the_christoffel_step() -> None:
    """s⁺ = s + ρG + ½ρ²G²/s = ½ (s + (s + ρG)²/s), from Γ = −1/s; and the old s divides."""
    s, h, rho, g = 0.7, -2.3, 0.6, 0.4
    m1, S1 = step_of("iblr")(np.zeros(1), np.array([[s]]), np.array([g]), np.array([[h]]), rho)
    G = h - s
    assert math.isclose(S1[0, 0], (s + (s + rho * G) ** 2 / s) / 2, rel_tol=1e-14)
    assert math.isclose(m1[0], -rho * g / s, rel_tol=1e-14)


def test_adam_is_natural_momentum_with_a_slow_scale(rng: np.random.Generator) -> None:
    """u = −D (θ − θ₋)/α carries one recurrence into the other, with no bias correction."""
    alpha, beta1, beta2, c = 0.02, 0.9, 0.99, 1e-3
    step, t = step_of("adam"), math.inf  # β^∞ = 0: bias correction off
    m, u, s = rng.standard_normal(D), np.zeros(D), rng.uniform(0.5, 1.5, D)
    old = now = m
    scale = np.sqrt(s) + c
    for _ in range(30):
        g = np.sin(3 * now) + rng.standard_normal(D)
        m, u, s = step(m, u, s, g, t, alpha, beta1, beta2, c)
        new_scale = np.sqrt(s) + c
        move = -alpha * (1 - beta1) * g / new_scale + beta1 * scale / new_scale * (now - old)
        old, now, scale = now, now + move, new_scale
        np.testing.assert_allclose(m, now, rtol=1e-11)
        np.testing.assert_allclose(u, -scale * (now - old) / alpha, rtol=1e-7, atol=1e-12)


def test_adam_without_averages_moves_by_the_sign(rng: np.random.Generator) -> None:
    """At t = 1 the corrections undo the averages exactly: |step| = α |g|/(|g| + c)."""
    g, c = rng.standard_normal(D), 1e-2
    m, _, _ = step_of("adam")(np.zeros(D), np.zeros(D), np.zeros(D), g, 1, 0.1, 0.9, 0.999, c)
    np.testing.assert_allclose(m, -0.1 * g / (np.abs(g) + c), rtol=1e-12)


def test_rmsprop_is_adam_with_beta1_zero_and_no_correction(rng: np.random.Generator) -> None:
    m, g, s = rng.standard_normal(D), rng.standard_normal(D), rng.uniform(0.5, 2, D)
    m1, s1 = step_of("rmsprop")(m, s, g, 0.1, 0.05, 1e-2)
    m2, _, s2 = step_of("adam")(m, np.zeros(D), s, g, math.inf, 0.1, 0.0, 0.95, 1e-2)
    np.testing.assert_allclose(m1, m2, rtol=1e-14)
    np.testing.assert_allclose(s1, s2, rtol=1e-14)


def test_vadam_without_momentum_or_correction_is_vprop(rng: np.random.Generator) -> None:
    m, g, s = rng.standard_normal(D), rng.standard_normal(D), rng.uniform(0.5, 2, D)
    eps, delta, N = rng.standard_normal(D), 0.03, 40.0
    m1, s1 = step_of("vprop")(m, s, g, 0.1, 0.05, delta, N)
    m2, _, s2 = step_of("vadam")(m, np.zeros(D), s, g, math.inf, 0.1, 0.0, 0.95, delta, N)
    np.testing.assert_allclose(m1, m2, rtol=1e-14)
    np.testing.assert_allclose(s1, s2, rtol=1e-14)
    np.testing.assert_array_equal(
        load("vprop").draw(m, s, eps, delta, N), load("vadam").draw(m, s, eps, delta, N)
    )


@pytest.mark.parametrize("name", ["ogn", "vogn"])
def test_gauss_newton_is_von_with_its_curvature(name: str, rng: np.random.Generator) -> None:
    m, g = rng.standard_normal((2, D))
    s, h = rng.uniform(0.5, 2, (2, D))
    m1, s1 = step_of(name)(m, s, g, h, 0.3, 0.2)
    m2, s2 = step_of("von_diag")(m, s, g, h + 0.2, 0.3)
    np.testing.assert_allclose(m1, m2, rtol=1e-15)
    np.testing.assert_allclose(s1, s2, rtol=1e-15)


@pytest.mark.parametrize("name", ["ogn", "vogn"])
def test_means_over_a_minibatch_are_counted_per_example(
    name: str, rng: np.random.Generator
) -> None:
    """With g → N(g + δm), h → Nh, δ → Nδ and s → N(s + δ) the two countings are one."""
    m, g = rng.standard_normal((2, D))
    s, h = rng.uniform(0.5, 2, (2, D))
    rho, delta, N = 0.3, 0.02, 50.0
    m1, s1 = step_of(f"{name}_batch")(m, s, g, h, rho, delta, N)
    whole = N * (s + delta)
    m2, s2 = step_of(name)(m, whole, N * (g + delta * m), N * h, rho, N * delta)
    np.testing.assert_allclose(m1, m2, rtol=1e-13)
    np.testing.assert_allclose(N * (s1 + delta), s2, rtol=1e-13)


def test_draws_have_the_posterior_spread(rng: np.random.Generator) -> None:
    """A draw at ±1 standard deviation: 1/√s, or 1/√(N (s + δ))."""
    m, s = rng.standard_normal(D), rng.uniform(0.5, 2, D)
    one = np.ones(D)
    np.testing.assert_allclose((load("vogn").draw(m, s, one) - m) ** -2, s, rtol=1e-9)
    for name in ("vogn_batch", "vprop", "vadam", "ivon", "ivon_gradsq"):
        spread = load(name).draw(m, s, one, 0.1, 50.0) - m
        np.testing.assert_allclose(spread**-2, 50.0 * (s + 0.1), rtol=1e-9)


@pytest.mark.parametrize("name", ["ivon", "ivon_gradsq"])
def test_ivon_precision_at_most_halves(name: str, rng: np.random.Generator) -> None:
    """h⁺ + δ ≥ ½ (h + δ), whatever the draws."""
    step, delta = step_of(name), 0.5
    h = np.full(D, 1.0)
    m = u = np.zeros(D)
    for t in range(1, 200):
        noise = (3 * rng.standard_normal(D),) if name == "ivon" else ()
        g = 3 * rng.standard_normal(D)
        m, u, new = step(m, u, h, g, *noise, t, 0.01, 0.9, 0.5, delta, 5.0, 1.0, math.inf)
        assert np.all(new + delta >= 0.5 * (h + delta) * (1 - 1e-12))
        h = new


def test_ivon_precision_halves_at_the_worst_estimate() -> None:
    """The bound is met at (1 − β₂)(ĥ − h) = −(h + δ); h alone then goes below zero."""
    h, delta, N, beta2, zero = np.array([0.4, 1.0]), 0.5, 5.0, 0.5, np.zeros(2)
    for t in range(1, 6):
        worst = h - (h + delta) / (1 - beta2)
        g = worst / np.sqrt(N * (h + delta))
        _, _, new = step_of("ivon")(
            zero, zero, h, g, np.ones(2), t, 0.1, 0.9, beta2, delta, N, 1.0, math.inf
        )
        np.testing.assert_allclose(new + delta, (h + delta) / 2, rtol=1e-12)
        h = new
    assert np.all(h < 0)


def test_ivon_curvature_is_exact_in_mean_on_a_quadratic() -> None:
    """ĥ at ε = ±1 averages to N-scaled curvature: ½ Σ √(N(h+δ)) ε (aε/√(N(h+δ))) = a."""
    a, h, delta, N = np.array([0.2, 1.7]), np.array([0.9, 1.1]), 0.1, 30.0
    module = load("ivon")
    # β₂ = 0 leaves h⁺ = ĥ + ½ (h − ĥ)²/(h + δ); with ĥ = a at either sign and m = 0.
    for sign in (1.0, -1.0):
        eps = np.full(2, sign)
        g = a * module.draw(np.zeros(2), h, eps, delta, N)
        zero = np.zeros(2)
        _, _, new = module.step(zero, zero, h, g, eps, 1, 0.1, 0.9, 0.0, delta, N, 1.0, math.inf)
        np.testing.assert_allclose(new, a + (h - a) ** 2 / (2 * (h + delta)), rtol=1e-12)


def test_ivon_mean_step_solves_ridge_at_its_fixed_point() -> None:
    """With u corrected and g = a m − b, the mean stops where (a + δ) m = b."""
    a, b, delta, c = np.array([0.5, 2.0]), np.array([1.0, -1.0]), 0.3, math.inf
    step = step_of("ivon")
    m, u, h = np.zeros(2), np.zeros(2), a.copy()
    for t in range(1, 600):
        m, u, _ = step(m, u, h, a * m - b, np.zeros(2), t, 0.1, 0.9, 0.99, delta, 9.0, 1.0, c)
    np.testing.assert_allclose(m, b / (a + delta), rtol=1e-9)


def test_ivon_clip_bounds_the_move(rng: np.random.Generator) -> None:
    g, zero, h = 100 * rng.standard_normal(D), np.zeros(D), np.full(D, 0.1)
    m, _, _ = step_of("ivon")(zero, zero, h, g, zero, 1, 0.1, 0.9, 0.999, 0.01, 9.0, 0.1, 1e-2)
    np.testing.assert_allclose(np.abs(m), 0.1 * 0.11 * 1e-2, rtol=1e-12)


def test_laplace_stops_at_the_minimum_with_its_hessian(rng: np.random.Generator) -> None:
    """ℓ = Σ log cosh(Aθ − b) + ½‖θ‖²: iterated to ∇ℓ(m) = 0 and S = ∇²ℓ(m)."""
    A, b = rng.standard_normal((9, D)), rng.standard_normal(9)
    m, S = np.zeros(D), np.eye(D)

    def derivatives(m: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        r = np.tanh(A @ m - b)
        return A.T @ r + m, (A.T * (1 - r**2)) @ A + np.eye(D)

    for _ in range(30):
        m, S = step_of("laplace")(m, S, *derivatives(m))
    g, H = derivatives(m)
    np.testing.assert_allclose(g, 0, atol=1e-12)
    np.testing.assert_allclose(S, H, rtol=1e-12)


def test_ridge_is_least_squares_with_extra_rows(rng: np.random.Generator) -> None:
    X, y, delta = rng.standard_normal((9, D)), rng.standard_normal(9), 0.4
    m, S = step_of("ridge")(np.zeros(D), np.eye(D), X, y, delta)
    rows = np.vstack([X, math.sqrt(delta) * np.eye(D)])
    best = np.linalg.lstsq(rows, np.concatenate([y, np.zeros(D)]), rcond=None)[0]
    np.testing.assert_allclose(m, best, rtol=1e-11)
    np.testing.assert_allclose(S, rows.T @ rows, rtol=1e-12)


def test_natural_gradient_meets_the_known_posteriors() -> None:
    """N(0, 1) prior with logistic y = 1 and with Poisson y = 3: the fixed points of paper.md."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    weights = weights / weights.sum()

    def logistic(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        p = 1 / (1 + np.exp(-x))
        return x - (1 - p), 1 + p * (1 - p)

    def poisson(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return x - 3 + np.exp(x), 1 + np.exp(x)

    for loss, known in (
        (logistic, (0.413126805979683, 0.828868291887001)),
        (poisson, (0.687422729064258, 0.301879750481268)),
    ):
        m, v = np.zeros(1), np.ones(1)
        for _ in range(400):
            first, second = loss(m + np.sqrt(v) * nodes)
            g, h = np.array([weights @ first]), np.array([weights @ second])
            m, v = step_of("natural_gradient")(m, v, g, h, 0.2)
        np.testing.assert_allclose([m[0], v[0]], known, rtol=1e-11)


def test_natural_gradient_is_von_to_first_order(rng: np.random.Generator) -> None:
    """Both follow the same vector field: they differ by O(ρ²)."""
    m, g = rng.standard_normal((2, D))
    v, h = rng.uniform(0.5, 2, (2, D))

    def gap(rho: float) -> float:
        m1, v1 = step_of("natural_gradient")(m, v, g, h, rho)
        m2, s2 = step_of("von_diag")(m, 1 / v, g, h, rho)
        return float(max(np.abs(m1 - m2).max(), np.abs(v1 - 1 / s2).max()))

    assert gap(1e-3) / gap(5e-4) == pytest.approx(4, rel=0.02)


def test_bernoulli_exact_reaches_the_posterior_of_one_sign() -> None:
    lplus, lminus, lam = np.array([0.3]), np.array([1.9]), np.zeros(1)
    lam = step_of("bernoulli_exact")(lam, lplus, lminus, 1.0)
    p = np.exp(-lplus) / (np.exp(-lplus) + np.exp(-lminus))
    np.testing.assert_allclose((1 + np.tanh(lam)) / 2, p, rtol=1e-14)


def test_bayesbinn_scale_is_the_derivative_of_the_relaxed_sign(rng: np.random.Generator) -> None:
    """s = ∂θ/∂μ at fixed ε, by central differences through λ = artanh μ."""
    module, tau, size = load("bayesbinn"), 0.7, 1e-6
    lam, eps, g = 0.5 * rng.standard_normal((3, D))
    mu = np.tanh(lam)
    up, down = (module.draw(np.arctanh(mu + e), eps, tau) for e in (size, -size))
    moved = module.step(lam, g, eps, 1.0, tau, 0.0)
    np.testing.assert_allclose(moved, -(up - down) / (2 * size) * g, rtol=1e-7, atol=1e-9)


def test_bayesbinn_with_a_stale_mean_differs_unless_nothing_moved(
    rng: np.random.Generator,
) -> None:
    lam, before, g, eps = rng.standard_normal((4, D))
    fresh = step_of("bayesbinn")(lam, g, eps, 0.1, 0.5, 0.0)
    same, kept = step_of("bayesbinn_stale")(lam, lam, g, eps, 0.1, 0.5, 0.0)
    np.testing.assert_array_equal(same, fresh)
    np.testing.assert_array_equal(kept, lam)
    stale, _ = step_of("bayesbinn_stale")(lam, before, g, eps, 0.1, 0.5, 0.0)
    assert np.abs(stale - fresh).max() > 1e-3


def test_ste_is_bayesbinn_in_the_limit_it_is_derived_by(rng: np.random.Generator) -> None:
    """τ → 0 sends the relaxed draw at ε = 0 to sign λ; with unit scale and no shrinkage, STE."""
    lam, target = rng.standard_normal((2, D))
    relaxed = load("bayesbinn").draw(lam, np.zeros(D), 1e-6)
    np.testing.assert_allclose(relaxed, np.sign(lam), atol=1e-12)
    for _ in range(200):
        lam = step_of("ste")(lam, np.sign(lam) - 3 * np.sign(target), 0.05)
    np.testing.assert_array_equal(np.sign(lam), np.sign(target))
