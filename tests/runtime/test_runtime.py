"""The functions that emitted files share, as the package has them."""

from __future__ import annotations

import importlib
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from blrgen.emit.special import BUILDERS, helper
from blrgen.emit.special.checked import check
from blrgen.emit.support import MODULES
from blrgen.runtime import arrays, kept, lapack, linear, numbers, randoms, threads

pytestmark = pytest.mark.core

HELPERS = {
    name: module
    for module in MODULES["numpy"]
    for name in vars(importlib.import_module(f"blrgen.runtime.{module}"))
    if name in BUILDERS
}


@pytest.mark.sweep(6)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", sorted(HELPERS))
def test_special_functions(name: str, dtype: Any) -> None:
    """What is imported from the package computes what the emitted text does."""
    known: Any = helper(name)
    if known.ranges:
        module = importlib.import_module(f"blrgen.runtime.{HELPERS[name]}")
        assert check(known, getattr(module, name), dtype).passed


def test_views_are_of_the_arrays_themselves() -> None:
    params = [np.ones((2, 3)), np.ones(4, np.float32)]
    views = arrays._views("params", params, params)
    views[0][:] = 2
    assert (params[0] == 2).all() and [x.shape for x in views] == [(6,), (4,)]
    shaped = arrays._shaped([x + 1 for x in views], params)
    assert isinstance(shaped, list) and shaped[0].shape == (2, 3)
    lent = arrays._lent(views, params)
    with pytest.raises(ValueError, match="read-only"):
        lent[0][0] = 1
    assert params[0].flags.writeable


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ([np.ones(3)], ValueError, "g: 1 arrays for 2"),
        ([np.ones((2, 3)), [1.0]], TypeError, r"g\[1\] is a list"),
        ([np.ones((2, 3)), np.ones(4)], TypeError, r"g\[1\] is float64.*must be float32\[4\]"),
        ([np.ones(6), np.ones(4, np.float32)], ValueError, r"g\[0\] is float64\[6\]; .*\[2, 3\]"),
    ],
)
def test_views_refuse(given: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        arrays._views("g", given, [np.ones((2, 3)), np.ones(4, np.float32)])


def test_inputs_may_lie_in_any_order() -> None:
    given = np.arange(6.0).reshape(3, 2).T
    (flat,) = arrays._views("g", given, np.ones((2, 3)))
    assert flat.flags.c_contiguous and np.array_equal(flat, [0, 2, 4, 1, 3, 5])


def test_what_was_saved_is_copied_or_refused() -> None:
    current = {"a": [np.ones(3)], "b": 2}
    saved = {"a": [np.zeros(3)], "b": 5}
    domains = {"a": "[0, inf)", "b": "[0, inf)"}
    found = kept._fitting("the saved state", saved, current, domains)
    assert found["b"] == 5 and np.array_equal(found["a"][0], saved["a"][0])
    assert not np.shares_memory(found["a"][0], saved["a"][0])
    for wrong in ([np.zeros(4)], [np.zeros(3, np.float32)], [], [-np.ones(3)]):
        with pytest.raises(
            (ValueError, TypeError), match=r"^a = .* is no list|^a\[0\] (is|= .* outside)"
        ):
            kept._fitting("the saved state", {"a": wrong, "b": 5}, current, domains)
    for number in (-1, 0.5, np.nan, True, "x"):
        with pytest.raises((ValueError, TypeError), match="b = "):
            kept._fitting("the saved state", {"a": [np.zeros(3)], "b": number}, current, domains)


def test_vectors_of_several_arrays() -> None:
    params: Any = [np.ones((2, 2)), np.zeros(3)]
    vector = arrays._vector("params", params, params)
    arrays._scattered(vector + 1, params)
    assert np.array_equal(arrays._vector("params", params, params), [2, 2, 2, 2, 1, 1, 1])
    assert [x.shape for x in arrays._split(vector, params)] == [(2, 2), (3,)]
    mixed = [np.ones(1), np.ones(1, np.float32)]
    with pytest.raises(TypeError, match="mixes dtypes"):
        arrays._vector("params", mixed, mixed)
    with pytest.raises(ValueError, match="no vector"):
        arrays._check_vectors([np.ones((2, 2))], None, False)
    with pytest.raises(ValueError, match="2 components"):
        arrays._check_vectors([np.ones(3)], 2, False)
    with pytest.raises(ValueError, match="2 arrays"):
        arrays._check_vectors(params, None, True)


def test_numbers_that_are_refused() -> None:
    assert numbers._number("rho", np.float32(0.5)) == 0.5
    with pytest.raises(TypeError, match="pass a number"):
        numbers._number("rho", np.ones(2))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="leaves its domain"):
        numbers._between("n", 3.0, 3.0, 5.0)
    with pytest.raises(ValueError, match="not finite"):
        arrays._finite("m", np.array([1.0, np.nan]))
    arrays._finite("m", np.array([1e300, -1e300]))  # their squares overflow
    with pytest.raises(ValueError, match="2 of its elements"):
        numbers._deviation(np.array([1.0, 0.0, np.nan]))


def test_noise_is_the_generators_or_what_is_given() -> None:
    params = np.ones((2, 2))
    given = randoms._noise("eps", params, None, params, randoms._normals, False)
    assert np.array_equal(given[0], np.ones(4)) and not np.shares_memory(given[0], params)
    (drawn,) = randoms._noise(
        "eps", None, np.random.default_rng(0), params, randoms._uniforms, True, -1, 2
    )
    assert drawn.shape == (4,) and (np.abs(drawn) < 1).all()
    with pytest.raises(TypeError, match="or eps="):
        randoms._noise("eps", None, None, params, randoms._logistics, False)


@pytest.mark.parametrize("module", [linear, lapack])
@pytest.mark.parametrize("d", [1, 5, 40])
def test_factors_and_solutions(module: Any, d: int) -> None:
    a = np.random.default_rng(d).standard_normal((d, d))
    matrix, b = a @ a.T + np.eye(d), np.arange(1.0, d + 1)
    factor = module._cholesky("A", module._symmetric("A", matrix, b))
    assert np.allclose(factor @ factor.T, matrix)
    assert np.allclose(matrix @ module._solve(factor, b), b)
    assert np.allclose(factor @ module._solve_lower(factor, b), b)
    with pytest.raises(ValueError, match="not positive definite"):
        module._cholesky("A", -matrix)
    if d > 1:
        with pytest.raises(ValueError, match="not symmetric"):
            module._symmetric("A", matrix + np.triu(np.ones((d, d)), 1), b)


def test_large_arrays_are_taken_in_stretches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "get_num_threads", lambda: 3)
    monkeypatch.setattr(threads, "config", SimpleNamespace(NUMBA_NUM_THREADS=3))
    assert threads._stretch(threads.THREADED - 1) == 0
    for size in (threads.THREADED, 10**6, 10**6 + 1):
        stretch = threads._stretch(size)
        assert stretch % threads.PORTION == 0 and 0 < stretch < size <= 3 * stretch
    seen: list[Any] = []

    def serial(*given: Any) -> None:
        seen.append(("serial", len(given[0]), given[-1]))

    def threaded(stretch: int, *given: Any) -> None:
        seen.append((stretch, len(given[-1]), given[0]))

    rows = [[np.ones(5), np.ones(10**6), np.ones(3, np.float32)]]
    threads._run(serial, threaded, rows, 0.1)
    assert seen == [
        ("serial", 5, (0.1,)),
        (threads._stretch(10**6), 10**6, (0.1,)),
        ("serial", 3, (np.float32(0.1),)),
    ]
    assert type(seen[2][2][0]) is np.float32
