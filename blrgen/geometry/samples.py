"""Observations of vectors, matrices and several variables: shapes and supports.

One variable: an array whose first axis counts the observations, (n,) for a number, (n, K)
for a vector, (n, d, d) for a matrix.  Several: a mapping from their names to such arrays, or
the arrays in the order of the declaration.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp

from blrgen.algebra.components import Component
from blrgen.algebra.ranks import Vec, shape_of
from blrgen.core import Family, Support
from blrgen.errors import UserError

Expr = Any
Array = Any
_ROUNDING = 1e-9  # of a sum or a length that should be one


@dataclass(frozen=True)
class Sample:
    """Observations by variable, in doubles, and the sizes that their shapes tell."""

    values: dict[Expr, Array]
    sizes: dict[Expr, int]
    count: int


def by_variable(family: Family, data: Any) -> dict[Expr, Any]:
    """What was given for each variable."""
    variables = family.variables
    if len(variables) == 1 and not isinstance(data, Mapping):
        return {variables[0]: data}
    names = [x.name for x in variables]
    if isinstance(data, Mapping):
        missing, extra = [n for n in names if n not in data], sorted(set(data) - set(names))
        if missing or extra:
            said = [f"missing: {', '.join(missing)}"] if missing else []
            said += [f"not a variable: {', '.join(map(str, extra))}"] if extra else []
            raise UserError("; ".join(said), where="data",
                            how=f"give {', '.join(names)} by name")  # fmt: skip
        return {x: data[x.name] for x in variables}
    if not isinstance(data, Sequence) or len(data) != len(variables):
        raise UserError(
            f"{family.name!r} has the variables {', '.join(names)}", where="data",
            how="give a mapping {" + ", ".join(f"{n!r}: …" for n in names)
            + "}, or their arrays in this order",
        )  # fmt: skip
    return dict(zip(variables, data, strict=True))


def read_sample(family: Family, data: Any, constants: Mapping[Expr, Any]) -> Sample:
    """The observations of every variable, each of the right shape and in its support."""
    sizes: dict[Expr, int] = {}
    values: dict[Expr, Array] = {}
    for (x, given), support in zip(by_variable(family, data).items(), family.supports, strict=True):
        values[x] = _array(x, given, sizes)
        _check(family, x, support, values[x], {**constants, **sizes})
    counts = {x.name: len(v) for x, v in values.items()}
    if len(set(counts.values())) > 1:
        said = ", ".join(f"{n} of {name}" for name, n in counts.items())
        raise UserError(f"the variables have different numbers of observations: {said}",
                        where="data")  # fmt: skip
    return Sample(values, sizes, next(iter(counts.values())))


def _array(x: Expr, given: Any, sizes: dict[Expr, int]) -> Array:
    try:
        found = np.array(given, dtype=float)
    except (TypeError, ValueError):
        raise UserError(
            f"the data of {x.name} are no array of numbers",
            where="data",
            how="give numbers, all observations in the same shape",
        ) from None
    shape = _shape(x)
    axes = ["n", *map(str, shape)]
    if found.ndim != len(axes) or not found.size:
        kind = {0: "a number", 1: "a vector", 2: "a matrix"}[len(shape)]
        has = " × ".join(map(str, found.shape)) or "no axes"
        raise UserError(
            f"the data of {x.name} have shape {has}" if found.size else "there are no data",
            where="data", why=f"each observation of {x.name} is {kind}",
            how=f"give an array of shape {' × '.join(axes)}, observations first",
        )  # fmt: skip
    for length, size in zip(found.shape[1:], shape, strict=True):
        free = sorted(sp.sympify(size).free_symbols, key=str)
        if len(free) == 1:
            sizes.setdefault(free[0], length - int(size.subs(free[0], 0)))
        should = sp.sympify(size).subs(sizes)
        if should.is_Integer and should != length:
            raise UserError(
                f"the data of {x.name} have shape {' × '.join(map(str, found.shape))}",
                where="data", how=f"give an array of shape {' × '.join(axes)}, observations first",
                why=", ".join(f"{k} = {v}" for k, v in sizes.items()),
            )  # fmt: skip
    return found


def _shape(x: Expr) -> tuple[Expr, ...]:
    if isinstance(x, Component):
        return (x.size,)
    shape = shape_of(x)
    if shape is None:
        return ()
    return shape[:1] if isinstance(x, Vec) else shape


def _check(
    family: Family, x: Expr, support: Support, values: Array, known: Mapping[Expr, Any]
) -> None:
    """Every observation lies in the support; the first that does not is shown."""
    inner = tuple(range(1, values.ndim))
    wrong = ~np.isfinite(values).all(axis=inner)
    why = f"{x.name} is in {support.text}"
    if not wrong.any():
        inside, more = _inside(support, values, known)
        wrong, why = ~inside, why + more
    if wrong.any():
        first = int(np.flatnonzero(wrong)[0])
        shown = np.array2string(values[first], precision=6, threshold=9, separator=", ")
        raise UserError(
            f"observation {first} of {x.name} is {' '.join(shown.split())}, not in the support "
            f"of {family.name!r}",
            where="data", why=f"{why}; {int(wrong.sum())} of {len(values)} observations are not",
        )  # fmt: skip


def _inside(support: Support, v: Array, known: Mapping[Expr, Any]) -> tuple[Array, str]:
    """Which observations are in the support, and what that asks of them."""
    inner = tuple(range(1, v.ndim))
    everywhere = np.ones(len(v), dtype=bool)
    if support.kind == "spd":
        return _definite(v), ": symmetric and positive definite"
    if support.kind == "sphere":
        return np.abs((v**2).sum(axis=1) - 1) < _ROUNDING, ": of length 1"
    if support.kind == "simplex":
        inside = (v > 0).all(axis=1) & (np.abs(v.sum(axis=1) - 1) < _ROUNDING)
        return inside, ": positive, with sum 1"
    if support.kind == "one-hot":
        return np.isin(v, (0, 1)).all(axis=1) & (v.sum(axis=1) == 1), ": one 1, all others 0"
    if support.kind == "counts":
        total = _edge(support.upper, known)
        inside = (v >= 0).all(axis=1) & (v == np.floor(v)).all(axis=1) & (v.sum(axis=1) == total)
        return inside, f": whole numbers with sum {total:g}"
    if support.kind == "finite":
        return np.isin(v, [_edge(p, known) for p in support.points]).all(axis=inner), ""
    if support.kind in ("interval", "integers", "vector"):
        whole = support.kind == "integers"
        low, high = _edge(support.lower, known, -np.inf), _edge(support.upper, known, np.inf)
        inside = v >= low if whole or not support.lower_open else v > low
        inside &= v <= high if whole or not support.upper_open else v < high
        if whole:
            inside &= v == np.floor(v)
        return inside.all(axis=inner), ""
    return everywhere, ""


def _edge(edge: Expr, known: Mapping[Expr, Any], none: float = 0.0) -> float:
    return none if edge is None else float(sp.N(sp.sympify(edge).subs(known)))


def _definite(v: Array) -> Array:
    """Symmetric, up to the rounding of doubles, and with a Cholesky factor; made symmetric."""
    turned = np.swapaxes(v, 1, 2)
    size = np.abs(v).max(axis=(1, 2))
    good = np.abs(v - turned).max(axis=(1, 2)) <= 1e-12 * size
    v[good] = (v[good] + turned[good]) / 2
    for k in np.flatnonzero(good):
        try:
            np.linalg.cholesky(v[k])
        except np.linalg.LinAlgError:
            good[k] = False
    return good
