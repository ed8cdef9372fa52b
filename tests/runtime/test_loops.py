"""Factors in loops."""

from __future__ import annotations

import numpy as np
import pytest

from blrgen.runtime.loops import _factor, _logdet, _solve_vector


@pytest.mark.parametrize("d", [1, 2, 3, 4, 5, 8, 9, 11, 12, 13, 17])
def test_a_factor_solves(d: int) -> None:
    rng = np.random.default_rng(d)
    rows = rng.normal(size=(2 * d, d))
    a, b = rows.T @ rows + np.eye(d), rng.normal(size=d)
    f, x = np.full((d, d), 9.0), np.empty(d)
    _factor(a, f, d)
    _solve_vector(f, b, x, d)
    lower = np.tril(f, -1) + np.eye(d)
    assert np.allclose(lower / f.diagonal() @ lower.T, a, rtol=1e-12)
    assert np.allclose(x, np.linalg.solve(a, b), rtol=1e-10)
    assert np.isclose(_logdet(f, d), np.linalg.slogdet(a)[1], rtol=1e-12)


@pytest.mark.parametrize("d", [1, 3, 8, 9, 12, 13])
@pytest.mark.parametrize("last", [0.0, -1.0])
def test_what_is_not_definite_has_no_number(d: int, last: float) -> None:
    a = np.eye(d)
    for k in {0, d // 2, d - 1}:
        a[k, k] = last
        f = np.empty((d, d))
        _factor(a, f, d)
        assert np.isnan(f[k, k])
        assert not np.isfinite(_logdet(f, d))
        a[k, k] = 1.0
