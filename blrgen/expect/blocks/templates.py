"""Statistics of blocks as templates: what a term of the log joint is matched against.

A template is the monomial of highest degree of T in the block's variables; its other
factors are known and divide the coefficient.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from blrgen.algebra.indexed.build import moved, multiplied
from blrgen.algebra.indexed.moving import move_atom
from blrgen.algebra.indexed.values import Atom, Expression, Index, Range, Term
from blrgen.expect.blocks.match import Factor, unrolled


@dataclass(frozen=True)
class Template:
    """T at letters, and its leading monomial.

    `element` are the letters of the plates of the variable's node, `places` all letters that
    are open (the element's first), `bound` those summed inside.  `own` are the factors of the
    leading monomial that hold the variables, `rest` the others with their coefficient.
    """

    nodes: tuple[str, ...]
    position: int
    element: tuple[Index, ...]
    places: tuple[Index, ...]
    value: Expression
    own: tuple[Factor, ...]
    rest: tuple[Factor, ...]
    coefficient: Fraction
    bound: tuple[Range, ...]

    @property
    def degree(self) -> int:
        return len(self.own)


def holds(atom: Atom, names: frozenset[str]) -> bool:
    """Whether one of the variables stands in an atom."""
    if atom.kind == "symbol":
        return atom.name in names
    return any(holds(a, names) for e in atom.arguments for t, _ in e.terms for a, _ in t.factors)


def split(term: Term, names: frozenset[str]) -> tuple[list[Factor], list[Factor]]:
    """(factors with the variables, whole powers unrolled; the others)."""
    own = [f for f in term.factors if holds(f[0], names)]
    rest = [f for f in term.factors if not holds(f[0], names)]
    return unrolled(own), rest


def template(
    nodes: tuple[str, ...], position: int, element: tuple[Index, ...],
    places: tuple[Index, ...], value: Expression, names: frozenset[str],
) -> Template:  # fmt: skip
    """The leading monomial of a statistic; the first of the longest."""
    found = [(split(t, names), t, c) for t, c in value.terms]
    (own, rest), term, c = max(found, key=lambda f: len(f[0][0]))
    return Template(nodes, position, element, places, value, tuple(own), tuple(rest), c, term.bound)


def apart(t: Template, mark: str = "'") -> Template:
    """The same template under other letters."""
    moves = {i: Index(i.axis, i.name + mark) for i in (*t.places, *(r.index for r in t.bound))}
    moved_factors = [tuple((move_atom(a, moves), p) for a, p in part) for part in (t.own, t.rest)]
    bound = tuple(Range(r.axis, r.name + mark, r.low, r.high) for r in t.bound)
    return Template(
        t.nodes, t.position, tuple(moves[i] for i in t.element),
        tuple(moves[i] for i in t.places), moved(t.value, moves),
        moved_factors[0], moved_factors[1], t.coefficient, bound,
    )  # fmt: skip


def product(a: Template, b: Template) -> Expression:
    """T_a T_b, letters as they are."""
    return multiplied(a.value, b.value)


def degree_in(value: Expression, names: frozenset[str]) -> int | None:
    """The degree as a polynomial in the variables; None where they stand inside functions."""
    most = 0
    for term, _ in value.terms:
        own, _ = split(term, names)
        if any(a.kind != "symbol" or p != 1 for a, p in own):
            return None
        most = max(most, len(own))
    return most
