"""Sums of matrices with one coefficient for each product, and letters for what is long in them.

    V⁻¹ − ρV⁻¹ + (2ρr/e)V⁻¹ − …  →  c V⁻¹,    c = 1 − ρ + (2ρ/e)(r − …),    e = …

A divisor that several terms share has a letter too.  Exact regroupings only.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import sympy as sp

from blrgen.algebra.ranks import T, Vec, trace
from blrgen.algebra.words import collect_words
from blrgen.rule.arrange import arrange, signed
from blrgen.rule.shift import shifted

Expr = Any
Word = tuple[Expr, ...]
_LONG = 4  # operations up to which a coefficient is written where it stands
_MOST = 400  # operations of a coefficient that is not looked into


@dataclass(frozen=True)
class Gathered:
    """The expressions, each with the letters that it needs before it."""

    values: tuple[Expr, ...]
    before: tuple[tuple[tuple[Expr, Expr], ...], ...]  # (letter, value), one row an expression

    @property
    def named(self) -> tuple[tuple[Expr, Expr], ...]:
        """All letters, in the order in which they are needed."""
        return tuple(pair for row in self.before for pair in row)


class _Gathering:
    def __init__(
        self, inputs: Iterable[Expr], known: Iterable[Expr], taken: set[str], coefficients: bool
    ) -> None:
        self.inputs, self.known, self.coefficients = set(inputs), list(known), coefficients
        self.taken = set(taken)
        self.letters: dict[Expr, Expr] = {}
        self.row: list[tuple[Expr, Expr]] = []
        self.earlier: list[tuple[Expr, Expr]] = []  # a number's next value, and what it is

    # reading -------------------------------------------------------------------------
    def sums(self, x: Expr) -> Expr:
        """The expression with every coefficient in as few terms as there are divisors."""
        if x.is_Pow and not x.is_commutative and x.base.is_Add:
            return self.sums(x.base) ** x.exp
        if x.is_commutative:
            return self.number(x)
        words = {word: self.ratio(c) for word, c in collect_words(x).items()}
        return sp.Add(*[self.times(c, word) for word, c in with_squares(words).items()])

    def times(self, c: Expr, word: tuple[Expr, ...]) -> Expr:
        """A coefficient, or its letter, before the product of matrices."""
        if word and self.coefficients and self._long(c):
            c = self.letter(c, "c")
        own = signed(c) if c.free_symbols <= set(self.known) else (c,)
        return sp.Mul(*own, *word)

    def ratio(self, c: Expr) -> Expr:
        """The coefficient; a next value that it is a multiple of stands in it by its name."""
        if c.free_symbols & self.inputs and sp.count_ops(c) <= _MOST:
            for symbol, value in self.earlier:
                shared = _cancelled(c / value)
                if not shared.free_symbols & {*self.inputs, *self.known}:
                    return shared * symbol
        return self.number(c)

    def number(self, c: Expr) -> Expr:
        """What no input enters, by hyperparameters, and the rest as one quotient."""
        if sp.count_ops(c) > _MOST:
            return arrange(c, self.known)
        plain: list[Expr] = []
        given: list[Expr] = []
        for term in sp.Add.make_args(sp.expand(c)):
            (given if term.free_symbols & self.inputs else plain).append(term)
        return sp.Add(self._plain(sp.Add(*plain)), self._quotient(sp.Add(*given)))

    def _plain(self, c: Expr) -> Expr:
        if not any(p.base.is_Add and p.exp.is_negative for p in c.atoms(sp.Pow)):
            return arrange(c, self.known)
        parts = sp.collect(c, self.known, evaluate=False)
        return sp.Add(*[h * self._quotient(part) for h, part in parts.items()])

    def _quotient(self, c: Expr) -> Expr:
        """A factored quotient, the divisors that hold functions by their letters."""
        whole = _cancelled(c)
        above, below = sp.fraction(whole)
        done = sp.S.One
        for factor in sp.Mul.make_args(below):
            base, power = factor.as_base_exp()
            if base.is_Add and base.has(sp.Function) and not base.has(trace):
                if base.could_extract_minus_sign():
                    base, above = -base, above * (-1) ** power
                functions = sorted(base.atoms(sp.Function), key=sp.default_sort_key)
                base = self.letter(sp.collect(base, functions), "det")
            done *= base**power
        return self._by_inputs(above) / done

    def _by_inputs(self, above: Expr) -> Expr:
        """(2a + 1)r for 2ar + r."""
        numbers = sorted((s for s in self.inputs if s.is_commutative), key=str)
        return sp.Mul(*[
            sp.collect(f, numbers) if f.is_Add else f for f in sp.Mul.make_args(above)
        ])  # fmt: skip

    def _long(self, c: Expr) -> bool:
        return bool(c.is_Add and sp.count_ops(c) > _LONG and c.free_symbols - set(self.known))

    # letters -------------------------------------------------------------------------
    def letter(self, value: Expr, stem: str) -> Expr:
        """The symbol for a value, the same for the same."""
        if value not in self.letters:
            k, name = 1, stem
            while name in self.taken:
                k, name = k + 1, f"{stem}{k + 1}"
            self.taken.add(name)
            self.letters[value] = sp.Symbol(name, real=True)
            self.row.append((self.letters[value], value))
        return self.letters[value]


def gathered(
    expressions: Sequence[Expr],
    inputs: Iterable[Expr],
    known: Iterable[Expr],
    taken: set[str],
    *,
    coefficients: bool,
    results: Sequence[Expr] = (),
    gaps: Sequence[Expr] = (),
) -> Gathered:
    """The expressions gathered; `coefficients` says whether long ones get letters as well.

    `results` are the symbols of the expressions' values, where later ones may use them.
    """
    expressions, letter = shifted(expressions, taken, gaps)
    if letter is not None:
        taken = taken | {letter[0].name}
    work = _Gathering(inputs, known, taken, coefficients)
    values, before = [], []
    for k, x in enumerate(expressions):
        work.row = [letter] if k == 0 and letter is not None else []
        values.append(work.sums(x))
        before.append(tuple(work.row))
        if results and x.is_commutative and x.free_symbols & work.inputs:
            work.earlier.append((results[k], x))
    return Gathered(tuple(values), tuple(before))


def with_squares(words: dict[Word, Expr]) -> dict[Word, Expr]:
    """x·vvᵀ − x·vwᵀ − x·wvᵀ + x·wwᵀ as x·(w − v)(w − v)ᵀ, which cannot lose its sign."""
    vectors = [w[0] for w in words if len(w) == 2 and isinstance(w[0], Vec) and w[1] == T(w[0])]
    done = dict(words)
    for v, w in combinations(vectors, 2):
        square = [(v, T(v)), (w, T(w))]
        mixed = [(v, T(w)), (w, T(v))]
        if not all(word in done for word in (*square, *mixed)):
            continue
        x = done[square[0]]
        if done[square[1]] != x or any(sp.expand(done[word] + x) != 0 for word in mixed):
            continue
        for word in (*square, *mixed):
            del done[word]
        first, last = sorted((v, w), key=lambda s: s.name)
        done[last - first, T(last - first)] = x
    return done


def _cancelled(c: Expr) -> Expr:
    """A quotient in lowest terms and factored; functions are letters meanwhile."""
    held = sorted(c.atoms(sp.Function), key=str)
    table = {f: sp.Dummy(f"f{i}") for i, f in enumerate(held)}
    back = {name: f for f, name in table.items()}
    plain = c.xreplace(table)
    return sp.factor(sp.together(plain)).xreplace(back)
