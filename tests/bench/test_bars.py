"""A kernel by hand and an emitted one do the same work, or there is nothing to compare."""

from __future__ import annotations

import numpy as np
import pytest

from blrgen.bench import bars
from blrgen.bench.emitted import Emitted, loaded
from blrgen.bench.prepare import prepared
from blrgen.read.recipe import read_recipes

ELEMENTWISE = [name for name in read_recipes() if bars.module(name) is not None]


def interpreted(monkeypatch, module):
    """The module's kernels as plain Python: what they compute, without compiling."""
    for name, kernel in vars(module).copy().items():
        if hasattr(kernel, "py_func"):
            monkeypatch.setattr(module, name, kernel.py_func)


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


def test_a_compiled_bar_and_a_compiled_step():
    timed = prepared("adam")
    emitted = Emitted(timed, 70_000, "float32")
    made = bars.stepper(timed, emitted.optimizer, emitted.inputs, {}, 1)
    for _ in range(3):
        emitted.optimizer.step(*emitted.inputs)
        made.once()
    np.testing.assert_allclose(made.values["m"], emitted.optimizer.m[0], rtol=1e-5, atol=1e-5)
    assert hasattr(loaded(timed.path), "Adam")


def test_no_bar_for_what_nobody_wrote():
    assert bars.module("no-such-recipe") is None
    assert bars.module("../adam") is None
