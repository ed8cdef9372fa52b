"""Equations at one place of their loops → statements, with the sums that they take part in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from blrgen.emit.tree import nodes as t
from blrgen.emit.tree.memory import Context, Memory
from blrgen.errors import InternalError
from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a
from blrgen.program.axes.factored import SOLVED
from blrgen.program.axes.schedule import Item, Loop, Schedule, is_earlier
from blrgen.program.axes.scratch import paths, reducing
from blrgen.program.expand import expanded

MANY = ("exp", "log", "log1p", "expm1", "tanh", "sinh", "cosh", "atanh")  # polynomials in loops
APART = {"digamma": "digamma_many"}  # another form in loops
PLAIN = (*MANY, "sqrt", "sin", "cos", "abs", "sign", "floor", "max", "min", "pow")
LARGE = n.Const(Fraction(10) ** 25)  # a running product is put away beyond it, and below 1/it
SMALL = n.Const(Fraction(1, 10**25))
BLOCKS = {x: f"_{name}_block" for x, name in (
    ("normal", "standard_normal"), ("logistic", "logistic"), ("uniform", "uniform"),
)}  # fmt: skip
_UNIT = (t.Float(Fraction(0)), t.Float(Fraction(1)))
NUMBERS = {"normal": (), "logistic": _UNIT, "uniform": _UNIT}  # the law's location and scale
START = {"sum": n.ZERO, "sumlog": n.ZERO, "last": n.ZERO, "max": n.neg(n.Named("inf"))}


class Equations:
    """Statements for items."""

    def __init__(self, plan: Schedule, memory: Memory) -> None:
        self.plan, self.memory = plan, memory
        self.makers = {i.let.name: i for i, _, _ in paths(plan.body) if not i.store}
        self.sums: dict[str, str] = {}
        self.outlined: Loop | None = None
        self.factors: dict[tuple[str, n.Node], n.Ref] = {}

    # -- expressions -----------------------------------------------------------------
    def expr(self, e: n.Node, item: Item, ctx: Context, many: bool) -> n.Node:
        """An expression with entries in the place of references."""
        if isinstance(e, a.Ref):
            maker = self.makers.get(e.name)
            return self.memory.read(e, ctx, maker is not None and is_earlier(e, maker, item))
        if isinstance(e, n.Compare) and isinstance(e.left, a.Is) and e.right == n.ONE:
            left, right = (self.memory.place(i, ctx) for i in (e.left.left, e.left.right))
            return n.Compare("==", left, right)
        if isinstance(e, a.Is):
            left, right = (self.memory.place(i, ctx) for i in (e.left, e.right))
            return n.Select(n.Compare("==", left, right), n.ONE, n.ZERO)
        if isinstance(e, a.Extent):
            return t.Real(t.name(e.axis))
        e = expanded(e, ("logistic",)) if isinstance(e, n.Call) else e
        e = e.rebuilt(lambda c: self.expr(c, item, ctx, many))
        if isinstance(e, n.Call):
            name = self.function(e.name, many)
            own = name not in PLAIN or (many and name in MANY)
            return n.Call(f"_{name}" if own and not name.startswith("_") else name, e.args)
        return e

    def function(self, name: str, many: bool) -> str:
        """What computes a function, of many entries side by side or of one."""
        name = "sigmoid" if name == "logistic" else name
        return APART.get(name, name) if many else name

    # -- items -----------------------------------------------------------------------
    def item(self, item: Item, ctx: Context, many: bool) -> list[t.Statement]:
        """One equation at one place of all its loops."""
        s = item.let
        if item.store:
            return self.copy(item, ctx)
        if isinstance(s.expr, a.Lin):
            return self.linear(item, s.expr, ctx)
        if isinstance(s.expr, a.Draw):
            return [self.drawn(item, s.expr, ctx)]
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
        before: list[t.Statement] = []
        if self.memory.program.structures[e.args[0].name] == "factor":
            factor: n.Node = args[0]
        elif e.op in SOLVED:
            before, factor = self.factor(e.args[0], args[0], matrix)
            args = [factor, *args[1:]]
        else:
            sizes = sizes if len(args) > 1 else sizes[:1]
        if e.op == "logdet":
            return [*before, t.Assign(target, n.Call("_logdet", (factor, *sizes[:1])))]
        kind = "" if len(e.args) == 1 else "_vector" if len(own) == 1 else "_matrix"
        return [*before, t.Invoke(f"_{e.op}{kind}", (*args, target, *sizes))]

    def drawn(self, item: Item, e: a.Draw, ctx: Context) -> t.Statement:
        """A block of random numbers, from the place of its first row on."""
        kept = self.memory.storages[item.let.name].kept
        if e.law not in BLOCKS or len(e.index) != 1 or len(kept) != 1 or kept[0] not in ctx.blocks:
            raise InternalError(f"no block of draws: {item.let.name} from {e.law}")
        out, words = t.name(self.memory.values[item.let.name]), t.name(self.memory.words)
        key, first = t.Apply("np.uint64", (t.name(e.key.name),)), self.memory.place(e.index[0], ctx)
        return t.Invoke(BLOCKS[e.law], (out, words, key, t.Whole(0), first, *NUMBERS[e.law]))

    def factor(
        self, r: a.Ref, matrix: n.Node, letters: tuple[str, ...]
    ) -> tuple[list[t.Statement], n.Ref]:
        """The factor of a matrix, made once in each body."""
        if (r.name, matrix) not in self.factors:
            work = self.memory.own(f"{r.name}_factor")
            self.memory.works[work] = letters
            self.factors[r.name, matrix] = t.name(work)
            size = self.memory.size(letters[0])
            made = t.Invoke("_factor", (matrix, t.name(work), size))
            return [made], t.name(work)
        return [], self.factors[r.name, matrix]

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

    def local(self, item: Item, total: n.Ref, value: n.Node) -> list[t.Statement]:
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
        if op == "last":
            return t.Assign(target, value)
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
        """Only at the places of the loops around; entry by entry, but for rows of a block."""
        at = zip(item.let.letters, item.let.at, strict=False)
        labelled = {x for x, i in at if i != a.Ix(x)}  # any place of it may be added to
        around = {*item.nest[:depth]}
        rows = {y for y, x in self.memory.base.items()
                if any(self.memory.base.get(z) == x for z in around)}  # fmt: skip
        letters = [x for x in (*item.let.letters, *self.memory.base)
                   if x not in around | rows or x in labelled]  # fmt: skip
        kept = self.memory.storages[item.let.name].kept
        looped = [x for x in kept if x in letters and x not in self.memory.base]
        whole = ctx
        for x in letters:
            whole = whole.at(x, t.name(x)) if x in looped else self.everywhere(whole, x)
        target = self.memory.write(replace(item.let, at=()), whole)
        return self.nested(looped, kept, t.Assign(target, START[_op(item)]))

    def nested(
        self, letters: Sequence[str], kept: Sequence[str], inner: t.Statement
    ) -> t.Statement:
        """A statement at all places of the letters; `kept` are those of the array that it is of."""
        out = inner
        for x in reversed(letters):
            rows = [w for w in letters if self.memory.under(w) == x]
            body = (*(s for w in rows for s in self.memory.row(w, t.name(x))), out)
            flat = self.memory.under(x) in kept
            stop = t.name(f"{x}_rows") if flat else self.memory.size(x)
            out = t.For(x, t.Whole(0), stop, body)
        return out

    def everywhere(self, ctx: Context, letter: str) -> Context:
        """All places of a letter; of a block's, all rows of the block."""
        ctx = ctx.at(letter, t.Span())
        base = self.memory.base.get(letter)
        if base is None or base not in ctx.inner:
            return ctx
        start = t.name(f"{base}0")
        ctx = ctx.at(base, t.Span(start, t.plus(start, t.name(f"{base}_rows"))))
        return replace(ctx, inner={**ctx.inner, base: t.Span()})


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
