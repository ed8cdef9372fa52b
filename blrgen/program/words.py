"""Products of non-commuting symbols, read entry by entry.

    A B      at i, j   Σₖ A[i,k] B[k,j]           Aᵀ    at i, j   A at j, i
    S⁻¹ v    at i      solve(S[i,k], v[i])        v wᵀ  at i, j   v[i] w[j]

A word is read from the left, and what S⁻¹ multiplies is solved with, so that no inverse is ever
formed.  A bare scalar in a sum of square matrices is that multiple of the identity.  S^(−1/2)
stands for L⁻ᵀ and S^(1/2) for L, where S = L Lᵀ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import sympy as sp

from blrgen.algebra.components import total
from blrgen.algebra.ranks import T, logdet, rank_of, trace
from blrgen.algebra.words import normal, split
from blrgen.errors import InternalError, UserError
from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a
from blrgen.program.program import fresh
from blrgen.program.types import SCALAR, Type

Expr = Any
Word = Sequence[Expr]
ONE = ""  # the axis that a vector does not have
MOST_DEEP = 8  # differences inside one another; more terms taken off are one flat sum
LETTERS = tuple("ijklpqrsuvw")


class Words:
    """The part of the visitor that handles words; `visit` is the commuting part.

    What is read is an entry: at the letters `at`, with those of `used` standing around it.
    """

    types: dict[str, Type]
    where: str
    inner: list[a.Let]  # equations of what had to have a name
    at: tuple[str, ...] = ()
    used: tuple[str, ...] = ()

    def visit(self, x: Expr) -> n.Node:
        raise NotImplementedError

    def number(self, x: Expr) -> n.Node:
        raise NotImplementedError

    def reading_order(self, x: Expr) -> tuple[Any, ...]:
        raise NotImplementedError

    # -- places ------------------------------------------------------------------------
    @contextmanager
    def place(self, at: tuple[str, ...], used: tuple[str, ...] | None = None) -> Iterator[None]:
        """Read at these letters; those that stand around it are the ones so far, or `used`."""
        before = self.at, self.used
        self.at, self.used = at, (*self.used, *self.at) if used is None else used
        try:
            yield
        finally:
            self.at, self.used = before

    def entry(self, x: Expr, at: tuple[str, ...]) -> n.Node:
        """An expression at letters of its axes."""
        with self.place(at):
            return self.visit(x)

    def letter(self, size: str) -> str:
        """A letter over an axis, none of those in use."""
        return next(x for x in LETTERS if x not in (*self.at, *self.used))

    def named(self, word: Word, kind: Type, turned: bool = False, stem: str = "part") -> str:
        """The name of a whole vector or matrix of a type, or of its transpose."""
        kind = Type(kind.shape[::-1], kind.structure) if turned else kind
        letters = self.own(kind)
        with self.place(letters[::-1] if turned else letters, ()):
            whole = self.word(word)
        if isinstance(whole, a.Ref) and whole.index == tuple(map(a.Ix, letters)):
            return whole.name
        return self.equation(whole, letters, kind, stem if word else "identity")

    def own(self, kind: Type) -> tuple[str, ...]:
        """Letters for the axes of a type."""
        return LETTERS[: len(kind.shape)]

    def equation(self, whole: n.Node, letters: tuple[str, ...], kind: Type, stem: str) -> str:
        """The name of what has these entries."""
        known = {(s.expr, s.letters): s.name for s in self.inner}
        if (whole, letters) not in known:
            name = known[whole, letters] = fresh(stem, {*self.types})
            self.types[name] = kind
            self.inner.append(a.Let(name, letters, whole))
        return known[whole, letters]

    def root(self, x: Expr) -> str:
        """The lower factor of a matrix."""
        raise UserError(f"no target can compute a root of {x} here", where=self.where)

    # -- sums and products ---------------------------------------------------------------
    def visit_word(self, x: Expr) -> n.Node:
        """A non-commuting expression."""
        if x.is_Add:
            return self.signed(x, self.scaled)
        if x.is_Mul or x.is_Pow:
            return self.scaled(x)
        if isinstance(x, T):
            return self.entry(x.args[0], self.at[::-1])
        if isinstance(x, sp.Symbol):
            return self.visit_symbol(x)
        raise UserError(f"no target can compute {type(x).__name__} in {x}", where=self.where)

    def visit_symbol(self, x: Expr) -> n.Node:
        if x.name not in self.types:
            raise UserError(
                f"unknown name {x.name} in an expression",
                where=self.where,
                why="known names: " + ", ".join(self.types),
            )
        return a.ref(x.name, *self.at[: len(self.types[x.name].shape)])

    def signed(self, x: Expr, read: Callable[[Expr], n.Node]) -> n.Node:
        """A sum: positive terms first, arrays before scalars, short before long."""
        terms = sorted(x.args, key=self.reading_order)
        plus = [read(t) for t in terms if not is_negative(t)]
        minus = [read(-t) for t in terms if is_negative(t)]
        if not plus:
            return n.neg(n.add(*minus))
        if len(minus) > MOST_DEEP:
            return n.add(*plus, *map(n.neg, minus))
        result = n.add(*plus)
        for term in minus:
            result = n.Sub(result, term)
        return result

    def scaled(self, x: Expr) -> n.Node:
        """A number times a word; a number alone is that multiple of the identity."""
        coefficient, word = x.args_cnc()
        scalar, product = sp.Mul(*coefficient), self.word(unrolled(sp.Mul(*word)))
        if scalar == 1:
            return product
        if scalar == -1:
            return n.neg(product)
        if is_negative(scalar):
            return n.neg(self._scaled(self.number(-scalar), product))
        return self._scaled(self.number(scalar), product)

    def identity(self) -> n.Node:
        """The entry of the identity."""
        if len(self.at) != 2:
            raise InternalError(f"a number beside a vector {self.where}")
        return a.Is(*map(a.Ix, self.at))

    def _scaled(self, number: n.Node, product: n.Node) -> n.Node:
        """A number times an entry; v[i] w[j] stays one factor, rounded as w[j] v[i] is."""
        if len(self.at) < 2 or not isinstance(product, n.Mul):
            return n.mul(number, product)
        return n.Mul((*(number.args if isinstance(number, n.Mul) else (number,)), product))

    # -- words -------------------------------------------------------------------------
    def word(self, word: Word) -> n.Node:
        """The entry of a product of factors; of none, of the identity."""
        rows = [k for k, x in enumerate(word) if rank_of(x) == "row"]
        if rows and rank_of(word[-1]) != "vector":  # v wᵀ
            k, (row, column) = rows[0], self.at
            with self.place((row,)):
                left = self.word(word[:k])
            return n.mul(left, self.entry(T(sp.Mul(*word[k:])), (column,)))
        if rows and rows[0] > 0:  # v (aᵀ … b): a number times a vector
            k = rows[0]
            return n.mul(self.dot(word[k:]), self.word(word[:k]))
        if len(word) > 1 and _is_inverse(word[-1]):  # A S⁻¹ = (S⁻¹ Aᵀ)ᵀ
            with self.place(self.at[::-1]):
                return self.solved(word[-1].base, word[:-1], turned=True)
        return self.product(word)

    def product(self, word: Word) -> n.Node:
        """The first factor times the others."""
        if not word:
            return self.identity()
        first, *rest = word
        if not first.is_Pow:
            return self.times(first, rest) if rest else self.visit(first)
        if first.exp == -1:
            return self.solved(first.base, rest)
        if first.exp == sp.Rational(-1, 2):
            return self.linear("ltsolve", self.root(first.base), rest)
        if first.exp == sp.Rational(1, 2):
            k, root = self.letter(self.shape([first])[1]), self.root(first.base)
            return self.summed(k, a.ref(root, self.at[0], k), rest)
        raise UserError(f"no target can compute {first}", where=self.where)

    def times(self, first: Expr, rest: Word) -> n.Node:
        """Σₖ A[i,k] (…)[k]."""
        k = self.letter(self.shape([first])[1])
        return self.summed(k, self.entry(first, (self.at[0], k)), rest)

    def summed(self, k: str, left: n.Node, rest: Word) -> n.Node:
        """Σₖ of an entry times that of the other factors."""
        with self.place((k, *self.at[1:])):
            return a.Red("sum", (k,), n.mul(left, self.product(rest)))

    def dot(self, word: Word) -> n.Node:
        """aᵀ … b: a sum over the axis of both."""
        first, *rest = word
        size = self.shape([first])[1]
        return self.reduced("sum", size, lambda: n.mul(self.visit(first.args[0]), self.word(rest)))

    def reduced(
        self, op: str, size: str, inside: Callable[[], n.Node], more: n.Node | None = None
    ) -> n.Node:
        """A number made of what stands at a letter over an axis."""
        k = self.letter(size)
        with self.place((k,)):
            return a.Red(op, (k,), inside(), more)

    def visit_trace(self, x: Expr) -> n.Node:
        """A scalar aᵀ … b as a sum, any other trace along the diagonal."""
        word = unrolled(x.args[0])
        if isinstance(word[0], T) and rank_of(word[0]) == "row" and rank_of(word[-1]) == "vector":
            return self.dot(word)
        rows, columns = self.shape(word)
        if rows != columns:
            raise InternalError(f"a trace of {rows} rows and {columns} columns: {x}")
        whole, k = self.named(word, self.kind(word)), self.letter(rows)
        return a.Red("sum", (k,), a.ref(whole, k, k))

    # -- linear algebra ------------------------------------------------------------------
    def solved(self, matrix: Expr, right: Word, turned: bool = False) -> n.Node:
        """S⁻¹ times a word, or times its transpose."""
        return self.linear("solve", self.definite(matrix), right, turned)

    def definite(self, matrix: Expr, stem: str = "part") -> str:
        """The name of what is solved with."""
        return self.named([matrix], Type(self.shape([matrix]), "sym"), stem=stem)

    def linear(self, op: str, matrix: str, right: Word, turned: bool = False) -> n.Node:
        """The operation on whole operands, at the entry's own letters."""
        size = self.types[matrix].shape[0]
        b, k = self.side(right, turned, size), self.letter(size)
        return a.Lin(op, (a.ref(matrix, self.at[0], k), b))

    def side(self, word: Word, turned: bool, size: str) -> a.Ref:
        """The entry of a right side by its name; of no factors, of the identity."""
        return a.ref(self.named(word, self.kind(word, size), turned), *self.at)

    # -- types -------------------------------------------------------------------------
    def shape(self, word: Word) -> tuple[str, str]:
        """Rows and columns of a product; neighbours share an axis."""
        pairs = [self._shape(x) for x in word]
        for (_, inner), (outer, _) in pairwise(pairs):
            if inner != outer:
                raise InternalError(f"{sp.Mul(*word)} multiplies {inner} columns and {outer} rows")
        return pairs[0][0], pairs[-1][1]

    def kind(self, word: Word, size: str = "") -> Type:
        """The type of a product of factors; of none, of the identity."""
        return self.type_of(sp.Mul(*word)) if word else Type((size, size), "sym")

    def _shape(self, x: Expr) -> tuple[str, str]:
        if isinstance(x, sp.Symbol):
            if x.name not in self.types:
                self.visit_symbol(x)
            rows, *columns = self.types[x.name].shape
            return rows, (*columns, ONE)[0]
        if isinstance(x, T):
            rows, first = self._shape(x.args[0])
            return first, rows
        if x.is_Pow:
            return self._shape(x.base)
        if x.is_Mul:
            return self.shape(x.args_cnc()[1])
        own = [self._shape(t) for t in x.args if not t.is_commutative]
        if any(s != own[0] for s in own):
            raise InternalError(f"{x} adds what has not the same axes")
        return own[0]

    def type_of(self, x: Expr) -> Type:
        """The axes of an expression, and whether it is its own transpose as words in symbols.

        A number beside an array with one axis stands at every place of it.
        """
        if not x.is_commutative:
            plain = Type(tuple(s for s in self._shape(x) if s != ONE))
            even = plain.is_square and not _is_solved(x) and normal(x - T(x)) == 0
            return Type(plain.shape, "sym") if even else plain
        found = {self.types[s.name] for s in outside_sums(x) if s.name in self.types}
        axes = {t.shape for t in found if t.shape}
        if len(axes) > 1 or any(len(s) > 1 for s in axes):
            raise InternalError(f"{x} mixes {', '.join(sorted(map(str, found)))}")
        return Type(axes.pop()) if axes else SCALAR


def outside_sums(x: Expr) -> set[Expr]:
    """The symbols of an expression that stand in no sum over their axes."""
    if x.is_Symbol:
        return {x}
    if isinstance(x, total | trace | logdet):
        return set()
    return {s for arg in x.args for s in outside_sums(arg)}


def unrolled(x: Expr) -> list[Expr]:
    """The factors of a word, whole powers written out; of 1 none."""
    return list(split(x)[1])


def _is_inverse(x: Expr) -> bool:
    return bool(x.is_Pow and x.exp == -1 and rank_of(x.base) == "symmetric")


def _is_solved(x: Expr) -> bool:
    """Whether it is a solution of a linear system, which is symmetric up to rounding only."""
    word = unrolled(x) if not x.is_Add else []
    return any(end.is_Pow and end.exp.is_negative for end in (*word[:1], *word[-1:]))


def is_negative(x: Expr) -> bool:
    """Whether the numerical coefficient carries a minus sign."""
    return bool(x.as_coeff_Mul()[0].is_negative)
