"""Chains: one element at a time, and the most probable path."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from blrgen.runtime.arrays import Array
from blrgen.runtime.handed import _extent


def _as_chain(
    state: dict[str, Array], names: tuple[str, ...], natural: Mapping[str, Array]
) -> dict[str, Array]:
    """Return a state in which natural parameters stand in the place of marginals, if it has any."""
    if not set(names) <= set(state):
        return {k: v for k, v in state.items() if k not in names}
    return {**{k: v for k, v in state.items() if k not in names}, **natural}


def _zeros(axes: tuple[str | int, ...], sizes: Mapping[str, int], dtype: Any) -> Array:
    """Return zeros along axes."""
    return np.zeros([x if isinstance(x, int) else _extent(x, sizes) for x in axes], dtype)


def _as_element(value: Any, at: int) -> Array:
    """Return an element of a chain as an array with one place along it."""
    return np.expand_dims(np.asarray(value), at)


def _begun(t: int) -> None:
    """Refuse to say what is known of the last element before the first."""
    if not t:
        raise ValueError("no element has been taken yet; step(…) takes one")


def _went_on(model: Any, names: tuple[str, ...], found: Any) -> float:
    """Go on from the state after an element, if its log p is a number; return log p."""
    log_p, *after = found
    state = {k: np.asarray(x, dtype=model.dtype) for k, x in zip(names, after, strict=True)}
    if _all_finite_or_none(float(log_p), state):
        so_far = model.state["log_evidence"] + log_p
        model.state = {**state, "log_evidence": np.asarray(so_far, dtype=model.dtype)}
        model.t += 1
    return float(log_p)


def _all_finite_or_none(log_p: float, state: Mapping[str, Array]) -> bool:
    """Return whether a step may be taken: a label that is impossible has the logarithm −∞."""
    return math.isfinite(log_p) and not any(np.isnan(x).any() for x in state.values())


def _later(found: Array, outer: int, starts: Array | None) -> Array:
    """Return the array from the second element of each chain on; rows may lie flat."""
    if starts is None:
        return np.array(found[(slice(None),) * outer + (slice(1, None),)])
    return np.delete(found, starts[:-1][np.diff(starts) > 0], axis=outer - 1)


def _best_paths(
    start: Array,
    transition: Array,
    evidence: Array,
    outer: int,
    starts: Array | None,
    moving: bool,
) -> Array:
    """Return the most probable labels of each of several chains, whose rows may lie flat.

    `moving`: transitions are along the chain as evidence is.
    """
    if not outer:
        return _best_path(start, transition, evidence)
    if starts is None:
        plates = start.shape[:-1]
        parts = [_best_path(start[x], transition[x], evidence[x]) for x in np.ndindex(plates)]
        return np.array(parts).reshape(*plates, -1)
    if outer > 1:
        raise ValueError("no path of rows of different lengths under more than one plate")
    parts = []
    for s, (low, high) in enumerate(pairwise(starts)):
        own = transition[low:high] if moving else transition[s]
        parts.append(_best_path(start[s], own, evidence[low:high]))
    return np.concatenate(parts)


def _best_path(start: Array, transition: Array, evidence: Array) -> Array:
    """Return the most probable labels of a chain, from logarithms (Viterbi, 1967).

    `evidence` has an entry an element and label; `transition` is one for all, or one for what
    leads to each element, that of the first not read.
    """
    length, labels = evidence.shape
    if not length:
        return np.zeros(0, np.int64)
    best = start + evidence[0]
    came = np.zeros((length, labels), np.int64)
    for t in range(1, length):
        ways = best[:, None] + (transition if transition.ndim == 2 else transition[t])
        came[t] = ways.argmax(axis=0)
        best = ways.max(axis=0) + evidence[t]
    path = np.zeros(length, np.int64)
    path[-1] = best.argmax()
    for t in range(length - 1, 0, -1):
        path[t - 1] = came[t, path[t]]
    return path
