"""A model that has been read: frozen values, every name resolved, every shape known.

A model is a directed graph of nodes over plates.  For every statement of a node,
log p(x | parents) = ⟨η(arguments), T(x)⟩ − A(η) + log h(x) with η, A, T, h of its family.
Expressions are small trees of their own: no SymPy, equal by structure, with the place in
the text and the shape of the value.  Example, a mixture of two lines:

    plate n in N
    plate k in K
    const alpha in (0, oo)^K
    pi     ~ dirichlet(alpha)
    mu[k]  ~ gaussian(0, 100)
    z[n]   ~ categorical(pi)
    x[n]   ~ gaussian(mu[z[n]], 1)   observed

    model.plates      Plate("n", Size("N")), Plate("k", Size("K"))
    model.constants   Const("alpha", domain interval (0, oo) of shape (K,))
    model.nodes       Node(("pi",), "latent"), Node(("mu",), "latent", letters ("k",)),
                      Node(("z",), "latent", ("n",)), Node(("x",), "observed", ("n",))
    the last one's    Statement((Letter("n"),), Draw("gaussian", (
    statement           Argument("m", Ref("mu", (Label(Ref("z", (Letter("n"),))),))),
                        Argument("v", Number(1)))))

Whole-number indices count from 1.  A shape is a tuple of sizes: () a number, (K,) a vector,
(d, d) a matrix.  `mu[:]` has the size of that plate as its axis.  An axis is its size:
a plate over K and a vector in R^K have the same.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeAlias

from blrgen.core import Family


@dataclass(frozen=True, order=True)
class Place:
    """Where in the text: line and column, both from 1; (0, 0) is nowhere."""

    line: int = 0
    column: int = 0


NOWHERE = Place()


@dataclass(frozen=True)
class Size:
    """name + number: N, K - 1, 3 (no name); `per` is the outer letter of a ragged one, W[d]."""

    name: str = ""
    number: int = 0
    per: str = ""

    def __str__(self) -> str:
        own = f"{self.name}[{self.per}]" if self.per else self.name
        if not own:
            return str(self.number)
        return f"{own} {'+-'[self.number < 0]} {abs(self.number)}" if self.number else own


Shape: TypeAlias = tuple[Size, ...]


@dataclass(frozen=True)
class Letter:
    """A plate's letter, moved: t - 1 is Letter("t", -1)."""

    name: str
    shift: int = 0
    place: Place = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class Literal:
    """A whole number, from 1."""

    value: int
    place: Place = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class Label:
    """The value of a labels constant, or of a categorical or bernoulli node.

    `binary`: the label is a bernoulli, its values 0 and 1 mean the elements 1 and 2.
    """

    ref: Ref
    binary: bool = False
    place: Place = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class All:
    """`:`, every element along the axis, in order."""

    place: Place = field(default=NOWHERE, compare=False, repr=False)


Index: TypeAlias = Letter | Literal | Label | All


@dataclass(frozen=True)
class Number:
    """An exact number; 0.1 is 1/10."""

    value: Fraction
    shape: Shape = ()
    place: Place = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class SizeOf:
    """A size used as a number: the K of ones(K)/K."""

    size: Size
    shape: Shape = ()
    place: Place = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class Ref:
    """A constant or a node: its plates' indices in order, then those of components, if any."""

    name: str
    indices: tuple[Index, ...] = ()
    shape: Shape = ()
    place: Place = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class Sum:
    """Terms added; a number beside a vector is added to every component."""

    terms: tuple[Expr, ...]
    shape: Shape = ()
    place: Place = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class Product:
    """Factors multiplied component by component; numbers scale what stands beside them."""

    factors: tuple[Expr, ...]
    shape: Shape = ()
    place: Place = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class MatrixProduct:
    """Matrix times vector or matrix times matrix, Σ_j left[i,j] right[j,…]."""

    left: Expr
    right: Expr
    shape: Shape = ()
    place: Place = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class Power:
    """base**exponent, component by component; a quotient is a product with exponent -1."""

    base: Expr
    exponent: Expr
    shape: Shape = ()
    place: Place = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class Negation:
    """-arg."""

    arg: Expr
    shape: Shape = ()
    place: Place = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class Call:
    """A function of the family language, or zeros, ones, eye (of SizeOf), diag, sum."""

    function: str
    args: tuple[Expr, ...]
    shape: Shape = ()
    place: Place = field(default=NOWHERE, compare=False, repr=False)


Expr: TypeAlias = Number | SizeOf | Ref | Sum | Product | MatrixProduct | Power | Negation | Call


@dataclass(frozen=True)
class Plate:
    """`plate i in L[d] times c[d,i]`: letter i, a ragged size, the plates around it, counts.

    `outer` holds the letters that must stand before this one: those of a ragged size.
    """

    letter: str
    size: Size
    outer: tuple[str, ...] = ()
    times: Expr | None = None
    place: Place = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class Domain:
    """Where a value lives: kind, shape, and ends where it is an interval.

    kind: "interval" (each component; R^d and R^(p,q) are intervals without ends), "simplex",
    "sphere", "one-hot", "counts" (whole numbers from 0 that sum to `upper`), "finite" (one of
    `points`), "spd", "labels" (whole numbers below `labels`).  None as an end is infinity.
    `closed`: a simplex whose components may be 0.
    """

    kind: str
    shape: Shape = ()
    lower: Expr | None = None
    upper: Expr | None = None
    lower_open: bool = True
    upper_open: bool = True
    whole: bool = False
    points: tuple[Fraction, ...] = ()
    labels: Size | None = None
    closed: bool = False
    text: str = ""


@dataclass(frozen=True)
class Const:
    """Known: given by the caller unless there is a default."""

    name: str
    letters: tuple[str, ...]
    domain: Domain
    default: Expr | None = None
    place: Place = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class Argument:
    """One parameter of a family and its value; role: "working", "natural" or "fixed"."""

    name: str
    value: Expr
    role: str = "working"
    place: Place = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class Draw:
    """A distribution: a family, all its parameters, and what its own sizes are here.

    The arguments are all working or all natural ones, in the order of the file, and all the
    fixed ones behind them.  sizes: ("K", Size("K")) where the family calls it K.
    """

    family: str
    arguments: tuple[Argument, ...]
    sizes: tuple[tuple[str, Size], ...] = ()
    place: Place = field(default=NOWHERE, compare=False, repr=False)

    def __getitem__(self, name: str) -> Expr:
        for argument in self.arguments:
            if argument.name == name:
                return argument.value
        raise KeyError(name)


@dataclass(frozen=True)
class Point:
    """point(c): all mass at c."""

    value: Expr
    place: Place = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class Choose:
    """choose(z[n], D1, …, DK): the distribution that the label says (bernoulli: D1 at 0)."""

    label: Label
    branches: tuple[Draw | Point, ...]
    place: Place = field(default=NOWHERE, compare=False, repr=False)


Distribution: TypeAlias = Draw | Choose


@dataclass(frozen=True)
class Statement:
    """One line that says how a node is made, for some of its elements.

    `indices` are letters and at most one literal.  With a letter on the axis where others of
    this node's statements have literals, the statement holds from index `first` on, without
    `without`: x[1] ~ …, x[2] ~ …, x[t] ~ …x[t-2]… gives the last one first = 3.
    """

    indices: tuple[Letter | Literal, ...]
    made: Distribution | Expr  # an expression where the node is deterministic
    first: int = 1
    without: tuple[int, ...] = ()
    place: Place = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class Chain:
    """A node along a plate on which it refers to earlier elements of itself, lags ≥ 1."""

    letter: str
    axis: int  # the position of the letter among the node's letters
    lags: tuple[int, ...]
    starts: int  # how many literal statements stand before the one with the letter


@dataclass(frozen=True)
class Node:
    """A variable, or several of one density; `name` is theirs joined by commas.

    kind: "latent" | "observed" | "param" | "deterministic".  A param has no statements, one
    of the others at least one.  `domains` are where the variables live, one each.
    """

    names: tuple[str, ...]
    kind: str
    letters: tuple[str, ...] = ()
    domains: tuple[Domain, ...] = ()
    statements: tuple[Statement, ...] = ()
    missing: bool = False  # observed or missing
    chain: Chain | None = None
    place: Place = field(default=NOWHERE, compare=False, repr=False)

    @property
    def name(self) -> str:
        return ",".join(self.names)

    @property
    def shapes(self) -> tuple[Shape, ...]:
        """The shape of an element's value, one a variable."""
        return tuple(d.shape for d in self.domains)

    @property
    def draws(self) -> tuple[Draw, ...]:
        """All distributions of families that make this node, those of `choose` included."""
        return tuple(d for s in self.statements for d in draws(s.made))


@dataclass(frozen=True)
class Model:
    """All of a model: declarations in the order of the text.

    `sizes`: the names of all sizes, in the order in which the text first has them.
    `families`: the families by the name that the model gives them.
    """

    name: str
    plates: tuple[Plate, ...]
    sizes: tuple[str, ...]
    constants: tuple[Const, ...]
    nodes: tuple[Node, ...]
    families: tuple[tuple[str, Family], ...]
    path: str = ""

    def plate(self, letter: str) -> Plate:
        """The plate of a letter."""
        return next(p for p in self.plates if p.letter == letter)

    def family(self, name: str) -> Family:
        """The family that the model calls so."""
        return next(f for n, f in self.families if n == name)

    def node(self, variable: str) -> Node:
        """The node that a variable belongs to (or the node of that name)."""
        return next(n for n in self.nodes if variable in (*n.names, n.name))

    def constant(self, name: str) -> Const:
        """The constant of a name."""
        return next(c for c in self.constants if c.name == name)


def draws(made: Distribution | Expr | Point) -> tuple[Draw, ...]:
    """The families' distributions in what makes a node."""
    if isinstance(made, Draw):
        return (made,)
    if isinstance(made, Choose):
        return tuple(b for b in made.branches if isinstance(b, Draw))
    return ()
