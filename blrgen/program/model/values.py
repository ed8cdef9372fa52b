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

from blrgen.core import Family
from blrgen.program.axes.nodes import Program, Size
from blrgen.program.model.near import Moving, Units
from blrgen.read.model.values import Expr

REAL, POSITIVE = "R", "(0, oo)"
LEVEL = "[-oo, oo)"  # a logarithm of what may be 0
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
class Tie:
    """Two parts of a stack that a coefficient joins: entries `lag` apart along the chain.

    Of an axis of the first and one of the second, the latter is `shift` behind the former.
    """

    first: int
    second: int
    lag: int
    axes: tuple[tuple[int, int, int], ...] = ()


@dataclass(frozen=True)
class Stack:
    """Arrays laid end to end along one axis, `name`, and `lags` neighbours of a chain in a piece.

    Its constant arrays say where entries stand; the constructor makes them from sizes alone.
    """

    name: str
    parts: tuple[tuple[Size, ...], ...]
    ties: tuple[Tie, ...]
    along: Size = ""  # the chain's axis, where pieces are cut from it
    lags: int = 1

    @property
    def pieces(self) -> str:
        """The axis of pieces."""
        return f"{self.name}_pieces"

    @property
    def when(self) -> str:
        """Which element a place of a piece belongs to."""
        return f"{self.name}_when"

    @property
    def there(self) -> str:
        """1 where that element is before the end of the chain."""
        return f"{self.name}_there"

    @property
    def piece(self) -> str:
        """Which piece an element is in."""
        return f"{self.name}_piece"

    def near(self, lag: int) -> str:
        """1 where the element `lag` before is in the same piece."""
        return f"{self.name}_near{lag}"

    def owner(self, k: int) -> str:
        """1 at the places of part k."""
        return f"{self.name}_is{k}"

    def own(self, k: int, axis: int) -> str:
        """The index on an axis of part k that a place is of."""
        return f"{self.name}_of{k}_{axis}"

    def place(self, k: int, back: int = 0) -> str:
        """The place of an entry of part k, of the element `back` before."""
        return f"{self.name}_at{k}_{back}"

    def tie(self, tie: Tie, across: bool = False) -> str:
        """1 at pairs of places that are tied, of one piece or of it and the one before."""
        return f"{self.name}_tie{self.ties.index(tie)}{'_back' if across else ''}"

    @property
    def arrays(self) -> tuple[Array, ...]:
        """All of them."""
        out: list[Array] = []
        steps: tuple[Size, ...] = (self.along,) if self.along else ()
        for k, part in enumerate(self.parts):
            out.append(Array(self.owner(k), (self.name,)))
            out += [Array(self.own(k, p), (self.name,), "labels", x) for p, x in enumerate(part)]
            out += [Array(self.place(k, back), (*steps, *(part or (1,))), "labels", self.name)
                    for back in range(self.lags + 1 if steps else 1)]  # fmt: skip
        pair = (self.name, self.name)
        out += [Array(self.tie(x), pair) for x in self.ties]
        out += [Array(self.tie(x, True), pair) for x in self.ties if x.lag]
        if self.along:
            out += [
                Array(self.when, (self.pieces, self.name), "labels", self.along),
                Array(self.there, (self.pieces, self.name)),
                Array(self.piece, (self.along,), "labels", self.pieces),
                *(Array(self.near(x), (self.along,)) for x in range(1, self.lags + 1)),
            ]
        return tuple(out)


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
class Chained:
    """A chain whose q is in the state, by natural parameters.

    A start says its marginals, node by node (`variables`), which are taken as independent:
    `method` makes the natural parameters of these.
    """

    variables: tuple[Variable, ...]
    arrays: tuple[Array, ...]
    method: Method


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
class Chain:
    """What is known of a chain: an array whose axis along it is behind `outer` others.

    Rows of different lengths lie flat; where they begin is said by `pointers`.  `moving`: the
    transitions of a path change along the chain.
    """

    node: str
    method: Method
    outer: int = 0
    pointers: str = ""
    moving: bool = False


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
    clouds: tuple[tuple[str, ...], ...] = ()  # elements, axis, points, weights, wider


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
class Draw:
    """How a node is drawn: from which law, with which parameters.

    `law` is one of LAWS; `parameters` are (parameter of the family, out of the method or, where
    there is none, of `posterior`).  `normals` is an array of standard normals that the method
    takes: its outs are then the values themselves.  `counts` is an array of how many equal
    elements one stands for: drawn are their shares.
    """

    node: str
    law: str
    parts: tuple[Part, ...]  # the variables, with the arrays that hold their values
    parameters: tuple[tuple[str, str], ...] = ()
    family: Family | None = None
    method: Method | None = None
    normals: Array | None = None
    counts: str = ""
    pointers: str = ""  # of rows of different lengths


LAWS = ("family", "labels", "path", "states")


@dataclass(frozen=True)
class Predicted:
    """log p of new rows where nodes have values: it is averaged over draws of their q.

    `drawn` are (node, its variables with the arrays that the method reads).
    """

    method: Method
    drawn: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]


@dataclass(frozen=True)
class Filter:
    """One element of a chain at a time: what a step takes, and its programs.

    Each hands out log p of the element given those before, and the next state.  `firsts` are
    those of the first elements, which have statements of their own; the first reads no state.
    """

    arriving: tuple[Argument, ...]  # with an axis of one place along the chain
    places: tuple[int, ...]  # which axis that is
    firsts: tuple[Method, ...]
    later: Method
    state: tuple[Array, ...]
    posteriors: tuple[Posterior, ...] = ()


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
    pairs: tuple[Chain, ...] = ()
    paths: tuple[Chain, ...] = ()  # outs: start, transition, and evidence of labels
    predictive: Method | None = None
    notes: tuple[Note, ...] = ()
    averaged: tuple[Array, ...] = ()  # of the state: sums that are averaged over steps
    guarded: bool = False  # the sweep reads ρ, which is halved where a step is no good
    rates: tuple[tuple[str, float], ...] = ()  # what ρ of a step is made from, with defaults
    nodes: NodeArrays | None = None
    settle: Method | None = None  # these sums over all rows, at the start
    draws: tuple[Draw, ...] = ()  # of a step that draws, in order
    moving: tuple[Moving, ...] = ()
    units: tuple[Units, ...] = ()  # of a first state that is drawn
    samples: tuple[Draw, ...] = ()  # from q of nodes
    predicted: Predicted | None = None
    stacks: tuple[Stack, ...] = ()  # where numbers that are laid end to end stand
    filter: Filter | None = None
    chained: tuple[Chained, ...] = ()

    @property
    def state(self) -> tuple[Array, ...]:
        """The arrays that a step reads and writes."""
        if self.filter is not None:
            return self.filter.state
        chains = (x for c in self.chained for x in c.arrays)
        return (*(p.array for v in self.variables for p in v.parts), *chains, *self.averaged)

    @property
    def said(self) -> tuple[Variable, ...]:
        """The nodes that a start may say."""
        return (*self.variables, *(v for c in self.chained for v in c.variables))

    @property
    def methods(self) -> Iterator[Method]:
        """All programs, each once, in the order in which a file has them."""
        found = [self.sweep, self.bound, self.sums, self.settle]
        found += self.filter.firsts if self.filter is not None else ()
        found += [self.start.method] if self.start is not None else []
        found += [p.method for p in self.posteriors]
        found += [x.method for x in (*self.pairs, *self.paths)]
        found += [x.method for x in self.chained]
        found.append(self.predicted.method if self.predicted is not None else None)
        found += [self.predictive, *(x.method for x in (*self.draws, *self.samples))]
        return iter(dict.fromkeys(m for m in found if m is not None))
