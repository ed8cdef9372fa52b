"""A letter for a parameter's change where a later next value subtracts its squares.

A normal beside a gamma has b⁺ = … + ½κm² − ½κ⁺·(m⁺)² + …, two large terms with a small
difference.  With m⁺ = m + δ the second is −½κ⁺m² − mκ⁺δ − ½κ⁺δ², where κ⁺ and κ⁺δ are known
in old values: all powers of m cancel in symbols and −½κ⁺δ² stays.  δ is found so too,

    κ⁺m⁺ = N, κ⁺ = K    →    κ⁺δ = N − mK,

in which what does not hold ρ cancels.  Exact regroupings only, by structure alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import sympy as sp

from blrgen.algebra.nodes import has_nodes
from blrgen.algebra.ring import Ring
from blrgen.rule.by_inputs import by_inputs
from blrgen.rule.rule import RHO, ExactRule, next_of

Expr = Any
NAME = "delta"


def with_changes(
    exact: ExactRule, ring: Ring, inputs: Sequence[Expr], taken: set[str]
) -> ExactRule:
    """The rule with a change δ named wherever that lowers the powers in a later value."""
    if exact.carried or any(has_nodes(value) for _, value in exact.working_next):
        return exact
    values = dict(exact.working_next)
    order = list(values)
    new = {x: next_of(x, ring) for x in order}
    known = _known(values, new)
    changes: list[tuple[Expr, Expr]] = []
    for k, x in enumerate(order):
        later = [y for y in order[k + 1 :] if values[y].has(new[x])]
        alone = _divisor(values[x], set(new.values())) if later else None
        if alone is None or alone not in known:
            continue
        letter = sp.Symbol(_free(taken), real=True)
        moved = sp.expand(known[alone * new[x]] - x * known[alone])  # δ times what divides it
        work = _Change(x, new[x], letter, alone, moved, known, set(new.values()))
        found = {y: work.of(values[y], inputs) for y in later}
        better = {y: value for y, value in found.items() if value != values[y]}
        if not better:
            continue
        taken = taken | {letter.name}
        changes.append((letter, _shortest(moved, inputs) / alone))
        values |= {**better, x: x + letter}
    return replace(exact, working_next=tuple(values.items()), changes=tuple(changes))


def _free(taken: set[str]) -> str:
    k, name = 1, NAME
    while name in taken:
        k, name = k + 1, f"{NAME}{k + 1}"
    return name


def _divisor(value: Expr, later: set[Expr]) -> Expr | None:
    """The one product of next values, 1 or κ⁺ or 1/v⁺, that makes x⁺ one in old values."""
    found = {_apart(t, later)[0] for t in sp.Add.make_args(sp.expand(value))}
    if len(found) != 1:
        return None
    (shared,) = found
    rest = sp.expand(value / shared)
    return None if rest.free_symbols & later else 1 / shared


def _known(values: dict[Expr, Expr], new: dict[Expr, Expr]) -> dict[Expr, Expr]:
    """Products of next values that are known in old values: κ⁺, 1/κ⁺, κ⁺m⁺."""
    after = set(new.values())
    known = {sp.S.One: sp.S.One}
    for x, value in values.items():
        alone = _divisor(value, after)
        if alone is None:
            continue
        known[alone * new[x]] = sp.expand(alone * value)
        if alone == 1:
            known[1 / new[x]] = sp.expand(sp.cancel(1 / value)) if _small(value) else 1 / value
    return known


def _small(value: Expr) -> bool:
    """Whether a quotient is quickly brought to lowest terms: it holds no functions."""
    return not value.atoms(sp.Function)


def _apart(term: Expr, names: set[Expr]) -> tuple[Expr, Expr]:
    """(product of powers of the names, the rest of a term)."""
    inner = [f for f in sp.Mul.make_args(term) if f.as_base_exp()[0] in names]
    key = sp.Mul(*inner)
    return key, term / key


class _Change:
    def __init__(
        self, x: Expr, new: Expr, letter: Expr, alone: Expr, moved: Expr,
        known: dict[Expr, Expr], after: set[Expr],
    ) -> None:  # fmt: skip
        self.x, self.new, self.letter = x, new, letter
        self.names = {*after, letter}
        self.known = {**known, alone * letter: moved}

    def of(self, value: Expr, inputs: Sequence[Expr]) -> Expr:
        """A later value, every sum with x⁺ in it by the change if that lowers its powers."""
        sums = [value] if value.is_Add else [
            f.as_base_exp()[0] for f in sp.Mul.make_args(value) if f.as_base_exp()[0].is_Add
        ]  # fmt: skip
        for whole in (s for s in sums if s.has(self.new)):
            better = self._expanded(whole)
            if self._power(better) < self._power(sp.expand(whole)):
                value = value.xreplace({whole: by_inputs(better, inputs, RHO)})
        return value

    def _expanded(self, whole: Expr) -> Expr:
        """x + δ for x⁺, and known products of next values in old ones."""
        done = []
        for term in sp.Add.make_args(sp.expand(whole.xreplace({self.new: self.x + self.letter}))):
            key, rest = _apart(term, self.names)
            done.append(sp.expand(self.known.get(key, key) * rest))
        return sp.Add(*done)

    def _power(self, whole: Expr) -> int:
        """The highest power of x or x⁺ in the terms of a sum."""
        return max(
            sum(
                int(e)
                for b, e in (f.as_base_exp() for f in sp.Mul.make_args(term))
                if b in (self.x, self.new) and e.is_Integer
            )
            for term in sp.Add.make_args(whole)
        )


def _shortest(c: Expr, inputs: Sequence[Expr]) -> Expr:
    """A sum by its inputs, or as one product."""
    forms = [by_inputs(c, inputs, RHO)]
    if _small(c):
        forms.append(sp.factor(sp.together(c)))
    return min(forms, key=sp.count_ops)
