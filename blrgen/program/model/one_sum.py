"""Sums over the same places whose terms have factors in common are one.

    Σ_n x[n,i] x[n,j] σ[n] − Σ_n x[n,i] x[n,j] σ[n]²   →   Σ_n x[n,i] x[n,j] σ[n] (1 − σ[n])

What differs is added before it is multiplied, so that rows are gone through once, and 1 − σ can
be written without loss.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import reduce
from operator import and_

from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a
from blrgen.program.axes.contracted import factors_of, terms_of


@dataclass(frozen=True)
class _Sum:
    """A term that is a sum: its place among the terms, ±1, what is multiplied, to which power."""

    place: int
    sign: int
    factors: Counter[n.Node]

    def without(self, common: Counter[n.Node]) -> n.Node:
        """What is summed but for the common factors, with its sign."""
        rest = _product(self.factors - common)
        return rest if self.sign > 0 else n.neg(rest)


def one_sum(e: n.Node) -> n.Node:
    """The expression with such sums as one, where the first of them stood."""
    terms = terms_of(e)
    groups: dict[tuple[str, ...], list[_Sum]] = {}
    for k, t in enumerate(terms):
        red = t.arg if isinstance(t, n.Neg) else t
        if isinstance(red, a.Red) and red.op == "sum":
            found = _Sum(k, 1 if red is t else -1, _powers(red.arg))
            groups.setdefault(red.letters, []).append(found)
    gone: set[int] = set()
    for letters, sums in groups.items():
        common = reduce(and_, (x.factors for x in sums))
        if len(sums) < 2 or not any({*letters} & set(a.free(f)) for f in common):
            continue
        rest = n.add(*(x.without(common) for x in sums))
        terms[sums[0].place] = a.Red("sum", letters, n.mul(_product(common), rest))
        gone |= {x.place for x in sums[1:]}
    return n.add(*(t for k, t in enumerate(terms) if k not in gone)) if gone else e


def _powers(e: n.Node) -> Counter[n.Node]:
    """The factors of a product with their whole powers."""
    out: Counter[n.Node] = Counter()
    for f in factors_of(e):
        base, power = (f.base, f.exponent) if isinstance(f, n.Pow) else (f, 1)
        out[base] += power
    return out


def _product(powers: Counter[n.Node]) -> n.Node:
    return n.mul(*(f if k == 1 else n.Pow(f, k) for f, k in powers.items()))
