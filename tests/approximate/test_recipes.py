"""Every recipe's derived rule against the algorithm written by hand, as plain numbers.

Independent of the proof machinery: the derived expressions are evaluated, and the
reference's `step` (and `draw`) is called, on the same random arrays.
"""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest
from numeric import reference, spd, symmetric, value

from blrgen.api import derive
from blrgen.core import Derivation
from blrgen.read.recipe import read_recipes
from blrgen.rule.expand import expanded

pytestmark = pytest.mark.core

HYPER = {
    "alpha": 0.05, "beta": 0.1, "beta1": 0.85, "beta2": 0.97, "rho": 0.2, "gamma": 0.7,
    "delta": 0.03, "N": 50.0, "h0": 1.3, "c": 0.4, "tau": 0.8, "lam0": 0.1, "pi": 0.6,
    "t": 3,
}  # fmt: skip


def arrays(d: Derivation, size: int, seed: int) -> dict[str, Any]:
    """Random values for everything a rule mentions; columns and matrices for full candidates."""
    rng = np.random.default_rng(seed)
    env: dict[str, Any] = {**HYPER, "d": float(size)}
    for q in d.rule.quantities:
        if q.kind in ("hyper", "counter"):
            continue
        if q.rank == "vector" and q.kind == "data":
            env[q.name] = rng.standard_normal((size + 3, 1))
        elif q.rank == "vector":
            env[q.name] = rng.standard_normal((size, 1))
        elif q.rank == "matrix":
            env[q.name] = rng.standard_normal((size + 3, size))
        elif q.rank == "symmetric":
            env[q.name] = spd(rng, size) if q.kind == "state" else symmetric(rng, size) / 9
            env[q.name] = env[q.name] + 3 * np.eye(size)
        elif q.domain in ("(0, oo)", "[0, oo)", "(-delta, oo)"):
            env[q.name] = rng.uniform(0.5, 2, size)
        else:
            env[q.name] = rng.standard_normal(size)
        if q.name == "h" and q.kind == "state":
            env[q.name] = rng.uniform(0.5, 2, size)
    return env


def flat(d: Derivation, name: str, x: Any) -> Any:
    """Columns as the references write vectors, (d,)."""
    return x[:, 0] if name in d.rule and d.rule[name].rank == "vector" else x


@pytest.mark.sweep(6)
@pytest.mark.parametrize("size", [1, 2, 3, 4])
@pytest.mark.parametrize("name", sorted(read_recipes()))
def test_recipe_against_the_hand_written_algorithm(name: str, size: int) -> None:
    d, by_hand = derive(name), reference(name.replace("-", "_"))
    env = arrays(d, size, seed=size)
    mine = {k: flat(d, k, value(x, env)) for k, x in expanded(d.rule).items()}
    wanted = list(inspect.signature(by_hand.step).parameters)
    given = {k: flat(d, k, env[k]) for k in wanted if k in env}
    assert set(wanted) <= set(env), set(wanted) - set(env)
    out = by_hand.step(**given)
    out = out if isinstance(out, tuple) else (out,)
    states = [k for k in wanted if k in mine]
    assert len(states) == len(out)
    for state, theirs in zip(states, out, strict=True):
        np.testing.assert_allclose(mine[state], theirs, rtol=1e-9, atol=1e-12)
    places = [a for a in d.rule.assignments if a.stage == "draw"]
    if hasattr(by_hand, "draw") and places:
        names = inspect.signature(by_hand.draw).parameters
        at = by_hand.draw(**{k: flat(d, k, env[k]) for k in names})
        np.testing.assert_allclose(value(places[-1].expr, env), at, rtol=1e-12)


@pytest.mark.sweep(6)
@pytest.mark.parametrize("name", sorted(read_recipes()))
def test_nothing_is_asked_for_that_the_reference_does_not_use(name: str) -> None:
    """The same states, inputs and hyperparameters, by name; a state nobody reads aside."""
    d, by_hand = derive(name), reference(name.replace("-", "_"))
    wanted = set(inspect.signature(by_hand.step).parameters)
    if hasattr(by_hand, "draw"):
        wanted |= set(inspect.signature(by_hand.draw).parameters)
    mine = {q.name for q in d.rule.quantities if q.kind not in ("intermediate", "counter")}
    read = {s.name for x in expanded(d.rule).values() for s in x.free_symbols}
    idle = {q.name for q in d.rule.of("state")} - read
    assert mine - {"theta"} - idle == wanted - {"t", "theta"} - idle
