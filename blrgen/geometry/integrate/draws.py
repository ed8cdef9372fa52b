"""Primitive random draws, as symbols inside an expression for the variable.

`Draw(kind, k, *parameters)`: the k-th draw of that kind in a sample.

    normal, uniform on (0, 1), gamma(shape) with rate 1, poisson(mean),
    binomial(trials, probability), vonmises(concentration) about 0
"""

from __future__ import annotations

from typing import Any

import sympy as sp

Expr = Any
KINDS = {"normal": 0, "uniform": 0, "gamma": 1, "poisson": 1, "binomial": 2, "vonmises": 1}


class Draw(sp.Function):  # type: ignore[misc]
    """One draw; the same kind, number and parameters are the same draw."""

    is_real = True

    @property
    def kind(self) -> str:
        return str(self.args[0])

    @property
    def number(self) -> int:
        return int(self.args[1])

    @property
    def parameters(self) -> tuple[Expr, ...]:
        return tuple(self.args[2:])

    def _eval_is_positive(self) -> bool | None:
        return True if self.kind in ("uniform", "gamma") else None


def draw(kind: str, *parameters: Expr, number: int = 0) -> Expr:
    """A draw of a known kind."""
    assert len(parameters) == KINDS[kind], kind
    return Draw(sp.Symbol(kind), sp.Integer(number), *map(sp.sympify, parameters))


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
