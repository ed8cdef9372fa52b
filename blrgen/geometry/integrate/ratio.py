"""The ratio of successive terms t(k+1)/t(k) = z Π(k + aᵢ)/Π(k + bⱼ), read off an exponent."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import sympy as sp

from blrgen.geometry.integrate.problem import Problem
from blrgen.geometry.integrate.terms import affine

Expr = Any
_MOST = 6  # factors


@dataclass
class Ratio:
    """log|z|, the sign of z, and the numbers added to k above and below."""

    log_z: Expr = sp.S.Zero
    sign: int = 1
    above: list[Expr] = field(default_factory=list)
    below: list[Expr] = field(default_factory=list)

    def factor(self, shift: Expr, times: int) -> None:
        """(k + shift)^times."""
        (self.above if times > 0 else self.below).extend([sp.expand(shift)] * abs(times))

    def started(self, first: Expr) -> Ratio:
        """In j = k − first, with a factor j + 1 below; what is above and below goes out."""
        above = [sp.expand(a + first) for a in self.above] + [sp.S.One]
        below = [sp.expand(b + first) for b in self.below]
        for a in list(above):
            for b in below:
                if sp.expand(a - b) == 0:
                    above.remove(a)
                    below.remove(b)
                    break
        return Ratio(self.log_z, self.sign, above, below)


def ratio_of(problem: Problem) -> Ratio | None:
    """The ratio, when it is rational in k."""
    k, found = problem.variable, Ratio()
    for f, c in problem.coefficients.items():
        line = affine(f.args[0], k) if isinstance(f, sp.loggamma | sp.log) else None
        if f == k:
            found.log_z += c
        elif line is None or c.is_Integer is not True or abs(c) > _MOST:
            return None
        elif isinstance(f, sp.log):
            shift = sp.cancel(line[0] / line[1])
            found.factor(shift + 1, int(c))
            found.factor(shift, -int(c))
        elif not _gamma_step(found, line, int(c)):
            return None
    if len(found.above) > _MOST or len(found.below) > _MOST:
        return None
    return found


def _gamma_step(found: Ratio, line: tuple[Expr, Expr], c: int) -> bool:
    """Γ(m(k+1) + b)/Γ(mk + b), m whole: Π(mk + b + i) over i < m, or its inverse for m < 0."""
    b, m = line
    if m.is_Integer is not True or not 0 < abs(m) <= 3:
        return False
    m = int(m)
    for i in range(abs(m)):
        inner = b + i if m > 0 else b + m + i  # the factors are (mk + inner)
        found.factor(sp.cancel(inner / m), c if m > 0 else -c)
        found.log_z += (c if m > 0 else -c) * sp.log(abs(m))
        if m < 0 and c % 2:
            found.sign = -found.sign
    return True
