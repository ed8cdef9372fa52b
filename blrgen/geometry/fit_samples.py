"""Maximum likelihood for vectors, matrices, several variables and products.

The mean of every statistic over the sample is taken with many digits where the sample is
small enough for that, in doubles with an exact sum elsewhere; then μ → λ.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import mpmath
import numpy as np

from blrgen.errors import UserError
from blrgen.geometry import array_values as arrays
from blrgen.geometry.fit import Fit, fit_geometry
from blrgen.geometry.inversion import Inversion, plain
from blrgen.geometry.samples import Sample, by_variable, read_sample
from blrgen.geometry.working import working_values
from blrgen.value.arithmetic import REALS
from blrgen.value.instance import Instance

if TYPE_CHECKING:
    from blrgen.geometry.geometry import Geometry

Expr = Any
Value = Any
_DIGITS = 80
_FEW = 300  # observations up to which the statistics are taken with many digits
_SMALL = 20_000  # and numbers in them


def fit_samples(geometry: Geometry, data: Any, fixed: Mapping[str, Any]) -> Fit:
    """The member under which the sample is most likely."""
    from blrgen.geometry.inverse import mean_symbols
    from blrgen.geometry.invert import natural_of_mean

    with mpmath.workdps(_DIGITS):
        constants = _constants(geometry, fixed)
        sample = read_sample(geometry.family, data, _scalars(constants))
        told = [(p.name, p.symbol, constants[p.symbol], p.domain.text)
                for p in geometry.family.fixed]  # fmt: skip
        arrays.learn_sizes(told, sample.sizes, "known constants")
        mean, log_base = _averages(geometry, sample, constants)
        try:
            found = natural_of_mean(geometry, mean, fixed)
        except UserError as e:
            raise _no_maximum(geometry, sample, e) from e
        total = math.nan
        if found.natural:
            total = float(_log_likelihood(geometry, found, mean, log_base, sample, constants))
    names = [s.name for s in mean_symbols(geometry)]
    shown = zip(geometry.natural, found.values, strict=bool(found.natural))
    return Fit(
        geometry.family.name, {x.name: v for x, v in shown},
        working_values(geometry, found.natural, fixed),
        dict(zip(names, map(plain, mean), strict=True)), found.converged, found.iterations,
        found.residual, total, sample.count, found.reason,
    )  # fmt: skip


def fit_product(geometry: Geometry, data: Any, fixed: Mapping[str, Any]) -> Fit:
    """Each factor from its own variables; the log-likelihoods add up."""
    given = by_variable(geometry.family, data)
    fits = []
    for g in geometry.factors:  # type: ignore[attr-defined]
        own = {x.name: given[x] for x in g.family.variables}
        constants = {p.name: fixed[p.name] for p in g.family.fixed if p.name in fixed}
        fits.append(fit_geometry(g, own if len(own) > 1 else next(iter(own.values())), constants))
    counts = sorted({f.count for f in fits})
    if len(counts) > 1:
        raise UserError("the factors have different numbers of observations", where="data",
                        why=f"there are {' and '.join(map(str, counts))}")  # fmt: skip
    means = [v for f in fits for v in f.mean.values()]
    return Fit(
        geometry.family.name,
        {k: v for f in fits for k, v in f.natural.items()},
        {k: v for f in fits for k, v in (f.working or f.natural).items()}
        if geometry.family.working else {},
        {f"mu{i + 1}": v for i, v in enumerate(means)},
        all(f.converged for f in fits), max(f.iterations for f in fits),
        max(f.residual for f in fits), sum(f.log_likelihood for f in fits), counts[0],
        "; ".join(dict.fromkeys(f.reason for f in fits if f.reason)),
    )  # fmt: skip


def fit_coordinates(geometry: Geometry, data: Any, fixed: Mapping[str, Any]) -> Fit:
    """A power of one law over the coordinates of a vector: each from its own column."""
    fits = [fit_geometry(geometry, column, dict(fixed)) for column in np.asarray(data, float).T]

    def together(part: str) -> dict[str, Any]:
        return {k: [getattr(f, part)[k] for f in fits] for k in getattr(fits[0], part)}

    return Fit(
        geometry.family.name, together("natural"), together("working"), together("mean"),
        all(f.converged for f in fits), max(f.iterations for f in fits),
        max(f.residual for f in fits), sum(f.log_likelihood for f in fits), fits[0].count,
        "; ".join(dict.fromkeys(f.reason for f in fits if f.reason)),
    )  # fmt: skip


def _constants(geometry: Geometry, fixed: Mapping[str, Any]) -> dict[Expr, Value]:
    family = geometry.family
    arrays.check_names([p.name for p in family.fixed], fixed, (), {}, "known constants")
    return {
        p.symbol: arrays.numbers(arrays.array(fixed[p.name], p.symbol, p.name, "known constants"))
        for p in family.fixed
    }


def _scalars(constants: Mapping[Expr, Value]) -> dict[Expr, Any]:
    """The constants that bounds of a support may use."""
    from blrgen.geometry.newton import as_sympy

    return {k: as_sympy(v) for k, v in constants.items() if not isinstance(v, np.ndarray)}


def _no_maximum(geometry: Geometry, sample: Sample, e: UserError) -> UserError:
    many = f"{sample.count} observation{'s' * (sample.count != 1)}"
    return UserError(
        f"the likelihood of {geometry.family.name!r} has no maximum for these data",
        where=many, why=e.why or e.what, how="give more observations, or ones that vary more",
    )  # fmt: skip


def _averages(
    geometry: Geometry, sample: Sample, constants: dict[Expr, Value]
) -> tuple[list[Value], Any]:
    """(the means of the statistics in their shapes, the mean of log h)."""
    from blrgen.geometry.integrate import log_base

    family = geometry.family
    wanted = [*family.statistics, log_base(family)]
    size = sum(v.size for v in sample.values.values())
    few = sample.count <= _FEW and size <= _SMALL
    if family.components is not None:
        columns = _of_components(geometry, sample, constants, wanted, few)
    else:
        columns = _of_arrays(geometry, sample, constants, wanted, few)
    means = [_mean(c, sample.count) for c in columns]
    return means[:-1], means[-1]


def _of_arrays(
    geometry: Geometry, sample: Sample, constants: dict[Expr, Value], wanted: list[Expr], few: bool
) -> list[list[Value]]:
    """Every statistic at every observation."""
    natural = (*geometry.natural, None)
    if few:
        base = Instance(sample.sizes, constants, REALS)
        found: list[list[Value]] = [[] for _ in wanted]
        for k in range(sample.count):
            at = base.with_({x: _mp(v[k], base.shape(x)) for x, v in sample.values.items()})
            for column, e, x in zip(found, wanted, natural, strict=True):
                column.append(at.value(e) if x is None else at.like(e, x))
        return found
    shaped = {
        x: v[..., None] if v.ndim == 2 else v for x, v in sample.values.items()
    }  # vectors are columns
    here = Instance(sample.sizes, {**constants, **shaped})
    values = [
        np.asarray(here.value(e) if x is None else here.like(e, x))
        for e, x in zip(wanted, natural, strict=True)
    ]
    return [list(v) if v.ndim else [v] * sample.count for v in values]


def _of_components(
    geometry: Geometry, sample: Sample, constants: dict[Expr, Value], wanted: list[Expr], few: bool
) -> list[list[Value]]:
    from blrgen.value.arithmetic import DOUBLES, EXTENDED

    (x, values), names = next(iter(sample.values.items())), {k.name: v for k, v in
                                                            constants.items()}  # fmt: skip
    natural = (*geometry.natural, None)

    def at(point: list[Any]) -> list[Value]:
        here = Instance(sample.sizes, {**names, x.name: point}, EXTENDED if few else DOUBLES)
        return [
            here.value(e) if y is None else here.like(e, y)
            for e, y in zip(wanted, natural, strict=True)
        ]

    if few:
        kind = geometry.family.support.kind
        rows = [at(_exactly([mpmath.mpf(float(v)) for v in row], kind)) for row in values]
        return [list(c) for c in zip(*rows, strict=True)]
    with np.errstate(all="ignore"):
        columns = at(list(values.T))
    return [
        [list(row) for row in zip(*[np.broadcast_to(v, sample.count) for v in c], strict=True)]
        if isinstance(c, list)
        else list(np.broadcast_to(np.asarray(c, float), sample.count))
        for c in columns
    ]


def _exactly(point: list[Any], kind: str) -> list[Any]:
    """Doubles whose sum or length is one up to rounding, made so with all digits."""
    if kind not in ("simplex", "sphere"):
        return point
    size = mpmath.fsum(point) if kind == "simplex" else mpmath.norm(point)
    return [v / size for v in point]


def _mp(value: Any, shape: tuple[int, int] | None) -> Value:
    """A double, a column or a table of them as exact numbers."""
    if shape is None:
        return mpmath.mpf(float(value))
    flat = np.asarray(value).reshape(shape)
    from blrgen.algebra.tables import filled

    made = filled(shape, None)
    for place in np.ndindex(shape):
        made[place] = mpmath.mpf(float(flat[place]))
    return made


def _mean(column: list[Value], count: int) -> Value:
    """Σ/n, entry by entry, without rounding in the sum."""
    first = column[0]
    if isinstance(first, list):
        return [_total([c[i] for c in column]) / count for i in range(len(first))]
    if isinstance(first, np.ndarray):
        from blrgen.algebra.tables import filled

        made = filled(first.shape, None)
        for place in np.ndindex(first.shape):
            made[place] = _total([c[place] for c in column]) / count
        return made
    return _total(column) / count


def _total(values: list[Any]) -> Any:
    total = mpmath.fsum(v if isinstance(v, mpmath.mpf) else mpmath.mpf(float(v)) for v in values)
    if not mpmath.isfinite(total):
        raise UserError("a statistic has no finite value on the data", where="data")
    return total


def _log_likelihood(
    geometry: Geometry, found: Inversion, mean: list[Value], log_base: Any, sample: Sample,
    constants: dict[Expr, Value],
) -> Any:  # fmt: skip
    """Σ log q(x) = n (⟨λ, t⟩ − A(λ) + the mean of log h)."""
    from blrgen.geometry.packed import flat
    from blrgen.geometry.sized import Sized

    place = dict(zip(geometry.natural, found.natural, strict=True))
    if geometry.family.components is not None:
        names = {k.name: v for k, v in (constants | place).items()}
        level = Sized(geometry, sample.sizes, names).log_partition
        pairs = [
            mpmath.fdot(*[v if isinstance(v, list) else [v] for v in (x, m)])
            for x, m in zip(found.natural, mean, strict=True)
        ]
    else:
        level = Instance(sample.sizes, constants | place, REALS).value(geometry.log_partition)
        pairs = [mpmath.fdot(flat(x), flat(m)) for x, m in zip(found.natural, mean, strict=True)]
    return sample.count * (mpmath.fsum(pairs) - level + log_base)
