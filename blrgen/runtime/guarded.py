"""Steps of models that are not conjugate, in parts where need be, and the nodes of their sums."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import NormalDist
from typing import Any

import numpy as np

from blrgen.runtime.arrays import Array
from blrgen.runtime.batches import _rate
from blrgen.runtime.ends import _all_finite
from blrgen.runtime.handed import _state_in_domains
from blrgen.runtime.kept import _fitting
from blrgen.runtime.runs import _go_on, _most_steps, _report, _saved

FIRST_NODES = 24
MOST_NODES = 6144
MOST_PRODUCT = (MOST_NODES, 384, 48)  # nodes a direction, by how many directions there are
SPREAD = 2048  # pairs of points in more than three dimensions
REACH = 8.5  # beyond, N(0, 1) is less than a rounding error
FAR = 4.8  # s of the last point: 60 deviations away
LONGEST = 63  # steps between trials of half as many nodes
LEAST_PART = 2.0**-40  # of a step
SLACK = 1e-12  # relative, of an objective that rests


def _set_nodes(model: Any, axis: str, names: tuple[str, ...], count: int) -> None:
    """Make the trapezoidal rules: points, weights, and these by turns ±.

    The first is for N(0, 1); the second for a density on the whole line, in s of sinh s.
    """
    points = np.linspace(-REACH, REACH, count + 1)
    weights = np.exp(-(points**2) / 2)
    weights /= weights.sum()
    signed = weights * np.where(np.arange(count + 1) % 2, -1.0, 1.0)
    model.sizes[axis] = count + 1
    steps = np.linspace(-FAR, FAR, count + 1)
    turns = np.where(np.arange(count + 1) % 2, -1.0, 1.0)
    wide = (np.sinh(steps), np.cosh(steps), turns * np.cosh(steps))
    made = list(zip(names, (points, weights, signed, *wide), strict=False))  # clouds follow
    for elements, own, *arrays in getattr(model, "clouds", ()):
        cloud = _cloud(int(elements) if elements.isdigit() else model.sizes[elements], count)
        model.sizes[own] = len(cloud[1])
        made += zip(arrays, cloud, strict=True)
    model.nodes = {name: np.asarray(x, dtype=model.dtype) for name, x in made}


def _cloud(size: int, count: int) -> tuple[Array, Array, Array]:
    """Return points in that many dimensions, weights for N(0, I), and what twice the step has more.

    A product of trapezoidal rules without its corners up to three dimensions; beyond, points
    spread evenly, in opposite pairs, whose second moments are those of N(0, I).
    """
    if size <= 3:
        count = min(count, MOST_PRODUCT[size - 1])
        line = np.arange(count + 1)
        index = np.stack(np.meshgrid(*[line] * size, indexing="ij"), -1).reshape(-1, size)
        points = REACH * (2 * index / count - 1)
        kept = (points**2).sum(1) <= REACH**2
        points, index = points[kept], index[kept]
        weights = np.exp(-(points**2).sum(1) / 2)
        weights /= weights.sum()
        wider = np.where((index % 2 == count // 2 % 2).all(1), weights, 0.0)
        return points, weights, wider / wider.sum() - weights
    primes = [p for p in range(2, 40 + 20 * size) if all(p % q for q in range(2, p))][:size]
    places = np.arange(1, SPREAD + 1)[:, None] * np.sqrt(np.array(primes, dtype=float)) % 1.0
    normal = NormalDist()
    half = np.array([[normal.inv_cdf(float(x)) for x in row] for row in places])
    points = np.concatenate([half, -half])
    root = np.linalg.cholesky(points.T @ points / len(points))
    points = np.linalg.solve(root, points.T).T
    weights = np.full(len(points), 1 / len(points))
    return points, weights, np.zeros(len(points))


def _off(model: Any) -> float:
    """Return how far a rule may be from that of half as many nodes: the root of its own error."""
    return float(4 * np.sqrt(np.finfo(model.dtype).eps))


def _with_nodes(model: Any, rho: float, axis: str, error: str) -> Any:
    """Return what a sweep finds with as many nodes as its error asks for."""
    while True:
        found = model._swept_once(rho)
        count = model.sizes[axis] - 1
        if not float(found[2][error]) > _off(model) or count >= MOST_NODES:
            return found
        _set_nodes(model, axis, tuple(model.nodes), 2 * count)


def _fewer_nodes(model: Any, axis: str, off: float) -> int:
    """Halve the number of nodes where half of them are plainly enough; return it, else 0."""
    count = model.sizes[axis] - 1
    if off >= _off(model) ** 2 / 4 or count <= FIRST_NODES or model.t < model.patience["until"]:
        return 0
    _set_nodes(model, axis, tuple(model.nodes), count // 2)
    return int(count // 2)


def _wait(model: Any, axis: str, tried: int) -> None:
    """Where half of the nodes were too few, wait twice as long until that is tried again."""
    if tried:
        enough = model.sizes[axis] - 1 == tried
        steps = 0 if enough else min(2 * model.patience["steps"] + 1, LONGEST)
        model.patience = {"steps": steps, "until": model.t + steps}


def _noted_once(model: Any, kind: str, node: str, text: str) -> None:
    """Add a note that is not there yet."""
    if all(x["kind"] != kind for x in model.notes):
        model.notes.append({"kind": kind, "node": node, "text": text})


def _domains_hold(
    state: Mapping[str, Array],
    nodes: Mapping[str, Mapping[str, Any]],
    sizes: Mapping[str, int],
) -> bool:
    """Return whether all parameters are in their domains."""
    try:
        _state_in_domains("", state, nodes, sizes)
    except ValueError:
        return False
    return True


def _ahead(model: Any) -> Any:
    """Return what a sweep finds at the current state; it is made once."""
    if model.ahead is None or model.ahead[0] is not model.state:
        model.ahead = (model.state, model._swept(_part(model)))
    return model.ahead[1]


def _part(model: Any) -> float:
    """Return ρ of the next step: 1, or a rate; the first goes all the way, from nothing."""
    if model.t == 0 or not hasattr(model, "forgetting"):
        return 1.0
    return float(model.rho * _rate(model.t, model.delay, model.forgetting))


def _advanced(
    model: Any, nodes: Mapping[str, Mapping[str, Any]], axis: str, error: str, rising: bool
) -> bool:
    """Take a step, or half of it, or a quarter …: the first that leaves no domain.

    If it is to be `rising`, also the first that does not lower the objective. Return whether
    one was taken.
    """
    objective, state, flags = _ahead(model)
    level = objective if np.isfinite(objective) and rising else -np.inf
    before, rho, off = model.state, _part(model), float(flags[error]) if error else 0.0
    tried = _fewer_nodes(model, axis, off) if error else 0
    while True:
        if _all_finite(0.0, state) and _domains_hold(state, nodes, model.sizes):
            model.state, model.t = state, model.t + 1
            ahead = model._swept(_part(model))
            model.state, model.t = before, model.t - 1
            if not np.isfinite(ahead[0]) and np.isfinite(objective):
                pass
            elif level == -np.inf or ahead[0] >= level - SLACK * (1 + abs(level)):
                break
        rho /= 2
        if rho < LEAST_PART:
            return False
        why = "lowers the objective or leaves a domain" if rising else "leaves a domain"
        _noted_once(model, "step halved", ", ".join(nodes), f"a whole step {why}")
        _, state, flags = model._swept(rho)
    model._take(state, flags)
    model.ahead = (model.state, ahead)
    _wait(model, axis, tried)
    model.notes = [x for x in model.notes if x["kind"] != "quadrature"]  # of an earlier state
    if off > _off(model):
        text = f"{model.sizes[axis]} nodes leave an error of {off**2:.1g} in an expectation"
        _noted_once(model, "quadrature", ", ".join(nodes), text)
    return True


def _run_guarded(
    model: Any,
    nodes: Mapping[str, Mapping[str, Any]],
    axis: str,
    error: str,
    rising: bool,
    steps: int | None,
    tol: float,
) -> dict[str, Any]:
    """Take steps until the objective rests, or so many."""
    most = _most_steps(steps, tol)
    for elements, *_ in getattr(model, "clouds", ()):
        size = int(elements) if elements.isdigit() else model.sizes[elements]
        if size > 3:
            text = f"expectations over {size} predictors at once are means over {2 * SPREAD} points"
            _noted_once(model, "points", "", text)
    trace, reason = [float(_ahead(model)[0])], "steps"
    while len(trace) <= most:
        moved = _advanced(model, nodes, axis, error, rising)
        trace.append(float(_ahead(model)[0]))
        if not np.isfinite(trace[-1]):
            reason = "unbounded"
            break
        if abs(trace[-1] - trace[-2]) < tol * (1 + abs(trace[-1])) or (not moved and tol > 0):
            reason = "converged"
            break
    return _report(model, trace, reason)


def _saved_with_nodes(model: Any, axis: str) -> dict[str, Any]:
    """Return copies of all that a run goes on from."""
    return {**_saved(model), "nodes": model.sizes[axis] - 1, "patience": dict(model.patience)}


def _go_on_with_nodes(
    model: Any,
    saved: Mapping[str, Any],
    nodes: Mapping[str, Mapping[str, Any]],
    axis: str,
    kept: Mapping[str, str] | None = None,
) -> None:
    """Go on from what was saved; refuse what does not fit with nothing changed."""
    own = ("nodes", "patience")
    if not isinstance(saved, Mapping) or not {*own} <= {*saved}:
        raise ValueError(f"saved: {saved!r:.80}; here nodes and patience must be there too")
    count, zero = saved["nodes"], {"steps": 0, "until": 0}
    patience = _fitting("patience", saved["patience"], zero, dict.fromkeys(zero, "[0, inf)"))
    if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 2:
        raise ValueError(f"saved nodes = {count!r} is no number of points")
    _go_on(model, {name: x for name, x in saved.items() if name not in own}, nodes, kept)
    _set_nodes(model, axis, tuple(model.nodes), int(count))
    model.patience = patience
