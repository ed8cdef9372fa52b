"""The emitted helpers of linear algebra on numbers: against 50 digits, at their edges, refusing.

In the proofs of emitted steps they stand for what they are documented to compute.
"""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import mpmath
import numpy as np
import pytest

import blrgen
from blrgen.emit import emit
from blrgen.emit.compile import load

SIZES = (1, 2, 3, 4, 5, 6, 7, 8, 31, 32, 33, 70)


@pytest.fixture(scope="module")
def von() -> Any:
    return load(emit(blrgen.derive("von"), target="numba"))


@pytest.fixture(scope="module")
def ridge() -> Any:
    return load(emit(blrgen.derive("ridge"), target="numba"))


@pytest.fixture(params=["SciPy", "no SciPy"])
def scipy_or_not(request: Any, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "no SciPy":
        monkeypatch.setitem(sys.modules, "scipy.linalg", None)
    return str(request.param)


def definite(d: int, dtype: Any = np.float64, seed: int = 0) -> Any:
    a = np.random.default_rng(seed + d).standard_normal((d, d))
    return (a @ a.T / d + np.eye(d)).astype(dtype)


def upper_of(matrix: Any) -> Any:
    """What is factored: nothing below the diagonal is to be read."""
    return np.triu(matrix) + np.tril(np.full_like(matrix, np.nan), -1)


@pytest.mark.parametrize("large", [256, 0], ids=["loop", "LAPACK"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_solution_is_right_at_every_size(
    von: Any, dtype: Any, large: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(von, "LARGE", large)
    for d in SIZES:
        a = definite(d, dtype)
        b = np.random.default_rng(d).standard_normal(d).astype(dtype)
        kept = b.copy()
        x = von._solved("A", upper_of(a), b)
        wanted = np.linalg.solve(a.astype(np.float64), b.astype(np.float64))
        assert x.dtype == dtype and (b == kept).all()
        assert np.abs(x - wanted).max() <= 40 * np.finfo(dtype).eps * np.abs(wanted).max()


@pytest.mark.parametrize("large", [256, 0], ids=["loop", "LAPACK"])
def test_an_ill_conditioned_system_is_solved_as_well_as_it_can_be(
    von: Any, large: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Hilbert's matrix of size 8: backward stable, against 50 digits."""
    monkeypatch.setattr(von, "LARGE", large)
    d = 33 if large == 0 else 8  # LAPACK is not asked for less than 32
    a = np.array([[1 / (i + j + 1) for j in range(d)] for i in range(d)])
    a += np.eye(d) * (0 if d == 8 else 1e-9)
    x = von._solved("A", upper_of(a), np.ones(d))
    with mpmath.workdps(50):
        residual = mpmath.matrix(a.tolist()) * mpmath.matrix(x.tolist()) - mpmath.ones(d, 1)
        scale = mpmath.mnorm(mpmath.matrix(a.tolist()), 1) * mpmath.norm(mpmath.matrix(x.tolist()))
        assert mpmath.norm(residual) < 4 * d * np.finfo(float).eps * scale
        if d == 8:
            wanted = mpmath.lu_solve(mpmath.matrix(a.tolist()), mpmath.ones(d, 1))
            error = max(abs(x[k] - wanted[k]) for k in range(d)) / max(abs(w) for w in wanted)
            assert error < 1e-15 * np.linalg.cond(a)


def spoiled(d: int) -> list[Any]:
    """Matrices that are not positive definite, or not of numbers."""
    out = []
    for i, j, value in (
        (0, 0, 0.0), (d - 1, d - 1, -1.0), (0, d - 1, 1e6), (d // 2, d // 2, np.nan),
        (0, d - 1, np.nan), (d - 1, d - 1, np.inf), (0, 0, np.inf), (0, d - 1, np.inf),
        (0, d - 1, -np.inf),
    ):  # fmt: skip
        a = definite(d)
        a[i, j] = a[j, i] = value
        out.append(a)
    return out


@pytest.mark.parametrize("d", [2, 5, 40, 300])
def test_what_is_not_definite_is_refused_and_nothing_is_changed(von: Any, d: int) -> None:
    params = np.linspace(-1, 1, d)
    opt = von.VON(params, rho=1.0, check_finite=False)
    opt.step(np.sin(params), definite(d))
    before, kept = params.copy(), opt.S.copy()
    for a in spoiled(d):
        with pytest.raises(ValueError, match=r"not positive definite; nothing has been changed"):
            opt.step(np.sin(params), a)
        assert (params == before).all() and (kept == opt.S).all() and opt.t == 1
    with pytest.raises(ValueError, match="not finite; nothing has been changed"):
        opt.step(np.full(d, np.nan), definite(d))
    assert (params == before).all() and (kept == opt.S).all() and opt.t == 1
    opt.step(np.sin(params), definite(d, seed=1))
    assert (definite(d, seed=1) == opt.S).all()


@pytest.mark.parametrize("d", [1, 2, 3, 4, 5, 8, 9, 41])
def test_every_entry_that_has_no_mirror_image_is_noticed(von: Any, d: int) -> None:
    a = definite(d)
    assert von._equals_transpose(a)
    for i in range(d):
        for j in range(d):
            if i != j:
                changed = a.copy()
                changed[i, j] = np.nextafter(changed[i, j], 9)
                assert not von._equals_transpose(changed)
                assert von._symmetric("H", changed, a[0]) is changed  # as good as symmetric
                changed[i, j] += 1e-3
                with pytest.raises(ValueError, match="H is not symmetric"):
                    von._symmetric("H", changed, a[0])


def test_a_matrix_by_columns_is_read_by_rows(von: Any) -> None:
    a = definite(9)
    one, two = (von.VON(np.zeros(9)) for _ in range(2))
    one.step(np.ones(9), a)
    two.step(np.ones(9), np.asfortranarray(a))
    assert (one.params == two.params).all() and (one.S == two.S).all()


@pytest.mark.parametrize("d", [1, 3, 40, 260])
def test_the_targets_agree(von: Any, d: int, scipy_or_not: str) -> None:
    plain = load(emit(blrgen.derive("von"), target="numpy")).VON(np.linspace(0, 1, d))
    fast = von.VON(np.linspace(0, 1, d))
    for k in range(3):
        for opt in (plain, fast):
            opt.step(np.cos(opt.params), definite(d, seed=k))
    np.testing.assert_allclose(fast.params, plain.params, rtol=1e-12)
    np.testing.assert_allclose(fast.S, plain.S, rtol=1e-14, atol=1e-15)  # one rounding less
    for a, b in zip(fast.posterior(), plain.posterior(), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-11)
    draws = [o.sample(np.random.default_rng(1)) for o in (fast, plain)]
    np.testing.assert_allclose(*draws, rtol=1e-10)


@pytest.mark.parametrize("d", [1, 31, 32, 65])
def test_factors_and_triangular_systems(von: Any, d: int, scipy_or_not: str) -> None:
    a, rng = definite(d), np.random.default_rng(d)
    factor = von._cholesky("A", a)
    np.testing.assert_allclose(factor, np.linalg.cholesky(a), rtol=1e-12, atol=1e-14)
    for b in (rng.standard_normal(d), rng.standard_normal((d, 3)), np.eye(d)):
        np.testing.assert_allclose(factor @ von._solve_lower(factor, b), b, atol=1e-13)
        np.testing.assert_allclose(factor.T @ von._solve_upper(factor, b), b, atol=1e-13)
        np.testing.assert_allclose(a @ von._solve(factor, b), b, atol=1e-12)
    for bad in (-a, np.full_like(a, np.nan), np.full_like(a, np.inf)):
        with pytest.raises(ValueError, match="A is not positive definite"):
            von._cholesky("A", bad)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 7, 8, 13])
def test_products_of_rows(ridge: Any, n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ridge, "STRETCH", 10)
    rng = np.random.default_rng(n)
    X, y = rng.standard_normal((n, 2)), rng.standard_normal(n)
    for given in (X, np.asfortranarray(X), np.repeat(X, 2, axis=1)[:, ::2]):
        square, right = ridge._products(given, given, y)
        np.testing.assert_allclose(square, X.T @ X, rtol=1e-13, atol=1e-15)
        np.testing.assert_allclose(right, X.T @ y, rtol=1e-13, atol=1e-15)


@pytest.mark.sweep(6)
@pytest.mark.parametrize("dtype", [np.float64, pytest.param(np.float32, marks=pytest.mark.rest)])
@pytest.mark.parametrize("rows", [31, 300, 1000])
def test_products_with_threads_are_the_same_for_any_number_of_them(
    ridge: Any, rows: int, dtype: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stretches of 30 rows, three at a time, the last one shorter; against 64 bits."""
    numba = pytest.importorskip("numba")
    monkeypatch.setattr(ridge, "STRETCH", 30 * 7)
    monkeypatch.setattr(ridge, "SHARED", 3)
    rng = np.random.default_rng(rows)
    X, y = rng.standard_normal((rows, 7)).astype(dtype), rng.standard_normal(rows).astype(dtype)
    before, found = numba.get_num_threads(), []
    try:
        for threads in sorted({1, before}):
            numba.set_num_threads(threads)
            for given in (y, np.repeat(y, 2)[::2]):
                found.append(ridge._products(X, X, given))
                found.append(ridge._products(X, given, X)[::-1])
    finally:
        numba.set_num_threads(before)
    for square, right in found:
        assert square.dtype == right.dtype == dtype
        assert (square == found[0][0]).all() and (square == square.T).all()
        assert (right == found[0][1]).all()
    X, y = X.astype(np.float64), y.astype(np.float64)
    tolerance = 40 * np.finfo(dtype).eps * rows
    np.testing.assert_allclose(found[0][0], X.T @ X, rtol=0, atol=tolerance)
    np.testing.assert_allclose(found[0][1], X.T @ y, rtol=0, atol=tolerance)


@pytest.mark.parametrize("shape", [(1, 1), (5, 3), (33, 1), (40, 7), (1200, 33), (40, 100)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("narrow", [128, 0], ids=["loop", "BLAS"])
def test_a_symmetric_product_is_symmetric(
    ridge: Any,
    shape: tuple[int, int],
    dtype: Any,
    narrow: int,
    scipy_or_not: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ridge, "NARROW", narrow)
    X = np.random.default_rng(3).standard_normal(shape).astype(dtype)
    wanted = X.astype(np.float64).T @ X.astype(np.float64)
    for given in (X, np.asfortranarray(X), np.repeat(X, 2, axis=1)[:, ::2]):
        found = ridge._gram(given)
        assert found.dtype == dtype and (found == found.T).all()
        np.testing.assert_allclose(
            found, wanted, rtol=0, atol=4 * np.finfo(dtype).eps * wanted.max()
        )


@pytest.mark.parametrize("d", [1, 2, 5, 33, 300])
def test_a_step_that_only_looks_at_its_matrix(d: int) -> None:
    """It is made in one pass and refused as everywhere; nothing is changed."""
    rule = blrgen.derive("iblr")
    fast, plain = (rule.compile(target) for target in ("numba", "numpy"))
    a, b = np.zeros(d), np.zeros(d)
    one, other = fast(a, check_finite=False), plain(b)
    for k in range(3):
        for opt in (one, other):
            opt.step(np.cos(np.arange(d) + k), definite(d, seed=k))
    np.testing.assert_allclose(a, b, rtol=1e-10)
    np.testing.assert_allclose(one.S, other.S, rtol=1e-10, atol=1e-12)
    assert (one.S == one.S.T).all()
    before, kept = a.copy(), one.S.copy()
    bad = definite(d)
    bad[0, 0] = np.nan
    with pytest.raises(ValueError, match="the next S is not positive definite; nothing has been"):
        one.step(np.ones(d), bad)
    assert (a == before).all() and (kept == one.S).all() and one.t == 3


@pytest.mark.sweep(6)
@pytest.mark.parametrize("d", [40, 300])
@pytest.mark.parametrize("large", [256, 0])
def test_a_factor_that_is_known_is_not_made_again(
    d: int, large: int, scipy_or_not: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every step is the very one of an optimizer that starts from the state before it."""
    iblr = load(emit(blrgen.derive("iblr"), target="numba"))
    monkeypatch.setattr(iblr, "LARGE", large)
    made, cholesky = [], iblr._cholesky
    monkeypatch.setattr(iblr, "_cholesky", lambda *given: made.append(1) or cholesky(*given))
    params = np.linspace(-1, 1, d)
    opt = iblr.IBLR(params, rho=0.5)
    known = d >= large and scipy_or_not == "SciPy"

    def step(anew: bool, seed: int) -> None:
        other = iblr.IBLR(np.zeros(d))
        other.load_state_dict(opt.state_dict())
        given = np.sin(params + seed), definite(d, seed=seed)
        other.step(*given)
        made.clear()
        opt.step(*given)
        assert len(made) == (anew or not known)
        assert (opt.params == other.params).all() and (opt.S == other.S).all()

    step(anew=True, seed=0)
    step(anew=False, seed=1)
    opt.S[0, -1] += 0.01
    opt.S[-1, 0] += 0.01
    step(anew=True, seed=2)
    opt.S[d // 2, d // 2] *= 2
    step(anew=True, seed=3)
    opt.S = opt.S.copy()
    step(anew=False, seed=4)
    opt.S = definite(d, seed=9)
    step(anew=True, seed=5)
    opt.check_finite = False
    kept, bad = opt.S.copy(), definite(d)
    bad[0, 0] = np.nan
    with pytest.raises(ValueError, match="the next S is not positive definite; nothing has been"):
        opt.step(np.ones(d), bad)
    assert (kept == opt.S).all()
    step(anew=True, seed=6)
    with pytest.raises(ValueError, match="the next m is not finite; nothing has been"):
        opt.step(np.full(d, np.inf), definite(d, seed=7))
    step(anew=True, seed=7)
    opt.S = -opt.S
    with pytest.raises(ValueError, match="S is not positive definite; nothing has been changed"):
        opt.step(np.ones(d), definite(d))


def test_a_matrix_of_another_size_set_from_outside_is_refused(von: Any) -> None:
    opt = von.VON(np.zeros(4))
    with pytest.raises(ValueError, match=r"S is .*\[3, 3\]"):
        opt.S = np.eye(3)


def test_a_matrix_set_from_outside_is_never_written(von: Any) -> None:
    mine = 2 * np.eye(4)
    opt = von.VON(np.zeros(4))
    opt.S = mine
    for _ in range(3):
        opt.step(np.ones(4), np.eye(4))
    assert (mine == 2 * np.eye(4)).all()


def test_scipys_linear_algebra_is_not_imported_before_it_is_needed() -> None:
    source = emit(blrgen.derive("von"), target="numba").replace("cache=True", "cache=False")
    look = "import sys\nassert 'scipy.linalg' not in sys.modules\n"
    done = subprocess.run([sys.executable, "-c", f"{source}\n{look}"], check=False)
    assert done.returncode == 0
