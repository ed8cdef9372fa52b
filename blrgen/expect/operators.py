"""First-order identities of a density: v·∂_ψ q = −(p q)′, found by linear algebra.

For functions p(x) built from the statistics, the relation

    v·∂_ψ⟨λ(ψ), T(x)⟩ + p′ + p (log q)′ + κ = 0        for all x

is linear in v, p and κ.  Integrated against q it says κ = −v·∂_ψ A when p q vanishes at the
ends of the support, so that the log-partition is not needed; and integrating by parts,

    v·∂_ψ E_q[ℓ] = E_q[p ℓ′].

Where x counts, the same with differences: v·∂_ψ q(k) = p(k−1)q(k−1) − p(k)q(k) gives
v·∂_ψ E_q[ℓ] = E_q[p(k)(ℓ(k+1) − ℓ(k))].  Location, scale and rate parameters have such a p
whatever the family; nothing here knows their names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import sympy as sp

from blrgen.algebra.partial import partial
from blrgen.algebra.span import canonical, relations
from blrgen.core import Family
from blrgen.expect.ends import Ends, ends_of
from blrgen.geometry.numbers.nodes import variables

Expr = Any


@dataclass(frozen=True)
class Operator:
    """Σ_i along_i ∂_{ψ_i} q = −∂_x(p q) (or −p q lowered by one), p = Σ weight_k function_k."""

    parameter: Expr  # the coordinate that this identity serves
    along: tuple[tuple[Expr, Expr], ...]  # other coordinates in the direction, with their factor
    terms: tuple[tuple[Expr, Expr], ...]  # (weight, function of x)
    difference: bool = False

    @property
    def weight(self) -> Expr:
        """p(x)."""
        return sp.Add(*[c * f for c, f in self.terms])


def find_operators(
    family: Family,
    charts: tuple[dict[Expr, Expr], dict[Expr, Expr]],
    coordinates: Sequence[Expr],
    log_base: Expr,
) -> tuple[Operator, ...]:
    """An identity for as many coordinates as have one; boundary terms checked.

    `charts` are λ(ψ) and ψ(λ), ψ the coordinates.
    """
    natural_of, backward = charts
    x = family.variable
    if not family.elementwise or len(variables(family)) > 1:
        return ()
    pairing = sp.Add(
        *[natural_of[p.symbol] * t for p, t in zip(family.natural, family.statistics, strict=True)]
    )
    log_q = canonical(pairing + log_base, [x])
    slopes = [partial(pairing, c) for c in coordinates]
    if family.support.kind == "integers":
        below = bool(family.support.lower.is_infinite)
        outer = ends_of(family, log_q, backward, below=below)
        return _by_differences(family, log_q, outer, slopes, coordinates)
    if family.support.kind != "interval" or sp.Add(log_base, *family.statistics).has(sp.sign):
        return ()  # (with sign: a density with jumps, nothing to integrate by parts across)
    return _by_derivatives(family, log_q, ends_of(family, log_q, backward), slopes, coordinates)


def _by_derivatives(
    family: Family, log_q: Expr, outer: Ends, slopes: list[Expr], coordinates: Sequence[Expr]
) -> tuple[Operator, ...]:
    x, support = family.variable, family.support
    score = _slope(log_q, x)
    basis = _basis(family, log_q)
    images = [_slope(b, x) + b * score for b in basis]
    ends = [e for e in (support.lower, support.upper) if not sp.sympify(e).is_infinite]

    def fits(p: Expr) -> bool:
        return not p.has(sp.sign) and outer.vanish(p)

    return _solve(family, (basis, images), (slopes, coordinates), ends, fits, difference=False)


def _by_differences(
    family: Family, log_q: Expr, outer: Ends, slopes: list[Expr], coordinates: Sequence[Expr]
) -> tuple[Operator, ...]:
    k, support = family.variable, family.support
    ratio = lowered_ratio(log_q, k)
    if ratio is None:
        return ()
    basis = [sp.S.One, k, k**2]
    images = [b - b.subs(k, k - 1) * ratio for b in basis]
    ends = [] if support.lower.is_infinite else [support.lower - 1]
    ends += [] if support.upper.is_infinite else [support.upper]

    def fits(p: Expr) -> bool:
        return _ends_discrete(family, outer, p, ratio)

    return _solve(family, (basis, images), (slopes, coordinates), ends, fits, difference=True)


def _solve(
    family: Family,
    functions: tuple[list[Expr], list[Expr]],
    directions: tuple[list[Expr], Sequence[Expr]],
    ends: list[Expr],
    fits: Callable[[Expr], bool],
    *,
    difference: bool,
) -> tuple[Operator, ...]:
    """Operators from functions that vanish at the ends by themselves; else from any."""
    tame = [i for i, b in enumerate(functions[0]) if fits(b)]
    chosen = tuple([part[i] for i in tame] for part in functions)
    rest = (directions, ends, fits)
    made = _read_off(family, (chosen[0], chosen[1]), *rest, difference=difference)
    if len(made) == len(directions[1]):
        return made
    others = _read_off(family, functions, *rest, difference=difference)
    return others if len(others) > len(made) else made


def _read_off(
    family: Family,
    functions: tuple[list[Expr], list[Expr]],
    directions: tuple[list[Expr], Sequence[Expr]],
    ends: list[Expr],
    fits: Callable[[Expr], bool],
    *,
    difference: bool,
) -> tuple[Operator, ...]:
    """Operators read off the relations.

    A relation among the images alone is a p₀ with p₀′ + p₀ (log q)′ constant: any multiple
    of it may be added to p, and the ends of the support decide how much.
    """
    (basis, images), (slopes, coordinates) = functions, directions
    n, x = len(basis), family.variable
    found = relations([sp.S.One, *images, *slopes], [x])
    free = [
        sp.Add(*[c * b for c, b in zip(v[1:], basis, strict=False)])
        for v in found
        if not any(v[n + 1 :])
    ]
    made = []
    for vector in found:
        along = vector[n + 1 :]
        if not any(along):
            continue
        p = sp.Add(*[c * b for c, b in zip(vector[1:], basis, strict=False)])
        fitted = next((f for f in _candidates(p, free, ends, x) if fits(f)), None)
        if fitted is None:
            continue
        served = max(i for i, a in enumerate(along) if a != 0)
        others = tuple((coordinates[i], a) for i, a in enumerate(along) if a != 0 and i != served)
        terms = _gathered(fitted, family)
        made.append(Operator(coordinates[served], others, terms, difference))
    return tuple(made)


def _slope(f: Expr, x: Expr) -> Expr:
    """∂f/∂x with |u| as u·sign u, sign u constant on either side of its jump."""
    held = {a: sp.Dummy(f"sign{i}") for i, a in enumerate(sorted(f.atoms(sp.sign), key=str))}
    return partial(f.xreplace(held), x).xreplace({v: k for k, v in held.items()})


def _candidates(p: Expr, free: list[Expr], ends: list[Expr], x: Expr) -> Iterator[Expr]:
    """P itself, and p with the multiple of a p₀ that makes it zero at an end."""
    yield p
    for p0 in free:
        for end in ends:
            share = sp.cancel(sp.together(p / p0)).subs(x, end)
            if share != 0 and not share.has(sp.nan, sp.zoo, sp.oo):
                yield sp.expand(p - share * p0)


def _gathered(p: Expr, family: Family) -> tuple[tuple[Expr, Expr], ...]:
    """(weight, function of x) pairs: one where p factors so, with known constants inside."""
    x = family.variable
    known = {c.symbol for c in family.fixed} | {x}
    weight, function = sp.factor(p).as_independent(x, as_Add=False)
    if function.free_symbols <= known:
        return ((weight, function),)
    terms: dict[Expr, Expr] = {}
    for term in sp.Add.make_args(sp.expand(p)):
        weight, function = term.as_independent(x, as_Add=False)
        terms[function] = terms.get(function, 0) + weight
    return tuple((sp.factor(c), f) for f, c in terms.items())


def _basis(family: Family, log_q: Expr) -> list[Expr]:
    """Candidates for p, simple ones first: powers of x, 1/T′, T/T′, x and 1 times other letters."""
    x = family.variable
    found: list[Expr] = [sp.S.One, x, x**2, 1 / x]
    slopes = [_slope(canonical(t, [x]), x) for t in family.statistics]
    for slope in slopes:
        if slope == 0 or slope.has(sp.sign):
            continue
        found.append(sp.cancel(1 / slope))
        found += [sp.cancel(canonical(t, [x]) / slope) for t in family.statistics]
    letters = sorted(
        (f for f in log_q.atoms(sp.log, sp.exp, sp.sin, sp.cos) if f.has(x)),
        key=sp.default_sort_key,
    )
    found += [a * f for f in letters for a in (sp.S.One, x)]
    unique: list[Expr] = []
    for f in (canonical(b, [x]) for b in found):
        if f not in unique and not f.has(sp.sign, sp.zoo, sp.nan):
            unique.append(f)
    return unique[:14]


def lowered_ratio(log_q: Expr, k: Expr) -> Expr | None:
    """q(k−1)/q(k) as an expression in k; None where a factor's ratio is not known."""
    total = sp.S.One
    for term in sp.Add.make_args(sp.expand(log_q)):
        if not term.has(k):
            continue
        factor, inside = term.as_independent(sp.loggamma, sp.log, as_Add=False)
        if isinstance(inside, sp.loggamma) and not factor.has(k):
            step = _gamma_ratio(inside.args[0], k)
            if step is None:
                return None
            total *= step**factor
        elif isinstance(inside, sp.log) and not factor.has(k):
            total *= (inside.args[0].subs(k, k - 1) / inside.args[0]) ** factor
        else:
            total *= sp.exp(sp.expand(term.subs(k, k - 1) - term))
    return total


def _gamma_ratio(u: Expr, k: Expr) -> Expr | None:
    """Γ(u(k−1))/Γ(u(k)) for u = a k + b with a whole number a."""
    a = partial(u, k)
    if not a.is_Integer:
        return None
    if a > 0:
        return sp.Mul(*[1 / (u - j) for j in range(1, int(a) + 1)])
    return sp.Mul(*[u + j for j in range(-int(a))])


def _ends_discrete(family: Family, outer: Ends, p: Expr, ratio: Expr) -> bool:
    """p(k−1)q(k−1) is zero at the first k, and p q at the last or far out."""
    k, support = family.variable, family.support
    first = sp.cancel(sp.together(p.subs(k, k - 1) * ratio))
    if not support.lower.is_infinite and sp.cancel(first.subs(k, support.lower)) != 0:
        return False
    if not support.upper.is_infinite:
        return bool(sp.cancel(p.subs(k, support.upper)) == 0)
    return outer.vanish(p)
