"""log q in working parameters = log q in natural ones, at points of both."""

from __future__ import annotations

from typing import Any

import mpmath
import sympy as sp

from blrgen.check.context import Context
from blrgen.check.finding import NotChecked, within
from blrgen.geometry.tabulated import number

NAME = "parametrisations"
NEEDS = ("minimality", "charts")


def run(context: Context) -> tuple[str, str]:
    """The density carried to working coordinates, evaluated where the charts put the point."""
    family, geometry = context.family, context.geometry
    if not family.working:
        return "identity", "one: the natural parameters"
    if not family.elementwise:
        raise NotChecked("matrix charts are compared as words, in charts")
    in_working, in_natural = _log_density(context), _in_natural(context)
    gaps = []
    for point, table in context.tables:
        carried = _working_point(context, point)
        middle = len(table.x) // 2
        for k in sorted({len(table.x) // 4, middle, (3 * len(table.x)) // 4}):
            x = table.x[k]
            if not context.has_value(in_natural.subs(family.variable, _exact(x)), point):
                continue  # so near an end that its distance is none in these digits
            should = table.log_density[k]
            claimed = in_working.subs(family.variable, _exact(x))
            gaps.append(
                context.compare(
                    f"log q({family.variable} = {mpmath.nstr(x, 6)})", claimed, should, carried
                )
            )
    names = ", ".join(p.name for p in family.working)
    total = len(context.tables)
    assert geometry.natural_of_working
    return "numeric", f"log q in {names} within {within(max(gaps))} of log q in λ at {total} points"


def _in_natural(context: Context) -> Any:
    """log h + ⟨λ, T⟩, which the charts have no part in."""
    family = context.family
    pairs = zip(context.geometry.natural, family.statistics, strict=True)
    return sp.Add(*[x * t for x, t in pairs]) + sp.log(family.base_measure)


def _log_density(context: Context) -> Any:
    geometry, family = context.geometry, context.family
    forward = geometry.natural_of_working
    pairs = zip(geometry.natural, family.statistics, strict=True)
    inner = sp.Add(*[forward[x] * t for x, t in pairs])
    log_h = sp.log(family.base_measure)
    return inner + log_h - geometry.to_working(geometry.log_partition)


def _working_point(context: Context, point: dict[Any, Any]) -> dict[Any, Any]:
    """The constants and the working parameters of a natural point."""
    family = context.family
    values = {p.symbol: point[p.symbol] for p in family.fixed}
    back = context.geometry.working_of_natural
    for p in family.working:
        value = context.value(back[p.symbol], point, f"the chart of {p.name}", mpmath.mpf(0))
        values[p.symbol] = _exact(value)
    return values


def _exact(x: Any) -> Any:
    """A number as a rational, so that nothing is rounded again."""
    if isinstance(x, mpmath.mpf):
        sign, mantissa, exponent, _ = x._mpf_
        value = sp.Integer(int(mantissa)) * sp.Integer(2) ** int(exponent)
        return -value if sign else value
    return number(x)
