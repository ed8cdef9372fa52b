"""The loops of a schedule → functions: one for each parallel loop, and one that runs them."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from blrgen.emit.tree import nodes as t
from blrgen.emit.tree.memory import BLOCK, Context, Memory
from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a
from blrgen.program.axes.schedule import Item, Loop, Schedule, is_earlier
from blrgen.program.axes.scratch import paths, reducing
from blrgen.program.expand import expanded

MANY = ("exp", "log", "log1p", "expm1", "tanh", "sinh", "cosh", "atanh")  # polynomials in loops
APART = {"digamma": "digamma_many"}  # another form in loops
PLAIN = (*MANY, "sqrt", "sin", "cos", "abs", "sign", "floor", "max", "min", "pow")
LARGE = n.Const(Fraction(10) ** 25)  # a running product is put away beyond it, and below 1/it
SMALL = n.Const(Fraction(1, 10**25))
START = {"sum": n.ZERO, "sumlog": n.ZERO, "max": n.neg(n.Named("inf"))}


class Body:
    """Statements for items and loops."""

    def __init__(self, plan: Schedule, memory: Memory) -> None:
        self.plan, self.memory = plan, memory
        self.makers = {i.let.name: i for i, _, _ in paths(plan.body) if not i.store}
        self.sums: dict[str, str] = {}
        self.outlined: Loop | None = None
        self.factors: dict[tuple[a.Ref, n.Node], n.Sym] = {}

    # -- expressions -----------------------------------------------------------------
    def expr(self, e: n.Node, item: Item, ctx: Context, many: bool) -> n.Node:
        """An expression with entries in the place of references."""
        if isinstance(e, a.Ref):
            maker = self.makers.get(e.name)
            return self.memory.read(e, ctx, maker is not None and is_earlier(e, maker, item))
        if isinstance(e, a.Is):
            left, right = (self.memory.place(i, ctx) for i in (e.left, e.right))
            return n.Select(n.Compare("==", left, right), n.ONE, n.ZERO)
        if isinstance(e, a.Extent):
            return t.Real(t.name(e.axis))
        e = expanded(e, ("logistic",)) if isinstance(e, n.Call) else e
        e = e.rebuilt(lambda c: self.expr(c, item, ctx, many))
        if isinstance(e, n.Call):
            name = "sigmoid" if e.name == "logistic" else e.name
            name = APART.get(name, name) if many else name
            own = name not in PLAIN or (many and name in MANY)
            return n.Call(f"_{name}" if own and not name.startswith("_") else name, e.args)
        return e

    # -- items -----------------------------------------------------------------------
    def item(self, item: Item, ctx: Context, many: bool) -> list[t.Statement]:
        """One equation at one place of all its loops."""
        s = item.let
        if item.store:
            return self.copy(item, ctx)
        if isinstance(s.expr, a.Lin):
            return self.linear(item, s.expr, ctx)
        if isinstance(s.expr, a.Red):
            value = self.expr(s.expr.arg, item, ctx, many)
            suffix = self.suffix(item)
            if suffix < len(item.nest) and not s.at:
                return self.local(item, t.name(self.sum_name(item)), value)
            return [self.combined(s.expr.op, self.memory.write(s, ctx), value)]
        target = self.memory.write(s, ctx)
        value = self.expr(s.expr, item, ctx, many)
        return [t.Assign(target, value), *self.mirrored(s, target, ctx)]

    def mirrored(
        self, s: a.Let, target: n.Node, ctx: Context, out: bool = False
    ) -> list[t.Statement]:
        """The same number in the other triangle."""
        if not s.mirror or not isinstance(target, t.Entry):
            return []
        i, j = s.letters[-2:]
        turned = replace(s, at=tuple(a.Ix({i: j, j: i}.get(x, x)) for x in s.letters))
        other = self.memory.out(turned, ctx) if out else self.memory.write(turned, ctx)
        return [t.Assign(other, target)]

    def copy(self, item: Item, ctx: Context) -> list[t.Statement]:
        """Into the array that is handed out, if the value is not there already."""
        s = item.let
        target, value = self.memory.out(s, ctx), self.expr(s.expr, item, ctx, False)
        if target == value:
            return []
        return [t.Assign(target, value), *self.mirrored(s, target, ctx, True)]

    def linear(self, item: Item, e: a.Lin, ctx: Context) -> list[t.Statement]:
        """A call on whole matrices."""
        own = a.own_letters(e)
        inside = [x for r in e.args for i in r.index for x in a.free(i) if x not in item.nest]
        whole = ctx
        for x in {*inside, *own}:
            whole = whole.at(x, t.Span())
        args = [_part(self.expr(r, item, whole, False)) for r in e.args]
        target = _part(self.memory.write(item.let, whole))
        matrix = tuple(x for i in e.args[0].index[-2:] for x in a.free(i))
        sizes = [self.memory.size(matrix[0]), *map(self.memory.size, own[1:])]
        if e.op in ("solve", "logdet"):
            before, factor = self.factor(e.args[0], args[0], matrix)
            args = [factor, *args[1:]]
        else:
            before, sizes = [], sizes if len(args) > 1 else sizes[:1]
        if e.op == "logdet":
            return [*before, t.Assign(target, n.Call("_logdet", (factor, *sizes[:1])))]
        kind = "_vector" if len(own) == 1 else ""
        return [*before, t.Invoke(f"_{e.op}{kind}", (*args, target, *sizes))]

    def factor(
        self, r: a.Ref, matrix: n.Node, letters: tuple[str, ...]
    ) -> tuple[list[t.Statement], n.Sym]:
        """The factor of a matrix, made once in each body."""
        if (r, matrix) not in self.factors:
            work = self.memory.own(f"{r.name}_factor")
            self.memory.works[work] = letters
            self.factors[r, matrix] = t.name(work)
            size = self.memory.size(letters[0])
            made = t.Invoke("_factor", (matrix, t.name(work), size))
            return [made], t.name(work)
        return [], self.factors[r, matrix]

    # -- reductions --------------------------------------------------------------------
    def suffix(self, item: Item) -> int:
        """Where the innermost loops begin that are all reduced."""
        e = item.let.expr
        over = set(e.letters) if isinstance(e, a.Red) else set()
        p = len(item.nest)
        base = self.memory.base
        while p > 0 and base.get(item.nest[p - 1], item.nest[p - 1]) in over:
            p -= 1
        return p

    def sum_name(self, item: Item) -> str:
        """The number in which the innermost loops add up."""
        name = item.let.name
        if name not in self.sums:
            value = self.memory.values[name]
            alone = not self.memory.storages[name].kept and name not in self.memory.outside
            alone = alone and not self.memory.storages[name].lagged
            self.sums[name] = value if alone else self.memory.own(f"{name}_sum")
        return self.sums[name]

    def local(self, item: Item, total: n.Sym, value: n.Node) -> list[t.Statement]:
        assert isinstance(item.let.expr, a.Red)
        if not self.multiplies(item):
            return [self.combined(item.let.expr.op, total, value)]
        product = t.name(f"{total.name}_product")
        put = (t.Increase(total, n.Call("log", (product,))), t.Assign(product, n.ONE))
        return [
            t.Assign(product, n.mul(product, value)),
            t.If(n.Compare(">", product, LARGE), put),
            t.If(n.Compare("<", product, SMALL), put),
        ]

    def multiplies(self, item: Item) -> bool:
        """Whether logs are taken of running products: where that is not done for many rows."""
        e = item.let.expr
        inner = any(x in self.memory.base for x in item.nest)
        return isinstance(e, a.Red) and e.op == "sumlog" and not inner

    def combined(self, op: str, target: n.Node, value: n.Node) -> t.Statement:
        if op == "max":
            return t.Assign(target, n.Call("max", (target, value)))
        return t.Increase(target, n.Call("log", (value,)) if op == "sumlog" else value)

    def around(
        self, items: list[Item], depth: int, ctx: Context
    ) -> tuple[list[t.Statement], list[t.Statement]]:
        """What is done before a loop and after it for the sums inside."""
        before: list[t.Statement] = []
        after: list[t.Statement] = []
        for item in {i.let.name: i for i in items if isinstance(i.let.expr, a.Red)}.values():
            first, suffix = reducing(item, self.memory.base), self.suffix(item)
            if item.let.at:
                suffix = len(item.nest)
            op = _op(item)
            whole = first == suffix == depth
            given = depth == 0 and self.outlined is not None
            if first == depth and not whole and not given:
                before.append(self.zeroed(item, depth, ctx))
            if suffix == depth:
                total = t.name(self.sum_name(item))
                before.append(t.Assign(total, START[op]))
                if self.multiplies(item):
                    product = t.name(f"{total.name}_product")
                    before.append(t.Assign(product, n.ONE))
                    after.append(t.Increase(total, n.Call("log", (product,))))
                target = self.memory.write(item.let, ctx)
                if whole and not given:
                    after += [t.Assign(target, total)] if target != total else []
                else:
                    after.append(self.combined("sum" if op == "sumlog" else op, target, total))
        return before, after

    def zeroed(self, item: Item, depth: int, ctx: Context) -> t.Statement:
        """Only at the places of the loops around."""
        whole = ctx
        for x in (*item.let.letters, *self.memory.base):
            if x not in item.nest[:depth] or item.let.at:
                whole = self.everywhere(whole, x)
        target = self.memory.write(replace(item.let, at=()), whole)
        return t.Assign(target, START[_op(item)])

    def everywhere(self, ctx: Context, letter: str) -> Context:
        """All places of a letter; of a block's, all rows of the block."""
        ctx = ctx.at(letter, t.Span())
        base = self.memory.base.get(letter)
        if base is None or base not in ctx.inner:
            return ctx
        start = t.name(f"{base}0")
        ctx = ctx.at(base, t.Span(start, t.plus(start, t.name(f"{base}_rows"))))
        return replace(ctx, inner={**ctx.inner, base: t.Span()})

    # -- loops -------------------------------------------------------------------------
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
            if low == letter:
                stop = t.plus(ctx.index[high], t.Whole(1))
            else:
                start = ctx.index[low]
        return start, stop, inside, []

    def entered(
        self, loop: Loop, ctx: Context, head: list[t.Statement]
    ) -> tuple[list[t.Statement], Context]:
        """Rows of what is ragged under the loop's letter."""
        for w in self.memory.letters.values():
            if w.under != loop.letter or not any(w.name in i.nest for i, _, _ in paths([loop])):
                continue
            d = ctx.index[loop.letter]
            low, high = (t.Entry(w.pointers, (t.plus(d, t.Whole(k)),)) for k in (0, 1))
            start = t.name(f"{w.name}_start")
            rows = t.Difference(high, start)
            head += [t.Assign(start, low), t.Assign(t.name(f"{w.name}_rows"), rows)]
            part = t.Span(start, high)
            for array in self.flat(w, loop):
                view = self.memory.own(f"{array}_{loop.letter}")
                head.append(t.View(view, t.Entry(array, (part,))))
                ctx = replace(ctx, rows={**ctx.rows, array: (view, w.name)})
            ctx = replace(ctx, inner={**ctx.inner, w.name: t.name(w.name)})
        return head, ctx

    def flat(self, w: a.Letter, loop: Loop) -> list[str]:
        """The arrays that are read or written at [under, w] in the loop."""
        found: dict[str, None] = {}
        pair = (a.Ix(w.under), a.Ix(w.name))
        for i, _, _ in paths([loop]):
            for r in (r for e in (*i.let.expressions, *i.let.at) for r in a.refs(e)):
                if r.index[:2] == pair and self.is_flat(r.name, w):
                    found[self.memory.values.get(r.name, r.name)] = None
            if i.let.target[:2] == pair and (i.store or self.is_flat(i.let.name, w)):
                found[i.let.name if i.store else self.memory.values[i.let.name]] = None
        return list(found)

    def is_flat(self, name: str, w: a.Letter) -> bool:
        """Whether all rows of it are kept."""
        return name in self.memory.given or w.under in self.memory.storages[name].kept

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
        one = t.Whole(1)
        low, high = (t.Whole(0), size)
        if begun:
            few = t.Least((one, size))
            start, stop = (t.Difference(size, few), size) if at.down else (low, few)
            out.append(t.For(loop.letter, start, stop, (*head, *once)))
            low, high = (low, t.plus(size, t.Whole(-1))) if at.down else (one, high)
        out.append(t.For(loop.letter, low, high, (*head, *many), down=at.down))
        last = t.Whole(0) if at.down else t.plus(size, t.Whole(-1))
        return out if loop.seq.stop else [*out, *self.ended(loop, last)]

    def ended(self, loop: Loop, last: n.Node) -> list[t.Statement]:
        """The last index, for those who read there."""
        found = any(
            a.Last(loop.letter) in r.index
            for s in self.plan.program.lets for e in s.expressions for r in a.refs(e)
        )  # fmt: skip
        return [t.Assign(t.name(f"{loop.letter}_last"), last)] if found else []

    def around_first(self, loop: Loop, depth: int, ctx: Context) -> list[t.Statement]:
        return [*self.nodes(loop.first or [], depth + 1, ctx, False), *self.moved(loop)]

    def rest(self, loop: Loop, depth: int, ctx: Context) -> list[t.Statement]:
        """The body, what is remembered for the next index, and whether it goes on."""
        assert loop.seq is not None
        body = [*self.nodes(loop.body, depth + 1, ctx, False), *self.moved(loop)]
        if loop.seq.stop:
            at = a.Ref(loop.seq.stop, tuple(map(a.Ix, self.memory.made[loop.seq.stop].letters)))
            ended = t.If(self.memory.read(at, ctx, False), (t.Break(),))
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
                earlier = f"{name}_before"
                target = t.Entry(earlier, index) if index else t.name(earlier)
                copy: t.Statement = t.Assign(
                    target, t.Entry(name, index) if index else t.name(name)
                )
                for y in reversed(self.memory.program.flat(store.kept)):
                    copy = t.For(y, t.Whole(0), self.size(y), (copy,))
                out.append(copy)
        return out

    def size(self, letter: str) -> n.Node:
        """How many places a letter has here: of what is ragged, those of the row."""
        ragged = bool(self.memory.under(letter))
        return t.name(f"{letter}_rows") if ragged else self.memory.size(letter)

    def initial(self, loop: Loop, items: list[Item], ctx: Context) -> list[t.Statement]:
        """What is read before the first index."""
        out: list[t.Statement] = []
        for x in self.running(loop):
            s, store = self.memory.made[x], self.memory.storages[x]
            if s.init is None:
                continue
            item = next(i for i in items if i.let.name == x)
            name = self.memory.values[x] + ("_before" if store.two else "")
            letters = [y for y in store.kept]
            inside = ctx
            for y in letters:
                inside = inside.at(y, t.name(y))
            target = self.memory.stored(name, store.kept, {y: a.Ix(y) for y in letters}, inside)
            body: tuple[t.Statement, ...] = (
                t.Assign(target, self.expr(s.init, item, inside, False)),
            )
            for y in reversed(letters):
                body = (t.For(y, t.Whole(0), self.memory.size(y), body),)
            out += body
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
        views: dict[str, tuple[str, str]] = {}
        for array in self.first_axis(loop):
            view = self.memory.own(f"{array}_rows")
            part = t.Span(start, t.plus(start, rows))
            head.append(t.View(view, t.Entry(array, (part,))))
            views[array] = (view, letter)
        inside = replace(inside, rows={**ctx.rows, **views}, inner={**ctx.inner, letter: start})
        body = (*head, *self.nodes(loop.body, depth + 1, inside, False))
        return t.For(start.name, t.Whole(0), stop, body, step=t.Whole(BLOCK))

    def first_axis(self, loop: Loop) -> list[str]:
        """The arrays in whose first place the loop's letter stands."""
        found: dict[str, None] = {}
        first = a.Ix(loop.letter)
        for i, _, _ in paths([loop]):
            for r in (r for e in (i.let.expr, *i.let.at) for r in a.refs(e)):
                held = r.name in self.memory.given
                held = held or loop.letter in self.memory.storages[r.name].kept
                if held and r.index[:1] == (first,):
                    found[self.memory.values.get(r.name, r.name)] = None
            stored = i.store or loop.letter in self.memory.storages[i.let.name].kept
            if stored and i.let.target[:1] == (first,):
                found[i.let.name if i.store else self.memory.values[i.let.name]] = None
        return list(found)


def _op(item: Item) -> str:
    """How the item reduces."""
    assert isinstance(item.let.expr, a.Red)
    return item.let.expr.op


def _part(e: n.Node) -> n.Node:
    """A part of an array without what is whole at its end."""
    if not isinstance(e, t.Entry):
        return e
    index = e.index
    while index and index[-1] == t.Span():
        index = index[:-1]
    return t.Entry(e.array, index) if index else t.name(e.array)
