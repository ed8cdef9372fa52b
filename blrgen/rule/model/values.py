"""A model's derivation: updates in the order of the schedule, choices, objective.

For `--vmp` of x[n] ~ gaussian(mu, 1/tau), mu ~ gaussian(0, 10), tau ~ gamma(1, 1):

    blocks    (tau, mu), each a `Block` with its parts' expectations
    updates   Update(block 0, rho = 1), Update(block 1, rho = 1)
    objective E[L] + Σ_b entropy of block b: `expected_joint`, and the blocks

An update sets the natural parameters of the block's family to `Part.expected`, part by
part.  Points are set to the argmax of E[L] (`PointUpdate`), in the order of the list.
"""

from __future__ import annotations

from dataclasses import dataclass

from blrgen.algebra.indexed import ZERO, Expression, Index
from blrgen.expect.blocks.values import Block, Factor, Statistic
from blrgen.expect.sites.values import Site
from blrgen.read.model.values import Model


@dataclass(frozen=True)
class Choice:
    """A named approximation that an algorithm makes: why, under which condition, from where."""

    name: str  # "rho = 1", "delta"
    nodes: tuple[str, ...]
    reason: str
    condition: str
    source: str


@dataclass(frozen=True)
class Equation:
    """target[places] = value, in the order of execution; names are as in expressions."""

    target: str
    places: tuple[Index, ...]
    value: Expression


@dataclass(frozen=True)
class Update:
    """One visit of a block: λ ← (1 − ρ)λ + ρ Part.expected; `rate` is the name of ρ, "" for 1.

    `scaled`: sums over the outermost observed axis count N/M times (a minibatch).  `drawn`:
    the block has values instead of a q, and `Part.expected` are the coefficients at those of
    the others.
    """

    block: Block
    rate: str = ""
    scaled: str = ""  # the axis of the minibatch
    local: bool = False  # to its fixed point within one step
    drawn: bool = False  # from its full conditional


@dataclass(frozen=True)
class Unknown:
    """A point in a system of equations, with the letters of all its places."""

    name: str
    places: tuple[Index, ...]


@dataclass(frozen=True)
class LinearSystem:
    """Σ_h Σ_columns matrix[g][h] x_h = right[g], one system for each place of `shared`.

    `matrix[g][h]` is open in the places of unknown g, and in those of unknown h with a prime,
    but for the letters in `shared`: the system does not couple these.  It is symmetric unless
    a factor has been cancelled.
    """

    unknowns: tuple[Unknown, ...]
    shared: tuple[Index, ...]
    right: tuple[Expression, ...]
    matrix: tuple[tuple[Expression, ...], ...]


@dataclass(frozen=True)
class Stationary:
    """Equations without a closed solution: slope = 0, with its derivative by the unknowns.

    `slope[g]` is open in the places of unknown g; `bend[g][h]` also in those of h, primed,
    but for the letters in `shared`, which the equations do not couple.  `level` is what E[L] has
    of the unknowns, with points that follow from them put in.
    """

    unknowns: tuple[Unknown, ...]
    shared: tuple[Index, ...]
    slope: tuple[Expression, ...]
    bend: tuple[tuple[Expression, ...], ...]
    level: Expression


@dataclass(frozen=True)
class PointUpdate:
    """argmax of E[L] over some points, all others at their new values where they came before.

    `mode`: "closed" (`equations`), "linear" (`system`), "newton" (`stationary`).
    """

    names: tuple[str, ...]
    mode: str
    equations: tuple[Equation, ...] = ()
    system: LinearSystem | None = None
    stationary: Stationary | None = None
    because: str = ""


@dataclass(frozen=True)
class Edge:
    """From a parent to a child: conjugate, or the term that breaks it."""

    parent: str
    child: str
    conjugate: bool
    term: str = ""


@dataclass(frozen=True)
class Line:
    """One line of the derivation."""

    id: str
    title: str
    equation: str
    because: str
    approximation: str = ""


@dataclass(frozen=True)
class Arrival:
    """What an element brings: coefficients of T `lag` elements before, and all else.

    `place` is the element's number where it has statements of its own, 0 of all later ones.
    `proved`: multiplied back it is the log joint of the element's statements.
    """

    place: int
    parts: tuple[tuple[Statistic, int, Expression], ...]
    rest: Expression
    proved: bool


@dataclass(frozen=True)
class ModelDerivation:
    """All of a model's algorithm; what `derive` prints and emission lowers.

    `updates` are in the order of the schedule.  `statistics` are all E[T] that occur in
    expressions.  `expected_joint` is E[L], constants included; the objective is that plus the
    entropies of the blocks of latents.
    """

    model: Model
    algorithm: str
    factors: tuple[Factor, ...]
    updates: tuple[Update, ...]
    points: tuple[PointUpdate, ...]
    statistics: tuple[Statistic, ...]
    batch: str = ""  # the axis of which a step sees some places; sums over it count N/M times
    # evaluated before the points, at their old values; with a rate they are what is averaged:
    # sum ← (1 − ρ) sum + ρ (N/M) Σ over the step's rows
    sums: tuple[Equation, ...] = ()
    rate: str = ""  # rho_t where sums are averaged over steps, "" where they are not
    inner: int | None = None  # the most rounds over local blocks in a step
    expected_joint: Expression = ZERO
    expected_factors: tuple[Expression, ...] = ()  # of each factor: they add up to it
    sites: tuple[Site, ...] = ()  # what is no statistic of its blocks
    tangents: tuple[tuple[str, tuple[Factor, ...]], ...] = ()  # by block: what it is divided from
    edges: tuple[Edge, ...] = ()
    choices: tuple[Choice, ...] = ()
    lines: tuple[Line, ...] = ()
    along: str = ""  # the letter of the chain whose elements come one at a time
    arrivals: tuple[Arrival, ...] = ()  # what each of the first ones brings, and any later one

    @property
    def stepped(self) -> frozenset[str]:
        """The variables that stand in sites: their blocks go step by step."""
        return frozenset(x for s in self.sites for x in s.nodes)

    @property
    def schedule(self) -> tuple[str, ...]:
        return tuple(u.block.name for u in self.updates)
