"""What a log joint is, and what dividing it by a block's statistics gives.

The log joint is a sum of factors, one a statement (`Factor`).  A block of nodes θ with
statistics T_j has the full conditional exp(Σ_j ⟨c_j, T_j(θ)⟩ + log h(θ) + rest): c_j are
coefficients (`Part.coefficient`, in the other nodes), rest is what is no statistic of the
family (`Remainder`).  For x[n] ~ gaussian(mu, 1/tau), mu ~ gaussian(m0, v0) the block mu has

    Part(T = mu,    coefficient = v0^-1 m0 + Σ_n tau x[n],  expected = v0^-1 m0 + Σ_n E[tau] x[n])
    Part(T = mu^2,  coefficient = -½ v0^-1 - ½ #N tau,      expected = -½ v0^-1 - ½ #N E[tau])

`expected` is the same under the other blocks' q: it holds symbols whose names are those of
`Statistic`s (`Symbol.name == Statistic.name`), known data, constants and points.
"""

from __future__ import annotations

from dataclasses import dataclass

from blrgen.algebra.indexed import ONE, ZERO, Expression, Index, Symbol
from blrgen.read.model.values import NOWHERE, Place


@dataclass(frozen=True)
class Factor:
    """log p of one statement, summed over its plates; also what its pieces are.

    `total` is the whole, Σ over plates of ⟨η, T⟩ − A + log h.  `base` is log h of the node's
    own family under the same sums: what a full conditional of that node leaves out.
    """

    node: str
    total: Expression
    base: Expression = ZERO
    place: Place = NOWHERE


@dataclass(frozen=True)
class Given:
    """A label that a block is conditional on: its symbol at places, the last its value's letter."""

    symbol: Symbol
    places: tuple[Index, ...]


@dataclass(frozen=True)
class Statistic:
    """E[T(θ)] of a block: a symbol of expressions, and the T that it stands for.

    `value` is T in the block's variables, with the letters `places` free; the symbol's
    places are these, in this order.  `positions`: which natural parameters of the family it
    goes with, one, or two for a pair T_a(element) T_b(other element).  `shifts` says for a
    pair how far the second element is from the first, per plate letter of the node: a number,
    or None where all pairs are meant (the second element then has its own letter in `places`).
    """

    name: str
    nodes: tuple[str, ...]
    places: tuple[Index, ...]
    value: Expression
    positions: tuple[int, ...]
    symbol: Symbol
    shifts: tuple[tuple[str, int | None], ...] = ()
    given: tuple[Given, ...] = ()  # E[T | labels]: their letters stand behind the element's


@dataclass(frozen=True)
class Part:
    """One statistic of a block, its coefficient, and the coefficient's expectation."""

    statistic: Statistic
    coefficient: Expression
    expected: Expression = ZERO


@dataclass(frozen=True)
class Remainder:
    """What a factor has of a block beside its statistics: why that edge is not conjugate."""

    value: Expression
    child: str  # the node whose statement it comes from
    place: Place = NOWHERE


@dataclass(frozen=True)
class Block:
    """A block of nodes and its full conditional, divided and multiplied back.

    `kind` says what joins its elements: "element" (nothing: each has its own family member),
    "dense" or "banded" (a Gaussian over all elements along an axis), "labels" (a chain of
    one-hot elements); `axis` is that axis, `lag` the longest shift.  `letters` are the plates
    of the nodes.  `base` is log h, which the family adds.  `proved`: multiplying back gave
    the log joint's part, as an identity.
    """

    nodes: tuple[str, ...]
    family: str
    letters: tuple[str, ...]
    parts: tuple[Part, ...]
    base: Expression = ZERO
    remainder: tuple[Remainder, ...] = ()
    kind: str = "element"
    axis: str = ""
    lag: int = 0
    proved: bool = False
    # labels: there is a member of the family for each of their values (a letter behind the
    # element's in every statistic), and it counts with their probability (`measure`)
    given: tuple[Given, ...] = ()
    measure: Expression = ONE  # how many identical elements one stands for; divided out of parts

    @property
    def name(self) -> str:
        return ",".join(self.nodes)

    @property
    def several(self) -> bool:
        """Whether an element stands for several: its measure is not 1 wherever it exists."""
        if len(self.measure.terms) != 1:
            return True
        ((term, c),) = self.measure.terms
        there = all(x.symbol is not None and x.symbol.binary for x, _ in term.factors)
        return c != 1 or bool(term.bound) or not there

    @property
    def conjugate(self) -> bool:
        """Whether the full conditional is in the family."""
        return not self.remainder
