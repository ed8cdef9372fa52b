"""A site: f(u) of latents that is no statistic, and what stands for it in a block's update.

Under a Gaussian q the predictor u, linear in the latents, is N(m, v), and E[f] = φ(m, v) has
∂φ/∂m = E[f'], ∂φ/∂v = ½E[f''] (Bonnet, Price).  ru + su² with

    s = ½E[f''],    r = E[f'] − E[f'']m

has the same derivatives by m and v, so by every parameter of q: ∇_μ E[f] of a block is what
the division of ru + su² gives it, and every structure of the predictor is kept.
"""

from __future__ import annotations

from dataclasses import dataclass

from blrgen.algebra.indexed.values import ZERO, Expression, Index, Symbol
from blrgen.read.model.values import NOWHERE, Place


@dataclass(frozen=True)
class Site:
    """f = `function` of `variable`, which stands for u = `line`; both have letters `places`.

    `value` is f in the latents.  In a term of the log joint the site is the known symbol
    `mark`[places].  `first` and `second` are r and s, `mean` and `square` E[u] and E[u²].
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
    mean: Expression = ZERO
    square: Expression = ZERO

    @property
    def mark(self) -> Symbol:
        return Symbol(self.name, known=True)

    @property
    def expected(self) -> Symbol:
        """E[f]."""
        return Symbol(f"E[{self.name}]", known=True)

    @property
    def first(self) -> Symbol:
        return Symbol(f"r{self.name[1:]}", known=True)

    @property
    def second(self) -> Symbol:
        return Symbol(f"s{self.name[1:]}", known=True)
