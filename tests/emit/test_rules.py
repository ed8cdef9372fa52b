"""Emitted classes against direct evaluation of the same formulas."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import sympy as sp

from blrgen.core import Assignment, Quantity, Rule
from blrgen.emit import emit
from blrgen.errors import UserError
from tests.emit.targets import TARGETS, made

SIZE = 7


def close(a: Any, b: Any, tolerance: float = 1e-12) -> None:
    np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance * max(1.0, np.abs(b).max()))


def spd(rng: np.random.Generator, size: int) -> np.ndarray:
    A = rng.standard_normal((size, size))
    return A @ A.T / size + np.eye(size)


def defaults(rule: Any) -> dict[str, Any]:
    return {q.name: float(q.default) for q in rule.of("hyper")}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("aspect", ["one array", "list"])
def test_adam(hand: Any, target: str, aspect: str) -> None:
    rule = hand.rules["adam"]()
    Adam = made(hand.derivation(rule, "Adam"), target)
    assert Adam.__name__ == "Adam"
    rng = np.random.default_rng(0)
    m = rng.standard_normal(12)
    env = {"m": m, "u": np.zeros(12), "s": np.zeros(12), **defaults(rule)}
    params = (
        m.reshape(3, 4).copy()
        if aspect == "one array"
        else [m[:5].copy(), m[5:].reshape(7, 1).copy()]
    )
    opt = Adam(params)
    for t in range(1, 30):
        g = np.sin(3 * env["m"]) + 0.1 * t
        env |= {"g": g, "t": t}
        after = hand.direct_step(rule, env, 12)
        env |= {x: after[f"{x}_next"] for x in ("m", "u", "s")}
        opt.step(g.reshape(3, 4) if aspect == "one array" else [g[:5], g[5:].reshape(7, 1)])
        flat = (
            np.ravel(params)
            if aspect == "one array"
            else np.concatenate([p.ravel() for p in params])
        )
        close(flat, env["m"])
    assert opt.t == 29


@pytest.mark.parametrize("target", TARGETS)
def test_ivon_one_draw(hand: Any, target: str) -> None:
    rule = hand.rules["ivon"]()
    IVON = made(hand.derivation(rule, "IVON"), target)
    rng = np.random.default_rng(1)
    params = rng.standard_normal(SIZE)
    env = {"m": params.copy(), "u": np.zeros(SIZE), "h": np.ones(SIZE), **defaults(rule)}
    opt = IVON(params)
    for t in range(1, 20):
        eps = rng.standard_normal(SIZE)
        before = params.copy()
        theta = opt.draw(eps=eps)
        eps_given, eps = eps.copy(), eps * 0 + 99.0  # the class keeps its own copy
        env |= {"eps": eps_given, "t": t, "g": np.cos(theta)}
        after = hand.direct_step(rule, env, SIZE)
        close(theta, after["theta"])
        assert np.array_equal(params, before)  # never left perturbed
        opt.step(np.cos(theta))
        env |= {x: after[f"{x}_next"] for x in ("m", "u", "h")}
        close(params, env["m"])
        close(opt.h[0], env["h"])


@pytest.mark.parametrize("target", TARGETS)
def test_ivon_several_draws(hand: Any, target: str) -> None:
    rule = hand.rules["ivon"]()
    IVON = made(hand.derivation(rule, "IVON"), target)
    rng = np.random.default_rng(2)
    params = rng.standard_normal(SIZE)
    env = {"m": params.copy(), "u": np.zeros(SIZE), "h": np.ones(SIZE), **defaults(rule)}
    by_step = rng.integers(1, 4, 8)
    opt = IVON(params)
    for t, draws in enumerate(by_step, 1):
        gs, hs = [], []
        for k in range(draws):
            eps = rng.standard_normal(SIZE)
            g = np.cos(opt.draw(eps=eps))
            last = k == draws - 1
            if not last or t % 2:
                opt.observe(g)
            gs.append(g)
            hs.append(hand.evaluate(rule.expr("h_hat"), env | {"eps": eps, "g": g}, SIZE))
        opt.step(*([] if t % 2 else [g]))
        updates = [a for a in rule.assignments if a.stage == "update"]
        env |= {"g": np.mean(gs, 0), "h_hat": np.mean(hs, 0), "t": t}
        for a in updates:
            env[a.name] = hand.evaluate(a.expr, env, SIZE)
        env |= {x: env[f"{x}_next"] for x in ("m", "u", "h")}
        close(params, env["m"])


@pytest.mark.parametrize("target", TARGETS)
def test_bayesbinn(hand: Any, target: str) -> None:
    rule = hand.rules["bayesbinn"]()
    Binary = made(hand.derivation(rule, "BayesBiNN", "finite"), target)
    rng = np.random.default_rng(3)
    params = rng.standard_normal(SIZE)
    env = {"lam": params.copy(), **defaults(rule)}
    opt = Binary(params)
    for _ in range(10):
        eps = rng.logistic(0, 0.5, SIZE)
        theta = opt.draw(eps=eps)
        g = theta - 0.3
        after = hand.direct_step(rule, env | {"eps": eps, "g": g}, SIZE)
        with pytest.raises(ValueError, match="read-only"):
            theta[:] = np.nan  # the step looks there again
        opt.step(g)
        env["lam"] = after["lam_next"]
        close(params, env["lam"])
    mean, deviation = opt.posterior()
    close(mean, np.tanh(env["lam"]))
    close(deviation, np.sqrt(1 - mean**2))
    drawn = opt.sample(np.random.default_rng(0))
    assert set(np.unique(drawn)) <= {-1.0, 1.0}
    assert not hasattr(opt, "observe")  # its step is not a function of averages


@pytest.mark.sweep(8)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", ["von", "iblr", "laplace"])
@pytest.mark.parametrize("size", [1, 2, 7, 130])
def test_full(hand: Any, target: str, name: str, size: int) -> None:
    rule = hand.rules[name]()
    Full = made(hand.derivation(rule, name), target)
    rng = np.random.default_rng(4)
    params = rng.standard_normal(size)
    env = {"m": params.copy(), "S": np.eye(size), **defaults(rule)}
    opt = Full(params)
    for _ in range(4):
        g, H = rng.standard_normal(size), spd(rng, size)
        after = hand.direct_step(rule, env | {"g": g, "H": H}, size)
        opt.step(g, H)
        env |= {"m": np.ravel(after["m_next"]), "S": after["S_next"]}
        close(params, env["m"], 1e-11)
        close(opt.S, env["S"], 1e-11)
    mean, deviation = opt.posterior()
    close(mean, params)
    close(deviation, np.sqrt(np.diag(np.linalg.inv(env["S"]))), 1e-10)


@pytest.mark.parametrize("target", TARGETS)
def test_ridge(hand: Any, target: str) -> None:
    Ridge = made(hand.derivation(hand.rules["ridge"](), "Ridge"), target)
    rng = np.random.default_rng(5)
    X, y = rng.standard_normal((40, 6)), rng.standard_normal(40)
    params = [np.zeros((2, 2)), np.zeros(2)]
    opt = Ridge(params, delta=0.7)
    opt.step(X, y)
    wanted = np.linalg.solve(X.T @ X + 0.7 * np.eye(6), X.T @ y)
    close(np.concatenate([p.ravel() for p in params]), wanted)
    with pytest.raises(ValueError, match=r"y is float64\[39\]; here it must be float64\[40\]"):
        opt.step(X, y[1:])


@pytest.mark.parametrize("target", TARGETS)
def test_full_draws(hand: Any, target: str) -> None:
    """θ = m + L⁻ᵀε, the estimate from it, averaged over two draws."""
    rule = hand.rules["full_draws"]()
    Full = made(hand.derivation(rule, "Drawing"), target)
    rng = np.random.default_rng(6)
    params = rng.standard_normal(4)
    m, S, rho = params.copy(), np.eye(4), 0.2
    opt = Full(params)
    for t in range(6):
        gs, Hs = [], []
        for k in range(2 if t % 2 else 1):
            eps = rng.standard_normal(4)
            theta = opt.draw(eps=eps)
            close(theta, m + np.linalg.solve(np.linalg.cholesky(S).T, eps))
            g = 2 * theta
            outer = np.outer(S @ (theta - m), g)
            gs.append(g), Hs.append((outer + outer.T) / 2)
            if t % 2 and k == 0:
                opt.observe(g)
        opt.step(gs[-1])
        S = (1 - rho) * S + rho * np.mean(Hs, 0) + rho * np.eye(4)
        m = m - rho * np.linalg.solve(S, np.mean(gs, 0))
        close(params, m)
        close(opt.S, S)


@pytest.mark.parametrize("target", TARGETS)
def test_run(hand: Any, target: str) -> None:
    Laplace = made(hand.derivation(hand.rules["laplace"](), "Laplace"), target)
    rng = np.random.default_rng(7)
    X, y = rng.standard_normal((50, 3)), rng.integers(0, 2, 50)

    def gradient(m: Any) -> Any:
        return X.T @ (1 / (1 + np.exp(-X @ m)) - y) + m

    def hessian(m: Any) -> Any:
        p = 1 / (1 + np.exp(-X @ m))
        return X.T @ (X * (p * (1 - p))[:, None]) + np.eye(3)

    params = np.zeros(3)
    opt = Laplace(params)
    steps = opt.run(gradient, hessian, tol=1e-12)
    assert 2 < steps < 15
    assert np.abs(gradient(params)).max() < 1e-10
    close(opt.posterior()[1], np.sqrt(np.diag(np.linalg.inv(hessian(params)))), 1e-9)
    with pytest.raises(RuntimeError, match="no fixed point after 1 steps"):
        Laplace(np.zeros(3)).run(gradient, hessian, max_steps=1)


@pytest.mark.parametrize("target", TARGETS)
def test_not_positive_definite_changes_nothing(hand: Any, target: str) -> None:
    for name in ("von", "laplace"):
        Full = made(hand.derivation(hand.rules[name](), name), target)
        params = np.ones(3)
        opt = Full(params, check_finite=False)
        opt.step(np.ones(3), 2 * np.eye(3))
        before = opt.state_dict()
        for H in (-1e3 * np.eye(3), np.full((3, 3), np.nan)):
            with pytest.raises(
                ValueError, match=r"the next S is not positive definite|not symmetric"
            ):
                opt.step(np.ones(3), H)
        after = opt.state_dict()
        assert after["t"] == before["t"]
        assert all(np.array_equal(after[k], before[k]) for k in ("m", "S"))


@pytest.mark.parametrize("target", ["numpy", "numba"])
def test_gaussian_sample_has_the_right_law(hand: Any, target: str) -> None:
    rule = hand.rules["von"]()
    Full = made(hand.derivation(rule, "von"), target)
    opt = Full(np.array([1.0, -2.0, 3.0]), rho=1.0)
    S = np.array([[2.0, 0.5, 0.1], [0.5, 1.5, -0.3], [0.1, -0.3, 1.0]])
    opt.step(np.zeros(3), S)
    rng = np.random.default_rng(8)
    draws = np.array([opt.sample(rng) for _ in range(8000)])
    assert np.abs(draws.mean(0) - [1, -2, 3]).max() < 0.06
    assert np.abs(np.cov(draws.T) - np.linalg.inv(S)).max() < 0.06
    one, two = (opt.sample(np.random.default_rng(5)) for _ in range(2))
    assert np.array_equal(one, two)
    IVON = made(hand.derivation(hand.rules["ivon"](), "IVON"), target)
    many = IVON(np.full(40000, 2.0), h0=3.0)
    _, deviation = many.posterior()
    wanted = 1 / np.sqrt(50 * (3 + 0.01))
    close(deviation, np.full(40000, wanted))
    drawn = many.sample(np.random.default_rng(1))
    assert abs(drawn.mean() - 2) < 5 * wanted / 200 and abs(drawn.std() / wanted - 1) < 0.02
    noise = many.draw(np.random.default_rng(1)) - 2
    assert abs(noise.std() / wanted - 1) < 0.02


def test_names_of_the_loops_around_a_kernel_may_be_used(hand: Any) -> None:
    """Six arrays in one call: a state `size`, an input `which`, numbers `start` and `stop`."""
    names = ("m", "size", "which", "start", "stop")
    m, size, g, start, stop = (sp.Symbol(x, real=True) for x in names)
    following = sp.Symbol("size_next", real=True)
    rule = Rule(
        (
            Quantity("m", "state", "elementwise", m),
            Quantity("size", "state", "elementwise", size, init=stop),
            Quantity("which", "input", "elementwise", g),
            *(
                Quantity(x.name, "hyper", "scalar", x, default=d)
                for x, d in ((start, sp.Rational(1, 2)), (stop, sp.Integer(3)))
            ),
        ),
        (Assignment("size_next", start * size + g), Assignment("m_next", m - stop * following)),
        (("mean", m),),
    )
    ends = []
    for target in ("numpy", "loops", "numba"):
        Loops = made(hand.derivation(rule, "Loops"), target)
        params = [np.full(k, 1.0 + k) for k in range(1, 7)]
        opt = Loops(params)
        for _ in range(3):
            opt.step([np.cos(p) for p in params])
        ends.append(np.concatenate(params))
    close(ends[0], ends[1])
    close(ends[0], ends[2])
    assert not np.allclose(ends[0], np.concatenate([np.full(k, 1.0 + k) for k in range(1, 7)]))


@pytest.mark.parametrize("target", TARGETS)
def test_scalar_states_and_inputs(hand: Any, target: str) -> None:
    """A state that is one number, averaged once a step, and an input that is one number."""
    m, g, w, n, b = (sp.Symbol(x, real=True) for x in ("m", "g", "w", "w_next", "b"))
    size = sp.Symbol("size", real=True)
    rule = Rule(
        (
            Quantity("m", "state", "elementwise", m),
            Quantity("w", "state", "scalar", w, init=b / 2),
            Quantity("g", "input", "elementwise", g),
            Quantity("size", "input", "scalar", size),
            Quantity("b", "hyper", "scalar", b, default=sp.Rational(1, 2), domain="[0, 1)"),
        ),
        (Assignment("w_next", b * w + (1 - b) * size), Assignment("m_next", m - g / (1 + n**2))),
        (("mean", m),),
    )
    Both = made(hand.derivation(rule, "Both"), target)
    params = np.ones(3)
    opt = Both(params)
    assert opt.w == 0.25
    wanted, weight = np.ones(3), 0.25
    for k in range(5):
        opt.step(np.cos(params), float(k))
        weight = 0.5 * weight + 0.5 * k
        wanted = wanted - np.cos(wanted) / (1 + weight**2)
        close(params, wanted)
    again = Both(np.zeros(3))
    again.load_state_dict(opt.state_dict())
    assert again.w == opt.w == weight
    close(again.m[0], wanted)


@pytest.mark.parametrize("name", ["i", "index", "step", "np", "_x", "rows", "threads"])
def test_names_that_the_class_uses_are_refused(hand: Any, name: str) -> None:
    rule = hand.rules["adam"]()
    alpha, other = rule["alpha"].symbol, sp.Symbol(name, positive=True)
    renamed = Rule(
        tuple(
            replace(q, name=name, symbol=other) if q.name == "alpha" else q for q in rule.quantities
        ),
        tuple(replace(a, expr=a.expr.subs(alpha, other)) for a in rule.assignments),
    )
    with pytest.raises(UserError, match=f"the name '{name}' is taken in emitted code"):
        emit(hand.derivation(renamed), "numpy")


@pytest.mark.parametrize("target", TARGETS)
def test_saturated_binary_variables_stay_finite(hand: Any, target: str) -> None:
    """In float32 tanh(10) is 1, and 1 − tanh² would be a division by zero."""
    rule = hand.rules["bayesbinn"]()
    Binary = made(hand.derivation(rule, "BayesBiNN", "finite"), target)
    exact = np.array([10.0, -12.0, 0.5])
    params = exact.astype(np.float32)
    eps = np.array([-9.5, 12.5, 0.1])
    opt = Binary(params)
    opt.draw(eps=eps.astype(np.float32))
    opt.step(np.ones(3, np.float32))
    rho, theta = 0.2, np.tanh(exact + eps)
    wanted = (1 - rho) * exact - rho * (1 - theta**2) * np.cosh(exact) ** 2
    np.testing.assert_allclose(params, wanted, rtol=1e-5)
