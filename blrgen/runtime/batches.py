"""Steps on some of the rows, and runs of them."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

import numpy as np

from blrgen.runtime.arrays import Array
from blrgen.runtime.ends import _all_finite
from blrgen.runtime.kept import _fitting
from blrgen.runtime.runs import _most_steps
from blrgen.runtime.unbounded import _ended, _grows, _without_bound


def _row_numbers(rows: Any, size: int) -> Array:
    """Return places of rows; refuse what is none."""
    found = np.asarray(rows)
    whole = found.ndim == 1 and found.dtype.kind in "iu" and found.size > 0
    if not whole or found.min() < 0 or found.max() >= size:
        raise ValueError(f"rows must be places of rows, whole numbers from 0 to before {size}")
    return np.asarray(found, dtype=np.int64, order="C")


def _rate(t: int, delay: float, forgetting: float) -> float:
    """Return ρ_t = (delay + t)^−forgetting."""
    return float((delay + t) ** -forgetting)


def _some_rows(
    data: Mapping[str, Array],
    sizes: Mapping[str, int],
    places: Mapping[str, tuple[str, str]],
    batch: str,
    rows: Array,
) -> tuple[dict[str, Array], dict[str, int]]:
    """Return the data of some rows, those of different lengths by their pointers, and sizes."""
    some, own = dict(data), {**sizes, batch: rows.size}
    for name, (axis, by) in places.items():
        if not by:
            some[name] = np.ascontiguousarray(data[name][rows])
            continue
        start, lengths = data[by][rows], data[by][rows + 1] - data[by][rows]
        ends = np.cumsum(lengths)
        inside = np.arange(ends[-1]) - np.repeat(ends - lengths, lengths)
        some[name] = data[name][np.repeat(start, lengths) + inside]
        some[by] = np.concatenate([np.zeros(1, np.int64), ends])
        own[axis] = int(ends[-1])
    return some, own


def _run_rows(
    model: Any, nodes: Any, count: int, steps: int | None, tol: float, batch: int
) -> dict[str, Any]:
    """Take steps over rows in an order that is drawn for each epoch; the objective once an epoch.

    Steps that are left of an epoch are taken, and the objective after them is the last one.  An
    epoch after which it is not finite is taken back.
    """
    batch = int(_fitting("batch", batch, 0, {"batch": "[1, inf)"}))
    most, trace = _most_steps(steps, tol), [model.objective()]
    taken, reason, order = 0, "steps", np.zeros(0, np.int64)
    before, at = dict(model.state), (0, model.t)
    while taken < most:
        if not order.size:
            order = model.rng.permutation(count)
        rows, order = order[:batch], order[batch:]
        model.step(rows)
        taken += 1
        if order.size and taken < most:
            continue
        objective = model.objective()
        finite = _all_finite(objective, model.state)
        if not finite or _grows(model):
            reason = "unbounded" if finite else _ended(objective, model, nodes, before, count)
            model.state, (taken, model.t) = before, at
            break
        trace.append(objective)
        before, at = dict(model.state), (taken, model.t)
        if not order.size and abs(trace[-1] - trace[-2]) < tol * (1 + abs(trace[-1])):
            endless = _without_bound(model, nodes, count)
            reason = "unbounded" if endless else "converged"
            break
    return {
        "steps": taken,
        "converged": reason == "converged",
        "reason": reason,
        "objective": trace[-1],
        "trace": trace,
        "notes": deepcopy(model.notes),
    }
