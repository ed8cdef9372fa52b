"""The loops of a schedule → statements: plain ones, recurrences, blocks of rows, ragged rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from blrgen.emit.tree import nodes as t
from blrgen.emit.tree.equations import Equations
from blrgen.emit.tree.memory import BLOCK, Context
from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a
from blrgen.program.axes.schedule import Item, Loop
from blrgen.program.axes.scratch import paths


class Body(Equations):
    """Statements for items and loops."""

    def nodes(
        self, body: list[Loop | Item], depth: int, ctx: Context, many: bool
    ) -> list[t.Statement]:
        out: list[t.Statement] = []
        outer, self.factors = self.factors, {}
        for x in body:
            if isinstance(x, Item):
                out += self.item(x, ctx, many)
            else:
                out += self.loop(x, depth, ctx)
        self.factors = outer
        return out

    def loop(self, loop: Loop, depth: int, ctx: Context) -> list[t.Statement]:
        """The loop, between what its sums start from and where they go."""
        items = [i for i, _, _ in paths([loop])]
        before, after = self.around(items, depth, ctx)
        if loop.seq is not None:
            return [*before, *self.recurrence(loop, items, depth, ctx), *after]
        if loop.blocked:
            return [*before, self.blocks(loop, depth, ctx), *after]
        start, stop, inside, head = self.range(loop, ctx)
        rows = loop.letter in self.memory.base or self.in_ragged(ctx) or self.in_row(ctx)
        head, inside = self.entered(loop, inside, head)
        many = all(isinstance(x, Item) for x in loop.body)
        body = (*head, *self.nodes(loop.body, depth + 1, inside, many))
        if not body:  # copies of what is in its place already
            return []
        return [*before, t.For(loop.letter, start, stop, body, rows=rows), *after]

    def in_ragged(self, ctx: Context) -> bool:
        return any(self.memory.letters[x].under for x in ctx.inner if x in self.memory.letters)

    def in_row(self, ctx: Context) -> bool:
        """Whether the loop stands inside of one over the rows of a block."""
        blocks = self.plan.blocks.items()
        return any(ctx.inner.get(x) == t.name(b.outer) for x, b in blocks)

    def range(self, loop: Loop, ctx: Context) -> tuple[n.Node, n.Node, Context, list[t.Statement]]:
        """Where the letter starts and stops."""
        x, letter = t.name(loop.letter), loop.letter
        inside = ctx.at(letter, x)
        if letter in self.memory.base:
            base = self.memory.base[letter]
            row = t.Sum(t.name(f"{base}0"), x)
            inside = inside.at(self.plan.blocks[base].inner, x).at(base, row)
            inside = replace(inside, inner={**ctx.inner, base: x})
            return t.Whole(0), t.name(f"{base}_rows"), inside, []
        start: n.Node = t.Whole(0)
        under = self.memory.under(letter)
        stop = t.name(f"{letter}_rows") if under else self.memory.size(letter)
        for low, high in loop.bound:
            if high in self.memory.truths:
                stop = n.Select(self.truth(high, loop, ctx), stop, t.Whole(0))
            elif low == letter:
                stop = t.plus(ctx.index[high], t.Whole(1))
            else:
                start = ctx.index[low]
        return start, stop, inside, []

    def truth(self, name: str, loop: Loop, ctx: Context) -> n.Node:
        """Whether the loop has places here."""
        wheres = ((i, i.let.where[1]) for i, _, _ in paths([loop]) if i.let.where is not None)
        item, truth = next((i, r) for i, r in wheres if r.name == name)
        return self.expr(truth, item, ctx, False)

    def entered(
        self, loop: Loop, ctx: Context, head: list[t.Statement]
    ) -> tuple[list[t.Statement], Context]:
        """Rows of what is ragged under the loop's letter."""
        for w in self.memory.letters.values():
            if w.under != loop.letter or not any(w.name in i.nest for i, _, _ in paths([loop])):
                continue
            d = ctx.index[loop.letter]
            head += self.memory.row(w.name, d)
            high = t.Entry(w.pointers, (t.plus(d, t.Whole(1)),))
            part = t.Span(t.name(f"{w.name}_start"), high)
            for array in self.flat(w, loop):
                view = self.memory.own(f"{array}_{loop.letter}")
                head.append(t.View(view, t.Entry(array, (part,))))
                ctx = replace(ctx, rows={**ctx.rows, (array, w.name): view})
            ctx = replace(ctx, inner={**ctx.inner, w.name: t.name(w.name)})
        return head, ctx

    def flat(self, w: a.Letter, loop: Loop) -> list[str]:
        """The arrays that are read or written at [under, w] in the loop."""
        found: dict[str, None] = {}
        pair = (a.Ix(w.under), a.Ix(w.name))
        for i, _, _ in paths([loop]):
            for r in (r for e in (*i.let.expressions, *i.let.at) for r in a.refs(e)):
                if _unmoved(r.index[:2]) == pair and self.is_flat(r.name, w):
                    found[self.memory.values.get(r.name, r.name)] = None
            if i.let.target[:2] == pair and (i.store or self.is_flat(i.let.name, w)):
                found[i.let.name if i.store else self.memory.values[i.let.name]] = None
        return list(found)

    def is_flat(self, name: str, w: a.Letter) -> bool:
        """Whether all rows of it are kept."""
        if name in self.memory.given:
            return True
        letters = self.memory.letters
        kept = [letters[x].size for x in self.memory.storages[name].kept if x in letters]
        return letters[w.under].size in kept

    def recurrence(
        self, loop: Loop, items: list[Item], depth: int, ctx: Context
    ) -> list[t.Statement]:
        """Index by index, the first one apart if it has equations of its own."""
        assert loop.seq is not None
        at = self.memory.letters[loop.letter]
        x = t.name(loop.letter)
        size = t.name(f"{loop.letter}_rows") if at.under else self.memory.size(loop.letter)
        out = self.initial(loop, items, ctx)
        begun = loop.first is not None
        inside = ctx.at(loop.letter, x)
        head, inside = self.entered(loop, inside, [])
        once, many = self.around_first(loop, depth, inside), self.rest(loop, depth, inside)
        one: n.Node = t.Whole(1)
        low: n.Node = t.Whole(0)
        high = size
        if begun:
            few = t.Least((one, size))
            start, stop = (t.Difference(size, few), size) if at.down else (low, few)
            low, high = (low, t.plus(size, t.Whole(-1))) if at.down else (one, high)
            if loop.seq.stop:
                (low, high), made, ended = self.shortened(loop, (low, high), inside)
                out, once = [*out, made], [*once, *ended]
            out.append(t.For(loop.letter, start, stop, (*head, *once)))
        out.append(t.For(loop.letter, low, high, (*head, *many), down=at.down))
        last = t.Whole(0) if at.down else t.plus(size, t.Whole(-1))
        return out if loop.seq.stop else [*out, *self.ended(loop, last)]

    def shortened(
        self, loop: Loop, rest: tuple[n.Node, n.Node], ctx: Context
    ) -> tuple[tuple[n.Node, n.Node], t.Statement, list[t.Statement]]:
        """The indices after the first: none where that is the last one already."""
        low, high = rest
        end = t.name(self.memory.own(f"{loop.letter}_end"))
        down = self.memory.letters[loop.letter].down
        none = t.Assign(end, high if down else low)
        own = [*self.ended(loop, t.name(loop.letter)), t.If(self.stops(loop, ctx), (none,))]
        return (end, high) if down else (low, end), t.Assign(end, low if down else high), own

    def stops(self, loop: Loop, ctx: Context) -> n.Node:
        """Whether the recurrence ends at the index at hand."""
        assert loop.seq is not None
        letters = self.memory.made[loop.seq.stop].letters
        return self.memory.read(a.Ref(loop.seq.stop, tuple(map(a.Ix, letters))), ctx, False)

    def ended(self, loop: Loop, last: n.Node) -> list[t.Statement]:
        """The last index, for those who read there."""
        found = any(
            a.Last(loop.letter) in r.index
            for s in self.plan.program.lets for e in s.expressions for r in a.refs(e)
        )  # fmt: skip
        return [t.Assign(t.last_of(loop.letter), last)] if found else []

    def around_first(self, loop: Loop, depth: int, ctx: Context) -> list[t.Statement]:
        return [*self.nodes(loop.first or [], depth + 1, ctx, False), *self.moved(loop)]

    def rest(self, loop: Loop, depth: int, ctx: Context) -> list[t.Statement]:
        """The body, what is remembered for the next index, and whether it goes on."""
        assert loop.seq is not None
        body = [*self.nodes(loop.body, depth + 1, ctx, False), *self.moved(loop)]
        if loop.seq.stop:
            ended = t.If(self.stops(loop, ctx), (t.Break(),))
            body += [*self.ended(loop, t.name(loop.letter)), ended]
        return body

    def running(self, loop: Loop) -> list[str]:
        """What is read one step back in this recurrence."""
        names = dict.fromkeys(i.let.name for i, _, _ in paths([loop]) if not i.store)
        return [x for x in names if self.memory.storages[x].lagged == loop.letter]

    def moved(self, loop: Loop) -> list[t.Statement]:
        """New values take the place of the earlier ones."""
        out: list[t.Statement] = []
        for x in self.running(loop):
            store, name = self.memory.storages[x], self.memory.values[x]
            if store.two:
                index = tuple(map(t.name, self.memory.program.flat(store.kept)))
                earlier = self.memory.earlier(x)
                target = t.Entry(earlier, index) if index else t.name(earlier)
                copy: t.Statement = t.Assign(
                    target, t.Entry(name, index) if index else t.name(name)
                )
                for y in reversed(self.memory.program.flat(store.kept)):
                    copy = t.For(y, t.Whole(0), self.size(y, store.kept), (copy,))
                out.append(copy)
        return out

    def size(self, letter: str, kept: Sequence[str]) -> n.Node:
        """How many places a letter has here: of what is ragged, those of the row or of all rows."""
        under = self.memory.under(letter)
        if under in kept:
            return t.name(str(self.memory.letters[letter].size))
        return t.name(f"{letter}_rows") if under else self.memory.size(letter)

    def initial(self, loop: Loop, items: list[Item], ctx: Context) -> list[t.Statement]:
        """What is read before the first index."""
        out: list[t.Statement] = []
        for x in self.running(loop):
            s, store = self.memory.made[x], self.memory.storages[x]
            if s.init is None:
                continue
            item = next(i for i in items if i.let.name == x)
            name = self.memory.earlier(x) if store.two else self.memory.values[x]
            letters = [y for y in store.kept]
            inside = ctx
            for y in letters:
                inside = inside.at(y, t.name(y))
            target = self.memory.stored(name, store.kept, {y: a.Ix(y) for y in letters}, inside)
            start = t.Assign(target, self.expr(s.init, item, inside, False))
            out.append(self.nested(letters, letters, start))
        return out

    def blocks(self, loop: Loop, depth: int, ctx: Context) -> t.For:
        """Blocks of rows: rows of arrays first, then the loops inside."""
        letter = loop.letter
        start, rows = t.name(f"{letter}0"), t.name(f"{letter}_rows")
        stop = self.memory.size(letter)
        head: list[t.Statement] = [
            t.Assign(rows, t.Least((t.Whole(BLOCK), t.Difference(stop, start))))
        ]
        inside = ctx.at(letter, start)
        views: dict[tuple[str, str], str] = {}
        for array in self.first_axis(loop):
            view = self.memory.own(f"{array}_rows")
            part = t.Span(start, t.plus(start, rows))
            head.append(t.View(view, t.Entry(array, (part,))))
            views[array, letter] = view
        inside = replace(inside, rows={**ctx.rows, **views}, inner={**ctx.inner, letter: start},
                         blocks=ctx.blocks | {self.plan.blocks[letter].inner})  # fmt: skip
        body = (*head, *self.nodes(loop.body, depth + 1, inside, False))
        return t.For(start.name, t.Whole(0), stop, body, step=t.Whole(BLOCK))

    def first_axis(self, loop: Loop) -> list[str]:
        """The arrays in whose first place the loop's letter stands."""
        found: dict[str, None] = {}
        first = a.Ix(loop.letter)
        for i, _, _ in paths([loop]):
            for r in (r for e in (i.let.expr, *i.let.at) for r in a.refs(e)):
                if r.index[:1] == (first,) and self.keeps_first(r.name):
                    found[self.memory.values.get(r.name, r.name)] = None
            stored = i.store or loop.letter in self.memory.storages[i.let.name].kept
            if stored and i.let.target[:1] == (first,):
                found[i.let.name if i.store else self.memory.values[i.let.name]] = None
        return list(found)

    def keeps_first(self, name: str) -> bool:
        """Whether an array has its first axis in memory, by whatever letter it was made."""
        if name in self.memory.given:
            return True
        return self.memory.made[name].letters[0] in self.memory.storages[name].kept


def _unmoved(index: tuple[n.Node, ...]) -> tuple[n.Node, ...]:
    """The index with letters in the place of their lags."""
    return tuple(a.Ix(i.letter) if isinstance(i, a.Lag) else i for i in index)
