"""A normal form for sums of products of matrices, valid for every size.

A letter is a symbol, a transposed symbol or the inverse of a known base; a base is
a sum of words, scaled to leading coefficient 1.  The rules are B⁻¹ lead(B) = 1 −
B⁻¹(B − lead(B)), the same from the right, and aᵀ…b = tr(aᵀ…b) for columns a, b.
Coefficients are fractions of `blrgen.decide.fractions`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce as fold
from typing import Any

import sympy as sp

from blrgen.algebra.ranks import DIM, SymMat, T, Vec
from blrgen.decide.budget import READ, UNITS, Budget, TooLarge
from blrgen.decide.domain import REAL
from blrgen.decide.fractions import Frac, Generator, Unsupported
from blrgen.decide.rational import Normaliser

Expr = Any
Letter = tuple[str, Any]  # ("s", symbol) | ("t", symbol) | ("i", number of a base)
Word = tuple[Letter, ...]
Sum = dict[Word, Frac]
MAX_TERMS = 400


def identical_words(
    left: Expr, right: Expr, domains: Mapping[Expr, str], units: float = 2 * UNITS
) -> bool:
    """Whether left − right is zero in the normal form."""
    size = 30
    budget = Budget(units)
    while True:
        try:
            reader = WordNormaliser(domains, size, budget)
            rest = reader.plus(reader.words(left), reader.times_scalar(reader.words(right), -1))
            return not reader.nonzero(rest)
        except IndexError:
            size *= 2
            if size > 200:
                raise TooLarge from None


class WordNormaliser(Normaliser):
    """Sums of words over one workspace."""

    def __init__(self, domains: Mapping[Expr, str], size: int, budget: Budget) -> None:
        super().__init__(domains, size, budget)
        self.bases: list[Sum] = []
        self._traces: dict[Word, Frac] = {}

    def words(self, e: Expr) -> Sum:
        """The normal form of an expression; commuting ones are multiples of the empty word."""
        self.budget.spend(READ)
        if e.is_commutative:
            return self.scalars(self.convert(e))
        if e.is_Symbol:
            return {(("s", e),): self.one}
        if isinstance(e, T):
            return {tuple(map(self.flip, reversed(w))): c for w, c in self.words(e.args[0]).items()}
        if e.is_Add:
            return fold(self.plus, map(self.words, e.args))
        if e.is_Mul:
            return fold(self.times, map(self.words, e.args))
        if e.is_Pow and e.exp.is_Integer:
            base = self.words(e.base)
            n = int(e.exp)
            return fold(self.times, [self.inverse_of(base) if n < 0 else base] * abs(n))
        raise Unsupported(type(e).__name__)

    def scalars(self, c: Frac) -> Sum:
        return {(): c} if c.num else {}

    def nonzero(self, a: Sum) -> Sum:
        return {w: c for w, c in a.items() if not self.is_zero(c)}

    def plus(self, a: Sum, b: Sum) -> Sum:
        out = dict(a)
        for w, c in b.items():
            out[w] = self.add(out[w], c) if w in out else c
        return self.nonzero(out)

    def times_scalar(self, a: Sum, c: Any) -> Sum:
        c = c if isinstance(c, Frac) else self.constant(sp.Integer(c))
        return {w: self.multiply(x, c) for w, x in a.items()}

    def times(self, a: Sum, b: Sum) -> Sum:
        out: Sum = {}
        if len(a) * len(b) > MAX_TERMS:
            raise TooLarge
        for v, c in a.items():
            for w, x in b.items():
                out = self.plus(out, self.times_scalar(self.rewrite(v + w), self.multiply(c, x)))
        return out

    # rules --------------------------------------------------------------------------
    def rewrite(self, word: Word) -> Sum:
        """The rules applied to one word until none fits."""
        self.budget.spend(READ)
        inner = self._scalar_inside(word)
        if inner is not None:
            i, j = inner
            rest = self.rewrite(word[:i] + word[j + 1 :])
            return self.times_scalar(rest, self.trace_of(word[i : j + 1]))
        for k, (kind, number) in enumerate(word):
            if kind != "i":
                continue
            lead, rest = self._lead(number)
            n = len(lead)
            if n and word[k + 1 : k + 1 + n] == lead:
                return self._replaced(word[:k], ((word[k],), rest, ()), word[k + 1 + n :])
            if n and k >= n and word[k - n : k] == lead:
                return self._replaced(word[: k - n], ((), rest, (word[k],)), word[k + 1 :])
        return {word: self.one}

    def _replaced(self, before: Word, middle: tuple[Word, Sum, Word], after: Word) -> Sum:
        """before (1 − left rest right) after."""
        left, rest, right = middle
        out = self.rewrite(before + after)
        for w, c in rest.items():
            term = self.rewrite(before + left + w + right + after)
            out = self.plus(out, self.times_scalar(self.times_scalar(term, c), -1))
        return out

    def _scalar_inside(self, word: Word) -> tuple[int, int] | None:
        """Where a row meets the next column to its right, inside a longer word."""
        start = None
        for k, (kind, symbol) in enumerate(word):
            if kind == "t" and isinstance(symbol, Vec):
                start = k
            elif kind == "s" and isinstance(symbol, Vec) and start is not None:
                return (start, k) if k - start + 1 < len(word) else None
        return None

    def _lead(self, number: int) -> tuple[Word, Sum]:
        base = self.bases[number]
        lead = max(base, key=_order)
        return lead, {w: c for w, c in base.items() if w != lead}

    # inverses and transposes ----------------------------------------------------------
    def inverse_of(self, a: Sum) -> Sum:
        """a⁻¹: of a scalar, of a word of square letters, or a letter for the whole sum."""
        a = self.nonzero(a)
        if not a:
            raise Unsupported("division by zero")
        if set(a) == {()}:
            return {(): self.inverse(a[()])}
        if len(a) == 1:
            ((word, c),) = a.items()
            if len(word) > 1 and all(self._square(x) for x in word):
                parts = [self.inverse_of({(x,): self.one}) for x in reversed(word)]
                return self.times_scalar(fold(self.times, parts), self.inverse(c))
            if len(word) == 1 and word[0][0] == "i":
                return self.times_scalar(self.bases[word[0][1]], self.inverse(c))
        number, c = self.base(a)
        return {(("i", number),): self.inverse(c)}

    def _square(self, letter: Letter) -> bool:
        return letter[0] == "i" or isinstance(letter[1], SymMat)

    def base(self, a: Sum) -> tuple[int, Frac]:
        """The number of the base a is a multiple of, and the multiple."""
        c = a[max(a, key=_order)]
        monic = self.times_scalar(a, self.inverse(c))
        for k, known in enumerate(self.bases):
            if known.keys() == monic.keys() and all(self.equal(known[w], monic[w]) for w in known):
                return k, c
        self.bases.append(monic)
        return len(self.bases) - 1, c

    def flip(self, letter: Letter) -> Letter:
        """The transpose of a letter."""
        kind, x = letter
        if kind == "i":
            flipped = {tuple(map(self.flip, reversed(w))): c for w, c in self.bases[x].items()}
            number, c = self.base(flipped)
            if not self.equal(c, self.one):
                raise Unsupported("a transposed inverse")
            return ("i", number)
        if isinstance(x, SymMat):
            return letter
        return ("t" if kind == "s" else "s", x)

    # scalars from matrices --------------------------------------------------------------
    def _f_trace(self, x: Expr, rows: Expr = DIM) -> Frac:
        out = self.zero
        for w, c in self.words(x).items():
            out = self.add(out, self.multiply(c, self.trace_of(w, rows)))
        return out

    def trace_of(self, word: Word, rows: Expr = DIM) -> Frac:
        """tr of one word, the same for its rotations and its transpose."""
        if not word:
            return self.convert(rows)
        flipped = tuple(map(self.flip, reversed(word)))
        least = min((w[k:] + w[:k] for w in (word, flipped) for k in range(len(w))), key=_order)
        if least not in self._traces:
            self._traces[least] = self.gen(self.new(Generator("atom", REAL, "trace", (least,))))
        return self._traces[least]

    def _f_logdet(self, x: Expr, rows: Expr = DIM) -> Frac:
        a = self.words(x)
        if len(a) == 1 and () not in a:
            ((word, c),) = a.items()
            if all(self._square(letter) for letter in word):
                out = self.multiply(self.convert(rows), self.logarithm(c))
                return fold(self.add, map(self._logdet_letter, word), out)
        number, c = self.base(a)
        out = self.multiply(self.convert(rows), self.logarithm(c))
        return self.add(out, self._logdet_base(number))

    def _logdet_letter(self, letter: Letter) -> Frac:
        if letter[0] == "i":
            return self.negative(self._logdet_base(letter[1]))
        return self._logdet_base(self.base({(letter,): self.one})[0])

    def _logdet_base(self, number: int) -> Frac:
        return self._named(("logdet", number), Generator("atom", REAL, "logdet", (number,)))


def _order(word: Word) -> tuple[int, tuple[tuple[str, str], ...]]:
    return len(word), tuple((kind, str(x)) for kind, x in word)
