"""Expectations under a factorised q: a product inside one block is under that block's q.

The factors of a term are grouped by block; each group is found among the block's statistics,
pairs included, and replaced by the symbol E[T] with the same letters.  A group that is no
statistic gets a symbol of its own and is reported: it has no closed form here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from blrgen.algebra.indexed.build import add, multiplied, subtracted, summed
from blrgen.algebra.indexed.moving import move_atom, move_index
from blrgen.algebra.indexed.normal import collected, normal
from blrgen.algebra.indexed.values import Atom, Expression, Index, Range, Symbol, Term
from blrgen.expect.blocks.divide import consumed, known_left
from blrgen.expect.blocks.match import Factor, Map, match_factors
from blrgen.expect.blocks.templates import Template, holds, split, template
from blrgen.expect.blocks.values import Block, Part, Statistic


@dataclass(frozen=True)
class Known:
    """A statistic of a block, ready to be found in a term."""

    statistic: Statistic
    shape: Template


@dataclass
class Expecting:
    """What is known of every block, and what was met that is no statistic."""

    known: dict[str, tuple[Known, ...]]  # by block
    owner: dict[str, str]  # variable → block
    unnamed: dict[str, Statistic] = field(default_factory=dict)

    def of(self, e: Expression) -> Expression:
        """E_q[e]."""
        for block in self.order:
            names = frozenset(v for v, b in self.owner.items() if b == block)
            found: list[tuple[Term, Fraction]] = []
            for term, c in e.terms:
                found += self.term(block, names, term, c)
            e = collected(found)
        return e

    @property
    def order(self) -> list[str]:
        """The blocks, those that are given labels before the labels."""
        blocks = list(dict.fromkeys(self.owner.values()))
        return sorted(blocks, key=lambda b: not any(k.statistic.given for k in self.known[b]))

    def term(
        self, block: str, names: frozenset[str], term: Term, c: Fraction
    ) -> list[tuple[Term, Fraction]]:
        """E under one block's q of one term."""
        own, rest = split(term, names)
        if not own:
            return [(term, c)]
        if any(self.shared(a, names) for a, _ in own):
            factors = list(term.factors)
            every = frozenset(self.owner)
            known = [f for f in factors if not holds(f[0], every)]
            return normal(c, [*known, (self.whole(factors, names), Fraction(1))], term.bound)
        ranges = list(term.bound)
        atom, divisor, used, scale = self.group(block, own, rest, ranges)
        factors = [*rest, (atom, Fraction(1)), *((a, -p) for a, p in divisor)]
        ranges = [r for r in ranges if r.index not in used]
        labels, more = self.weights(atom)
        return normal(c / scale, [*factors, *labels], [*ranges, *more])

    def weights(self, atom: Atom) -> tuple[list[Factor], list[Range]]:
        """Σ_k z_k of the labels that an expectation is given."""
        made = self.given.get(atom.name)
        if made is None:
            return [], []
        moves = dict(zip(made.places, atom.indices, strict=True))
        factors, ranges = [], []
        for g in made.given:
            places = tuple(move_index(i, moves) for i in g.places)
            factors.append((Atom("symbol", g.symbol.name, places, symbol=g.symbol), Fraction(1)))
            ranges.append(Range(places[-1].axis, places[-1].name))
        return factors, ranges

    @property
    def given(self) -> dict[str, Statistic]:
        """The statistics that are given labels, by the names of their symbols."""
        every = (k.statistic for known in self.known.values() for k in known)
        return {s.name: s for s in every if s.given}

    def shared(self, atom: Atom, names: frozenset[str]) -> bool:
        """Whether variables of other blocks stand inside the same function."""
        return holds(atom, frozenset(self.owner) - names)

    def whole(self, factors: Sequence[Factor], names: frozenset[str]) -> Atom:
        """The expectation of everything that is unknown in a term, as a symbol."""
        every = frozenset(self.owner)
        return self.named("", [f for f in factors if holds(f[0], every)])

    def group(
        self, block: str, own: list[Factor], rest: list[Factor], ranges: list[Range]
    ) -> tuple[Atom, tuple[Factor, ...], frozenset[Index], Fraction]:
        """(E[T] at its places, T's known factors, letters that T sums, T's coefficient)."""
        found = self.statistic(block, own, rest, ranges)
        return found or (self.named(block, own), (), frozenset(), Fraction(1))

    def statistic(
        self, block: str, own: list[Factor], rest: list[Factor], ranges: list[Range]
    ) -> tuple[Atom, tuple[Factor, ...], frozenset[Index], Fraction] | None:
        """The same of a product that is a statistic of the block; None of any other."""
        by_letter = {r.index: r for r in ranges}
        for known in self.known[block]:
            t = known.shape
            for found in match_factors(t.own, own, {}):
                used = consumed(t, found, known_left(t, found, rest), by_letter)
                letters = {g.places[-1] for g in known.statistic.given}
                if used is None or any(i not in found and i not in letters for i in t.element):
                    continue
                fresh = {i: Index(i.axis, f"`{i.name}") for i in letters}
                places = tuple(move_index(i, found | fresh) for i in t.places)
                divisor = tuple((move_atom(a, found), p) for a, p in t.rest)
                made = known.statistic
                return (Atom("symbol", made.name, places, symbol=made.symbol), divisor, used,
                        t.coefficient)  # fmt: skip
        return None

    def named(self, block: str, own: Sequence[Factor]) -> Atom:
        """A symbol for an expectation that is no statistic, reported as such."""
        from blrgen.text.indexed import written

        letters = tuple(dict.fromkeys(i for a, _ in own for i in a.letters))
        plain: Map = {i: Index(i.axis, f"i{k}") for k, i in enumerate(letters, 1)}
        value = collected(normal(Fraction(1), [(move_atom(a, plain), p) for a, p in own], ()))
        name = f"E[{written(value)}]"
        symbol = Symbol(name)
        places = tuple(plain[i] for i in letters)
        self.unnamed[name] = Statistic(name, (block,), places, value, (), symbol)
        return Atom("symbol", name, letters, symbol=symbol)


def expecting(blocks: Sequence[Block], variables: Mapping[str, tuple[str, ...]]) -> Expecting:
    """All blocks divided: `variables` are those of each block, by its name."""
    known = {}
    for b in blocks:
        names = frozenset(variables[b.name])
        ready = [Known(p.statistic, ready_template(p.statistic, names)) for p in b.parts]
        ready = [k for k in ready if len(k.statistic.value.terms) == 1]
        known[b.name] = tuple(sorted(ready, key=lambda k: -k.shape.degree))
    owner = {v: name for name, names in variables.items() for v in names}
    return Expecting(known, owner)


def ready_template(s: Statistic, names: frozenset[str]) -> Template:
    """A statistic as what is looked for in a term; all its places must be found."""
    position = s.positions[0] if s.positions else 0
    return template(s.nodes, position, s.places, s.places, s.value, names)


def with_expectations(block: Block, q: Expecting) -> tuple[Part, ...]:
    """The parts of a block with their coefficients' expectations."""
    return tuple(Part(p.statistic, p.coefficient, q.of(p.coefficient)) for p in block.parts)


def paired_with(block: Block) -> Expression:
    """Σ_j ⟨c_j, E[T_j]⟩ of a block, each element as often as it counts."""
    from blrgen.algebra.indexed.build import symbol

    parts = []
    for p in block.parts:
        e = multiplied(p.expected, block.measure, symbol(p.statistic.symbol, *p.statistic.places))
        for i in p.statistic.places:
            e = summed(e, i)
        parts.append(e)
    return add(*parts)


def stationary(block: Block, joint: Expression, q: Expecting) -> Expression:
    """What E[L] − Σ⟨c, E[T]⟩ − E[log h] still has of the block's expectations: zero, proved.

    Then the objective is A-conjugate in the block: its stationary point is λ = c.
    """
    rest = subtracted(subtracted(joint, paired_with(block)), q.of(block.base))
    own = frozenset(p.statistic.name for p in block.parts)
    left = [(t, c) for t, c in rest.terms if any(holds(a, own) for a, _ in t.factors)]
    return Expression(tuple(left))
