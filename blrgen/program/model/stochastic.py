"""Steps over some rows: local blocks to their fixed point row by row, global ones a part ρ of it.

    for d:
        for r: first local block, given the others at r − 1; the others, from 0 on
        until they move less than 10⁻¹⁰
        the first local block once more
    λ ← (1 − ρ) λ + ρ (what a row does not change + N/M · Σ over the rows of the step)

The objective of all rows is the same program, without the last line.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from blrgen.algebra.indexed import Expression
from blrgen.algebra.indexed.build import multiplied, power, symbol
from blrgen.algebra.indexed.values import Symbol, Term
from blrgen.errors import UserError
from blrgen.expect.blocks.values import Block
from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a
from blrgen.program.model.expressions import Equations, Reader
from blrgen.program.model.member import named

if TYPE_CHECKING:
    from blrgen.program.model.own import Own

MOST_ROUNDS = 500
RESTS = Fraction(1, 10**10)
SCALE, RATE = "scale", "rho"
_SCALE = Symbol(SCALE, known=True, lower=Fraction(0))


def scaled_block(block: Block, axis: str) -> Block:
    """The block with N/M on every sum over the rows of a step."""
    parts = tuple(replace(p, expected=scaled_sums(p.expected, axis)) for p in block.parts)
    return replace(block, parts=parts)


def scaled_sums(e: Expression, axis: str) -> Expression:
    """The expression with N/M on every sum over the axis, numbers of its places among them."""
    found: list[tuple[Term, Fraction]] = []
    for term, c in e.terms:
        one = Expression(((term, c),))
        found += multiplied(one, *[symbol(_SCALE)] * _count(term, axis)).terms
    return Expression(tuple(found))


def whole_sizes(e: Expression, axis: str) -> Expression:
    """The expression in a step over some rows: a number of places is that of all of them."""
    found: list[tuple[Term, Fraction]] = []
    for term, c in e.terms:
        count = sum(int(p) for x, p in term.factors if x.kind == "size" and x.name == axis)
        one = Expression(((term, c),))
        found += multiplied(one, power(symbol(_SCALE), count)).terms if count else one.terms
    return Expression(tuple(found))


def _count(term: Term, axis: str) -> int:
    """How many sums over the axis a term has, numbers of its places counted."""
    sums = sum(r.axis == axis for r in term.bound)
    return sums + sum(int(p) for x, p in term.factors if x.kind == "size" and x.name == axis)


def settled(
    eq: Equations, readers: dict[str, Reader], blocks: Sequence[Own],
    update: Callable[[Own], None], most: int | None = None,
) -> None:  # fmt: skip
    """The local blocks at their fixed point, or after the most rounds that there may be.

    `update(own)` writes a block's equations.
    """
    first, others = blocks[0], blocks[1:]
    batch = eq.letter(first.member.element[0].axis, first.member.element[0].name, ())
    r = eq.own("_round")
    eq.letters[r] = a.Letter(r, most or MOST_ROUNDS)
    before = len(eq.body)
    guessed: dict[str, str] = {}
    for own in others:
        for s in own.member.statistics:
            guess = eq.own(f"{own.name}_guess")
            guessed[guess] = s.name
            readers[s.name] = named(guess)
    update(first)
    for own in others:
        update(own)
    inside = eq.body[before:]
    del eq.body[before:]
    made = {}
    for own in others:
        for s, name in zip(own.member.statistics, own.means, strict=True):
            made[next(g for g, x in guessed.items() if x == s.name)] = name
    eq.body += looped(eq, inside, made, batch, r)
    for own in others:
        own.natural = tuple(_ended(eq, x, batch, r) for x in own.natural)
        own.means = tuple(_ended(eq, x, batch, r) for x in own.means)
        own.lowered.last = own.means
        for s, name in zip(own.member.statistics, own.means, strict=True):
            readers[s.name] = named(name)
    update(first)


def looped(
    eq: Equations, inside: Sequence[a.Statement], made: dict[str, str], batch: str, r: str
) -> list[a.Statement]:
    """The equations round after round, those that no round changes before them.

    Blocks that nothing of another is read by need no rounds.
    """
    read = {x.name for s in a.lets(tuple(inside)) for x in a.refs(s.expr)}
    guessed = {name for guess, name in made.items() if guess in read}
    turning: set[str] = set()
    lets: list[a.Let] = []
    outside: list[a.Statement] = []
    for s in inside:
        if isinstance(s, a.Seq):
            outside.append(_unturned(s, turning, made, r))
            continue
        e = _in_round(s.expr, turning, made, r)
        if r not in a.free(e) and s.name not in guessed:
            outside.append(s)
            continue
        turning.add(s.name)
        init = n.ZERO if s.name in guessed else None
        lets.append(replace(s, letters=(r, *s.letters), expr=e, init=init))
    if not lets:
        return outside
    small = eq.own("small")
    letters = {s.name: s.letters for s in lets}
    moves: list[n.Node] = []
    for name in (x for x in made.values() if x in guessed):
        own = tuple(x for x in letters[name] if x not in (r, batch))
        now = a.ref(name, *letters[name])
        was = a.Ref(name, tuple(a.Lag(r, -1) if x == r else a.Ix(x) for x in letters[name]))
        size = n.Call("abs", (n.Sub(now, was),))
        moves.append(a.Red("sum", own, size) if own else size)
    stop = a.Let(small, (r, batch), n.Compare("<", n.add(*moves), n.Const(RESTS)))
    rounds = a.Seq(r, (*lets, stop), small)
    return [*outside, a.Seq(batch, (rounds,))]


def _unturned(s: a.Seq, turning: set[str], made: dict[str, str], r: str) -> a.Seq:
    """A recurrence that no round changes; another one is refused."""
    own = {x.name for x in a.lets((s,))}
    read = {x.name for y in a.lets((s,)) for e in y.expressions for x in a.refs(e)} - own
    if read & (turning | made.keys()) or own & {*made.values()}:
        raise UserError("no programs yet for a chain in rounds with other blocks of its rows",
                        why="its recurrence would run anew in every round",
                        how="--vmp does each block once a step")  # fmt: skip
    return s


def _in_round(e: n.Node, turning: set[str], made: dict[str, str], r: str) -> n.Node:
    """What a guess stands for is read one round earlier, what turns in this one."""

    def change(x: n.Node) -> n.Node:
        if isinstance(x, a.Ref) and x.name in made:
            return a.Ref(made[x.name], (a.Lag(r, -1), *x.index))
        if isinstance(x, a.Ref) and x.name in turning:
            return a.Ref(x.name, (a.Ix(r), *x.index))
        return x

    return n.transform(e, change)


def _ended(eq: Equations, name: str, batch: str, r: str) -> str:
    """What a value of the rounds came to."""
    made = next(s for s in a.lets(tuple(eq.body)) if s.name == name)
    if r not in made.letters:
        return name
    letters = tuple(x for x in made.letters if x != r)
    index = tuple(a.Last(r) if x == r else a.Ix(x) for x in made.letters)
    end = eq.own(f"{name}_end")
    let = a.Let(end, letters, a.Ref(name, index), made.structure)
    place = next(k for k, s in enumerate(eq.body) if isinstance(s, a.Seq) and s.letter == batch)
    rows = eq.body[place]
    assert isinstance(rows, a.Seq)
    eq.body[place] = replace(rows, body=(*rows.body, let))
    return end


def blended(eq: Equations, own: Own, was: tuple[str, ...]) -> tuple[str, ...]:
    """(1 − ρ) λ + ρ λ', statistic by statistic."""
    out = []
    made = {s.name: s for s in a.lets(tuple(eq.body))}
    for new, old in zip(own.natural, was, strict=True):
        s = made[new]
        assert old not in made or len(made[old].letters) == len(s.letters)
        rate = a.ref(RATE)
        stay = n.mul(n.Sub(n.ONE, rate), a.ref(old, *s.letters))
        name = eq.own(f"{own.name}_step")
        eq.let(a.Let(name, s.letters, n.add(stay, n.mul(rate, a.ref(new, *s.letters))),
                     s.structure))  # fmt: skip
        out.append(name)
    return tuple(out)
