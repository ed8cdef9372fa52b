"""Maximum likelihood from data: the mean of the statistics, then μ → λ.

The mean of T over the data is taken with many digits, so that the little by which, say,
log of the mean and mean of the log of nearly equal numbers differ is not lost.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import mpmath
import numpy as np

from blrgen.core import Family
from blrgen.errors import UserError
from blrgen.geometry.working import working_values

if TYPE_CHECKING:
    from blrgen.geometry.geometry import Geometry

Expr = Any
_EXACT = 20_000  # observations up to which the statistics are taken with 40 digits


@dataclass(frozen=True)
class Fit:
    """The member of a family under which the data are most likely."""

    family: str
    natural: dict[str, Any]  # numbers; lists for vectors, lists of rows for matrices
    working: dict[str, Any]
    mean: dict[str, Any]  # of the statistics over the data
    converged: bool
    iterations: int
    residual: float
    log_likelihood: float  # Σ log q(x)
    count: int
    reason: str = ""


def fit(what: str | Path | Family, data: Any, **fixed: Any) -> Fit:
    """Maximum likelihood for a family (a name, a file or a declaration); constants by name.

    `data` has the observations along its first axis: (n,) numbers, (n, K) vectors,
    (n, d, d) matrices; of several variables a mapping from their names to such arrays.
    """
    from blrgen.geometry import geometry_of
    from blrgen.read.family import read_family

    family = what if isinstance(what, Family) else read_family(what)
    return fit_geometry(geometry_of(family), data, fixed)


def fit_geometry(geometry: Geometry, data: Any, fixed: dict[str, Any]) -> Fit:
    """Maximum likelihood for a geometry that is already there."""
    from blrgen.geometry.inverse import mean_symbols
    from blrgen.geometry.invert import constants_of, natural_of_mean
    from blrgen.geometry.numbers.moments import check_support
    from blrgen.value.digits import exact

    family = geometry.family
    if family.factors:
        from blrgen.geometry.fit_samples import fit_product

        return fit_product(geometry, data, fixed)
    if family.components is not None or family.joint or not family.elementwise:
        from blrgen.geometry.fit_samples import fit_samples

        return fit_samples(geometry, data, fixed)
    if family.support.size and np.ndim(data) == 2 and np.size(data):
        from blrgen.geometry.fit_samples import fit_coordinates

        return fit_coordinates(geometry, data, fixed)
    check_support(family)
    constants = constants_of(family, fixed)
    with mpmath.workdps(40):
        point = {k: exact(v) for k, v in constants.items()}
        x = observations(family, data, point)
        mean, log_base = _averages(family, x, point)
    try:
        found = natural_of_mean(geometry, mean, fixed)
    except UserError as e:
        raise UserError(
            f"the likelihood of {family.name!r} has no maximum for these data",
            where=f"{len(x)} observations from {x.min():g} to {x.max():g}",
            why=e.why or e.what,
            how="give data that vary more",
        ) from e
    return _described(
        geometry, dict(zip((s.name for s in mean_symbols(geometry)), mean, strict=True)),
        found, constants, log_base, len(x),
    )  # fmt: skip


def _described(
    geometry: Geometry, mean: dict[str, Any], found: Any, constants: dict[Expr, Expr],
    log_base: Any, count: int,
) -> Fit:  # fmt: skip
    place = dict(zip(geometry.natural, found.natural, strict=True))
    working = working_values(geometry, found.natural, {k.name: v for k, v in constants.items()})
    level = _log_partition(geometry, place, constants)
    total = count * (mpmath.fdot(found.natural, mean.values()) - level + log_base)
    return Fit(
        geometry.family.name, {k.name: float(v) for k, v in place.items()}, working,
        {k: float(v) for k, v in mean.items()}, found.converged, found.iterations,
        found.residual, float(total), count, found.reason,
    )  # fmt: skip


def _log_partition(geometry: Geometry, place: dict[Expr, Any], constants: dict[Expr, Expr]) -> Any:
    from blrgen.value.digits import evaluate_at

    point = {**constants, **place}
    return evaluate_at(geometry.log_partition, point, 20, moving=geometry.natural)[0]


def observations(family: Family, data: Any, point: dict[Expr, Any]) -> Any:
    """The data as doubles, every one of them in the support."""
    try:
        x = np.asarray(data, dtype=float)
    except (TypeError, ValueError):
        raise UserError("the data are no numbers", where="data") from None
    if x.ndim != 1:
        raise UserError(
            f"the data have {x.ndim} dimensions", where="data", how="give a list of numbers"
        )
    if not x.size:
        raise UserError("there are no data", where="data")
    wrong = ~np.isfinite(x) | ~_in_support(family, x, point)
    if wrong.any():
        first = int(np.flatnonzero(wrong)[0])
        raise UserError(
            f"observation {first} is {x[first]:g}, not in the support of {family.name!r}",
            where="data",
            why=f"{family.variable} is in {family.support.text}; "
            f"{int(wrong.sum())} of {x.size} observations are not",
        )
    return x


def _in_support(family: Family, x: Any, point: dict[Expr, Any]) -> Any:
    from blrgen.geometry.numbers.branch import number

    support = family.support
    with np.errstate(invalid="ignore"):
        if support.kind == "finite":
            return np.isin(x, [float(number(p, point)) for p in support.points])
        low, high = (float(number(b, point)) for b in (support.lower, support.upper))
        whole = support.kind == "integers"
        above = x >= low if whole or not support.lower_open else x > low
        below = x <= high if whole or not support.upper_open else x < high
        return above & below & ((x == np.floor(x)) if whole else True)


def _averages(family: Family, x: Any, point: dict[Expr, Any]) -> tuple[list[Any], Any]:
    """(the means of the statistics, the mean of log h) over the data."""
    from blrgen.geometry.numbers.branch import values
    from blrgen.geometry.numbers.summation import PLAIN
    from blrgen.geometry.numbers.task import array

    doubles = x.size > _EXACT
    places, times = np.unique(x, return_counts=True)
    zeros = (0.0,) * len(family.natural)
    constants = tuple(float(v) if doubles else v for v in point.values())
    u = places if doubles else array(list(places), False)
    t, log_h, _ = values(family, PLAIN, u, (*zeros, *constants), doubles=doubles)
    return [_average(v, times) for v in t], _average(log_h, times)


def _average(values: Any, times: Any) -> Any:
    values = np.broadcast_to(np.asarray(values), times.shape)
    if values.dtype.kind == "O":
        total = mpmath.fsum(v * int(k) for v, k in zip(values, times, strict=True))
    else:
        total = mpmath.mpf(math.fsum(float(v) * int(k) for v, k in zip(values, times, strict=True)))
    if isinstance(total, mpmath.mpc) or not mpmath.isfinite(total):
        raise UserError("a statistic has no finite value on the data", where="data")
    return total / int(times.sum())
