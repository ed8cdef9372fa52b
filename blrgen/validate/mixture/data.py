"""Random states and inputs of a mixture: components far apart, near, and on one another."""

from __future__ import annotations

from typing import Any

import numpy as np

from blrgen.program.mixture.lower import Array, MixtureProgram

SIZES = ({"K": 1, "d": 2}, {"K": 3, "d": 1}, {"K": 4, "d": 3})
SPREADS = (1.0, 40.0, 1e-6)  # of what moves θ


def cases(program: MixtureProgram) -> list[dict[str, Any]]:
    """Everything that a step reads, a case for each size and spread."""
    found = []
    for seed, sizes in enumerate(SIZES):
        named = {"K": sizes["K"], program.size: sizes["d"]}
        for spread in SPREADS:
            rng = np.random.default_rng([seed, int(spread)])
            found.append(_case(program, named, spread, rng))
    return found


def _case(
    program: MixtureProgram, sizes: dict[str, int], spread: float, rng: np.random.Generator
) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for x in (*program.states, *program.inputs):
        shape = tuple(sizes[s] for s in x.sizes)
        values[x.name] = _value(x, shape, rng) * (spread if not _first(x) else 1.0)
    for q in program.hypers:
        values[q.name] = 0.2
    return values


def _first(x: Array) -> bool:
    """Whether the state has a first value; an input has none, and a spread of one."""
    return bool(x.first) or x.domain != "(-oo, oo)" or x.meaning != "mean"


def _value(x: Array, shape: tuple[int, ...], rng: np.random.Generator) -> Any:
    if x.domain == "simplex":
        return rng.dirichlet(np.full(shape[0], 2.0))
    if len(shape) == 3:
        half = rng.standard_normal(shape)
        found = half @ np.swapaxes(half, -1, -2) / shape[-1]
        return found + np.eye(shape[-1])
    if x.domain == "(0, oo)":
        return rng.uniform(0.5, 2.0, shape)
    return rng.standard_normal(shape)
