"""A rule for the density of a declaration: over an interval, integers or points."""

from __future__ import annotations

import math
from typing import Any

import mpmath
import numpy as np

from blrgen.core import Family
from blrgen.errors import UserError
from blrgen.geometry.numbers.branch import number, segments
from blrgen.geometry.numbers.landmarks import landmarks
from blrgen.geometry.numbers.modes import zoom
from blrgen.geometry.numbers.nodes import arguments, variables
from blrgen.geometry.numbers.panels import node_counts, steepness
from blrgen.geometry.numbers.quadrature import integrate
from blrgen.geometry.numbers.summation import PLAIN, add_integers, add_points
from blrgen.geometry.numbers.task import (
    Divergent,
    Rule,
    Task,
    TooMany,
    Unsettled,
    array,
    in_doubles,
)

Array = Any


def rule_of(task: Task) -> Rule:
    """Nodes and weights over the support of the task's family."""
    family, support = task.family, task.family.support
    point = dict(zip(arguments(family), task.args, strict=True))
    point = {k: mpmath.mpf(v) for k, v in point.items()}
    check_support(family)
    if support.kind == "finite":
        points = [number(p, point) for p in support.points]
        return add_points(task, array(points, task.doubles))
    if support.kind == "integers":
        return add_integers(task, number(support.lower, point), number(support.upper, point))
    centre = _centre(task) if mpmath.isinf(number(support.lower, point)) else mpmath.mpf(0)
    return integrate(task, segments(family, support.lower, support.upper, point, centre))


def check_support(family: Family) -> None:
    """Refuse what is neither an interval nor a set of numbers."""
    kinds = ("interval", "vector", "integers", "finite")
    scalar = family.elementwise and len(variables(family)) == 1
    if not scalar or family.support.kind not in kinds:
        raise UserError(
            f"no quadrature over the support of {family.name!r}",
            where=family.path,
            why=f"{family.support.text} is not an interval, a set of integers or of points",
            how='give the log-partition in the file, log_partition = "…"',
        )


def _line() -> Array:
    side = np.exp(np.linspace(-40.0, 345.0, 3851))
    return np.concatenate([-side[::-1], [0.0], side])


def _centre(task: Task) -> Any:
    """A place near the highest mode on the line, for two branches to start from."""
    light = in_doubles(task)
    grid = _line()
    named = np.array(landmarks(task.family, task.constants))
    if named.size:
        near = np.concatenate([[0.0], np.geomspace(1e-13, 1.0, 40)])
        reach = np.maximum(np.abs(named), 1.0)[:, None] * np.concatenate([-near, near])
        grid = np.unique(np.concatenate([grid, (named[:, None] + reach).ravel()]))
    level = np.asarray(light.logs(PLAIN, grid)[0], dtype=float)
    level = np.where(np.isnan(level), -np.inf, level)
    if np.any(level == np.inf):
        raise Divergent("the density is infinite")
    places = np.flatnonzero(
        (level >= np.concatenate([[-np.inf], level[:-1]]))
        & (level >= np.concatenate([level[1:], [-np.inf]]))
        & (level > -np.inf)
    )
    if not len(places):
        return mpmath.mpf(0)
    places = places[np.argsort(level[places])[-200:]]
    low, high = grid[np.maximum(places - 1, 0)], grid[np.minimum(places + 1, len(grid) - 1)]
    at, height, _ = zoom(light, PLAIN, low, high)
    return mpmath.mpf(at[int(np.argmax(height))])


def cancelled(task: Task) -> int:
    """The digits that the terms of the exponent lose where the density is largest."""
    light = in_doubles(task)
    try:
        found = rule_of(Task(light.family, light.args, (), 0, 6, True))
    except TooMany:
        raise
    except (Unsettled, Divergent, UserError):
        return 25
    return int(math.log10(size_of(light, found))) + 2


def size_of(light: Task, rule: Rule) -> float:
    """The largest Σ|terms| of the exponent where there is mass."""
    worst = 1.0
    for n in rule.fine:
        if np.iscomplexobj(n.u):
            continue  # a correction, of values close to those of the first terms
        level, _, _, size = light.logs(n.branch, n.u)
        size = np.broadcast_to(np.nan_to_num(size, posinf=1e60), n.u.shape)
        if rule.panels:
            counts = node_counts(light)[1]
            panels = max(1, n.u.size // counts)
            size = size + steepness(level, n.u, panels) * (np.abs(n.u) + 1)
        matters = np.abs(n.weight) > 1e-12 * np.abs(n.weight).max(initial=0.0)
        if matters.any():
            worst = max(worst, float(np.max(size[matters])))
    return worst
