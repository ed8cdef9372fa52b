"""One recursion for numbers, vectors by their components and words, in every arithmetic."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
import sympy as sp

from blrgen.algebra.components import Component, Head, total
from blrgen.algebra.ranks import T, logdet, mat, positive, scalar, symmat, trace, vec
from blrgen.value.arithmetic import DOUBLES, EXTENDED, REALS, Arithmetic
from blrgen.value.evaluate import Undefined
from blrgen.value.instance import Instance

D = sp.Symbol("d", integer=True, positive=True)
a, b = positive("a"), scalar("b")
x, S, M = vec("x"), symmat("S"), mat("M")
ALL = pytest.mark.parametrize("arithmetic", [DOUBLES, REALS, EXTENDED])
POINT = {
    x: np.array([[0.5], [-1.25]]),
    S: np.array([[2.0, 0.5], [0.5, 1.5]]),
    M: np.array([[1.0, -2.0], [0.25, 3.0]]),
    a: 1.75,
    b: -0.5,
}


def here(arithmetic: Arithmetic) -> Instance:
    exact = {k: np.vectorize(mpmath.mpf, otypes=[object])(v) if np.ndim(v) else mpmath.mpf(v)
             for k, v in POINT.items()}  # fmt: skip
    return Instance({D: 2}, POINT if arithmetic is DOUBLES else exact, arithmetic)


@ALL
def test_words_are_what_numpy_says(arithmetic: Arithmetic) -> None:
    s, m, v = POINT[S], POINT[M], POINT[x]
    inverse = np.linalg.inv(s)
    pairs = [
        (S**-1 * x, inverse @ v),
        (a * T(M) * S**-2 * M + b, 1.75 * m.T @ inverse @ inverse @ m - 0.5 * np.eye(2)),
        (trace(S * x * T(x)), (v.T @ s @ v).item()),
        (logdet(S, D) + D * sp.log(a), np.linalg.slogdet(s)[1] + 2 * np.log(1.75)),
    ]
    for e, should in pairs:
        found = np.asarray(here(arithmetic).value(e), dtype=float)
        np.testing.assert_allclose(found, should, rtol=1e-13)


@ALL
def test_numbers_are_what_sympy_says(arithmetic: Arithmetic) -> None:
    at = {a: sp.Rational(7, 4), b: -sp.S.Half}
    for e in (a**b, sp.exp(b) / a, sp.loggamma(a) + sp.pi, sp.besseli(a, 2), sp.Max(a, b),
              sp.log(sp.factorial(a)), sp.polygamma(1, a), sp.sqrt(2) * sp.tanh(b)):  # fmt: skip
        should = float(e.subs(at).evalf(20))
        assert float(here(arithmetic).value(e)) == pytest.approx(should, rel=1e-14)


@ALL
def test_vectors_by_their_components(arithmetic: Arithmetic) -> None:
    k = sp.Symbol("K", integer=True, positive=True)
    eta, part = Component("eta", k), Head("eta", k - 1)
    numbers = [0.25, -1.5, 2.0]
    kept = numbers if arithmetic is DOUBLES else [mpmath.mpf(v) for v in numbers]
    there = Instance({k: 3}, {"eta": kept}, arithmetic)
    softmax = sp.exp(eta) / total(sp.exp(eta), k)
    e = np.exp(numbers)
    np.testing.assert_allclose(np.array(there.value(softmax), dtype=float), e / e.sum(), rtol=1e-14)
    assert [float(v) for v in there.value(part)] == numbers[:2]
    assert float(there.value(total(k * eta**2, k))) == pytest.approx(
        3 * sum(v * v for v in numbers)
    )
    assert [float(v) for v in there.vector(sp.S.Half, k)] == [0.5] * 3
    assert [float(v) for v in there.like(k, eta)] == [3.0] * 3


def test_many_points_at_once() -> None:
    many = np.linspace(0.5, 2.0, 7)
    batch = here(DOUBLES).with_({a: many, M: many[:, None, None] * POINT[M]})
    one = [
        here(DOUBLES).with_({a: v, M: v * POINT[M]}).value(a * trace(M * S**-1) + sp.zeta(a + 1))
        for v in many
    ]
    found = batch.value(a * trace(M * S**-1) + sp.zeta(a + 1))
    np.testing.assert_allclose(found, one, rtol=1e-14)


def test_as_many_digits_as_are_in_force() -> None:
    with mpmath.workdps(60):
        found = here(REALS).value(sp.exp(a) * trace(S**-1))
        should = mpmath.exp(mpmath.mpf(7) / 4) * mpmath.mpf("3.5") / mpmath.mpf("2.75")
        assert abs(found - should) < mpmath.mpf(10) ** -57


def test_a_number_in_the_shape_of_a_matrix() -> None:
    for arithmetic in (DOUBLES, REALS):
        found = here(arithmetic).like(a, S)
        np.testing.assert_array_equal(np.asarray(found, dtype=float), 1.75 * np.eye(2))
        still = here(arithmetic).like(sp.S.Zero, x)
        np.testing.assert_array_equal(np.asarray(still, dtype=float), np.zeros((2, 1)))


@pytest.mark.parametrize("e", [sp.log(b), logdet(S + 4 * b, D), 1 / (b + sp.S.Half)])
def test_what_has_no_value(e: sp.Expr) -> None:
    with pytest.raises(Undefined):
        here(REALS).value(e)
    assert not np.isfinite(here(DOUBLES).value(e)).any()


def test_infinite_and_complex_numbers_go_on_where_they_are_looked_at() -> None:
    at = here(EXTENDED).with_({b: mpmath.mpf("-inf")})
    assert at.value(b + a) == -mpmath.inf
    assert here(EXTENDED).value(sp.log(b)).imag == pytest.approx(float(mpmath.pi))


def test_a_point_made_from_another_one() -> None:
    first = here(REALS)
    known = first.value(S**-1 * x)
    moved = first.with_({b: mpmath.mpf(3)})
    assert moved.value(b) == 3
    y = scalar("y")
    more = first.with_({y: mpmath.mpf(2)})
    assert more.value(S**-1 * x) is known
    assert more.value(y + a) == mpmath.mpf("3.75")
    assert y in more.values
    assert y not in more.without([y]).values
    with pytest.raises(Undefined):
        first.value(y)
