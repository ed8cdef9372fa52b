"""A model's derivation: updates in the order of the schedule, choices, objective.

For `--vmp` of x[n] ~ gaussian(mu, 1/tau), mu ~ gaussian(0, 10), tau ~ gamma(1, 1):

    blocks    (tau, mu), each a `Block` with its parts' expectations
    updates   Update(block 0, rho = 1), Update(block 1, rho = 1)
    objective E[L] + Σ_b entropy of block b: `expected_joint`, and the blocks

An update sets the natural parameters of the block's family to `Part.expected`, part by
part.  A point is set to the mode of ⟨c, T⟩ (`PointUpdate`), c being `Part.expected` of a
block whose family is a carrier: its support is the point's domain, its base measure is 1.
"""

from __future__ import annotations

from dataclasses import dataclass

from blrgen.algebra.indexed import ZERO, Expression, Index
from blrgen.expect.blocks.values import Block, Factor, Remainder, Statistic
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

    `scaled`: sums over the outermost observed axis count N/M times (a minibatch).
    """

    block: Block
    rate: str = ""
    scaled: str = ""  # the axis of the minibatch
    local: bool = False  # to its fixed point within one step


@dataclass(frozen=True)
class PointUpdate:
    """argmax of E[L] over points: closed equations in order, or Newton on `remainder`.

    `mode`: "linear" (Gaussian statistics: a linear system), "ratio" (−c1/c2), "simplex"
    (c/Σc), "scaled-inverse" (−c1 inv(c2)), "newton".
    """

    block: Block
    mode: str
    equations: tuple[Equation, ...] = ()
    remainder: tuple[Remainder, ...] = ()


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
    expected_joint: Expression = ZERO
    edges: tuple[Edge, ...] = ()
    choices: tuple[Choice, ...] = ()
    lines: tuple[Line, ...] = ()

    @property
    def schedule(self) -> tuple[str, ...]:
        return tuple(u.block.name for u in self.updates)
