"""Sigmoid, softplus, softmax and their derivatives, however they are written, far out.

Slope and curvature of a loss are read off one step with ρ = 1: momentum that forgets is the
slope, u⁺ = ∇ℓ(m), and of N(m, 1/s) s⁺ = ∇²ℓ(m).  They are compared with the same derivatives
at as many digits as differences of exponentials of ±10⁴ need.
"""

from __future__ import annotations

import itertools
from functools import cache
from typing import Any

import mpmath
import numpy as np
import pytest
import sympy as sp

import blrgen

U = sp.Symbol("U", real=True)
PLACES = (-1e4, -800.0, -400.0, -89.0, -30.0, -9.0, -0.125, 0.5, 3.0, 30.0, 88.0, 89.0, 400.0, 1e4)
TOLERANCE = {"float32": 1e-6, "float64": 1e-12}
WRITTEN = [  # softplus
    "log(1+exp(-U))", "log(exp(U)+1)", "-log(1/(1+exp(-U)))", "-log(exp(U)/(1+exp(U)))",
    "-log(1-1/(1+exp(-U)))", "-log((1+tanh(U/2))/2)", "log(exp(U)+exp(2*U))-U", "log(1+exp(1-U))",
    "log(2+exp(U))", "log(1+3*exp(-U))", "log(1+exp(U))**2",
    # sigmoid
    "1/(1+exp(-U))", "exp(U)/(1+exp(U))", "exp(-U)/(1+exp(-U))", "(1+tanh(U/2))/2",
    "1-1/(1+exp(-U))", "1-exp(U)/(1+exp(U))", "exp(U)/(1+exp(U))**2", "exp(-U)/(1+exp(-U))**2",
    "1/(exp(U)+2+exp(-U))", "1/(1+exp(-U))**2", "sqrt(1/(1+exp(-U)))", "U/(1+exp(-U))",
    "1/(2+3*exp(U))", "exp(U)/(exp(U)+exp(3))", "exp(U)/sqrt(1+exp(2*U))",
    # hyperbolic functions
    "log(exp(U)+exp(-U))", "log(cosh(U))", "tanh(U)", "U*tanh(U)", "1/cosh(U)", "1/cosh(U)**2",
    "-log(1-tanh(U)**2)", "exp(U)/(exp(U)+exp(-U))", "(exp(U)-exp(-U))/(exp(U)+exp(-U))",
    "(exp(U)-1)/(exp(U)+1)", "(1-exp(-U))/(1+exp(-U))",
    # more terms
    "log(1+exp(U)+exp(2*U))", "exp(U)/(1+exp(U)+exp(2*U))", "log(exp(U)+exp(-U)+3)",
]  # fmt: skip
COMPILED = WRITTEN[::6]
CASES = [
    *((w, "numpy", dtype) for w in WRITTEN for dtype in TOLERANCE),
    *zip(COMPILED, itertools.repeat("numba"), itertools.cycle(TOLERANCE)),
]


@cache
def derivative(written: str, order: int) -> Any:
    """A derivative as a function of a place, at the digits that it needs there."""
    f = sp.lambdify(U, sp.diff(sp.sympify(written, locals={"U": U}), U, order), "mpmath")

    @cache
    def at(u: float) -> float:
        with mpmath.workdps(60 + round(1.4 * abs(u))):
            return float(f(mpmath.mpf(u)))

    return at


def near(found: float, exact: float, u: float, dtype: str, written: str) -> bool:
    """To the tolerance; where an exponent is no multiple of ±U alone, after its rounding."""
    info = np.finfo(dtype)
    allowed = TOLERANCE[dtype]
    if any(number in written for number in ("2*U", "3", "2+", "1-U")):
        allowed += float(info.eps) * min(2 * abs(u), 90)
    return abs(found - exact) <= allowed * abs(exact) + float(info.tiny)


def changes_sign(written: str, order: int, u: float) -> bool:
    """Whether the derivative is 0 near the place: its digits are lost to those of the place."""
    if abs(u) > 10:
        return False
    low, high = (derivative(written, order)(u + d) for d in (-0.75, 0.75))
    return low * high < 0


@pytest.mark.sweep(16)
@pytest.mark.parametrize(("written", "target", "dtype"), CASES)
def test_curvatures_are_right_and_finite(written: str, target: str, dtype: str) -> None:
    d = blrgen.derive("gaussian-diag", ["delta"], loss=written.replace("U", "theta"))
    m = np.array(PLACES, dtype=dtype)
    opt = d.compile(target, dtype=dtype)(m, rho=1.0)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):  # of m − g/s⁺ at s⁺ = 0
        opt.step()
    for u, found in zip(PLACES, opt.s[0], strict=True):
        exact = derivative(written, 2)(u)
        assert changes_sign(written, 2, u) or near(float(found), exact, u, dtype, written), (
            u,
            found,
            exact,
        )


@pytest.mark.sweep(16)
@pytest.mark.parametrize(("written", "target", "dtype"), CASES)
def test_slopes_are_right_and_nothing_overflows(written: str, target: str, dtype: str) -> None:
    d = blrgen.derive("momentum", [], loss=written.replace("U", "theta"))
    opt = d.compile(target, dtype=dtype)(np.array(PLACES, dtype=dtype), rho=1.0, gamma=0.0)
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        opt.step()
    for u, found in zip(PLACES, opt.u[0], strict=True):
        exact = derivative(written, 1)(u)
        assert changes_sign(written, 1, u) or near(float(found), exact, u, dtype, written), (
            u,
            found,
            exact,
        )


@pytest.mark.sweep(16)
@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("written", WRITTEN)
def test_values_are_right_and_finite(written: str, dtype: str) -> None:
    """Of θ in {−1, 1} the rule has the two values of the loss themselves."""
    loss = written.replace("U", "(w*(1+theta)/2)")  # w at 1 and a known number at −1
    d = blrgen.derive("bernoulli-sign", [], loss=loss)
    cls = d.compile("numpy", dtype=dtype)
    base = derivative(written, 0)(0.0)
    for u in PLACES:
        lam = np.zeros(1, dtype=dtype)
        with np.errstate(over="raise", invalid="raise", divide="raise"):
            opt = cls(lam, rho=1.0)
            opt.step(np.array([u], dtype=dtype))
        exact = (base - derivative(written, 0)(u)) / 2
        size = abs(base) + abs(derivative(written, 0)(u))
        found = float(lam[0])
        assert abs(found - exact) <= 4 * TOLERANCE[dtype] * max(size, 1e-30), (u, found, exact)


SOFTMAX = {
    "log(exp(theta)+exp(a)+exp(b))-theta": lambda t, a, b: mpmath.log(
        mpmath.exp(t) + mpmath.exp(a) + mpmath.exp(b)) - t,
    "exp(theta)/(exp(theta)+exp(a)+exp(b))": lambda t, a, b: mpmath.exp(t) / (
        mpmath.exp(t) + mpmath.exp(a) + mpmath.exp(b)),
    "log(exp(theta-a)+exp(b-theta))": lambda t, a, b: mpmath.log(
        mpmath.exp(t - a) + mpmath.exp(b - t)),
    "1/(1+exp(a-theta)+exp(b-theta))": lambda t, a, b: 1 / (
        1 + mpmath.exp(a - t) + mpmath.exp(b - t)),
}  # fmt: skip


@pytest.mark.sweep(8)
@pytest.mark.parametrize("loss", SOFTMAX)
def test_softmax_of_several_numbers(loss: str) -> None:
    places = [(1e4, -1e4, 9e3), (-1e4, 30.0, 31.0), (800.0, 801.0, 799.5), (0.3, 0.1, -2.0)]
    d = blrgen.derive("momentum", [], loss=loss)
    cls = d.compile("numpy")
    for t, a, b in places:
        opt = cls(np.array([t]), rho=1.0, gamma=0.0)
        with np.errstate(over="raise", invalid="raise", divide="raise"):
            opt.step(np.array([a]), np.array([b]))
        with mpmath.workdps(10_000):
            exact = mpmath.diff(lambda s, a=a, b=b: SOFTMAX[loss](s, a, b), mpmath.mpf(t), 1)
        found = float(opt.u[0][0])
        assert abs(found - float(exact)) <= 1e-12 * abs(float(exact)) + 1e-300, (t, a, b, found)


@pytest.mark.sweep(6)
@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("target", ["numpy", "numba"])
def test_the_curvature_of_a_matrix_far_out(target: str, dtype: str) -> None:
    """S⁺ = σ(u)σ(−u) x xᵀ of the logistic loss with one row, u = ⟨x, m⟩."""
    d = blrgen.derive("gaussian-full", ["delta"], loss="log(1+exp(-y*dot(x,theta)))")
    cls = d.compile(target, dtype=dtype)
    for u in PLACES:
        m = np.array([u, 0.0], dtype=dtype)
        opt = cls(m, rho=0.5)
        opt.step(np.array([1.0, 0.5], dtype=dtype), -1.0)
        curve = derivative("log(1+exp(U))", 2)(u)
        outer = np.array([[1.0, 0.5], [0.5, 0.25]])
        found = np.array(opt.S, dtype=float).reshape(2, 2)
        np.testing.assert_allclose(
            found, np.eye(2) / 2 + curve * outer / 2, rtol=TOLERANCE[dtype] * 3,
            atol=float(np.finfo(dtype).tiny),
        )  # fmt: skip
