"""Draws of the emitted sampler at a place, and the law there as weighted nodes.

A family of numbers has the tables of its density, one of vectors sums over its support at
small sizes, one of matrices or several variables nested sums at d = 1 and d = 2.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from blrgen.algebra.components import Component
from blrgen.algebra.ranks import Vec, shape_of
from blrgen.check.finding import NotChecked
from blrgen.check.goodness import COUNT, Reference
from blrgen.core import Support
from blrgen.geometry.tabulated import Table, number
from blrgen.value.instance import Instance

if TYPE_CHECKING:
    from blrgen.check.context import Context

Expr = Any
Array = Any
_SPREAD = 60_000  # nodes of a nested sum
_TURNS = ((1, 0), (2, 0))


@dataclass(frozen=True)
class Place:
    """A point by name, the law there, and what draws become of what they are compared with."""

    said: Mapping[Any, Any]
    values: dict[str, Array]  # what the sampler takes
    law: Any  # () → Reference
    of_draws: Any  # draws by variable → (statistics, others)
    inside: Any  # draws by variable → which are finite and in the support
    sizes: dict[str, int]


def places(context: Context) -> Iterator[Place]:
    """Where the draws of the family under check are looked at."""
    family = context.family
    if family.components is not None:
        yield from _by_components(context)
    elif family.elementwise and not family.joint:
        yield from _of_numbers(context)
    else:
        yield from _by_sizes(context)


# numbers ---------------------------------------------------------------------------------
def _of_numbers(context: Context) -> Iterator[Place]:
    from blrgen.check.points import interior

    family = context.family
    tables = dict(zip(map(_key, context.points), context.tables, strict=False))
    for point in interior(family)[1:3]:
        _, table = tables[_key(point)]
        here = Instance({}, {k: float(number(v)) for k, v in point.items()})

        def of_draws(draws: Any, here: Instance = here) -> Any:
            with np.errstate(all="ignore"):
                there = here.with_({family.variable: draws[family.variable]})
                count = np.shape(draws[family.variable])
                found = {str(t): np.broadcast_to(there.value(t), count) for t in family.statistics}
            return found, {str(family.variable): draws[family.variable]}

        yield Place(
            point, {k.name: np.asarray(v) for k, v in here.values.items()},
            lambda table=table: _reference(table, family), of_draws,
            lambda draws, here=here: _inside(draws, family.variables, family.supports, here.value),
            {},
        )  # fmt: skip


def _key(point: Any) -> tuple[Any, ...]:
    return tuple(sorted((str(k), v) for k, v in point.items()))


def _reference(table: Table, family: Any) -> Reference:
    names = [str(t) for t in family.statistics]
    columns = {
        name: np.array(list(map(float, t))) for name, t in zip(names, table.statistics, strict=True)
    }
    x = np.array(list(map(float, table.x)))
    weights = np.array(list(map(float, table.probability)))
    return Reference(weights / weights.sum(), columns, {str(family.variable): x})


# vectors by their components -------------------------------------------------------------
def _by_components(context: Context) -> Iterator[Place]:
    family = context.family
    for density in _densities(context):
        sizes, point = density.sizes, density.point
        values = {k: np.array(v, dtype=float) for k, v in point.items()}
        doubles = {k: list(v) if np.ndim(v) else float(v) for k, v in values.items()}

        def of_draws(draws: Any, sizes: Any = sizes, doubles: Any = doubles) -> Any:
            x = draws[family.variable]
            names = {**doubles, family.variable.name: list(np.moveaxis(x, -1, 0))}
            there = Instance(sizes, names)
            with np.errstate(all="ignore"):
                found = _flat({str(t): there.value(t) for t in family.statistics}, len(x))
            return found, _flat({family.variable.name: names[family.variable.name]}, len(x))

        def law(density: Any = density) -> Reference:
            count = len(density.weights)
            own = _flat({str(t): density.at(t) for t in family.statistics}, count)
            x = _flat({family.variable.name: list(density.nodes.x)}, count)
            return Reference(density.weights, own, x).thinned

        def value(e: Expr, sizes: Any = sizes, doubles: Any = doubles) -> Any:
            return float(Instance(sizes, doubles).value(e))

        yield Place(
            {**{str(k): v for k, v in sizes.items()}, **{k: _shown(v) for k, v in values.items()}},
            values, law, of_draws,
            lambda draws, value=value: _inside(draws, family.variables, family.supports, value),
            {str(k): v for k, v in sizes.items()},
        )  # fmt: skip


def _densities(context: Context) -> Iterator[Any]:
    """One a size, those of the other stages where their sums settled."""
    from blrgen.check.by_components import pairs
    from blrgen.geometry.sized import PointSums
    from blrgen.geometry.sized import places as sized_places

    try:
        found = [q for _, q in pairs(context)]
    except NotChecked:
        found = [PointSums(context.family, *place) for place in sized_places(context.family, 1)]
    seen = []
    for density in found:
        if density.sizes not in seen:
            seen.append(density.sizes)
            yield density


def _flat(values: dict[str, Any], count: int) -> dict[str, Array]:
    """Vectors component by component."""
    found = {}
    for name, value in values.items():
        if isinstance(value, list):
            for k, v in enumerate(value, start=1):
                found[f"{name}[{k}]"] = np.broadcast_to(np.asarray(v, dtype=float), (count,))
        else:
            found[name] = np.broadcast_to(np.asarray(value, dtype=float), (count,))
    return found


def _shown(value: Array) -> str:
    return str(np.round(value, 6).tolist())


# matrices and several variables ----------------------------------------------------------
def _by_sizes(context: Context) -> Iterator[Place]:
    from blrgen.geometry.at_sizes import density_at, place_of, turns

    family = context.family
    wanted = _TURNS if len(turns(family)) and turns(family)[-1][0] > 1 else turns(family)[:2]
    for turn in wanted:
        density = density_at(family, context.ring, turn, _SPREAD)
        if density is None:
            continue
        here = density.here
        values = {
            p.name: np.asarray(here.values[p.symbol])[..., 0]
            if isinstance(p.symbol, Vec) else np.asarray(here.values[p.symbol])
            for p in (*family.natural, *family.fixed)
        }  # fmt: skip

        def law(density: Any = density) -> Reference:
            weights, at = density.nodes.weights, density.at_nodes
            columns = _entries(at, family.statistics, len(weights))
            others = _entries(at, family.variables, len(weights))
            noise = float(weights @ weights) if density.nodes.random else 0.0
            return Reference(weights, columns, others, noise).thinned

        def of_draws(draws: Any, here: Instance = here) -> Any:
            there = here.with_({x: _column(x, v) for x, v in draws.items()})
            count = len(next(iter(draws.values())))
            return tuple(_entries(there, e, count) for e in (family.statistics, family.variables))

        yield Place(
            dict(place_of(family, here)), values, law, of_draws,
            lambda draws, here=here: _inside(draws, family.variables, family.supports, here.value),
            {str(k): v for k, v in here.sizes.items()},
        )  # fmt: skip


def _column(x: Expr, value: Array) -> Array:
    return value[..., None] if isinstance(x, Vec) else value


def _entries(here: Instance, parts: tuple[Expr, ...], count: int) -> dict[str, Array]:
    """Every different entry of the statistics or variables, as (N,) arrays."""
    found = {}
    for t in parts:
        value = np.asarray(here.value(t))
        value = np.broadcast_to(value, (count, *value.shape[1:]))
        for index in np.ndindex(value.shape[1:]):
            column = value[(slice(None), *index)]
            same = len(index) == 2 and index[0] > index[1] and value.shape[1] == value.shape[2]
            if same and np.array_equal(column, value[:, index[1], index[0]]):
                continue
            name = f"{t}[{','.join(str(i + 1) for i in index)}]" if index else str(t)
            found[name] = column
    return found


# supports --------------------------------------------------------------------------------
def _inside(
    draws: Mapping[Expr, Array], variables: tuple[Expr, ...], supports: tuple[Support, ...],
    value: Any,
) -> Array:  # fmt: skip
    """Which draws are finite and lie in the support, of every variable."""
    good = np.ones(COUNT, dtype=bool)
    for x, support in zip(variables, supports, strict=True):
        array = np.asarray(draws[x], dtype=float)
        flat = array.reshape(len(array), -1)
        good &= np.isfinite(flat).all(axis=1)
        if isinstance(x, Component) or shape_of(x) is None:
            good &= _in_place(flat, support, value)
        elif support.kind == "spd":
            safe = np.where(good[:, None, None], array, np.eye(array.shape[-1]))
            good &= np.linalg.eigvalsh(safe)[:, 0] > 0
            good &= (np.abs(safe - np.swapaxes(safe, -1, -2)) == 0).all(axis=(1, 2))
    return good


def _in_place(x: Array, support: Support, value: Any) -> Array:
    """Components (N, K) of numbers or vectors."""
    kind, rounding = support.kind, 1e-12 * x.shape[1]
    if kind == "simplex":
        return (x > 0).all(axis=1) & (np.abs(x.sum(axis=1) - 1) <= rounding)
    if kind == "sphere":
        return np.abs((x**2).sum(axis=1) - 1) <= rounding
    if kind == "one-hot":
        return ((x == 0) | (x == 1)).all(axis=1) & (x.sum(axis=1) == 1)
    if kind == "counts":
        whole = (x == np.rint(x)) & (x >= 0)
        return whole.all(axis=1) & (x.sum(axis=1) == value(support.upper))
    if kind == "finite":
        points = np.array([float(p) for p in support.points])
        return (np.abs(x[..., None] - points).min(axis=-1) <= 1e-12).all(axis=1)
    if kind not in ("interval", "integers"):
        return np.ones(len(x), dtype=bool)
    good = np.ones(len(x), dtype=bool) if kind == "interval" else (x == np.rint(x)).all(axis=1)
    for end, sign, is_open in (
        (support.lower, 1, support.lower_open), (support.upper, -1, support.upper_open),
    ):  # fmt: skip
        if end is not None and end.is_infinite is not True:
            gap = sign * (x - float(value(end)))
            good &= ((gap > 0) if is_open and kind == "interval" else (gap >= 0)).all(axis=1)
    return good
