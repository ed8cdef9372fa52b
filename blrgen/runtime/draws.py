"""Draws in place of parameters: labels, shares, paths; first values; what is kept of all draws."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from blrgen.runtime.arrays import Array
from blrgen.runtime.handed import _ends, _labels, _numbers, _state_in_domains, _unknown, _whole
from blrgen.runtime.marks import compiled
from blrgen.runtime.runs import _go_on, _like, _most_steps, _report, _saved
from blrgen.runtime.starts import _grouped

MANY_DRAWS = 1000  # of a run that is given no number
FEW_DRAWS = 50  # that are made at once


@np.errstate(all="ignore")
def _weights(levels: Array) -> Array:
    """Return exp(level) over its sum along the last axis; where levels are ∞, these alone count."""
    top = levels.max(axis=-1, keepdims=True)
    out = np.where(levels == top, 1.0, np.exp(levels - top, dtype=np.float64))
    return np.asarray(out / out.sum(axis=-1, keepdims=True))


def _drawn_labels(rng: np.random.Generator, levels: Array, size: tuple[int, ...] = ()) -> Array:
    """Return labels with weights exp(level): the first place at which the sums exceed u."""
    shares = np.cumsum(_weights(levels), axis=-1)
    u = rng.random((*size, *levels.shape[:-1], 1)) * shares[..., -1:]
    return np.asarray((u >= shares[..., :-1]).sum(axis=-1), dtype=np.int64)


@np.errstate(all="ignore")
def _drawn_labels_of(rng: np.random.Generator, p: Array, size: tuple[int, ...] = ()) -> Array:
    """Return labels with these probabilities."""
    return _drawn_labels(rng, np.log(p), size)


def _repeated(
    draw: Callable[[Array], Array],
    rng: np.random.Generator,
    size: Any,
    shape: tuple[int, ...],
    dtype: Any,
) -> Array:
    """Return as many draws as `size` says, each made of standard normals of this shape."""
    many = () if size is None else (size,) if np.ndim(size) == 0 else tuple(size)
    made = [draw(rng.standard_normal(shape).astype(dtype)) for _ in range(math.prod(many))]
    return np.reshape(made, (*map(int, many), *shape))


def _drawn_shares(rng: np.random.Generator, levels: Array, counts: Array) -> Array:
    """Return which share of so many labels is which, each drawn with weights exp(level)."""
    whole = np.broadcast_to(np.rint(counts).astype(np.int64), levels.shape[:-1])
    return np.asarray(rng.multinomial(whole, _weights(levels)) / whole[..., None])


def _drawn_parts(rng: np.random.Generator, p: Array, counts: Array) -> Array:
    """Return which share of so many numbers 0 or 1 is 1, each with probability p."""
    whole = np.broadcast_to(np.rint(counts).astype(np.int64), np.shape(p))
    return np.asarray(rng.binomial(whole, p) / whole)


def _drawn_path(
    rng: np.random.Generator,
    forward: Array,
    moves: Array,
    pointers: Array | None = None,
    size: tuple[int, ...] = (),
) -> Array:
    """Return paths of chains of labels, each from its last element on.

    `forward` has p(z_t | what is seen up to t) along its last axis, `moves` weights from j to k.
    The last label is drawn from it, each one before it with weights forward_t(j) · moves(j, z).
    Chains of different lengths lie one after the other, and `pointers` say where each begins.
    """
    labels = forward.shape[-1]
    rows = forward.reshape(-1, labels)
    if pointers is None:
        length = forward.shape[-2]
        pointers = np.arange(0, len(rows) + 1, length)
    steps = np.broadcast_to(moves.reshape(-1, labels, labels),
                            (len(pointers) - 1, labels, labels))  # fmt: skip
    u = rng.random((*size, len(rows)))
    paths = np.empty(u.shape, np.int64)
    for way, uniform in zip(paths.reshape(-1, len(rows)), u.reshape(-1, len(rows)), strict=True):
        _walked(way, uniform, rows, steps, pointers)
    return paths.reshape(*size, *forward.shape[:-1])


@compiled
def _walked(way: Array, u: Array, rows: Array, steps: Array, pointers: Array) -> None:
    """Write the labels of all chains into `way`."""
    labels = rows.shape[1]
    for s in range(len(pointers) - 1):
        after = -1
        for t in range(pointers[s + 1] - 1, pointers[s] - 1, -1):
            total = 0.0
            for k in range(labels):
                total += rows[t, k] if after < 0 else rows[t, k] * steps[s, k, after]
            left, found = u[t] * total, labels - 1
            for k in range(labels):
                left -= rows[t, k] if after < 0 else rows[t, k] * steps[s, k, after]
                if left < 0.0:
                    found = k
                    break
            way[t] = found
            after = found


def _given_values(
    start: Mapping[str, Any] | None,
    nodes: Mapping[str, Mapping[str, Any]],
    sizes: dict[str, int],
    dtype: Any,
) -> dict[str, Array]:
    """Return the values that `start` says, of a node or of one of its variables."""
    state: dict[str, Array] = {}
    owner = {x: node for node, parts in nodes.items() for x in parts}
    for name, found in (start or {}).items():
        if name not in nodes and name not in owner:
            _unknown("start", name, nodes)
        parts = nodes.get(name) or {name: nodes[owner[name]][name]}
        values = found if len(parts) > 1 else {x: found for x in parts}
        if not isinstance(values, Mapping) or set(values) != set(parts):
            raise ValueError(f"start of {name} must be a dictionary with {', '.join(parts)}")
        for x, (array, axes, domain) in parts.items():
            state[array] = _value(f"start of {x}", values[x], axes, sizes, dtype, domain)
    return state


def _value(
    where: str, value: Any, axes: tuple[Any, ...], sizes: dict[str, int], dtype: Any, domain: str
) -> Array:
    """Return a value that the caller gives; labels where the domain says of how many."""
    kind, _, labels = domain.partition(" ")
    if kind == "labels":
        return np.array(_labels(where, value, axes, dict(sizes), _whole(labels)))
    return np.array(_numbers(where, value, axes, dict(sizes), dtype, domain))


def _grouped_labels(rows: list[Array], like: Array, labels: int, rng: np.random.Generator) -> Array:
    """Return for each label the nearest of some rows that are far from each other."""
    found = _grouped(rows, like.size, labels, np.float64, rng)
    return np.asarray(found.argmax(axis=-1).reshape(like.shape), dtype=np.int64)


def _stored(value: Any, domain: str, sizes: Mapping[str, int], dtype: Any) -> Array:
    """Return a draw as the state holds it: what rounding puts on an open end is beside it."""
    found = np.asarray(value, dtype=dtype)
    if domain == "simplex":
        return np.asarray(np.maximum(found, np.nextafter(dtype(0), dtype(1))))
    if domain[:1] not in "([" or domain == "R":
        return found
    low, high = _ends(domain, sizes)
    first = np.nextafter(dtype(low), dtype(math.inf)) if domain[0] == "(" else dtype(low)
    last = np.nextafter(dtype(high), dtype(-math.inf)) if domain[-1] == ")" else dtype(high)
    return np.asarray(np.clip(found, first, last))


def _keep(kept: dict[str, list[Array]], state: Mapping[str, Array]) -> None:
    """Keep the values of a step; labels in as few bytes as they need."""
    for name, x in state.items():
        small = x.astype(np.min_scalar_type(int(x.max()))) if x.dtype == np.int64 else x
        kept.setdefault(name, []).append(small)


def _all_draws(model: Any, array: str) -> Array:
    """Return all draws of an array, steps first."""
    found = model.kept.get(array, [])
    like = model.state[array]
    if not found:
        return np.zeros((0, *like.shape), like.dtype)
    return np.stack(found).astype(like.dtype)


def _parts_of(nodes: Mapping[str, Mapping[str, Any]], what: str, name: str) -> Mapping[str, Any]:
    """Return the variables of a node, or one of them."""
    for node, parts in nodes.items():
        if name == node:
            return parts
        if name in parts:
            return {name: parts[name]}
    _unknown(what, name, nodes)


def _draws(model: Any, nodes: Mapping[str, Mapping[str, Any]], name: str) -> Any:
    """Return the draws of a node, steps first: an array, of several variables one each."""
    parts = _parts_of(nodes, "draws", name)
    found = {x: _all_draws(model, array) for x, (array, _, _) in parts.items()}
    return found if len(found) > 1 else next(iter(found.values()))


def _chosen_draws(
    model: Any, nodes: Mapping[str, Mapping[str, Any]], name: str, rng: Any, size: Any
) -> Any:
    """Return some of the draws of a node, each as likely."""
    parts = _parts_of(nodes, "draws", name)
    found = {x: _all_draws(model, array) for x, (array, _, _) in parts.items()}
    steps = len(next(iter(found.values())))
    if not steps:
        raise ValueError("there are no draws yet; run(steps) makes some")
    at = rng.integers(0, steps, () if size is None else size)
    some = {x: values[at] for x, values in found.items()}
    return some if len(some) > 1 else next(iter(some.values()))


def _summary(
    model: Any, nodes: Mapping[str, Mapping[str, Any]], sizes: Mapping[str, int], name: str
) -> dict[str, Any]:
    """Return mean and standard deviation of the draws of a node; of labels those of one-hot rows.

    Of several variables each is a dictionary.  Before the first draw it is of the values alone.
    """
    mean, sd = {}, {}
    for x, (array, _, domain) in _parts_of(nodes, "posterior", name).items():
        kind, _, labels = domain.partition(" ")
        found = _all_draws(model, array)
        found = found if len(found) else model.state[array][None]
        if kind == "labels":
            most = int(labels) if labels.isdigit() else sizes[labels]
            counts = np.zeros((*found.shape[1:], most))
            for row in found:
                counts += row[..., None] == np.arange(most)
            mean[x] = counts / len(found)
            sd[x] = np.sqrt(mean[x] * (1 - mean[x]))
        else:
            mean[x], sd[x] = found.mean(axis=0, dtype=np.float64), found.std(axis=0)
    if len(mean) > 1:
        return {"mean": mean, "sd": sd}
    return {"mean": next(iter(mean.values())), "sd": next(iter(sd.values()))}


def _predicted(
    model: Any,
    nodes: Mapping[str, tuple[tuple[str, str], ...]],
    data: Mapping[str, Array],
    sizes: Mapping[str, int],
    draws: int,
    seed: int,
    error: bool,
) -> Any:
    """Return log of the mean of p(row | values) over draws of q; with `error` that of each too.

    The error is the standard error of the mean, relative to it.
    """
    rng = np.random.default_rng(seed)
    top: Any = -math.inf
    first: Any = 0.0  # Σ exp(log p − top)
    second: Any = 0.0  # Σ of their squares
    for begin in range(0, draws, FEW_DRAWS):
        count = min(FEW_DRAWS, draws - begin)
        values: dict[str, Array] = {}
        for node, parts in nodes.items():
            found = model.sample(node, rng, count)
            for variable, name in parts:
                own = found[variable] if len(parts) > 1 else found
                values[name] = np.asarray(own, dtype=model.dtype)
        for k in range(count):
            one = {name: np.asarray(x[k], order="C") for name, x in values.items()}
            level = np.asarray(model._log_rows_given({**data, **one}, sizes), dtype=np.float64)
            high = np.maximum(top, level)
            less, more = np.exp(top - high), np.exp(level - high)
            first, second = first * less + more, second * less * less + more * more
            top = high
    value = top + np.log(first / draws)
    if not error:
        return value
    spread = np.maximum(second / draws - np.square(first / draws), 0)
    return value, np.sqrt(spread / draws) / (first / draws)


def _run_draws(model: Any, steps: int | None) -> dict[str, Any]:
    """Take so many steps; the trace has the log joint of the start and of each draw."""
    count = MANY_DRAWS if steps is None else _most_steps(steps, 0.0)
    trace = [model.step() for _ in range(count)]
    trace.append(model.objective())
    return _report(model, trace, "steps")


def _saved_draws(model: Any) -> dict[str, Any]:
    """Return copies of all that a run goes on from, the draws among them."""
    return {**_saved(model), "draws": {x: _all_draws(model, x) for x in model.state}}


def _go_on_draws(
    model: Any, saved: Mapping[str, Any], nodes: Mapping[str, Mapping[str, Any]]
) -> None:
    """Go on from what was saved; refuse what does not fit with nothing changed."""
    draws = saved.get("draws") if isinstance(saved, Mapping) else None
    if not isinstance(draws, Mapping) or set(draws) != set(model.state):
        raise ValueError(f"saved draws must be of {', '.join(model.state)}")
    steps = np.shape(next(iter(draws.values())))[:1] or (0,)
    if steps[0] != saved.get("t"):
        raise ValueError(f"saved are {steps[0]} draws of t = {saved.get('t')!r} steps")
    told = {f"draws of {x}": x for x in model.state}
    like = {k: np.broadcast_to(model.state[x], (*steps, *np.shape(model.state[x])))
            for k, x in told.items()}  # fmt: skip
    copies = _like("draws", {k: draws[x] for k, x in told.items()}, like)
    found = {x: copies[k] for k, x in told.items()}
    _state_in_domains("saved draws of ", found, nodes, model.sizes)
    _go_on(model, {k: v for k, v in saved.items() if k != "draws"}, nodes)
    kept: dict[str, list[Array]] = {}
    for step in range(len(next(iter(found.values())))):
        _keep(kept, {x: v[step] for x, v in found.items()})
    model.kept = kept
