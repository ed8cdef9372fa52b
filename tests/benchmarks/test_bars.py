"""A kernel by hand and an emitted one do the same work, or there is nothing to compare."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import bars
from benchmarks.bars import dense, elementary
from benchmarks.emitted import Emitted, loaded
from benchmarks.prepare import prepared
from blrgen.read.recipe import read_recipes

RECIPES = list(read_recipes())
DENSE = [x for x in RECIPES if read_recipes()[x].family == "gaussian-full"]
ELEMENTWISE = [x for x in RECIPES if x not in DENSE]


def test_every_recipe_has_a_bar():
    assert [x for x in RECIPES if bars.module(x) is None] == []


def interpreted(monkeypatch, module):
    """The module's kernels as plain Python: what they compute, without compiling."""
    for name, kernel in vars(module).copy().items():
        if hasattr(kernel, "py_func"):
            monkeypatch.setattr(module, name, kernel.py_func)


@pytest.mark.sweep(8)
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(("dtype", "tolerance"), [("float32", 1e-5), ("float64", 1e-12)])
@pytest.mark.parametrize("recipe", ELEMENTWISE)
def test_a_bar_is_the_rule(monkeypatch, recipe, dtype, tolerance, threads):
    module = bars.module(recipe)
    interpreted(monkeypatch, module)
    if hasattr(module, "wants_threads"):
        monkeypatch.setattr(module, "wants_threads", lambda size, threads: threads > 1)
    timed = prepared(recipe, "numpy")
    emitted = Emitted(timed, 131, dtype)
    rng = np.random.default_rng(3)
    noise = {x: (rng.standard_normal(131) / 2).astype(dtype) for x, _ in timed.noises}
    made = bars.stepper(timed, emitted.optimizer, emitted.inputs, noise, threads)
    for _ in range(3):
        if timed.probe:
            emitted.optimizer.draw(**noise)
        emitted.optimizer.step(*emitted.inputs)
        made.once()
    saved = emitted.optimizer.state_dict()
    for name in timed.states:
        kept = saved[name][0] if isinstance(saved[name], list) else saved[name]
        assert made.values[name].dtype == kept.dtype == dtype
        assert not np.array_equal(kept, np.full_like(kept, kept.flat[0]))
        np.testing.assert_allclose(made.values[name], kept, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize(("dtype", "tolerance"), [("float32", 1e-5), ("float64", 1e-12)])
@pytest.mark.parametrize("recipe", DENSE)
def test_a_bar_with_a_full_covariance_is_the_rule(monkeypatch, recipe, dtype, tolerance):
    interpreted(monkeypatch, dense)
    timed = prepared(recipe, "numpy")
    d, rng = 7, np.random.default_rng(5)
    root = rng.standard_normal((2 * d, d)) / 4
    known = {
        ("d",): rng.standard_normal(d),
        ("n",): rng.standard_normal(d),
        ("d", "d"): root.T @ root + np.eye(d),
        ("n", "d"): root,
    }
    given = [known[axes].astype(dtype) for _, axes in timed.inputs]
    if recipe == "ridge":
        given[1] = rng.standard_normal(2 * d).astype(dtype)
    optimizer = getattr(loaded(timed.path), timed.class_name)(np.full(d, 0.25, dtype))
    made = bars.stepper(timed, optimizer, given, {}, 1)
    for _ in range(3):
        optimizer.step(*given)
        made.once()
    saved = optimizer.state_dict()
    for name in timed.states:
        assert made.values[name].dtype == dtype
        np.testing.assert_allclose(made.values[name], saved[name], rtol=tolerance, atol=tolerance)


def test_a_compiled_bar_and_a_compiled_step():
    timed = prepared("adam")
    emitted = Emitted(timed, 70_000, "float32")
    made = bars.stepper(timed, emitted.optimizer, emitted.inputs, {}, 1)
    for _ in range(3):
        emitted.optimizer.step(*emitted.inputs)
        made.once()
    np.testing.assert_allclose(made.values["m"], emitted.optimizer.m[0], rtol=1e-5, atol=1e-5)
    assert hasattr(loaded(timed.path), "Adam")


@pytest.mark.parametrize(("dtype", "ulp"), [("float32", 3), ("float64", 3)])
def test_the_exponential_by_hand(dtype, ulp):
    import numba

    @numba.njit
    def over(x, out):
        for i in range(x.size):
            out[i] = elementary.expm1(x[i])

    points = np.concatenate([[0.0], np.geomspace(1e-12, 80, 4001)])
    x = np.concatenate([-points[::-1], points]).astype(dtype)
    out = np.empty_like(x)
    over(x, out)
    exact = np.expm1(x.astype(np.longdouble))
    assert np.all(np.abs(out - exact) <= ulp * np.spacing(np.abs(exact).astype(dtype)))


def test_no_bar_for_what_nobody_wrote():
    assert bars.module("no-such-recipe") is None
    assert bars.module("../adam") is None
