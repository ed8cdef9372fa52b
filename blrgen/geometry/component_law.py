"""Mean and variance of every component of a vector, in working parameters.

Where x_k is a statistic they are derivatives of A: E[x_k] = ∂A/∂η_k and Var[x_k] = ∂²A/∂η_k².
Of a statistic that leaves the last component out, that one is the known sum less the others.
Where log x_k is one, moments are ratios of normalisers: E[x_kʲ] = exp(A(η + j e_k) − A(η)).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy as sp

from blrgen.algebra.components import Component, block, head, total, varies
from blrgen.geometry.law import bounds, opened_gammas

Expr = Any


@dataclass(frozen=True)
class ComponentLaw:
    """E[x_k] and Var[x_k]; `last` are those of one component more than the parameters have."""

    mean: Expr
    variance: Expr
    last: tuple[Expr, Expr] | None = None


def component_law(geometry: Any) -> ComponentLaw | None:
    """Of a family of one vector; None where no closed form is derived."""
    family = geometry.family
    if family.components is None or len(family.variables) != 1:
        return None
    found = _by_statistic(geometry) or _by_shift(geometry)
    if found is None:
        return None
    mean, variance = (geometry.to_working(f) for f in (found.mean, found.variance))
    last = found.last and tuple(geometry.to_working(f) for f in found.last)
    return ComponentLaw(mean, variance, last)


def _by_statistic(geometry: Any) -> ComponentLaw | None:
    """From ∇A and the diagonal of ∇²A."""
    family, x = geometry.family, geometry.family.variable
    whole, shorter = x in family.statistics, head(x) in family.statistics
    if not whole and not shorter:
        return None
    i = family.statistics.index(x if whole else head(x))
    at, mean = geometry.natural[i], geometry.mean[i]
    if not isinstance(at, Component) or not varies(mean):
        return None
    slope = block(mean, at)
    variance = sp.Add(slope.diagonal, *[u * w for u, w in slope.outer])
    if whole:
        return ComponentLaw(mean, variance)
    whole_sum = {"one-hot": sp.S.One, "counts": family.support.upper}.get(family.support.kind)
    if whole_sum is None:
        return None
    size = at.size
    spread = total(slope.diagonal, size)
    spread += sp.Add(*[total(u, size) * total(w, size) for u, w in slope.outer])
    last = (sp.factor(whole_sum - total(mean, size)), sp.factor(spread))
    return ComponentLaw(mean, variance, last)


def _by_shift(geometry: Any) -> ComponentLaw | None:
    """Where log x_k is a statistic and η_k has no upper end."""
    family, x = geometry.family, geometry.family.variable
    if sp.log(x) not in family.statistics:
        return None
    p = family.natural[family.statistics.index(sp.log(x))]
    others = [q for q in family.natural if q != p]
    free = isinstance(p.symbol, Component) and p.domain.upper == sp.oo
    if not free or any(bounds(q).has(p.symbol) for q in others):
        return None
    one, two = (_ratio(geometry.log_partition, p.symbol, j) for j in (1, 2))
    if one is None or two is None:
        return None
    return ComponentLaw(one, sp.factor(sp.together(two - one**2)))


def _ratio(a: Expr, at: Component, j: int) -> Expr | None:
    """exp(A(η + j e_k) − A(η)) where only rational factors are left of it."""
    letters: dict[Expr, Expr] = {}
    changed: dict[Expr, Expr] = {}
    for t in a.atoms(total):
        if not t.has(at):
            continue
        inside, size = t.args
        if inside.has(total) or size != at.size:
            return None
        letters[t] = sp.Dummy("t", real=True)
        changed[letters[t]] = letters[t] + inside.xreplace({at: at + j}) - inside
    held = a.xreplace(letters)
    if varies(held):
        return None
    difference = held.xreplace(changed) - held
    difference = sp.expand(sp.expand(difference, log=False).replace(sp.loggamma, opened_gammas))
    found = sp.exp(sp.expand_log(difference, force=True))
    found = sp.powsimp(sp.expand_power_exp(found))
    if found.has(sp.loggamma, sp.gamma, sp.exp, sp.log):
        return None
    return sp.factor(found.xreplace({v: k for k, v in letters.items()}))


__all__ = ["ComponentLaw", "component_law"]
