"""What every section of the page is made of: rows, equations, and how names read in them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import sympy as sp

from blrgen.algebra.bessel import bessel_kernel
from blrgen.algebra.components import varies
from blrgen.show.page import Formula, is_matrix
from blrgen.text.layout import Indexed, Name, Node, Reading, Words, arrange
from blrgen.text.names import latex_name, unicode_name

Expr = Any
Shown = tuple[tuple[str, tuple[str, str]], ...]
LETTERS = ("kappa", "zeta", "omega", "M")
NOTATION: Shown = (
    ("log_q_", ("log q", r"\log q")),
    ("A_", ("A(λ)", r"A(\lambda)")),
    ("entropy_", ("𝓗(q)", r"\mathcal{H}(q)")),
    ("F_", ("F", "F")),
)


@dataclass(frozen=True)
class Row:
    """One numbered line of the page before it has its number."""

    title: str
    formulas: tuple[Formula, ...]
    because: str = ""
    space: str = ""
    evidence: str = ""  # how it is known, in a word or two


@dataclass(frozen=True)
class Writer:
    """Writes equations of one geometry: the reading order, and names beyond the usual ones."""

    geometry: Any
    reading: Reading = field(init=False)
    shorter: dict[Expr, Expr] = field(init=False)  # what a letter stands for on this page

    def __post_init__(self) -> None:
        family, d = self.geometry.family, self.geometry.divergence
        c = self.geometry.conjugate
        own = [p.symbol for p in (*family.natural, *family.working)]
        kinds = {x.name: "state" for x in (*own, *d.prime.values(), *c.chi, c.nu)}
        kinds |= {d.alpha.name: "hyper"}
        object.__setattr__(self, "reading", Reading(kinds))
        object.__setattr__(self, "shorter", letters(self.geometry))

    @property
    def count(self) -> str:
        """A letter for the number of observations that no parameter has."""
        d, family = self.geometry.divergence, self.geometry.family
        taken = {x.name for x in d.prime} | {p.name for p in family.fixed}
        return next((n for n in ("n", "N", "M") if n not in taken), "n")

    def equal(
        self, left: str, e: Expr, shown: Shown = (), *, matrix: bool = False, relation: str = "="
    ) -> Formula:
        """Name = expression; `shown` says how names read here."""
        if self.shorter:
            e = sp.sympify(e).xreplace(self.shorter)
        node = arrange(e, self.reading, matrix)
        names = {name for name, _ in (*NOTATION, *shown)}
        vector = self.geometry.ring.components and varies(sp.sympify(e)) and left not in names
        head = Indexed(left, "k") if vector else Name(left)
        return Formula(head, relation, node, notation=(*NOTATION, *shown))

    def named(
        self, text: str, latex: str, e: Expr, shown: Shown = (), *, matrix: bool = False,
        relation: str = "=",
    ) -> Formula:  # fmt: skip
        """The same with a left-hand side that is no identifier."""
        left: Shown = (("left_", (text, latex)),)
        return self.equal("left_", e, (*left, *shown), matrix=matrix, relation=relation)

    def index(self, k: int) -> str:
        """The index of a component; empty when there is only one."""
        return "" if len(self.geometry.natural) == 1 else str(k + 1)

    def square(self, k: int) -> bool:
        """Whether the k-th natural parameter is a matrix."""
        return is_matrix(self.geometry.natural[k])


def letters(g: Any) -> dict[Expr, Expr]:
    """A letter for the argument of A's special function, when it is long: κ = √(η₁² + η₂²).

    Under a root it is κ² that is put in, so that other powers become powers of κ.
    """
    if not g.ring.elementwise:
        return _matrix_letters(g)
    calls = g.log_partition.atoms(sp.besseli, sp.besselk)
    arguments = {f.args[1] for f in calls}
    arguments |= {sp.sqrt(f.args[1]) for f in g.log_partition.atoms(bessel_kernel)}
    long = {a for a in arguments if sp.count_ops(a) > 3}
    if len(long) != 1:
        return {}
    (argument,) = long
    d = g.divergence
    taken = {x.name for x in (*d.prime, *d.prime.values())}
    name = next((n for n in LETTERS[:3] if n not in taken), "")
    if not name:
        return {}
    found: dict[Expr, Expr] = {}
    for mark, e in (("", argument), ("_0", argument.xreplace(d.prime))):
        letter = sp.Symbol(name + mark, positive=True)
        root = e.is_Pow and e.exp == sp.Rational(1, 2)
        found[e.base if root else e] = letter**2 if root else letter
    return found


def _matrix_letters(g: Any) -> dict[Expr, Expr]:
    """M for the matrix whose determinant is in A, when it is a sum."""
    from blrgen.algebra.ranks import SymMat, logdet, shape_of

    long = {f.args[0] for f in g.log_partition.atoms(logdet) if f.args[0].is_Add}
    d = g.divergence
    taken = {x.name for x in (*d.prime, *d.prime.values())}
    if len(long) != 1 or "M" in taken:
        return {}
    (argument,) = long
    pairs = (("M", argument), ("M_0", argument.xreplace(d.prime)))
    return {e: SymMat(name, shape_of(e)) for name, e in pairs}


def words(left: str, right: str) -> Formula:
    """A line in words."""
    return Formula(Words(left), "=", Words(right))


def primed(pairs: Iterable[tuple[Expr, Expr]]) -> Shown:
    """How the second member's names read: the first's with a prime."""
    own = list(pairs)
    known = {x.name for x, _ in own}
    own += [(sp.Symbol(n), sp.Symbol(n + "_0")) for n in LETTERS if not {n, n + "_0"} & known]
    return tuple(
        (other.name, (unicode_name(x.name) + "′", latex_name(x.name) + "'")) for x, other in own
    )


def low(index: str) -> str:
    """An index in unicode."""
    return index.translate(str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉"))


def node_of(e: Expr, reading: Reading) -> Node:
    """An expression in written form."""
    return arrange(e, reading)
