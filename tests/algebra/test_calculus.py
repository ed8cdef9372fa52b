"""The differential calculus, against central differences at d = 1..4."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import sympy as sp
from numeric import spd, symmetric, value

from blrgen.algebra.calculus import differential, gradient, increment, jacobian
from blrgen.algebra.ranks import T, logdet, mat, scalar, symmat, trace, vec
from blrgen.algebra.words import normal
from blrgen.errors import InternalError

pytestmark = pytest.mark.core

Env = dict[str, Any]
X, S, B = symmat("X"), symmat("S"), mat("B")
a, b, x = vec("a"), vec("b"), vec("x")
k = scalar("k")

OF_MATRIX = {
    "log|X|": logdet(X),
    "log|-2X| of negative": logdet(-X * sp.Rational(1, 2)),
    "tr(X⁻¹)": trace(X**-1),
    "tr(B X)": trace(B * X),
    "aᵀX⁻¹b": trace(T(a) * X**-1 * b),
    "aᵀXSXa": trace(T(a) * X * S * X * a),
    "tr(X²S)": trace(X**2 * S),
    "tr(X⁻²S)": trace(X**-2 * S),
    "exp of a trace": sp.exp(-trace(S * X)),
    "log|X| squared": logdet(X) ** 2,
    "a product": logdet(X) * trace(X * S),
    "log|X + kS|": logdet(X + k * S),
    "a Gaussian's A": trace(T(a) * X**-1 * a) / 4 - logdet(X) / 2,
}
OF_VECTOR = {
    "aᵀx": trace(T(a) * x),
    "xᵀSx": trace(T(x) * S * x),
    "xᵀBx": trace(T(x) * B * x),
    "‖a − Bx‖²": trace(T(a - B * x) * (a - B * x)),
    "log(1 + exp(−aᵀx))": sp.log(1 + sp.exp(-trace(T(a) * x))),
    "sqrt(1 + xᵀSx)": sp.sqrt(1 + trace(T(x) * S * x)),
}


def environment(d: int) -> Env:
    rng = np.random.default_rng(d)
    env: Env = {n: rng.standard_normal((d, 1)) for n in ("a", "b", "x")}
    return env | {"X": spd(rng, d), "S": spd(rng, d), "B": rng.standard_normal((d, d)),
                  "k": 0.7, "d": float(d)}  # fmt: skip


def slope(f: Callable[[float], float]) -> float:
    """Fourth-order central difference at 0."""
    e = 1e-3
    return (8 * (f(e) - f(-e)) - (f(2 * e) - f(-2 * e))) / (12 * e)


def negated(name: str, env: Env) -> Env:
    return env | {"X": -env["X"]} if "negative" in name else env


@pytest.mark.parametrize("d", [1, 2, 3, 4])
@pytest.mark.parametrize("name", OF_MATRIX)
def test_gradient_in_a_symmetric_matrix(name: str, d: int) -> None:
    """df = tr(Gᵀ dX) for every symmetric dX, and G itself is symmetric."""
    f, env = OF_MATRIX[name], negated(name, environment(d))
    g = np.atleast_2d(value(gradient(f, X) + 0 * X, env) * np.ones(1))
    rng = np.random.default_rng(9)
    np.testing.assert_allclose(g, g.T, atol=1e-12)
    for _ in range(3):
        dx = symmetric(rng, d) / 4

        def along(e: float, dx: Any = dx) -> float:
            return float(value(f, env | {"X": env["X"] + e * dx}))

        assert np.trace(g.T @ dx) == pytest.approx(slope(along), rel=1e-7, abs=1e-8)


@pytest.mark.parametrize("d", [1, 2, 3, 4])
@pytest.mark.parametrize("name", OF_VECTOR)
def test_gradient_and_hessian_in_a_vector(name: str, d: int) -> None:
    f, env = OF_VECTOR[name], environment(d)
    g = value(gradient(f, x), env)
    hessian = value(jacobian(gradient(f, x), x) + 0 * S, env) * np.eye(d) ** 0
    rng = np.random.default_rng(5)
    for _ in range(3):
        dx = rng.standard_normal((d, 1)) / 4

        def along(e: float, dx: Any = dx) -> float:
            return float(np.squeeze(value(f, env | {"x": env["x"] + e * dx})))

        def gradient_along(e: float, i: int, dx: Any = dx) -> float:
            return float(value(gradient(f, x), env | {"x": env["x"] + e * dx})[i, 0])

        assert float((g.T @ dx)[0, 0]) == pytest.approx(slope(along), rel=1e-7, abs=1e-8)
        if np.ndim(hessian) == 2:
            turned = [slope(lambda e, i=i: gradient_along(e, i)) for i in range(d)]  # type: ignore[misc]
            np.testing.assert_allclose((hessian @ dx)[:, 0], turned, rtol=1e-6, atol=1e-8)


def test_differentials_as_words() -> None:
    dx = increment(X)
    assert differential(X**-1, X, dx) == -(X**-1) * dx * X**-1
    assert differential(logdet(X), X, dx) == trace(X**-1 * dx)
    assert normal(differential(T(B * X), X, dx) - dx * T(B)) == 0
    assert differential(S, X, dx) == 0
    assert gradient(logdet(X), X) == X**-1


def test_sympys_own_determinant_is_not_believed() -> None:
    """SymPy's log(Determinant(X)).diff(X) is 0; here it raises, as all it does not know."""
    n = sp.Symbol("n")
    square = sp.MatrixSymbol("X", n, n)
    theirs = sp.log(sp.Determinant(square))
    assert str(sp.diff(theirs, square)) == "0"  # the trap: it should be X⁻¹, transposed
    with pytest.raises(InternalError):
        gradient(theirs, square)
    other = sp.Function("F", commutative=False)(X)
    with pytest.raises(InternalError, match="no differential rule"):
        differential(other, X, increment(X))
    with pytest.raises(InternalError, match="non-integer"):
        differential(X ** sp.Rational(1, 2), X, increment(X))
    with pytest.raises(InternalError, match="with respect to"):
        increment(sp.Symbol("unranked", commutative=False))


def test_a_function_of_a_matrix_raises() -> None:
    """sin of a matrix is not sin of its entries; nothing is said about it."""
    with pytest.raises(InternalError, match="no differential rule"):
        gradient(trace(S * sp.Function("sin", commutative=False)(X)), X)


def test_scalars_use_ordinary_derivatives() -> None:
    t = scalar("t")
    assert gradient(sp.sin(t) * t, t) == sp.sin(t) + t * sp.cos(t)
    assert jacobian(t**3, t) == 3 * t**2
