"""Expectations in closed form: what lies in the span of the statistics, and a little more.

    f = c₀ + ⟨c, T⟩                     E_q[f] = c₀ + ⟨c, μ⟩,  ∇_μ E_q[f] = c  exactly
    f = Π T_i · exp⟨c, T⟩               E_q[f] = exp(A(λ+c) − A(λ)) · E_{λ+c}[Π T_i]
    E[T_i f] = ∂_i E[f] + μ_i E[f]      moments from the derivatives of A

A tilt by c is used only where λ + c stays in the declared domain for every λ there:
elsewhere the expectation is infinite.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy as sp

from blrgen.algebra.components import outer_totals, varies
from blrgen.algebra.nodes import has_nodes
from blrgen.algebra.partial import partial
from blrgen.algebra.span import canonical, in_span
from blrgen.core import Domain, Family
from blrgen.expect.gaussian import gaussian_expectation
from blrgen.expect.words import span_of_words
from blrgen.geometry.geometry import Geometry
from blrgen.geometry.numbers.nodes import variables

Expr = Any
_DEGREE = 4  # of products of statistics


@dataclass(frozen=True)
class Split:
    """ℓ = ⟨coefficients, T⟩ + closed + rest (+ a constant); E_q[closed] = expected(λ)."""

    coefficients: tuple[Expr, ...]
    closed: Expr
    expected: Expr
    rest: Expr


def span(f: Expr, family: Family) -> tuple[Expr, ...] | None:
    """c with f = c₀ + ⟨c, T⟩, or None."""
    if all(not f.has(x) for x in variables(family)):
        return tuple(sp.S.Zero for _ in family.statistics)
    if family.elementwise:
        found = in_span(f, family.statistics, variables(family))
        return found[1] if found else None
    if family.components is not None:
        return _span_of_components(f, family)
    return span_of_words(f, family)


def _span_of_components(f: Expr, family: Family) -> tuple[Expr, ...] | None:
    """Totals of the statistics' components, each with its own coefficient."""
    found = [sp.S.Zero for _ in family.statistics]
    for term in sp.Add.make_args(sp.expand(f)):
        if not term.has(*variables(family)):
            continue
        body, outer = term, sp.S.One
        holders = outer_totals(term)
        vector = [i for i, t in enumerate(family.statistics) if varies(t)]
        basis = [family.statistics[i] for i in vector]
        if holders and len(holders) == 1 and partial_free(term, holders[0]):
            outer, body = term / holders[0], holders[0].args[0]
        part = in_span(body, basis, variables(family)) if holders else None
        if part is None:
            return None
        for i, c in zip(vector, part[1], strict=True):
            found[i] += outer * c
    return tuple(found)


def partial_free(term: Expr, holder: Expr) -> bool:
    """Whether a term is holder times what does not depend on it."""
    return not (term / holder).has(holder)


def split(f: Expr, geometry: Geometry) -> Split:
    """The loss taken apart, term by term where it is not in the span as a whole."""
    family = geometry.family
    whole = span(f, family)
    if whole is not None:
        return Split(whole, sp.S.Zero, sp.S.Zero, sp.S.Zero)
    total_span = [sp.S.Zero for _ in family.statistics]
    closed, expected, rest = sp.S.Zero, sp.S.Zero, sp.S.Zero
    opened = canonical(f, variables(family)) if family.elementwise else sp.expand(f)
    for term in sp.Add.make_args(opened):
        part = span(term, family)
        if part is not None:
            total_span = [a + b for a, b in zip(total_span, part, strict=True)]
            continue
        mean = expected_value(term, geometry)
        if mean is None:
            rest += term
        else:
            closed, expected = closed + term, expected + mean
    return Split(tuple(total_span), closed, expected, rest)


def expected_value(f: Expr, geometry: Geometry) -> Expr | None:
    """E_q[f] as a function of λ, or None where no closed form is found."""
    family = geometry.family
    if not family.elementwise or has_nodes(geometry.log_partition):
        return None
    xs = variables(family)
    if geometry.integral.quadratic is not None:
        _, b, precision = geometry.integral.quadratic
        return gaussian_expectation(f, xs[0], b / precision, precision)
    parts = []
    for term in sp.Add.make_args(canonical(f, xs)):
        free, dependent = term.as_independent(*xs, as_Add=False)
        value = _expected_product(dependent, geometry)
        if value is None:
            return None
        parts.append(free * value)
    return sp.Add(*parts)


def _expected_product(f: Expr, geometry: Geometry) -> Expr | None:
    """E of one product of statistics and exponentials of statistics."""
    family, xs = geometry.family, variables(geometry.family)
    if not f.has(*xs):
        return f
    indices: list[int] = []
    tilt = [sp.S.Zero for _ in family.statistics]
    scale: Expr = sp.S.One
    plain = [canonical(t, xs) for t in family.statistics]
    for factor in sp.Mul.make_args(f):
        power = _as_power(factor, plain)
        if power is not None:
            indices += power
            continue
        found = in_span(sp.expand_log(sp.log(factor), force=True), family.statistics, xs)
        if found is None:
            return None
        scale *= sp.exp(found[0])
        tilt = [a + b for a, b in zip(tilt, found[1], strict=True)]
    if len(indices) > _DEGREE or not _stays(family, tilt):
        return None
    moved = {x: x + c for x, c in zip(geometry.natural, tilt, strict=True) if c != 0}
    moment = _moment(tuple(sorted(indices)), geometry).xreplace(moved)
    if not moved:
        return scale * moment
    a = geometry.log_partition
    return scale * exp_of(sp.expand(a.xreplace(moved) - a)) * moment


def _as_power(factor: Expr, statistics: list[Expr]) -> list[int] | None:
    """[i, i] for T_i², and so on."""
    for i, t in enumerate(statistics):
        if factor == t:
            return [i]
        whole = factor.is_Pow and factor.exp.is_Integer and 0 < factor.exp <= _DEGREE
        if whole and factor.base == t:
            return [i] * int(factor.exp)
        if factor.is_Pow and t.is_Pow and factor.base == t.base and t.exp.is_number:
            times = factor.exp / t.exp
            if times.is_Integer and 0 < times <= _DEGREE:
                return [i] * int(times)
    return None


def _moment(indices: tuple[int, ...], geometry: Geometry) -> Expr:
    """E[T_i T_j …] by E[T_i f] = ∂_i E[f] + μ_i E[f]."""
    if not indices:
        return sp.S.One
    first, rest = indices[0], _moment(indices[1:], geometry)
    return partial(rest, geometry.natural[first]) + geometry.mean[first] * rest


def _stays(family: Family, tilt: list[Expr]) -> bool:
    """Whether λ + c is in the domain for every λ in it."""
    return all(c == 0 or _keeps(p.domain, c) for p, c in zip(family.natural, tilt, strict=True))


def _keeps(domain: Domain, c: Expr) -> bool:
    if domain.kind == "vector":
        return True
    if domain.kind != "interval" or not c.is_number:
        return bool(domain.kind == "interval" and _unbounded(domain))
    bounds = sp.Add(sp.sympify(domain.lower), 0), sp.sympify(domain.upper)
    if any(b.free_symbols for b in bounds):
        return False
    up = bounds[1] == sp.oo or bool(c < 0)
    down = bounds[0] == -sp.oo or bool(c > 0)
    return up and down


def _unbounded(domain: Domain) -> bool:
    return bool(domain.lower == -sp.oo and domain.upper == sp.oo)


def exp_of(x: Expr) -> Expr:
    """eˣ with exp(c log a) as aᶜ and Γ(u + n)/Γ(u) as a product."""
    gammas: dict[Expr, Expr] = {}
    factors, left = [], []
    for term in sp.Add.make_args(x):
        c, rest = term.as_coeff_Mul()
        power, core = term.as_independent(sp.log, as_Add=False)
        if isinstance(rest, sp.loggamma):
            gammas[rest.args[0]] = gammas.get(rest.args[0], sp.S.Zero) + c
        elif isinstance(core, sp.log) and not power.has(sp.loggamma):
            factors.append(core.args[0] ** power)
        else:
            left.append(term)
    return sp.Mul(*factors) * _gamma_quotients(gammas) * sp.exp(sp.Add(*left))


def _gamma_quotients(powers: dict[Expr, Expr]) -> Expr:
    """Π Γ(u)^c, arguments that differ by a whole number brought together."""
    result: Expr = sp.S.One
    left = dict(sorted(powers.items(), key=lambda kv: sp.default_sort_key(kv[0])))
    while left:
        u, c = next(iter(left.items()))
        del left[u]
        if c == 0:
            continue
        partner = next(
            (v for v, d in left.items() if d * c < 0 and sp.expand(v - u).is_Integer), None
        )
        if partner is None:
            result *= sp.gamma(u) ** c
            continue
        n = int(sp.expand(u - partner))
        run = sp.Mul(*[partner + j for j in range(n)]) / sp.Mul(*[u + j for j in range(-n)])
        result *= run**c  # Γ(u)^c = Γ(partner)^c · run^c
        left[partner] = left[partner] + c
        if left[partner] == 0:
            del left[partner]
    return result
