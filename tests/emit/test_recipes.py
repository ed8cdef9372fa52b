"""Every recipe's emitted class against direct evaluation of the rule it was derived as."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from blrgen import derive
from blrgen.emit import emit
from blrgen.emit.compile import compile_class
from blrgen.read.recipe import read_recipes

SIZE, ROWS = 5, 11


def made_input(q: Any, rng: np.random.Generator) -> np.ndarray:
    """A random input of a quantity's rank; curvature is positive."""
    if q.rank == "symmetric":
        A = rng.standard_normal((SIZE, SIZE))
        return A @ A.T + np.eye(SIZE)
    if q.rank == "matrix":
        return rng.standard_normal((ROWS, SIZE))
    size = ROWS if q.kind == "data" else SIZE
    values = rng.standard_normal(size)
    return np.abs(values) if q.name == "h" else values


@pytest.mark.sweep(12)
@pytest.mark.parametrize("target", ["numpy", "numba"])
@pytest.mark.parametrize("name", sorted(read_recipes()))
def test_recipe(hand: Any, name: str, target: str) -> None:
    d = derive(name)
    rule, rng = d.rule, np.random.default_rng(12)
    params = rng.standard_normal(SIZE)
    opt = compile_class(emit(d, target))(params)
    main, *others = [q.name for q in rule.of("state")]
    env: dict[str, Any] = {q.name: getattr(opt, q.name) for q in rule.of("hyper")}
    env[main] = params.copy()
    for x in others:
        held = getattr(opt, x)
        env[x] = (held[0] if isinstance(held, list) else held).copy()
    for t in range(1, 7):
        noise = {q.name: rng.standard_normal(SIZE) for q in rule.of("draw")}
        inputs = {q.name: made_input(q, rng) for q in rule.of("input", "data")}
        after = hand.direct_step(rule, env | noise | inputs | {"t": t}, SIZE)
        if noise:
            theta = opt.draw(**noise)
            np.testing.assert_allclose(theta, np.ravel(after["theta"]), rtol=1e-12)
        opt.step(*inputs.values())
        for x in (main, *others):
            if f"{x}_next" in after:
                env[x] = after[f"{x}_next"].reshape(np.shape(env[x]))
        np.testing.assert_allclose(params, env[main], rtol=1e-11, atol=1e-12)
    if "precision" in dict(rule.posterior):
        mean, deviation = opt.posterior()
        np.testing.assert_allclose(mean, params)
        precision = hand.evaluate(dict(rule.posterior)["precision"], env, SIZE)
        variance = np.linalg.inv(precision).diagonal() if np.ndim(precision) == 2 else 1 / precision
        np.testing.assert_allclose(deviation, np.sqrt(variance), rtol=1e-9)
        assert opt.sample(np.random.default_rng(0)).shape == params.shape
