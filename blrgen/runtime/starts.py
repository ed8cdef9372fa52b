"""First states of a model: as given, drawn, or by grouping rows."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from blrgen.runtime.arrays import Array
from blrgen.runtime.handed import _ends, _numbers, _unknown


def _copied(found: Any) -> Any:
    """Return a copy of an array, or of each in a dictionary."""
    if isinstance(found, Mapping):
        return {name: np.array(x) for name, x in found.items()}
    return np.array(found)


def _given_start(
    start: Mapping[str, Any] | None,
    nodes: Mapping[str, Mapping[str, Any]],
    sizes: dict[str, int],
    dtype: Any,
    free: tuple[str, ...],
) -> dict[str, Array]:
    """Return the arrays of the state that `start` says; refuse what it says wrong.

    What is said of the nodes in `free` is passed over: a step begins by finding them.
    """
    state: dict[str, Array] = {}
    for node, found in (start or {}).items():
        if node in free:
            continue
        if node not in nodes:
            _unknown("start", node, nodes)
        parts = nodes[node]
        values = {"": found} if "" in parts else found
        if not isinstance(values, Mapping) or set(values) != set(parts):
            wanted = ", ".join(parts)
            raise ValueError(f"start of {node} must be a dictionary with {wanted}")
        for parameter, (name, axes, domain) in parts.items():
            where = f"start of {node}{' ' if parameter else ''}{parameter}"
            array = _numbers(where, values[parameter], axes, dict(sizes), dtype, domain)
            state[name] = np.array(array)
    return state


def _drawn_start(
    nodes: Mapping[str, Mapping[str, Any]],
    sizes: dict[str, int],
    dtype: Any,
    rng: np.random.Generator,
) -> dict[str, Array]:
    """Return a state in the middle of every domain, with noise; labels are any."""
    state: dict[str, Array] = {}
    for parts in nodes.values():
        for name, axes, domain in parts.values():
            shape = tuple(x if isinstance(x, int) else sizes[x] for x in axes)
            kind, _, labels = domain.partition(" ")
            if kind == "labels":
                most = int(labels) if labels.isdigit() else sizes[labels]
                state[name] = rng.integers(0, most, shape)
            else:
                found = _middle(domain, rng.standard_normal(shape), sizes)
                state[name] = np.array(found, dtype=dtype, order="C")  # its own, as in later steps
    return state


def _in_units(
    state: dict[str, Array],
    data: Mapping[str, Array],
    units: Mapping[str, Mapping[str, float]],
) -> dict[str, Array]:
    """Return a first state in the units of data, where a hundred of these or more are 1.

    A start that is far too small or too large for the data is a saddle but for rounding.
    """
    out = dict(state)
    for name, points in units.items():
        rows = np.asarray(data[name], np.float64).reshape(len(data[name]), -1)
        spread = float(np.sqrt(np.square(rows - rows.mean(axis=0)).mean()))
        order = math.log2(spread) if math.isfinite(spread) and spread > 0 else 0.0
        if abs(order) > math.log2(100):
            for x, power in points.items():
                out[x] = np.asarray(out[x] * 2.0 ** (round(order) * power), out[x].dtype)
    return out


def _middle(domain: str, noise: Array, sizes: Mapping[str, int]) -> Array:
    """Return an element of a domain near its middle for each element of the noise."""
    if domain == "R":
        return noise
    if domain == "SPD":
        return np.asarray(np.broadcast_to(np.eye(noise.shape[-1]), noise.shape))
    if domain.startswith("{"):
        points = np.array([float(x) for x in domain[1:-1].split(",")])
        return np.asarray(points[np.floor(np.abs(noise) * 1e6).astype(np.int64) % len(points)])
    if domain.startswith("integers "):
        near = _middle(domain.removeprefix("integers "), noise, sizes)
        return np.asarray(np.floor(near))
    some = np.exp(0.1 * noise)
    if domain == "simplex":
        return np.asarray(some / some.sum(-1, keepdims=True))
    low, high = _ends(domain, sizes)
    if high < math.inf and low > -math.inf:
        return np.asarray(low + (high - low) * some / (1 + some))
    return np.asarray(high - some if low == -math.inf else low + some)


def _grouped(
    rows: list[Array], count: int, labels: int, dtype: Any, rng: np.random.Generator
) -> Array:
    """Return weights of labels: most on the nearest of some rows far from each other, or on any.

    The first of these rows is any, each further one with a probability that grows as the square
    of its distance from those before (k-means++, Arthur & Vassilvitskii, 2007).  No weight is 0,
    so that a label with one row of its own begins with a spread.
    """
    if rows:
        table = np.concatenate([x.reshape(count, -1).astype(np.float64) for x in rows], axis=1)
        spread = table.std(axis=0)
        table = table / np.where(spread > 0, spread, 1.0)
        nearest = np.zeros(count, np.int64)
        least = np.full(count, np.inf)
        for k in range(labels):
            total = least.sum() if k else 0.0
            chosen = rng.choice(count, p=least / total) if total > 0 else rng.integers(count)
            far = np.square(table - table[chosen]).sum(axis=1)
            nearest[far < least] = k
            least = np.minimum(least, far)
    else:
        nearest = rng.integers(0, labels, count)
    out = np.full((count, labels), 0.1 / labels, dtype)
    out[np.arange(count), nearest] += 0.9
    return out
