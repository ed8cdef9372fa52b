"""Differential identities of a density, found and checked on the density itself.

For a working parameter ψ, ∂_ψ q / q is a polynomial in θ; so are ∂_θ q / q and
∂²_θ q / q.  Division by leading words writes the first as a combination of the others,

    ∂_ψ q = c₁ ∂_θ q + c₂ ∂²_θ q,   the remainder being zero,

and integration by parts turns it into ∂_ψ E_q[ℓ] = −c₁ E_q[∇ℓ] + c₂ E_q[∇²ℓ].  For a
Gaussian these are the Bonnet and Price identities; nothing here knows that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy as sp

from blrgen.algebra.calculus import gradient, jacobian
from blrgen.algebra.ranks import T
from blrgen.algebra.ring import Ring
from blrgen.algebra.words import collect_words, normal
from blrgen.errors import InternalError

Expr = Any


@dataclass(frozen=True)
class Identity:
    """∂_parameter q = Σ_k left_k (∂^k_θ q) right_k, with left, right free of θ."""

    parameter: Expr
    order: int
    left: Expr
    right: Expr


class NoIdentity(InternalError):
    """∂_ψ q is not a combination of θ-derivatives of q with coefficients free of θ."""


def density_ratios(log_density: Expr, theta: Expr, ring: Ring) -> dict[int, Expr]:
    """∂^k_θ q / q for k = 1, 2: ∇log q, and ∇²log q + ∇log q ∇log qᵀ."""
    score = ring.tidy(gradient(log_density, theta))
    hessian = ring.tidy(jacobian(score, theta))
    return {1: score, 2: ring.tidy(hessian + (score * T(score)))}


def find_identity(log_density: Expr, parameter: Expr, theta: Expr, ring: Ring) -> Identity:
    """The identity for one working parameter; raises NoIdentity when there is none."""
    target = ring.tidy(gradient(log_density, parameter))
    ratios = density_ratios(log_density, theta, ring)
    found: list[Identity] = []
    remainder = target
    for order in (2, 1):
        step = _divide(remainder, ratios[order], theta, order, parameter)
        if step is None:
            continue
        found.append(step)
        remainder = ring.tidy(remainder - step.left * ratios[order] * step.right)
    if remainder != 0 and not _vanishes(remainder):
        raise NoIdentity(f"∂q/∂{parameter} leaves {remainder}")
    if len(found) != 1:
        raise NoIdentity(f"∂q/∂{parameter} mixes derivatives of different order")
    return found[0]


def _vanishes(x: Expr) -> bool:
    return bool(x.is_commutative and sp.cancel(sp.together(x)) == 0)


def _divide(
    target: Expr, divisor: Expr, theta: Expr, degree: int, parameter: Expr
) -> Identity | None:
    """left·divisor·right with the same leading word in θ as the target, if its degree fits."""
    if theta.is_commutative:
        top = sp.Poly(target, theta) if target.has(theta) else None
        if top is None or top.degree() != degree:
            return None
        ratio = sp.cancel(top.LC() / sp.Poly(divisor, theta).LC())
        return Identity(parameter, degree, ratio, sp.S.One)
    target_lead = _leading(target, theta, degree)
    divisor_lead = _leading(divisor, theta, degree)
    if target_lead is None or divisor_lead is None:
        return None
    (c, before, core, after), (c0, before0, core0, after0) = target_lead, divisor_lead
    if core == core0:
        left = normal(before * before0**-1)
        right = normal(after0**-1 * after)
        return Identity(parameter, degree, normal(c / c0 * left), right)
    return None


def _leading(x: Expr, theta: Expr, degree: int) -> tuple[Expr, Expr, tuple[Expr, ...], Expr] | None:
    """(coefficient, word before θ, the θ-part, word after θ) of the word of that degree."""
    for word, coefficient in collect_words(x).items():
        places = [i for i, a in enumerate(word) if a == theta or a == T(theta)]
        if len(places) == degree and places:
            first, last = places[0], places[-1]
            return (
                coefficient,
                sp.Mul(*word[:first]),
                word[first : last + 1],
                sp.Mul(*word[last + 1 :]),
            )
    return None
