"""Primitive random draws, as symbols inside an expression for the variable.

`Draw(kind, k, *parameters)`: the k-th draw of that kind in a sample.

    normal, uniform on (0, 1), gamma(shape) with rate 1, loggamma(shape) its logarithm,
    poisson(mean), binomial(trials, probability), vonmises(concentration) about 0,
    tilted(c) on (0, 1) with density ∝ eᶜᵗ,
    pick(x, level, y, level, …)    one of the values, with a probability ∝ exp(its level)
    law(x, exponent, low, high, whole)  any density of one number, by its distribution function

and whole vectors and matrices, which have their own parameters component by component:

    categorical(levels[, last])     a unit vector, component k with weight exp(level)
    multinomial(n, levels[, last])  counts with sum n
    dirichlet(powers)               on the simplex, density ∝ Π x^(power − 1)
    sphere(a)                       on the unit sphere, density ∝ exp(aᵀx)
    gaussian(b, P)                  density ∝ exp(bᵀx − ½xᵀPx)
    matrixgaussian(L, Q, P)         density ∝ exp(tr LᵀX − ½tr XᵀQXP)
    wishart(a, B)                   density ∝ |X|^(a − (d+1)/2) exp(−tr BX) over SPD
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy as sp

from blrgen.core import Support

Expr = Any
KINDS = {
    "normal": (0,), "uniform": (0,), "gamma": (1,), "loggamma": (1,), "poisson": (1,),
    "binomial": (2,), "vonmises": (1,), "tilted": (1,), "law": (5,), "categorical": (1, 2),
    "multinomial": (2, 3), "dirichlet": (1,), "sphere": (1,), "gaussian": (2,),
    "matrixgaussian": (3,), "wishart": (2,),
}  # fmt: skip
WHOLE = (
    "categorical", "multinomial", "dirichlet", "sphere", "gaussian", "matrixgaussian", "wishart",
)  # fmt: skip


class Draw(sp.Function):  # type: ignore[misc]
    """One draw; the same kind, number and parameters are the same draw."""

    @property
    def kind(self) -> str:
        return str(self.args[0])

    @property
    def number(self) -> int:
        return int(self.args[1])

    @property
    def parameters(self) -> tuple[Expr, ...]:
        return tuple(self.args[2:])

    @property
    def free_symbols(self) -> set[Expr]:
        """What its parameters depend on; the name of the kind is no symbol."""
        found: set[Expr] = set().union(*(a.free_symbols for a in self.args[2:]))
        return found - {self.args[2]} if self.kind == "law" else found

    def _eval_is_real(self) -> bool:
        return True

    def _eval_is_extended_real(self) -> bool:
        return True

    def _eval_is_positive(self) -> bool | None:
        return True if self.kind in ("uniform", "gamma", "tilted") else None


def draw(kind: str, *parameters: Expr, number: int = 0) -> Expr:
    """A draw of a known kind."""
    assert kind == "pick" or len(parameters) in KINDS[kind], kind
    return Draw(sp.Symbol(kind), sp.Integer(number), *map(sp.sympify, parameters))


def law(exponent: Expr, variable: Expr, support: Support) -> Expr | None:
    """A draw from exp(exponent) over an interval or whole numbers; None over anything else."""
    if support.kind not in ("interval", "integers") and not _line(support):
        return None
    low, high = (-sp.oo, sp.oo) if _line(support) else (support.lower, support.upper)
    x = sp.Dummy(variable.name, **{k: v for k, v in variable._assumptions_orig.items() if v})
    whole = sp.Integer(support.kind == "integers")
    return draw("law", x, sp.sympify(exponent).xreplace({variable: x}), low, high, whole)


def _line(support: Support) -> bool:
    return support.kind == "vector"


def draws_of(sampler: Expr) -> list[Expr]:
    """The draws in a sampler, those that others depend on first."""
    return sorted(
        sampler.atoms(Draw), key=lambda d: (sum(a.count(Draw) for a in d.args), str(d))
    )  # fmt: skip


def fresh(sampler: Expr, other: Expr) -> Expr:
    """`other` with its draws renumbered, so that none is one of `sampler`'s."""
    first = 1 + max((d.number for d in sampler.atoms(Draw)), default=-1)
    table = {d: Draw(d.args[0], d.args[1] + first, *d.args[2:]) for d in other.atoms(Draw)}
    return other.xreplace(table)


def one_of(levels: Sequence[Expr], samplers: Sequence[Expr | None]) -> Expr | None:
    """The k-th sampler with a probability in proportion to exp(level k); None where one lacks.

    Only one is used, so that the samplers may share their draws.
    """
    if any(s is None for s in samplers):
        return None
    return draw("pick", *[e for pair in zip(samplers, levels, strict=True) for e in pair])
