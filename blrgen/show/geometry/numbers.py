"""The geometry's numbers at a point: `--at`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from blrgen.core import Family
from blrgen.errors import UserError
from blrgen.show.geometry.rows import Row, words

Expr = Any


def numbers_at(geometry: Any, at: Mapping[str, float]) -> dict[str, Any]:
    """Log-partition, mean, Fisher matrix, entropy and its gradient at a point, as numbers.

    Closed forms are evaluated with 50 digits, so `error` is the rounding to a double.
    """
    import sympy as sp

    family: Family = geometry.family
    point = _point(family, at)

    def number(e: Expr) -> float:
        value = sp.N(sp.sympify(e).subs(point), 50)
        if not value.is_real:
            raise UserError(f"{family.name} has no real value of {e} there", where="--at")
        return float(value)

    found: dict[str, Any] = {
        "log_partition": number(geometry.log_partition),
        "mean": [number(e) for e in geometry.mean],
        "fisher": [[number(e) for e in row] for row in geometry.fisher],
        "entropy": number(geometry.entropy),
        "entropy_gradient": [number(e) for e in geometry.entropy_gradient],
    }
    flat = [found["log_partition"], found["entropy"], *found["mean"], *found["entropy_gradient"]]
    flat += [x for row in found["fisher"] for x in row]
    found["error"] = max(abs(x) for x in flat) * 2.0**-53
    return found


def _point(family: Family, at: Mapping[str, float]) -> dict[Expr, Expr]:
    """The point as exact numbers, checked against the declared names and domains."""
    import sympy as sp

    if not family.elementwise:
        raise UserError(
            f"the natural parameters of {family.name!r} are vectors and matrices",
            where="--at",
            how="choose a family with scalar parameters, such as its elementwise or scalar form",
        )
    parameters = (*family.fixed, *family.natural)
    names = [p.name for p in parameters]
    missing = [n for n in names if n not in at]
    extra = sorted(set(at) - set(names))
    if missing or extra:
        said = [f"missing: {', '.join(missing)}"] if missing else []
        said += [f"not a parameter: {', '.join(extra)}"] if extra else []
        example = ",".join(f"{n}=…" for n in names)
        raise UserError("; ".join(said), where="--at", how=f"give {example}")
    point: dict[Expr, Expr] = {}
    for p in parameters:
        value = sp.Rational(*float(at[p.name]).as_integer_ratio())
        for bound, sign in ((p.domain.lower, 1), (p.domain.upper, -1)):
            if bound is not None and sign * (value - sp.sympify(bound).subs(point)) <= 0:
                raise UserError(
                    f"{p.name} = {at[p.name]:g} is outside its domain",
                    where="--at",
                    why=f"{p.name} is in {p.domain.text}",
                )
        point[p.symbol] = value
    return point


def number_rows(at: Mapping[str, float], numbers: dict[str, Any]) -> list[Row]:
    """The numbers as a row of the page."""
    place = ", ".join(f"{name} = {value:g}" for name, value in at.items())
    rows = [("log-partition", numbers["log_partition"]), ("entropy", numbers["entropy"])]
    rows += [("mean", numbers["mean"]), ("entropy gradient", numbers["entropy_gradient"])]
    rows += [("Fisher", numbers["fisher"])]
    shown = tuple(words(label, _digits(value)) for label, value in rows)
    error = f"error at most {numbers['error']:.1g}"
    return [Row(f"At {place}", shown, error, "natural", "numeric")]


def _digits(value: Any) -> str:
    if isinstance(value, list):
        return "(" + ", ".join(_digits(v) for v in value) + ")"
    return f"{value:.15g}"
