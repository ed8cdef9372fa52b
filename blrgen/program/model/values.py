"""An algorithm for a model: its data, its state, and a program over axes for each method.

The state is what one step reads and writes: the parameters of q of every block but the first of
the schedule, and the points.  One step is one program, in which the blocks follow each other:

    given      data, constants, state
    objective  the bound, maximised over the first block, at this state
    outs       objective, then the next state in the order of `state`

So the objective before a step is free in its pass, and the state is written by nobody: a step
that is not finite is not taken.  An example, a mixture on the line by EM, has the state mu[K],
tau[K], pi[K], and the responsibilities r[n,k] are only inside of the program.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from blrgen.program.axes.nodes import Program, Size
from blrgen.read.model.values import Expr

REAL, POSITIVE = "R", "(0, oo)"
SIMPLEX, DEFINITE = "simplex", "SPD"


@dataclass(frozen=True)
class Array:
    """An array of numbers: its axes in order, and where an element may be.

    `domain` is an interval like "(0, oo)", "simplex" (along the last axis), "SPD" (the last two)
    or "labels" (whole numbers from 0 to before the size `labels`).  A ragged axis is flat.
    """

    name: str
    sizes: tuple[Size, ...] = ()
    domain: str = REAL
    labels: Size = ""
    flat: tuple[Size, ...] = ()  # axes in memory, where some are ragged

    @property
    def axes(self) -> tuple[Size, ...]:
        """The axes of the array as the caller gives it."""
        return self.flat or self.sizes


@dataclass(frozen=True)
class Argument:
    """What the constructor takes: data, a constant with its default if any, a hyperparameter.

    An array with `seen` may have NaN: an element any of whose numbers is NaN (over the last
    `value_axes` axes) is 0 in the program and its entry of the array `seen` 0 instead of 1.
    """

    array: Array
    called: str = ""  # as the caller knows it, where the program has another name
    role: str = "data"  # data, constant, rate
    default: float | Expr | None = None  # a number, or what is made of sizes and constants
    seen: str = ""
    value_axes: int = 0
    meaning: str = ""


@dataclass(frozen=True)
class Lengths:
    """A ragged size: how long each row is, given under the name of the size.

    The program reads `pointers` (places at which rows begin), of one more than there are rows.
    """

    name: str
    outer: Size
    pointers: str


@dataclass(frozen=True)
class Part:
    """One array of the state, and the parameter of the family that it is, or none of a point."""

    array: Array
    parameter: str = ""


@dataclass(frozen=True)
class Variable:
    """A node of which a posterior is known: a family's parameters, or a point."""

    name: str
    family: str  # "" of a point
    parts: tuple[Part, ...]

    @property
    def is_point(self) -> bool:
        return not self.family


@dataclass(frozen=True)
class Method:
    """A program, what it means, and the arrays that it takes beside those of the class."""

    name: str
    program: Program
    meaning: str
    takes: tuple[Argument, ...] = ()


@dataclass(frozen=True)
class Posterior:
    """The parameters of q of a node: out by out of a method, or parts of the state."""

    node: str
    family: str
    parameters: tuple[tuple[str, str], ...]  # (parameter, out of the method or part of the state)
    method: Method | None = None


@dataclass(frozen=True)
class Note:
    """What a step may have to say: where an out of it is true, in which node, in words."""

    kind: str
    node: str
    text: str
    flags: str


@dataclass(frozen=True)
class NodeArrays:
    """A rule's points, weights and weights by turns ±, and the out that says how far off it is."""

    axis: str
    arrays: tuple[str, ...]
    error: str


@dataclass(frozen=True)
class Start:
    """A first state from labels: the step's program with what labels mean given.

    `rows` are the data that labels are found in by k-means++, each with its plate's axis first;
    without rows the labels are drawn.  `given` is the array of labels, one-hot, with axes
    (rows, labels).
    """

    method: Method
    given: Array
    rows: tuple[str, ...]


@dataclass(frozen=True)
class ModelProgram:
    """All that an emitted class is made from.

    `sweep` is one step.  With `rows` it is one over a minibatch, whose objective is not known:
    `bound` is then the objective over all rows.  `sums` are computed once in the constructor.
    """

    name: str
    algorithm: str
    title: str
    equations: tuple[tuple[str, tuple[str, ...]], ...]  # headed groups of lines, as derived
    arguments: tuple[Argument, ...]
    sizes: tuple[str, ...]  # that no array shows which the caller must give, in order
    variables: tuple[Variable, ...]  # with a state
    sweep: Method
    posteriors: tuple[Posterior, ...]
    optional: tuple[str, ...] = ()  # of these sizes those that an array with a default may show
    lengths: tuple[Lengths, ...] = ()
    sums: Method | None = None
    bound: Method | None = None
    batch: Size = ""  # the axis of which `step(rows)` takes rows
    start: Start | None = None
    pairs: tuple[tuple[str, Method], ...] = ()
    paths: tuple[tuple[str, Method], ...] = ()  # outs: start, transition, and evidence of labels
    predictive: Method | None = None
    notes: tuple[Note, ...] = ()
    averaged: tuple[Array, ...] = ()  # of the state: sums that are averaged over steps
    guarded: bool = False  # the sweep reads ρ, which is halved where a step is no good
    rates: tuple[tuple[str, float], ...] = ()  # what ρ of a step is made from, with defaults
    nodes: NodeArrays | None = None
    settle: Method | None = None  # these sums over all rows, at the start

    @property
    def state(self) -> tuple[Array, ...]:
        """The arrays that a step reads and writes."""
        return (*(p.array for v in self.variables for p in v.parts), *self.averaged)

    @property
    def methods(self) -> Iterator[Method]:
        """All programs, each once, in the order in which a file has them."""
        found = [self.sweep, self.bound, self.sums, self.settle]
        found += [self.start.method] if self.start is not None else []
        found += [p.method for p in self.posteriors]
        found += [m for _, m in (*self.pairs, *self.paths)]
        found.append(self.predictive)
        return iter(dict.fromkeys(m for m in found if m is not None))
