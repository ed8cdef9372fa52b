"""Mean and variance of the variable itself, and how it is drawn, in working parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy as sp

from blrgen.geometry.numbers.nodes import covariance_class, mean_node

Expr = Any


@dataclass(frozen=True)
class Law:
    """E[x] and Var[x] (None where they may not exist) and the sampler (None: numerically)."""

    mean: Expr | None
    variance: Expr | None
    sampler: Expr | None


def law_of(geometry: Any) -> Law | None:
    """The law of a family of one scalar variable; None for any other."""
    family = geometry.family
    if not family.elementwise or family.components is not None or len(family.variables) != 1:
        return None
    if family.support.kind not in ("interval", "integers", "finite"):
        return None
    moments = _moments(geometry)
    mean, variance = (None, None) if moments is None else map(geometry.to_working, moments)
    sampler = geometry.integral.sampler
    return Law(mean, variance, None if sampler is None else geometry.to_working(sampler))


def _moments(geometry: Any) -> tuple[Expr, Expr] | None:
    """From the derivatives of A where x is a statistic, its shifts where log x is one."""
    family, x = geometry.family, geometry.family.variable
    if x in family.statistics:
        i = family.statistics.index(x)
        return geometry.mean[i], geometry.fisher[i][i]
    shifted = _shifted(geometry)
    if shifted is not None:
        return shifted
    if not _exist(family):
        return None
    arguments = [p.symbol for p in (*family.natural, *family.fixed)]
    return mean_node(family, x), covariance_class(family, x, x)(*arguments)


def _shifted(geometry: Any) -> tuple[Expr, Expr] | None:
    """E[xᵏ] = exp(A(λ + k eᵢ) − A(λ)) where Tᵢ = log x and λᵢ has no upper end."""
    family, x = geometry.family, geometry.family.variable
    if sp.log(x) not in family.statistics or geometry.log_partition.has(sp.Piecewise):
        return None
    parameter = family.natural[family.statistics.index(sp.log(x))]
    others = [p for p in family.natural if p != parameter]
    if parameter.domain.upper != sp.oo or any(bounds(p).has(parameter.symbol) for p in others):
        return None
    one, two = (_ratio(geometry.log_partition, parameter.symbol, k) for k in (1, 2))
    if one is None or two is None:
        return None
    return one, sp.factor(sp.together(two - one**2))


def bounds(parameter: Any) -> Expr:
    """The ends of a parameter's domain."""
    ends = (parameter.domain.lower, parameter.domain.upper)
    return sp.Tuple(*[e for e in ends if e is not None])


def opened_gammas(z: Expr) -> Expr:
    """log Γ(z + k) as log Γ(z) and logarithms."""
    step = sp.expand(z).as_coeff_Add()[0]
    whole = int(step) if step.is_Integer and step > 0 else 0
    base = sp.expand(z - whole)
    return sp.loggamma(base) + sp.Add(*[sp.log(base + j) for j in range(whole)])


def _ratio(log_partition: Expr, at: Expr, k: int) -> Expr | None:
    """exp(A(λ + k) − A(λ)), log Γ(z + k) opened into log Γ(z) and logarithms."""
    difference = log_partition.subs(at, at + k) - log_partition
    difference = sp.expand(difference.replace(sp.loggamma, opened_gammas))
    found = sp.exp(sp.expand_log(difference, force=True))
    found = sp.powsimp(sp.expand_power_exp(found))
    found = sp.simplify(found) if sp.count_ops(found) < 60 else found
    return None if found.has(sp.loggamma, sp.gamma) else found


def _exist(family: Any) -> bool:
    """Whether some statistic grows faster than any logarithm at every infinite end."""
    x, support = family.variable, family.support
    ends = [
        sign for sign, end in ((-1, support.lower), (1, support.upper)) if end in (sp.oo, -sp.oo)
    ]
    if support.kind == "integers" and not ends:
        ends = [1] if support.upper is None or support.upper == sp.oo else []
    for sign in ends:
        far = sp.Float(sign * 10**6)
        sizes = [abs(sp.N(t.subs(x, far))) for t in family.statistics]
        if not any(s.is_infinite or (s.is_number and s > 10**3) for s in sizes):
            return False
    return True
