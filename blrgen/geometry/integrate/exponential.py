"""c + a x between two ends.

On a half-line −log|a| and the value at the end; between two ends the cumulant of the uniform
law, log((e^{aw} − 1)/(aw)), which is whole at a = 0.
"""

from __future__ import annotations

import sympy as sp

from blrgen.algebra.special import uniform_cumulant
from blrgen.geometry.integrate.primitive import draw
from blrgen.geometry.integrate.problem import Integral, Problem, said


def integrate(problem: Problem) -> Integral | None:
    """∫ exp(c + a x) dx over an interval."""
    x = problem.variable
    if not problem.is_interval or set(problem.coefficients) - {x}:
        return None
    name = said(x)
    a, (low, high) = problem.coefficients.get(x, sp.S.Zero), problem.ends
    if low.is_infinite and high.is_infinite:
        return Integral(
            problem.constant, "exponential integral", _DIVERGES, conditions=(-sp.S.One,)
        )
    if high.is_infinite or low.is_infinite:
        end, sign = (low, 1) if high.is_infinite else (high, -1)
        rate = sp.expand(-sign * a)
        value = sp.expand(problem.constant + a * end) - (sp.log(rate) if rate != 0 else 0)
        return Integral(
            value,
            "exponential integral",
            f"∫ exp(a {name}) d{name} over the half-line from {end} is exp(a·{end})/|a|",
            sampler=end + sign * draw("gamma", 1) / rate if rate != 0 else None,
            conditions=(rate,),
        )
    width = sp.expand(high - low)
    value = sp.expand(problem.constant + a * low) + sp.log(width)
    return Integral(
        value + uniform_cumulant(0, sp.expand(a * width)),
        "exponential integral",
        f"∫ exp(a {name}) d{name} from {low} to {high} is exp(a·{low})(eʷ − 1)/a with "
        f"w = a·({width}), the length at a = 0",
        sampler=low + width * (draw("uniform") if a == 0 else draw("tilted", a * width)),
    )


_DIVERGES = "∫ exp(a x) dx over the whole line is infinite"
