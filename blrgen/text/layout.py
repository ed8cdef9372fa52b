"""The order and shape in which a person writes an expression, before any notation is chosen.

SymPy forgets the order in which a sum was written and spells division and roots
as powers.  `arrange` chooses an order that reads well and is the same on every
run: in a sum the old state comes before new information, an undecorated term
before a weighted one, constants last, and the first term is positive where there
is one; in a product numbers, hyperparameters and their combinations come first.
The value is never changed: nothing is expanded, cancelled or simplified.  Square
roots are written under one sign only where that holds for real numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from blrgen.errors import InternalError

Expr = Any


class Node:
    """A piece of a written expression."""


@dataclass(frozen=True)
class Number(Node):
    """The rational p/q, not negative."""

    p: int
    q: int = 1

    @property
    def decimal(self) -> str:
        """1.000001 for 1000001/1000000: a long quotient that is a short decimal; else nothing."""
        if max(self.p, self.q) < 1000 or self.q == 1 or 10**9 % self.q:
            return ""
        whole, rest = divmod(self.p * (10**9 // self.q), 10**9)
        text = f"{whole}.{rest:09d}".rstrip("0")
        return text if len(text) <= 10 else ""


@dataclass(frozen=True)
class Real(Node):
    """A floating-point number, as its decimal digits."""

    text: str


@dataclass(frozen=True)
class Name(Node):
    """A symbol."""

    name: str


@dataclass(frozen=True)
class Indexed(Name):
    """A component of a vector; `head` when the vector has lost its last one."""

    index: str = "k"
    head: bool = False

    @property
    def spelled(self) -> str:
        """The name with its index, in the shared naming: eta_k_next."""
        first, *rest = self.name.split("_")
        return "_".join((first, self.index, *rest))


@dataclass(frozen=True)
class Total(Node):
    """A sum over components, of what is written with the index."""

    of: Node
    index: str
    upto: Node


@dataclass(frozen=True)
class Constant(Node):
    """pi, E, oo, I, nan, True, False."""

    name: str


@dataclass(frozen=True)
class Unit(Node):
    """The identity matrix."""


@dataclass(frozen=True)
class Call(Node):
    """A function of its arguments."""

    name: str
    args: tuple[Node, ...]


@dataclass(frozen=True)
class Sum(Node):
    """Signed terms in reading order; one term with sign −1 is a negation."""

    terms: tuple[tuple[int, Node], ...]


@dataclass(frozen=True)
class Product(Node):
    """(top / bottom) · word: commuting factors as a fraction, then the ordered matrix product."""

    top: tuple[Node, ...]
    bottom: tuple[Node, ...] = ()
    word: tuple[Node, ...] = ()


@dataclass(frozen=True)
class Power(Node):
    """base to the exponent; a negative exponent only where the base is a matrix."""

    base: Node
    exponent: Node


@dataclass(frozen=True)
class Root(Node):
    """The square root."""

    of: Node


@dataclass(frozen=True)
class Transpose(Node):
    """The transpose."""

    of: Node


@dataclass(frozen=True)
class Inner(Node):
    """trace(aᵀ … b), which is the number aᵀ … b."""

    word: tuple[Node, ...]


@dataclass(frozen=True)
class Compare(Node):
    """left relation right."""

    relation: str
    left: Node
    right: Node


@dataclass(frozen=True)
class Group(Node):
    """Several expressions in brackets: a point, a list of statistics."""

    items: tuple[Node, ...]


@dataclass(frozen=True)
class Cases(Node):
    """Values with their conditions; None is otherwise."""

    arms: tuple[tuple[Node, Node | None], ...]


@dataclass(frozen=True)
class Words(Node):
    """Text that is not an expression."""

    text: str


_HYPER = frozenset(  # what the shared naming calls hyperparameters, and the step counter
    ("alpha", "beta", "gamma", "delta", "rho", "tau", "kappa", "nu", "N", "M", "K", "c", "t")
)
_FIRST = ("s", "S", "v", "V", "h", "H", "lam", "m")  # states, in the order they are read
_LAST = ("u", "eps", "g", "G")  # momentum, draws, gradients
_KIND = {"state": 8, "data": 11, "intermediate": 12, "draw": 21, "input": 22}
_OTHER = 10


def _stem(name: str) -> str:
    return name.split("_")[0].rstrip("0123456789")


@dataclass(frozen=True)
class Reading:
    """Which names are weights, and the order of the others.

    `kinds` maps names to the kinds of `Quantity`; what it does not know is judged
    by the shared naming (alpha is a hyperparameter, s a state, g an input).
    """

    kinds: Mapping[str, str] = field(default_factory=dict)

    def is_hyper(self, name: str) -> bool:
        if name in self.kinds:
            return self.kinds[name] in ("hyper", "counter")
        return _stem(name) in _HYPER and not name.endswith(("_next", "_prev", "_hat"))

    def place(self, name: str) -> tuple[int, int, str]:
        """Position of a variable in reading order: plain, then decorated, then next values."""
        if name.endswith("_"):
            return (30, 0, name)  # the name of a whole function, such as A_ for A(λ)
        stem, after = _stem(name), 2 * name.endswith("_next") or int("_" in name)
        if stem in _FIRST:
            return (_FIRST.index(stem) + 2 * after, after, name)
        if stem in _LAST:
            return (20 + _LAST.index(stem), after, name)
        return (_KIND.get(self.kinds.get(name, ""), _OTHER), after, name)


def arrange(
    expr: Expr, reading: Reading | None = None, matrix: bool = False, first: str = ""
) -> Node:
    """The written form of an expression.

    `matrix` says that a bare scalar is that multiple of the identity; in a sum the
    terms in nothing but `first` (the old value of what is computed) come first.
    """
    if isinstance(expr, str):
        return Words(expr)
    if isinstance(expr, (tuple, list)):
        return Group(tuple(arrange(e, reading) for e in expr))
    import sympy as sp

    from blrgen.text.arrange import Arranger

    expr = written_out(sp.sympify(expr, strict=True))
    arranger = Arranger(reading or Reading())
    if matrix and expr.is_commutative:
        return arranger.identity(expr)
    if not isinstance(expr, sp.Basic):
        raise InternalError(f"cannot show a {type(expr).__name__}")
    return arranger.node(expr, first)


def in_cases(expr: Expr) -> Expr:
    """Functions of this package with their values where the usual formula has none."""
    import sympy as sp

    from blrgen.algebra.bessel import RATIOS, bessel_kernel
    from blrgen.algebra.binomial import binomial_mean

    if not isinstance(expr, sp.Basic):
        return expr
    if expr.has(binomial_mean):
        expr = expr.replace(binomial_mean, lambda *a: binomial_mean(*a).plain())
    known = (bessel_kernel, *RATIOS)
    return expr.replace(lambda f: isinstance(f, known), lambda f: f.cases())


def written_out(expr: Expr) -> Expr:
    """Functions of this package by the usual ones, where they say how."""
    import sympy as sp

    from blrgen.algebra.bessel import RATIOS, bessel_kernel

    known = (bessel_kernel, *RATIOS)
    if not isinstance(expr, sp.Basic) or not expr.has(*known):
        return expr
    plain = expr.replace(lambda f: isinstance(f, known), lambda f: f.plain())
    if not expr.has(bessel_kernel):
        return plain
    plain = plain.replace(sp.log, lambda x: sp.expand_log(sp.log(x), force=x.has(sp.besseli)))
    return sp.powsimp(plain, combine="exp", deep=True)
