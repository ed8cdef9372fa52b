"""Expectations without a closed form, as programs have them: a density in t and integrands."""

from __future__ import annotations

from dataclasses import dataclass

from blrgen.program import nodes as n


@dataclass(frozen=True)
class Piece:
    """A part of the support: log w and the variable as functions of t and the parameters."""

    log_weight: n.Node
    variable: n.Node


@dataclass(frozen=True)
class Weight:
    """A density up to its mass; `parameters` are the names in it, natural ones first."""

    name: str
    said: str
    parameters: tuple[str, ...]
    pieces: tuple[Piece, ...]
    first: int | None = None  # on the integers: the smallest, or None when there is none
    integers: bool = False


@dataclass(frozen=True)
class Expectation:
    """E[f], or Cov[f, g] when there are two integrands, of the variable `x`."""

    name: str
    said: str
    density: Weight
    integrands: tuple[tuple[n.Node, ...], ...]  # one row a piece, as functions of t


@dataclass(frozen=True)
class BinomialMean:
    """E[g(j)] of j ~ Binomial(n, p), called with p, n and the parameters of g."""

    name: str
    said: str
    of: n.Node  # g, in `j`
    parameters: tuple[str, ...] = ()
