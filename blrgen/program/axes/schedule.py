"""One rule that finds the loops of a program.

Every equation wants a nest of loops: its letters and those it reduces, in one order.  Walking
the equations, each goes into the earliest loop over its leading letter, with the same bound,
that comes after everything it depends on; then the same again inside of each loop.  It may
stand in the very loop that makes x if x has the loop's letter, is not reduced over it and is
read there at the letter itself, or a step back in the loop's own recurrence.  What needs no
loop stands as early as it can.  Nothing else decides what is one pass over the data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a
from blrgen.program.axes.innermost import across, along, as_it_lies

Bound = tuple[tuple[str, str], ...]  # pairs (i, j) with i ≤ j, one of which is an outer letter


@dataclass(eq=False)
class Item:
    """An equation, the loops that it wants, and whether it is a copy into a given array."""

    let: a.Let
    nest: tuple[str, ...]
    around: tuple[a.Seq, ...] = ()
    store: bool = False
    deps: set[Item] = field(default_factory=set)

    def bound(self, depth: int) -> Bound:
        """What ties the letter at this depth to letters outside of it, and to a truth value."""
        outer, own = set(self.nest[:depth]), self.nest[depth]
        found = tuple(
            (x, y)
            for x, y in self.let.bounds
            if (x == own and y in outer) or (y == own and x in outer)
        )
        if self.let.where is None or self.let.where[0] != own:
            return found
        truth = self.let.where[1]
        return (*found, (own, truth.name)) if outer >= set(a.free(truth)) else found

    def seq(self, depth: int) -> a.Seq | None:
        return self.around[depth] if depth < len(self.around) else None


@dataclass(eq=False)
class Loop:
    """The body for each value of the letter; `first` is the body at a recurrence's first index."""

    letter: str
    bound: Bound
    seq: a.Seq | None
    blocked: bool
    items: list[Item] = field(default_factory=list)
    body: list[Loop | Item] = field(default_factory=list)
    first: list[Loop | Item] | None = None


@dataclass(frozen=True)
class Block:
    """Letters for the rows of a block: innermost, and outside of other letters."""

    inner: str
    outer: str


@dataclass(frozen=True)
class Schedule:
    """Loops in their order, and the letters inside of each letter that runs in blocks."""

    program: a.Program
    body: tuple[Loop | Item, ...]
    order: tuple[str, ...]
    blocks: dict[str, Block] = field(default_factory=dict)

    @property
    def base(self) -> dict[str, str]:
        """For each letter of rows in a block the letter of all rows."""
        pairs = [(y, x) for x, b in self.blocks.items() for y in (b.inner, b.outer)]
        return dict(pairs)


def schedule(
    program: a.Program,
    order: Sequence[str],
    blocks: dict[str, Block] | None = None,
    columns: dict[str, str] | None = None,
    rows: dict[str, str] | None = None,
) -> Schedule:
    """The loops of a program; for equations in blocks their letter is in `columns` or `rows`."""
    plan = Schedule(program, (), tuple(order), blocks or {})
    work = _Scheduling(plan, list(order), columns or {}, rows or {})
    return replace(plan, body=tuple(work.placed(work.items(), 0)))


class _Scheduling:
    def __init__(
        self, plan: Schedule, order: list[str], columns: dict[str, str], rows: dict[str, str]
    ) -> None:
        self.plan, self.order, self.columns, self.rows = plan, order, columns, rows
        self.all: list[Item] = []

    # -- what is to be placed --------------------------------------------------------
    def items(self) -> list[Item]:
        """One an equation, and one for each array that results go to."""
        program = self.plan.program
        found = [self.item(s, around) for s, around in a.placed(program.body)]
        made = {i.let.name: i for i in found}
        for out in program.outs:
            found.append(self.copy(out, made[out]))
        for given, name in program.writes:
            found.append(self.copy(given, made[name]))
        for put in program.assembled:
            found += [self.put(put.name, index, e, made) for index, e in put.entries]
        for i in found:
            i.deps = self.dependencies(i, found, made)
        self.all = found
        return found

    def item(self, s: a.Let, around: tuple[a.Seq, ...]) -> Item:
        return Item(s, self.nest(s, around), around)

    def copy(self, target: str, maker: Item) -> Item:
        """Into the array `target`; with the maker's recurrences around it."""
        s = maker.let
        around = tuple(x for x in maker.around if x.letter in s.letters)
        let = a.Let(target, s.letters, a.Ref(s.name, tuple(map(a.Ix, s.letters))))
        let = replace(let, bounds=s.bounds if s.mirror else (), mirror=s.mirror)
        nest = self.nest(let, around, s.name)
        return Item(let, nest, around, store=True)

    def put(self, array: str, index: tuple[n.Node, ...], e: n.Node, made: dict[str, Item]) -> Item:
        """One entry of an array that is put together."""
        letters = tuple(x for i in index for x in a.free(i))
        around = tuple(x for y in e.names if y in made for x in made[y].around)
        around = tuple(x for x in dict.fromkeys(around) if x.letter in letters)
        let = a.Let(array, letters, e, at=index)
        return Item(let, self.nest(let, around, array), around, store=True)

    def nest(self, s: a.Let, around: tuple[a.Seq, ...], of: str = "") -> tuple[str, ...]:
        """The letters of the recurrences, then all others in the common order; `of` is copied."""
        outer = tuple(x.letter for x in around)
        if isinstance(s.expr, a.Lin):
            inner = {x for x in s.letters if x not in a.own_letters(s.expr)}
        else:
            inner = set(s.letters) if not s.at else {x for i in s.at for x in a.free(i)}
            for e in (s.expr, s.first):
                inner |= set(e.letters if isinstance(e, a.Red) else ())
        rest = sorted(inner - set(outer), key=self.order.index)
        rest.sort(key=(along(s) or (across(s) if around else "")).__eq__)
        rest = as_it_lies(s, rest)
        return (*outer, *self.in_block(s, rest, of or s.name))

    def in_block(self, s: a.Let, letters: list[str], name: str) -> list[str]:
        """The letters with that of a block's rows: at the end, or before all but the rows'."""
        column, row = self.columns.get(name, ""), self.rows.get(name, "")
        if column in letters:
            return [*letters, self.plan.blocks[column].inner]
        if row not in letters:
            return letters
        block = self.plan.blocks[row]
        if isinstance(s.expr, a.Draw):
            return [row]
        others = [x for x in letters if x != row]
        gathers = isinstance(s.expr, a.Ref) and any(isinstance(i, a.At) for i in s.expr.index)
        single = others or s.at or gathers
        return [row, block.outer, *others] if single else [row, block.inner]

    def dependencies(self, i: Item, items: list[Item], made: dict[str, Item]) -> set[Item]:
        """What must be there before: what is read, and who reads what is overwritten."""
        parts = [*i.let.expressions, *i.let.at, *_truth(i.let)]
        found = {made[x] for x in i.let.after}
        for r in (r for e in parts for r in a.refs(e)):
            maker = made.get(r.name)
            if maker is not None and maker is not i and not is_earlier(r, maker, i):
                found.add(maker)
        if i.store:
            own = made.get(i.let.name)
            readers = [j for j in items if j is not i and j is not own and not j.store]
            found |= {j for j in readers if any(i.let.name in e.names for e in j.let.expressions)
                      and i.let.name not in made}  # fmt: skip
        return found

    # -- where it goes -----------------------------------------------------------------
    def placed(self, items: list[Item], depth: int) -> list[Loop | Item]:
        """Loops and single equations in their order."""
        body: list[Loop | Item] = []
        where: dict[Item, Loop | Item] = {}
        for item in items:
            deps = [d for d in item.deps if d in where]
            after = max((body.index(where[d]) + 1 for d in deps), default=0)
            if len(item.nest) == depth:
                while after < len(body) and isinstance(body[after], Item):
                    after += 1
                body.insert(after, item)
                where[item] = item
                continue
            loop = self.loop_for(item, depth, body, where, deps)
            if loop is None:
                loop = self.new_loop(item, depth, items, body, where)
            loop.items.append(item)
            where[item] = loop
        for x in body:
            if isinstance(x, Loop):
                self.fill(x, depth)
        return body

    def fill(self, loop: Loop, depth: int) -> None:
        """The loop's own body, and what it is at the first index."""
        if loop.seq is not None and any(_begins(i, loop) for i in loop.items):
            loop.first = self.placed(self.variant(loop, True), depth + 1)
            loop.body = self.placed(self.variant(loop, False), depth + 1)
        else:
            loop.body = self.placed(loop.items, depth + 1)

    def variant(self, loop: Loop, begun: bool) -> list[Item]:
        """The equations at the first index, or at all others, without those that idle there."""
        out: dict[Item, Item] = {}
        for i in loop.items:
            let, nest = i.let, i.nest
            if let.first is not None and _begins(i, loop):
                let = replace(let, expr=let.first if begun else let.expr, first=None)
                nest = self.nest(let, i.around)
            out[i] = Item(let, nest, i.around, i.store)
        for i, new in out.items():
            new.deps = {out.get(d, d) for d in i.deps}
        outside = {x for i in self.all if i not in out for e in _parts(i) for x in e.names}
        outside |= _late(loop.items)
        items = list(out.values())
        while True:
            names = outside.union(*(e.names for i in items for e in _parts(i)))
            left = [i for i in items if i.let.expr != n.ZERO or i.let.name in names or i.store]
            if len(left) == len(items):
                return items
            items = left

    def loop_for(
        self,
        item: Item,
        depth: int,
        body: list[Loop | Item],
        where: dict[Item, Loop | Item],
        deps: list[Item],
    ) -> Loop | None:
        """The earliest loop that the item may join; one that waits for what the item reads."""
        letter, bound, seq = item.nest[depth], item.bound(depth), item.seq(depth)
        for p, x in enumerate(body):
            if not isinstance(x, Loop) or x.letter != letter or x.bound != bound:
                continue
            if x.blocked != self.is_blocked(item, letter):
                continue
            if seq is not x.seq and (seq is not None or (x.seq is not None and x.seq.stop)):
                continue
            places = {d: body.index(where[d]) for d in deps}
            if not all(q != p or self.fits(d, item, x) for d, q in places.items()):
                continue
            last = max(places.values(), default=-1)
            if last > p and not self.may_wait(x, body[p + 1 : last + 1]):
                continue
            body.insert(max(p, last), body.pop(p))
            return x
        return None

    def may_wait(self, loop: Loop, others: list[Loop | Item]) -> bool:
        """Whether a loop may come after others: no recurrence, and they read nothing of it."""
        items = [i for x in others for i in (x.items if isinstance(x, Loop) else [x])]
        return loop.seq is None and not any({*i.deps} & {*loop.items} for i in items)

    def new_loop(
        self,
        item: Item,
        depth: int,
        items: list[Item],
        body: list[Loop | Item],
        where: dict[Item, Loop | Item],
    ) -> Loop:
        """A loop of its own, as early as it can be; a recurrence comes as a whole."""
        seq = item.seq(depth)
        whole = [i for i in items if seq is not None and i.seq(depth) is seq] or [item]
        deps = {d for i in whole for d in i.deps if d in where}
        after = max((body.index(where[d]) + 1 for d in deps), default=0)
        letter = item.nest[depth]
        loop = Loop(letter, item.bound(depth), seq, self.is_blocked(item, letter))
        body.insert(after, loop)
        return loop

    def is_blocked(self, item: Item, letter: str) -> bool:
        """Whether the item does the letter's loop in blocks."""
        block = self.plan.blocks.get(letter)
        filled = isinstance(item.let.expr, a.Draw) and self.rows.get(item.let.name) == letter
        return block is not None and (filled or bool({block.inner, block.outer} & set(item.nest)))

    def fits(self, d: Item, item: Item, loop: Loop) -> bool:
        """Whether the item may stand in the loop in which d stands."""
        letter = loop.letter
        base = self.plan.base.get(letter, letter)
        if item.store and item.let.name in {x for e in _parts(d) for x in e.names}:
            maker, readers = item, d  # d reads what is overwritten
        else:
            maker, readers = d, item
        own, name = maker.let, maker.let.name
        over = own.expr.letters if isinstance(own.expr, a.Red) else ()
        if own.at or base not in own.letters:  # made anew at each index of a recurrence around both
            both = all(any(x is loop.seq for x in i.around) for i in (maker, readers))
            return both and not maker.store and letter not in over
        if own.mirror and base in own.letters[-2:] and own.bounds != readers.let.bounds:
            return False
        place = own.letters.index(base)
        init = readers.let.init
        if init is not None and name in init.names and not _outside(letter, readers):
            return False
        parts = _parts(readers) if init is None else (*_parts(readers), init)
        found = [r for e in parts for r in a.refs(e) if r.name == name]
        found = [r for r in found if not is_earlier(r, maker, readers)]
        return all(r.index[place] == a.Ix(base) for r in found)


def _parts(i: Item) -> tuple[n.Node, ...]:
    parts = (i.let.expr, i.let.first, *i.let.at, *_truth(i.let))
    return tuple(e for e in parts if e is not None)


def _outside(letter: str, i: Item) -> bool:
    """Whether a loop is around the recurrence that the item is on."""
    own = next((x.letter for x in reversed(i.around) if x.letter in i.let.letters), "")
    around = [x.letter for x in i.around]
    return letter in around and letter != own and around.index(letter) < around.index(own)


def _truth(s: a.Let) -> tuple[a.Ref, ...]:
    return () if s.where is None else (s.where[1],)


def is_earlier(r: a.Ref, maker: Item, reader: Item) -> bool:
    """Whether the value of the index before is read, in one recurrence around both."""
    common = {x.letter for x in maker.around if any(x is y for y in reader.around)}
    own = zip(maker.let.letters, r.index, strict=True)
    return any(isinstance(i, a.Lag) and x == i.letter and x in common for x, i in own)


def _late(items: list[Item]) -> set[str]:
    """What is read of another place of a recurrence, and so is there at the first one, too."""
    found = (r for i in items for e in _parts(i) for r in a.refs(e))
    return {r.name for r in found if any(isinstance(x, a.Lag) for x in r.index)}


def _begins(i: Item, loop: Loop) -> bool:
    """Whether the item has an equation of its own at the loop's first index."""
    own = next((x for x in reversed(i.around) if x.letter in i.let.letters), None)
    return i.let.first is not None and own is loop.seq
