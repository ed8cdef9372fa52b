"""Index, Symbol, Atom, Term, Expression: the values of the index algebra.

An expression is a sum of terms, a term a rational number times a product of atoms to
rational powers, summed over its bound indices.  Vectors, matrices, traces and transposes
are not kinds of objects: xᵀSy is Σ_ij x[i] S[i,j] y[j].  For example

    ½ Σ_n z[n,k] x[n]²     is     Expression(((Term(factors, bound), Fraction(1, 2)),))

with `factors` = ((x[n], 2), (z[n,k], 1)), `bound` = (Range("N", "_1"),), and x[n] an
`Atom("symbol", "x", (Index("N", "_1"),))`.  The free indices of the term are (k,).

These are data.  What makes them, and keeps them in normal form, is in `build`, `normal`
and `functions`: two expressions that these made are equal as values exactly when their
normal forms are.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

NUMBER, LAST = (
    "=",
    "=last",
)  # names of literal indices: the shift-th from 1, the shift-th after last
ROW, COLUMN = "@r", "@c"  # the open indices of a matrix under inv and logdet


@dataclass(frozen=True, order=True)
class Index:
    """A place on an axis: a letter or a literal, and how far from it (−1 is the one before).

    The axis is the name of its size ("N", "K", "3"): a plate over K and a vector of K
    components share it.  A literal has no letter: `Index("K", "=", 2)` is the second,
    `Index("K", "=last")` the last.
    """

    axis: str
    name: str
    shift: int = 0

    @property
    def literal(self) -> bool:
        """Whether it is one place, and no letter for many."""
        return self.name.startswith("=")

    @property
    def base(self) -> Index:
        """The letter without its shift."""
        return Index(self.axis, self.name) if self.shift else self

    def moved(self, shift: int) -> Index:
        """The place `shift` further on."""
        return Index(self.axis, self.name, self.shift + shift) if shift else self

    @property
    def text(self) -> str:
        """n, n-1, 2, last."""
        if self.name == NUMBER:
            return str(self.shift)
        return self.name.lstrip("=") + (f"{self.shift:+d}" if self.shift else "")


@dataclass(frozen=True, order=True)
class Range:
    """A bound index and where it runs: low < index ≤ size − high."""

    axis: str
    name: str
    low: int = 0
    high: int = 0

    @property
    def index(self) -> Index:
        return Index(self.axis, self.name)


@dataclass(frozen=True)
class Symbol:
    """What is known of a name: its structure, its bounds, and whether it is known at all.

    `total` is what its components (the last index) sum to, in the indices "@1", "@2", …
    of its leading places; None where they are free.
    """

    name: str
    known: bool = False
    symmetric: bool = False  # in the last two indices
    one_hot: bool = False  # along the last index
    binary: bool = False  # 0 or 1
    lower: Fraction | None = None
    upper: Fraction | None = None
    closed: bool = False  # the bounds themselves may be taken
    total: Expression | None = None

    @property
    def sign(self) -> int:
        """1 or -1 where it is known, else 0."""
        if self.lower is not None and (self.lower > 0 or (self.lower == 0 and not self.closed)):
            return 1
        if self.upper is not None and (self.upper < 0 or (self.upper == 0 and not self.closed)):
            return -1
        return 0


@dataclass(frozen=True, eq=False, repr=False)
class Atom:
    """A factor: what it is, its indices, and the expressions that it is a function of.

    | kind | what | indices | arguments |
    |---|---|---|---|
    | symbol | L[k,i,j] | its places | |
    | delta | 1 where two places are one, else 0 | the two | |
    | guard | 1 where low < index ≤ size − high | one, without shift | |
    | size | how many places the axis `name` has | | |
    | function | log, exp, lgamma, …: `name` | | what it is of |
    | sum | a sum kept under a power that is no whole positive number | | the sum |
    | matrix | inv(M)[i,j] or logdet(M): `name` | of inv: row, column | M, open in @r and @c |
    """

    kind: str
    name: str = ""
    indices: tuple[Index, ...] = ()
    arguments: tuple[Expression, ...] = ()
    symbol: Symbol | None = None
    cut: tuple[int, int] = (0, 0)  # low and high of a guard
    symmetric: bool = False  # in the last two indices

    @cached_property
    def key(self) -> str:
        """Its text: equal for equal atoms, and the order in which atoms are written."""
        places = ",".join(f"{i.axis}.{i.text}" for i in self.indices)
        inner = ";".join(a.key for a in self.arguments)
        cut = f"<{self.cut[0]},{self.cut[1]}>" if self.kind == "guard" else ""
        places, inner = places and f"[{places}]", inner and f"({inner})"
        return f"{_ORDER[self.kind]}{self.name}{cut}{places}{inner}"

    def __repr__(self) -> str:
        return self.key

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Atom) and self.key == other.key

    @cached_property
    def _hash(self) -> int:
        return hash(self.key)

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def places(self) -> tuple[Index, ...]:
        """Every letter that stands free in it, with each of its shifts, in a fixed order."""
        own = {i: None for i in self.indices if not i.literal}
        inside = (i for a in self.arguments for i in a.places)
        hidden = (ROW, COLUMN) if self.kind == "matrix" else ()
        return tuple(own | {i: None for i in inside if i.name not in hidden})

    @cached_property
    def letters(self) -> tuple[Index, ...]:
        """The letters that stand free in it, in a fixed order."""
        return tuple({i.base: None for i in self.places})

    @cached_property
    def facts(self) -> frozenset[Symbol]:
        """What is known of the symbols in it, which its text does not say."""
        found = [a.facts for a in self.arguments]
        if self.symbol is not None:
            found.append(frozenset([self.symbol]))
            found += [self.symbol.total.facts] if self.symbol.total is not None else []
        return frozenset().union(*found)

    @cached_property
    def height(self) -> int:
        """How deep functions are nested in it."""
        return 1 + max(a.height for a in self.arguments) if self.arguments else 0

    @property
    def known(self) -> bool:
        """Whether nothing unknown stands in it."""
        if self.symbol is not None:
            return self.symbol.known
        return all(a.known for e in self.arguments for t, _ in e.terms for a, _ in t.factors)


_ORDER = {"size": "#", "symbol": "", "function": "~", "matrix": "~", "sum": "~+", "delta": "~δ"}
_ORDER["guard"] = "~["


@dataclass(frozen=True, eq=False, repr=False)
class Term:
    """A product of atoms to rational powers, summed over its bound indices; no coefficient."""

    factors: tuple[tuple[Atom, Fraction], ...] = ()
    bound: tuple[Range, ...] = ()

    @cached_property
    def key(self) -> str:
        """Its text; see `Atom.key`."""
        sums = "".join(f"Σ{r.name}:{r.axis}<{r.low},{r.high}>" for r in self.bound)
        return sums + "*".join(a.key if p == 1 else f"{a.key}^{p}" for a, p in self.factors)

    def __repr__(self) -> str:
        return self.key

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Term) and self.key == other.key

    @cached_property
    def _hash(self) -> int:
        return hash(self.key)

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def places(self) -> tuple[Index, ...]:
        """Every letter that stands free in it, with each of its shifts, in a fixed order."""
        bound = {r.name for r in self.bound}
        found = {i: None for a, _ in self.factors for i in a.places if i.name not in bound}
        return tuple(found)

    @cached_property
    def letters(self) -> tuple[Index, ...]:
        """The letters that stand free in it, in a fixed order."""
        return tuple({i.base: None for i in self.places})

    @cached_property
    def facts(self) -> frozenset[Symbol]:
        """What is known of the symbols in it."""
        return frozenset().union(*(a.facts for a, _ in self.factors))

    @cached_property
    def height(self) -> int:
        return max((a.height for a, _ in self.factors), default=0)


@dataclass(frozen=True, eq=False, repr=False)
class Expression:
    """A sum of terms with rational coefficients, in the order of their texts."""

    terms: tuple[tuple[Term, Fraction], ...] = field(default=())

    @cached_property
    def key(self) -> str:
        return "+".join(f"{c}*{t.key}" for t, c in self.terms)

    @cached_property
    def _hash(self) -> int:
        return hash(self.key)

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return self.key

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Expression) and self.key == other.key

    @cached_property
    def facts(self) -> frozenset[Symbol]:
        """What is known of the symbols in it."""
        return frozenset().union(*(t.facts for t, _ in self.terms))

    def __bool__(self) -> bool:
        """False for zero alone."""
        return bool(self.terms)

    @cached_property
    def places(self) -> tuple[Index, ...]:
        """Every letter that stands free in it, with each of its shifts, in a fixed order."""
        return tuple({i: None for t, _ in self.terms for i in t.places})

    @cached_property
    def letters(self) -> tuple[Index, ...]:
        """The letters that stand free in it, in a fixed order."""
        return tuple({i.base: None for i in self.places})

    @cached_property
    def height(self) -> int:
        return max((t.height for t, _ in self.terms), default=0)

    @property
    def number(self) -> Fraction | None:
        """The number that it is, None where it is none."""
        if not self.terms:
            return Fraction(0)
        (term, c), *more = self.terms
        return c if not more and not term.factors and not term.bound else None

    def symbols(self) -> dict[str, Symbol]:
        """Every symbol that stands in it, by name, also inside functions."""
        found: dict[str, Symbol] = {}
        for term, _ in self.terms:
            for atom, _ in term.factors:
                if atom.symbol is not None:
                    found[atom.name] = atom.symbol
                for inner in atom.arguments:
                    found |= inner.symbols()
        return found


ZERO = Expression()
ONE = Expression(((Term(), Fraction(1)),))
