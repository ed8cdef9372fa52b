"""The objective at the first block's maximum: E[L] + Σ entropies, what cancels left out.

    A(λ_first) + E[terms of L without it] + Σ_others (A(λ_b) − ⟨λ_b, E T_b⟩ − E[log h_b])

⟨λ_first, E T⟩ is what E[L] has of the first block's statistics, so both go.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from blrgen.algebra.indexed import Atom, Expression
from blrgen.algebra.indexed.build import subtracted, symbol
from blrgen.algebra.indexed.normal import normal
from blrgen.algebra.indexed.values import ONE, Term
from blrgen.errors import UserError
from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a
from blrgen.program.model.expressions import Equations
from blrgen.rule.model.values import ModelDerivation

if TYPE_CHECKING:
    from blrgen.program.model.own import Own

INDICATOR = "log_indicator"


def objective(
    d: ModelDerivation,
    first: Sequence[Own],
    others: Sequence[Own],
    bases: Sequence[Expression],
    eq: Equations,
) -> n.Node:
    """The number, as an expression over all axes; `bases` are E[log h] of the other blocks."""
    gone = {p.statistic.name for own in first for p in own.member.block.parts}
    gone |= {x for own in first for node in own.member.block.nodes
             for x in d.model.node(node).names}  # fmt: skip
    joint = together(without(d.expected_joint, gone))
    for own in others:
        if forced(own):
            name = own.member.block.name
            raise UserError(
                f"no programs yet for the label {name} behind another block",
                why="one of its values is a point mass: where it must be 1 its natural parameter "
                "is no number, and only the first block is taken without one",
                how=f"--schedule {name},…",
            )
    sure = [own for own in first if forced(own)]
    if sure:
        joint = Expression(tuple((t, c) for t, c in joint.terms if not indicates(t)))
    parts = [eq.expr(joint, {})]
    for own in (*first, *others):
        name = own.lowered.partition(own.natural, f"{own.name}_A")
        parts.append(summed(own, certain(own, name, eq) if own in sure else name, eq))
    for own, base in zip(others, bases, strict=True):
        parts += [n.neg(x) for x in pairings(own, eq)]
        parts.append(n.neg(eq.expr(base, {})))
    return n.add(*parts)


def indicates(t: Term) -> bool:
    """Whether a term is log [x = c] of data, summed: 0, or −∞."""
    return any(x.name == INDICATOR for x, _ in t.factors)


def together(e: Expression) -> Expression:
    """Σ log [x = c] − Σ z log [x = c] as Σ (1 − z) log [x = c], which is never −∞ less −∞."""
    own = dict(e.terms)
    for t, c in e.terms:
        for z in _labels(t) if t in own else ():
            assert z.symbol is not None
            rest = normal(-c, [y for y in t.factors if y[0] != z], t.bound)
            if len(rest) != 1 or own.get(rest[0][0]) != rest[0][1]:
                continue
            other = Atom("sum", arguments=(subtracted(ONE, symbol(z.symbol, *z.indices)),))
            del own[t], own[rest[0][0]]
            factors = tuple((other, p) if x == z else (x, p) for x, p in t.factors)
            own[Term(factors, t.bound)] = -c
            break
    return Expression(tuple(own.items()))


def _labels(t: Term) -> list[Atom]:
    """The labels of a term with log [x = c] in it, those that are not known first."""
    found = [x for x, _ in t.factors if x.symbol is not None and x.symbol.binary]
    return sorted(found, key=lambda x: x.known) if indicates(t) else []


def forced(own: Own) -> bool:
    """Whether a label of two values must be 1 where x = c fails: λ has −log [x = c]."""
    member = own.member
    return not member.one_hot and any(
        indicates(t) and c < 0 for p in member.block.parts for t, c in p.expected.terms
    )


def certain(own: Own, partition: str, eq: Equations) -> str:
    """A(λ) + log [x = c] of each label: where λ is ∞ this is λ without the indicator.

    With c₁ = λ + log [x = c] the two are log(exp(log [x = c]) + exp(c₁)).
    """
    (part,) = own.member.block.parts
    kept = tuple((t, c) for t, c in part.expected.terms if not indicates(t))
    bare = eq.equation(eq.own(f"{own.name}_bare"), part.statistic.places, Expression(kept))
    whole, at = own.natural[0], bare.letters
    is_forced = n.Compare("==", a.ref(whole, *at), n.Named("inf"))
    name = eq.own(f"{own.name}_certain")
    eq.let(a.Let(name, at, n.Select(is_forced, a.ref(bare.name, *at), a.ref(partition, *at))))
    return name


def without(e: Expression, names: set[str]) -> Expression:
    """The terms in which none of these symbols stands."""
    kept = tuple((t, c) for t, c in e.terms if not any(holds(x, names) for x, _ in t.factors))
    return Expression(kept)


def holds(x: Atom, names: set[str]) -> bool:
    """Whether one of the symbols stands in an atom."""
    if x.kind == "symbol":
        return x.name in names
    return any(holds(y, names) for e in x.arguments for t, _ in e.terms for y, _ in t.factors)


def summed(own: Own, name: str, eq: Equations) -> n.Node:
    """Σ over elements, as often as each counts."""
    letters: tuple[str, ...] = ()
    for i in own.lowered.elements:
        letters = (*letters, eq.letter(i.axis, i.name, letters))
    where = dict(zip((i.name for i in own.lowered.elements), letters, strict=True))
    value = a.ref(name, *letters)
    measure = own.member.block.measure
    weighted = value if measure.number == 1 else n.mul(eq.expr(measure, where), value)
    return a.Red("sum", letters, weighted) if letters else weighted


def pairings(own: Own, eq: Equations) -> list[n.Node]:
    """⟨λ_b, E T_b⟩ over all elements, statistic by statistic."""
    from blrgen.program.model.family import negated

    if own.member.block.kind != "element":
        return own.lowered.paired(own.natural)
    turned = set(negated(own.lowered.geometry)) if own.lowered.geometry else set()
    out: list[n.Node] = []
    for k, s in enumerate(own.member.statistics):
        letters: tuple[str, ...] = ()
        for i in s.places:
            letters = (*letters, eq.letter(i.axis, i.name, letters))
        where = dict(zip((i.name for i in s.places), letters, strict=True))
        value = n.mul(a.ref(own.natural[k], *letters), a.ref(own.means[k], *letters))
        measure = own.member.block.measure
        if measure.number != 1:
            value = n.mul(eq.expr(measure, where), value)
        total: n.Node = a.Red("sum", letters, value) if letters else value
        minus = own.member.family.natural[k].symbol in turned
        out.append(n.neg(total) if minus else total)
    return out
