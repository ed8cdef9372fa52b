"""Noise read back from where it moved the loss to, instead of kept beside it.

Where the loss is probed at θ = a + ε·b, with a and b made of what no step has changed since,
the noise is ε = (θ − a)/b.  The point θ has to be kept for the caller anyway, so that a step
reads one array less, and what it reads is the displacement that the gradient really saw:
θ − a is exact in floating point wherever θ is within a factor of two of a.

With b = 1/√(N·(h + δ)) the √(h + δ) of the estimate meets the one of the noise, and
√x·√x = x takes both away.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import sympy as sp

from blrgen.core import Assignment, Rule
from blrgen.program.laws import distribution
from blrgen.rule.results import symbol_of_result

Expr = Any


class together(sp.Function):  # type: ignore[misc]
    """Its argument, as one thing that no sum over components takes apart."""

    nargs = 1


def read_back(rule: Rule) -> dict[str, Expr]:
    """What a rule's noise is in terms of its probe point, where later stages need it."""
    draw = [x for x in rule.assignments if x.stage == "draw"]
    noises = rule.of("draw")
    if len(noises) != 1 or not draw:
        return {}
    (noise,) = noises
    law = distribution(noise.distribution)
    if law is not None and law.chance:
        return {}  # what a mask leaves of a weight that is zero does not say what the mask is
    full = written_out(draw)
    after = [[x for x in rule.assignments if x.stage == s] for s in ("estimate", "update")]
    later = {x for stage in after for x in reads(stage)}
    # a value of the draw that is read later brings its noise along
    later |= {x for name in later & full.keys() for x in names(full[name])}
    if noise.name not in later:
        return {}
    probe = draw[-1].name
    at = noise_at(symbol_of_result(rule, probe), full[probe], noise.symbol)
    return {} if at is None else {noise.name: at}


def noise_at(probe: Expr, at: Expr, noise: Expr) -> Expr | None:
    """ε of θ = a + ε·b; None where it is no factor of one term.

    θ − a stays one thing, also in a sum over components: Σ g(θ − a) is not Σ gθ − Σ ga.
    """
    terms = sp.Add.make_args(at)
    moved = [x for x in terms if noise in x.free_symbols]
    if len(moved) != 1 or not at.is_commutative:
        return None
    factor = moved[0] / noise
    if noise in factor.free_symbols:
        return None
    rest = sp.Add(*(x for x in terms if x is not moved[0]))
    return (together(probe - rest) if rest != 0 else probe) / factor


def written_out(assignments: Sequence[Assignment]) -> dict[str, Expr]:
    """Each value without the names of earlier ones."""
    full: dict[str, Expr] = {}
    for x in assignments:
        full[x.name] = replaced(x.expr, full)
    return full


def replaced(e: Expr, values: Mapping[str, Expr]) -> Expr:
    """An expression with values in place of names."""
    return e.xreplace({s: values[s.name] for s in e.free_symbols if s.name in values})


def names(e: Expr) -> set[str]:
    """The names in an expression."""
    return {s.name for s in e.free_symbols}


def reads(assignments: Sequence[Assignment]) -> set[str]:
    """What assignments read of others, and of quantities."""
    return {x for a in assignments for x in names(a.expr)} - {a.name for a in assignments}
