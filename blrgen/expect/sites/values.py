"""A site: f(u) of latents that is no statistic, and what stands for it in a block's update.

Under a Gaussian q the predictor u, linear in the latents, is N(m, v), and E[f] = φ(m, v) has
∂φ/∂m = E[f'], ∂φ/∂v = ½E[f''] (Bonnet, Price).  Let u_b be the part of u in one block's
latents, independent of the rest.  r u_b + s u_b² with

    s = ½E[f''],    r = E[f'] − E[f'']E[u_b]

has the same derivatives by mean and variance of u_b, so by every parameter of that block's q:
∇_μ E[f] is what the division of r u_b + s u_b² gives it, and every structure of the predictor
is kept.  Of a predictor with elements u_k the derivatives are E[∂_k f] and ½E[∂_k∂_l f], and
Σ_k r_k u_k + Σ_kl s_kl u_k u_l stands for f; where the elements are apart, independent under q,
s_kk is all that there is.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from blrgen.algebra.indexed.build import multiplied, power
from blrgen.algebra.indexed.moving import moved
from blrgen.algebra.indexed.values import ZERO, Expression, Index, Symbol
from blrgen.read.model.values import NOWHERE, Place


@dataclass(frozen=True)
class Line:
    """q of one number x = g(t) of a block, by its natural parameters: what a rule in t needs.

    `statistics` are T_j and `base` is log h, in the latent at letters `element`; `chart` is g,
    `jacobian` log g′ and `location` t as Σ a_j T_j, so that E[t] is known.  `combination` are
    the a_j.
    """

    block: str
    element: tuple[Index, ...]
    statistics: tuple[Expression, ...]
    names: tuple[str, ...]  # of the symbols E[T_j]
    base: Expression
    chart: Expression
    jacobian: Expression
    combination: tuple[Fraction, ...]
    variable: Symbol  # t


@dataclass(frozen=True)
class Site:
    """f = `function` of `variable`, which stands for u = `line`; both have letters `places`.

    `value` is f in the latents.  In a term of the log joint the site is the known symbol
    `mark`[places].  `parts` are u_b, each with the variables of its block; `means` their E[u_b],
    `mean` and `square` E[u] and E[u²].
    """

    name: str
    nodes: tuple[str, ...]  # whose latents stand in it
    places: tuple[Index, ...]
    value: Expression
    line: Expression
    function: Expression
    variable: Symbol
    slope: Expression  # f', or of a closed E[f] its derivative by m
    bend: Expression  # f'', or of a closed E[f] its derivative by v
    route: str
    because: str
    average: Expression | None = None  # E[f] in m and v, where that is closed
    child: str = ""
    place: Place = NOWHERE
    parts: tuple[tuple[tuple[str, ...], Expression], ...] = ()
    own: Line | None = None  # of a predictor that is one number whose q is no Gaussian
    means: tuple[Expression, ...] = ()
    mean: Expression = ZERO
    square: Expression = ZERO
    inner: tuple[Index, ...] = ()  # of a predictor's elements: k where they are apart, k and l

    @property
    def mark(self) -> Symbol:
        return Symbol(self.name, known=True)

    @property
    def expected(self) -> Symbol:
        """E[f]."""
        return Symbol(f"E[{self.name}]", known=True)

    @property
    def firsts(self) -> tuple[Symbol, ...]:
        """r, of each part."""
        stem = f"r{self.name[1:]}"
        count = len(self.parts) if self.own is None else len(self.own.statistics)
        names = [stem] if count == 1 and self.own is None else [
            f"{stem}_{j}" for j in range(1, count + 1)]  # fmt: skip
        return tuple(Symbol(x, known=True) for x in names)

    @property
    def second(self) -> Symbol:
        """s."""
        return Symbol(f"s{self.name[1:]}", known=True)

    @property
    def symbols(self) -> tuple[Symbol, ...]:
        """All that is evaluated beside E[f]."""
        return self.firsts if self.own is not None else (*self.firsts, self.second)

    def letters_of(self, s: Symbol) -> tuple[Index, ...]:
        """The letters of r or s: where the site stands, and of which elements it is."""
        return (*self.places, *(self.inner if s == self.second else self.inner[:1]))

    def tangent(self, names: frozenset[str]) -> tuple[tuple[Symbol, Expression], ...]:
        """Σ symbol[places] · T has the gradient of E[f] for the block of these variables."""
        if self.own is not None:
            return tuple(zip(self.firsts, self.own.statistics, strict=True))
        found: list[tuple[Symbol, Expression]] = []
        for first, (own, part) in zip(self.firsts, self.parts, strict=True):
            if names & set(own):
                found += [(first, part), (self.second, self.squared(part))]
        return tuple(found)

    def at_last(self, e: Expression) -> Expression:
        """An expression of element k at the last of the elements' letters."""
        return moved(e, {self.inner[0]: self.inner[-1]}) if self.inner else e

    def squared(self, part: Expression) -> Expression:
        """u_k², or u_k u_l."""
        return power(part, 2) if len(self.inner) < 2 else multiplied(part, self.at_last(part))
