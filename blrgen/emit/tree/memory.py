"""What every value is called, and where an entry of it lies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from blrgen.emit.tree import nodes as t
from blrgen.errors import InternalError
from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a
from blrgen.program.axes.anf import taken
from blrgen.program.axes.schedule import Schedule
from blrgen.program.axes.scratch import Storage
from blrgen.program.program import fresh

BLOCK = 256  # rows that stay in the fastest cache while all loops pass over them


@dataclass(frozen=True)
class Context:
    """What the letters of the loops around stand for, and rows of arrays taken in them."""

    index: dict[str, n.Node] = field(default_factory=dict)
    rows: dict[tuple[str, str], str] = field(default_factory=dict)  # (array, letter) → view
    inner: dict[str, n.Node] = field(default_factory=dict)  # letter → place in such a view
    blocks: frozenset[str] = frozenset()  # the letters inside of the blocks that are under way

    def at(self, letter: str, place: n.Node) -> Context:
        return replace(self, index={**self.index, letter: place})


class Memory:
    """Names and axes of everything that a schedule stores."""

    def __init__(
        self, plan: Schedule, storages: dict[str, Storage], outside: frozenset[str] = frozenset()
    ) -> None:
        self.plan, self.program, self.storages = plan, plan.program, storages
        p = plan.program
        self.letters = {x.name: x for x in p.letters}
        self.base = plan.base
        self.ragged = {x.size: x for x in p.letters if x.under}
        self.taken = taken(p) | set(plan.base)
        self.made = {s.name: s for s in p.lets}
        self.given = {q.name: q for q in p.given}
        self.truths = {s.name for s in p.lets if isinstance(s.expr, n.Compare)}
        self.ends = {t.last_of(s.letter).name for s in a.recurrences(p.body)}
        self.outside = outside  # numbers that lie in memory: results of parallel loops
        self.words = self.own("words")  # memory of what draws are made from
        self.works: dict[str, tuple[str, ...]] = {}  # memory of linear algebra, with its letters
        self.values = {name: self._value(name) for name in storages}
        self.taken |= {self.earlier(name) for name, s in storages.items() if s.two}

    def _value(self, name: str) -> str:
        """The out array itself where all of it is kept, else a name beside it."""
        if name not in self.program.outs or self.is_out(name):
            return name
        return self.own(f"{name}_now")

    def own(self, name: str) -> str:
        name = fresh(name, self.taken)
        self.taken.add(name)
        return name

    def is_out(self, name: str) -> bool:
        """Whether the value's memory is the array that is handed out."""
        s = self.storages[name]
        whole = s.kept == self.made[name].letters and not s.lagged
        return name in self.program.outs and whole and bool(s.kept)

    def earlier(self, name: str) -> str:
        """Where a value lies whose new one is written beside it."""
        return f"{self.values[name]}_before"

    # -- shapes --------------------------------------------------------------------
    def size(self, letter: str) -> n.Node:
        """How many places a letter has at most, in scratch."""
        if letter in self.base:
            return t.Whole(BLOCK)
        at = self.letters[letter]
        if at.under:
            return t.name(f"{letter}_most")
        return t.Whole(at.size) if isinstance(at.size, int) else t.name(at.size)

    def shape(self, kept: Sequence[str]) -> tuple[n.Node, ...]:
        """Of an array with these letters; what is ragged lies row after row."""
        out: list[n.Node] = [] if kept else [t.Whole(1)]
        for p, x in enumerate(kept):
            under = self.letters[x].under if x in self.letters else ""
            if p + 1 < len(kept) and self.under(kept[p + 1]) == x:
                continue
            whole = bool(under) and p > 0 and kept[p - 1] == under
            out.append(t.name(str(self.letters[x].size)) if whole else self.size(x))
        return tuple(out)

    def row(self, letter: str, under: n.Node) -> list[t.Statement]:
        """Where the row of a ragged letter begins, and how many places it has."""
        pointers = self.letters[letter].pointers
        low, high = (t.Entry(pointers, (t.plus(under, t.Whole(k)),)) for k in (0, 1))
        start = t.name(f"{letter}_start")
        rows = t.Assign(t.name(f"{letter}_rows"), t.Difference(high, start))
        return [t.Assign(start, low), rows]

    def under(self, letter: str) -> str:
        return self.letters[letter].under if letter in self.letters else ""

    # -- entries ---------------------------------------------------------------------
    def read(self, r: a.Ref, ctx: Context, earlier: bool) -> n.Node:
        """The entry that a reference means."""
        if r.name in self.given:
            q = self.given[r.name]
            if not q.sizes:
                return t.name(r.name)
            drop = [p - 1 for p, x in enumerate(q.sizes) if x in self.ragged]
            index = [i for p, i in enumerate(r.index) if p not in drop]
            flat = [x in self.ragged for p, x in enumerate(q.sizes) if p not in drop]
            return self.entry(r.name, index, flat, ctx)
        store = self.storages[r.name]
        name = self.values[r.name]
        if earlier and store.two:
            name = self.earlier(r.name)
        at = dict(zip(self.made[r.name].letters, r.index, strict=True))
        return self.stored(name, store.kept, at, ctx, r.name)

    def write(self, s: a.Let, ctx: Context) -> n.Node:
        """Where an equation's value goes."""
        at = dict(zip(s.letters, s.target, strict=True))
        return self.stored(self.values[s.name], self.storages[s.name].kept, at, ctx, s.name)

    def out(self, s: a.Let, ctx: Context) -> n.Node:
        """The entry of the array that a copy goes to."""
        if s.at:
            sizes = self.program.sizes[s.name]
            drop = [p - 1 for p, x in enumerate(sizes) if x in self.ragged]
            index = [i for p, i in enumerate(s.at) if p not in drop]
            flat = [x in self.ragged for p, x in enumerate(sizes) if p not in drop]
            return self.entry(s.name, index, flat, ctx)
        at = dict(zip(s.letters, s.target, strict=True))
        return self.stored(s.name, s.letters, at, ctx) if at else t.Entry(s.name, ())

    def stored(
        self,
        array: str,
        kept: Sequence[str],
        at: dict[str, n.Node],
        ctx: Context,
        of: str = "",
    ) -> n.Node:
        if not kept:
            return t.Entry(array, (t.Whole(0),)) if of in self.outside else t.name(array)
        index, flat = [], []
        for p, x in enumerate(kept):
            if p + 1 < len(kept) and self.under(kept[p + 1]) == x:
                continue
            index.append(a.Ix(x) if x in self.base else at[x])
            flat.append(bool(self.under(x)) and kept[p - 1 : p] == (self.under(x),))
        return self.entry(array, index, flat, ctx)

    def entry(
        self, array: str, index: Sequence[n.Node], flat: Sequence[bool], ctx: Context
    ) -> t.Entry:
        """By a row of the array where one has been taken; `flat` are axes of all ragged rows."""
        places = [self.in_all(i, ctx) if x else self.place(i, ctx)
                  for i, x in zip(index, flat, strict=True)]  # fmt: skip
        first = index[0] if index else None
        letter = first.letter if isinstance(first, a.Ix | a.Lag) else ""
        if (array, letter) in ctx.rows:
            view, place = ctx.rows[array, letter], ctx.inner[letter]
            if isinstance(first, a.Lag):
                place = t.plus(place, t.Whole(first.by))
            return t.Entry(view, (place, *places[1:]))
        return t.Entry(array, tuple(places))

    def in_all(self, i: n.Node, ctx: Context) -> n.Node:
        """A place of a row, counted from the begin of the first one."""
        assert isinstance(i, a.Ix | a.Lag | a.Last)
        return t.plus(t.name(f"{i.letter}_start"), self.place(i, ctx))

    def place(self, i: n.Node, ctx: Context) -> n.Node:
        """An index as a whole number."""
        if isinstance(i, a.Ix):
            return ctx.index[i.letter]
        if isinstance(i, a.Lag):
            return t.plus(ctx.index[i.letter], t.Whole(i.by))
        if isinstance(i, a.Num):
            return t.Whole(i.value)
        if isinstance(i, a.At):
            return self.read(i.ref, ctx, False)
        if isinstance(i, a.Last):
            return t.last_of(i.letter)
        raise InternalError(f"no place: {type(i).__name__}")
