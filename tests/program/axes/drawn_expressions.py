"""Expressions drawn by seed, of what is known so far: well typed, and finite wherever they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from random import Random

from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a

TAME = ("tanh", "logistic", "softplus", "exp", "log", "sqrt", "over", "square", "max", "select")
OPS = ("sum", "sum", "sum", "max", "lse", "sumlog")


@dataclass(frozen=True)
class Known:
    """A quantity that may be read: its axes, and at which places.

    `at` are letters of recurrences under way, at which alone it is read; `last` one that has
    ended early, after which only the value at its end is.
    """

    name: str
    sizes: tuple[a.Size, ...]
    structure: str = "dense"
    positive: bool = False
    labels: a.Size = ""
    at: tuple[str, ...] = ()
    last: str = ""
    made: tuple[str, ...] = ()


class Expressions:
    """Draws expressions among letters."""

    def __init__(self, rng: Random, letters: Sequence[a.Letter], lengths: dict[a.Size, int]):
        self.rng, self.letters, self.lengths = rng, tuple(letters), lengths
        self.letter = {x.name: x for x in letters}
        self.known: dict[str, Known] = {}
        self.inside: tuple[str, ...] = ()
        self.lags: tuple[str, ...] = ()  # what may be read a step back in this equation
        self.coming: dict[str, Known] = {}  # made in the recurrences under way, perhaps later
        self.late = False  # whether there is an index before: the first has an equation of its own
        self.ragged_full = True  # whether no row is empty
        self.own: set[str] = set()  # what equations have made
        self.begun: set[str] = set()  # what has a value before the first index

    # -- letters -------------------------------------------------------------------------
    def fresh_letters(self, ctx: Sequence[str], most: int) -> tuple[str, ...]:
        """Letters that are not in use; a ragged one only behind its own or with it."""
        free = [x for x in self.letters if x.name not in ctx and x.name not in self.inside]
        self.rng.shuffle(free)
        out: list[str] = []
        for x in free:
            if len(out) >= most:
                break
            if x.under and x.under not in (*ctx, *out):
                if x.under in self.inside or len(out) + 2 > most or self.rng.random() < 0.5:
                    continue
                out += [x.under, x.name]
            elif x.name not in out:
                out.append(x.name)
        return tuple(out)

    def arranged(self, letters: Sequence[str]) -> tuple[str, ...]:
        """The letters with each ragged one right behind the one that it is under, or without it."""
        letters = [x for x in letters if self.letter[x].under in ("", *letters)]
        plain = [x for x in letters if not self.letter[x].under]
        for w in (x for x in letters if self.letter[x].under):
            plain.insert(plain.index(self.letter[w].under) + 1, w)
        return tuple(plain)

    def over(self, size: a.Size, ctx: Sequence[str]) -> list[str]:
        return [x for x in ctx if self.letter[x].size == size]

    # -- references ----------------------------------------------------------------------
    def index(self, q: Known, ctx: Sequence[str], wanted: str = "") -> tuple[n.Node, ...] | None:
        """Places for the axes of a quantity, one of them a wanted letter."""
        out: list[n.Node] = []
        for p, size in enumerate(q.sizes):
            own = q.at[p] if q.at else ""
            under = self.under(q.sizes, p)
            i: n.Node | None
            if own:
                i = self.own_place(q, own, ctx)
            elif q.made and q.made[p] == q.last:
                i = a.Last(q.last) if self.ragged_full or not self.letter[q.last].under else None
            elif under:
                i = self.ragged_place(size, out[-1], ctx)
            else:
                fresh = [x for x in ctx if a.Ix(x) not in out]
                some = fresh if self.over(size, fresh) and self.rng.random() < 0.8 else ctx
                i = self.place(size, some, wanted, self.is_over_ragged(q.sizes, p))
            if i is None:
                return None
            out.append(i)
        return tuple(out)

    def under(self, sizes: Sequence[a.Size], p: int) -> bool:
        return any(x.size == sizes[p] and x.under for x in self.letters)

    def is_over_ragged(self, sizes: Sequence[a.Size], p: int) -> bool:
        return p + 1 < len(sizes) and self.under(sizes, p + 1)

    def own_place(self, q: Known, letter: str, ctx: Sequence[str]) -> n.Node | None:
        """At the index of its recurrence, or a step back."""
        if letter not in ctx:
            return None
        innermost = self.inside[-1] == letter if self.inside else False
        lag = innermost and q.name in self.lags
        if lag and (q.name not in self.known or self.rng.random() < 0.6):
            return a.Lag(letter, 1 if self.letter[letter].down else -1)
        return a.Ix(letter) if q.name in self.known else None

    def ragged_place(self, size: a.Size, before: n.Node, ctx: Sequence[str]) -> n.Node | None:
        if not isinstance(before, a.Ix):
            return None
        found = [x for x in self.over(size, ctx) if self.letter[x].under == before.letter]
        return a.Ix(self.rng.choice(found)) if found else None

    def place(self, size: a.Size, ctx: Sequence[str], wanted: str, plain: bool) -> n.Node | None:
        found = self.over(size, ctx)
        if wanted in found and self.rng.random() < 0.7:
            return a.Ix(wanted)
        labels = [] if plain else [q for q in self.known.values() if q.labels == size]
        if labels and self.rng.random() < 0.35:
            q = self.rng.choice(labels)
            index = self.index(q, ctx)
            if index is not None and any(isinstance(i, a.Ix) for i in index):
                return a.At(a.Ref(q.name, index))
        if found and (plain or self.rng.random() < 0.9):
            chosen = self.rng.choice(found)
            if self.late and chosen == self.inside[-1] and not plain and self.rng.random() < 0.3:
                return a.Lag(chosen, 1 if self.letter[chosen].down else -1)
            return a.Ix(chosen)
        if plain or not self.lengths[size]:
            return None
        return a.Num(self.rng.randrange(self.lengths[size]))

    def readable(self) -> list[Known]:
        found = {**self.coming, **self.known}
        return [q for q in found.values() if q.labels == ""]

    def ref(self, ctx: Sequence[str], wanted: str = "", positive: bool = False) -> a.Ref | None:
        """An entry of something, at best with the wanted letter."""
        every = [q for q in self.readable() if q.positive or not positive]
        if wanted:
            every = [q for q in every if self.letter[wanted].size in q.sizes]
        self.rng.shuffle(every)
        if self.rng.random() < 0.5:  # what was made rather than what is given
            every.sort(key=lambda q: q.name not in self.own)
        for q in every[:6]:
            index = self.index(q, ctx, wanted)
            if index is not None and (not wanted or wanted in a.free(a.Ref(q.name, index))):
                return a.Ref(q.name, index)
        return None

    # -- expressions ---------------------------------------------------------------------
    def const(self) -> n.Node:
        return n.Const(self.rng.choice([Fraction(1, 2), Fraction(2), Fraction(-1), Fraction(3, 4)]))

    def leaf(self, ctx: Sequence[str]) -> n.Node:
        u = self.rng.random()
        if u < 0.06:
            return self.const()
        if u < 0.13:
            same = self.same(ctx)
            if same is not None:
                return same
        return self.ref(ctx) or self.const()

    def same(self, ctx: Sequence[str]) -> n.Node | None:
        """1 where two places are the same."""
        plain = [x for x in ctx if not self.letter[x].under]
        if not plain:
            return None
        x = self.rng.choice(plain)
        size = self.letter[x].size
        other = self.place(size, [y for y in ctx if y != x], "", False)
        if other is None:
            return None
        pair = (a.Ix(x), other) if self.rng.random() < 0.5 else (other, a.Ix(x))
        return a.Is(*pair)

    def expr(self, ctx: Sequence[str], depth: int) -> n.Node:
        """An expression whose letters are among those."""
        u = self.rng.random()
        if depth <= 0 or u < 0.15:
            return self.leaf(ctx)
        if u < 0.40:
            parts = [self.expr(ctx, depth - 1) for _ in range(self.rng.choice((2, 2, 3)))]
            return n.mul(*parts)
        if u < 0.58:
            return n.add(self.expr(ctx, depth - 1), self.expr(ctx, depth - 1))
        if u < 0.68:
            return n.Sub(self.expr(ctx, depth - 1), self.expr(ctx, depth - 1))
        if u < 0.82:
            return self.tame(self.expr(ctx, depth - 1), ctx, depth)
        return self.red(ctx, depth) or self.leaf(ctx)

    def tame(self, e: n.Node, ctx: Sequence[str], depth: int) -> n.Node:
        """A function of an expression, finite and smooth wherever that is."""
        kind = self.rng.choice(TAME)
        square = n.add(n.ONE, n.Pow(e, 2))
        if kind == "exp":
            return n.Call("exp", (n.neg(n.Pow(e, 2)),))
        if kind in ("log", "sqrt"):
            return n.Call(kind, (square,))
        if kind == "over":
            return n.div(self.expr(ctx, depth - 2), square)
        if kind == "square":
            return n.Pow(e, 2)
        if kind == "max":
            return n.Call(self.rng.choice(("max", "min")), (e, self.leaf(ctx)))
        if kind == "select":
            off = n.Const(Fraction(self.rng.randrange(-900, 900) * 2 + 1, 1517))
            test = n.Compare(self.rng.choice(("<", ">")), e, off)
            return n.Select(test, self.leaf(ctx), self.expr(ctx, depth - 2))
        return n.Call(kind, (e,))

    def red(self, ctx: Sequence[str], depth: int, letters: tuple[str, ...] = ()) -> n.Node | None:
        """A reduction over letters that are not in use."""
        most = self.rng.choice((1, 1, 1, 2, 2, 3))
        over = letters or self.fresh_letters(ctx, most)
        if not over:
            return None
        op = self.rng.choice(OPS if self.lengths["N"] else ("sum", "sumlog"))
        inner = (*ctx, *over)
        if op == "sum" and self.rng.random() < 0.6:
            arg = self.product(inner, over)
        else:
            arg = self.covered(self.expr(inner, depth - 1), inner, over)
        if arg is None:
            return None
        if op == "sumlog":
            arg = n.add(n.Const(Fraction(1, 2)), n.Pow(arg, 2))
        if op == "lse" and self.rng.random() < 0.2:
            return a.Red(op, over, arg, self.leaf(ctx))
        return a.Red(op, over, arg)

    def covered(self, e: n.Node, ctx: Sequence[str], over: tuple[str, ...]) -> n.Node | None:
        """The expression with a factor or term for each letter that is not in it."""
        for x in over:
            if x not in a.free(e):
                r = self.ref(ctx, x)
                if r is None:
                    return None
                e = n.mul(e, r) if self.rng.random() < 0.6 else n.add(e, r)
        return e

    def product(self, ctx: Sequence[str], over: tuple[str, ...]) -> n.Node | None:
        """A product of entries, as matrices have them; perhaps with one-hot rows."""
        parts: list[n.Node] = []
        for x in over:
            for _ in range(self.rng.choice((1, 1, 2))):
                r = self.ref(ctx, x)
                if r is None:
                    return None
                parts.append(r)
        if self.rng.random() < 0.3:
            parts.append(self.leaf(ctx))
        if self.rng.random() < 0.35:
            hot = self.one_hot(ctx, over)
            parts += [hot] if hot is not None else []
        self.rng.shuffle(parts)
        return self.covered(n.mul(*parts), ctx, over)

    def one_hot(self, ctx: Sequence[str], over: tuple[str, ...]) -> n.Node | None:
        """[label == letter], of a letter that is there."""
        labels = [q for q in self.known.values() if q.labels != ""]
        self.rng.shuffle(labels)
        for q in labels:
            found = self.over(q.labels, ctx)
            index = self.index(q, ctx)
            if found and index is not None and any(isinstance(i, a.Ix) for i in index):
                own = a.free(a.Ref(q.name, index))
                found = [x for x in found if x not in own]
                if found:
                    return a.Is(a.At(a.Ref(q.name, index)), a.Ix(self.rng.choice(found)))
        return None
