"""The equations of a program as array statements, recurrences as loops.

What runs along rows of different lengths is in a loop over what they are under, with the row of
it as a slice.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from blrgen.emit.tree import nodes as t
from blrgen.emit.tree.constants import typed
from blrgen.emit.tree.values import Values
from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a
from blrgen.program.axes.once import is_once
from blrgen.program.program import fresh

START = {"sum": n.ZERO, "sumlog": n.ZERO, "last": n.ZERO, "max": n.neg(n.Named("inf"))}


class Statements(Values):
    """Statements on arrays."""

    def put(self, array: str, value: str) -> t.Statement:
        return t.Assign(t.Entry(array, (t.Span(),)), t.name(value))

    def function(self) -> t.Function:
        p = self.program
        scalars = {q.name for q in p.given if not q.sizes}
        once: list[t.Statement] = []
        rest: list[a.Statement] = []
        for x in p.body:
            if isinstance(x, a.Let) and is_once(x, scalars):
                once += self.let(x)
                scalars.add(x.name)
            else:
                rest.append(x)
        body = self.whole_body(rest)
        for given, made in p.writes:
            body.append(t.Assign(t.Entry(given, (t.Rest(),)), t.name(made)))
        arrays = tuple(q.name for q in p.given if q.sizes)
        keys = tuple(q.name for q in p.given if q.key)
        reals = tuple(q.name for q in p.given if not q.sizes and not q.key)
        head, wholes = self.named_sizes(tuple(body))
        whole = {x.pointers for x in p.letters}
        real = next((q.name for q in p.given if q.sizes and q.labels == "" and not q.key
                     and q.name not in whole), "")  # fmt: skip
        outs = tuple(map(t.name, p.outs))
        whole_function = t.Function(self.name, arrays, (*wholes, *keys), reals, (*head, *body),
                                    "All of it.", reals_of=real, returns=outs,
                                    gives="Any" if outs else "", once=tuple(once))  # fmt: skip
        return typed(whole_function)

    def whole_body(self, rest: list[a.Statement]) -> list[t.Statement]:
        return self.statements(rest)

    def named_sizes(
        self, body: tuple[t.Statement, ...]
    ) -> tuple[list[t.Statement], tuple[str, ...]]:
        """Each size that the body names."""
        used = {x for s in t.statements(body) for e in t.expressions(s) for x in e.names}
        head: list[t.Statement] = []
        wholes: list[str] = []
        for size in sorted(used & {str(x.size) for x in self.program.letters}):
            shapes = (t.Shape(q.name, p) for q in self.program.given
                      for p, x in enumerate(self.stored(q.sizes)) if x == size)  # fmt: skip
            found = next(shapes, None)
            if found is None:
                wholes.append(size)
            else:
                head.append(t.Assign(t.name(size), found))
        return head, tuple(wholes)

    def statements(self, body: Iterable[a.Statement]) -> list[t.Statement]:
        out: list[t.Statement] = []
        for s in body:
            for x in self.let(s) if isinstance(s, a.Let) else self.seq(s):
                last = out[-1] if out else None
                if isinstance(x, t.If) and isinstance(last, t.If) and x.condition == last.condition:
                    out[-1] = t.If(x.condition, last.body + x.body, last.other + x.other)
                else:
                    out.append(x)
        return [y for k, x in enumerate(out) for y in (x, *self.resliced(x, out[k + 1 :]))]

    def resliced(self, s: t.Statement, later: list[t.Statement]) -> list[t.Statement]:
        """A ragged row as a slice again, where a recurrence along it has come between."""
        letter = self.letters.get(s.letter) if isinstance(s, t.For) else None
        if letter is None or letter.under not in self.bound:
            return []
        others = (x for x in later if not isinstance(x, t.For) or x.letter != letter.name)
        used = (e for x in others for y in t.statements((x,)) for e in t.expressions(y))
        return [self.slice(letter)] if any(letter.name in e.names for e in used) else []

    def seq(self, s: a.Seq) -> list[t.Statement]:
        """A loop, after the arrays that it fills."""
        letter = self.letters[s.letter]
        out: list[t.Statement] = []
        for x in a.lets(s.body):
            if x.name not in self.local and self.is_made_here(x, s):
                out.append(self.made(x, s))
        out += self.zeroed(s)
        out += self.begun(s)
        outer, self.bound = self.bound, (*self.bound, s.letter)
        self.each |= {s.letter} if s.each else set()
        body = [*self.rows(s.letter), *self.remembered(s), *self.statements(s.body)]
        if s.stop:
            at = a.Ref(s.stop, tuple(map(a.Ix, self.makers[s.stop].letters)))
            body += [self.last(s), t.If(self.expr(at).node, (t.Break(),))]
        elif self.reads_last(s.letter):
            body.append(self.last(s))
        self.bound = outer
        self.each.discard(s.letter)
        for x in self.with_start(s):  # behind the loop a place before is one of the array
            self.before.pop(x.name, None)
        low, high = self.ends(s.letter)
        return [*out, t.For(s.letter, low, high, tuple(body), down=letter.down)]

    def ends(self, letter: str) -> tuple[n.Node, n.Node]:
        """Where a loop begins, and before what it ends: those of a row where it is ragged."""
        at = self.letters[letter]
        if not at.under:
            return t.Whole(0), self.size(letter)
        row = t.name(at.under)
        low, high = (t.Entry(at.pointers, (t.plus(row, t.Whole(k)),)) for k in (0, 1))
        return low, high

    def is_made_here(self, x: a.Let, s: a.Seq) -> bool:
        """Whether the array of an equation is made before this loop: it is before the outermost."""
        return not self.bound or (self.begins_at(x.expr, s) and not {*self.bound} & {*x.letters})

    def begins_at(self, e: n.Node, s: a.Seq) -> bool:
        """Whether a sum begins with this loop: the outermost of those over which it adds up."""
        return (isinstance(e, a.Red) and s.letter in e.letters
                and not {*e.letters} & {*self.bound})  # fmt: skip

    def zeroed(self, s: a.Seq) -> list[t.Statement]:
        """What sums over a recurrence start from at each place of the loops around it."""
        found = ((x, e) for x in a.lets(s.body) for e in x.expressions
                 if {*self.bound} & {*x.letters} and self.begins_at(e, s))  # fmt: skip
        return [t.Assign(self.target(x, ()), START[e.op]) for x, e in found
                if isinstance(e, a.Red)]  # fmt: skip

    def made(self, x: a.Let, s: a.Seq) -> t.Statement:
        stored = self.program.flat(x.letters)
        shape = tuple(self.size(y) for y in stored)
        if isinstance(x.expr, a.Red) and (x.at or s.letter in x.expr.letters):
            return t.Make(x.name, shape, fill=START[x.expr.op])
        return t.Make(x.name, shape, "truth" if isinstance(x.expr, n.Compare) else "real")

    def reads_last(self, letter: str) -> bool:
        every = (r for s in self.program.lets for e in s.expressions for r in a.refs(e))
        return any(a.Last(letter) in r.index for r in every)

    def last(self, s: a.Seq) -> t.Statement:
        return t.Assign(t.last_of(s.letter), t.name(s.letter))

    def rows(self, letter: str) -> list[t.Statement]:
        """The row of what is ragged under the letter, as a slice."""
        return [self.slice(w) for w in self.letters.values() if w.under == letter]

    def slice(self, w: a.Letter) -> t.Statement:
        """A row of all rows."""
        return t.Assign(t.name(w.name), t.Apply("slice", self.ends(w.name)))

    def begun(self, s: a.Seq) -> list[t.Statement]:
        """What is said of the time before the first index, of what has no array."""
        return [t.Assign(t.name(x.name), self.start(x, s))
                for x in self.with_start(s) if x.name in self.local]  # fmt: skip

    def with_start(self, s: a.Seq) -> list[a.Let]:
        return [x for x in s.body if isinstance(x, a.Let) and x.init is not None]

    def start(self, x: a.Let, s: a.Seq) -> n.Node:
        """The value before the first index."""
        assert x.init is not None
        letters = tuple(y for y in x.letters if y not in (*self.bound, s.letter))
        return self.whole(self.aligned(self.expr(x.init), letters), x.init, letters)

    def remembered(self, s: a.Seq) -> list[t.Statement]:
        """The values of the index before, or what is said of the time before the first."""
        out: list[t.Statement] = []
        for x in self.with_start(s):
            name = fresh(f"{x.name}_before", self.taken)
            self.taken.add(name)
            letter = self.recurrence(x)
            lag = 1 if self.letters[letter].down else -1
            earlier = self.ref(a.Ref(x.name, tuple(
                a.Lag(y, lag) if y == letter else a.Ix(y) for y in x.letters)))  # fmt: skip
            self.before[x.name] = name
            if x.name in self.local:
                out.append(t.Assign(t.name(name), earlier.node))
                continue
            out.append(t.Assign(t.name(name), self.start(x, s)))
            own = t.If(self.later(letter), (t.Assign(t.name(name), earlier.node),))
            out.append(own)
        return out

    def recurrence(self, x: a.Let) -> str:
        """The letter of the innermost recurrence that an equation is on."""
        return next(y for y in reversed(self.bound) if y in x.letters and y not in self.each)

    def later(self, letter: str) -> n.Node:
        low, high = self.ends(letter)
        if self.letters[letter].down:
            return n.Compare("<", t.name(letter), t.plus(high, t.Whole(-1)))
        return n.Compare(">", t.name(letter), low)

    def let(self, s: a.Let) -> list[t.Statement]:
        """One equation; another one at a recurrence's first index."""
        usual = self.equation(s, s.expr)
        if s.first is None:
            return usual
        begun = self.equation(s, s.first) if self.begins(s) else []
        return [t.If(self.later(self.recurrence(s)), tuple(usual), tuple(begun))]

    def begins(self, s: a.Let) -> bool:
        """Whether anybody reads the value at the first index."""
        if s.name not in self.local:
            return True
        for x in (x for x in self.program.lets if x is not s):
            later = x.first is not None and self.around[x.name] == self.around[s.name]
            if any(s.name in e.names for e in x.expressions if e is not x.expr or not later):
                return True
        return False

    def equation(self, s: a.Let, e: n.Node) -> list[t.Statement]:
        self.left = s.letters
        free = tuple(x for x in s.letters if x not in self.bound)
        if s.at:
            return self.scattered(s, e)
        over = set(e.letters) if isinstance(e, a.Red) else set()
        if over & set(self.bound):
            assert isinstance(e, a.Red)
            left = tuple(x for x in e.letters if x not in self.bound)
            part = self.expr(a.Red(e.op, left, e.arg) if left else e.arg)
            value = self.aligned(part, free)
            target = self.target(s, free) if s.letters else t.name(s.name)
            if e.op in ("max", "last"):
                most = n.Call("max", (target, value))
                return [t.Assign(target, most if e.op == "max" else value)]
            log = e.op == "sumlog" and not left
            return [t.Increase(target, n.Call("log", (value,)) if log else value)]
        value = self.aligned(self.expr(e), free)
        if s.name not in self.inside or s.name in self.local:
            return [t.Assign(t.name(s.name), self.whole(value, e, free))]
        return [t.Assign(self.target(s, free), value)]

    def whole(self, value: n.Node, e: n.Node, letters: tuple[str, ...]) -> n.Node:
        """The value with all of its axes, where the equation names only some of them."""
        if set(letters) <= set(a.free(e)):
            plain = isinstance(value, n.Ref) and value.name in self.sizes
            return t.Apply("np.copy", (value,)) if plain and letters else value
        shape = t.Apply("", tuple(map(self.extent, letters)))
        return t.Apply("np.full", (shape, value, t.name("real")))

    def extent(self, letter: str) -> n.Node:
        """How many places there are; of what is ragged, in the row whose loop is around."""
        if self.letters[letter].under not in self.bound:
            return self.size(letter)
        low, high = self.ends(letter)
        return t.Difference(high, low)

    def target(self, s: a.Let, free: tuple[str, ...]) -> n.Node:
        index = self.places(s.letters)
        while index and index[-1] == t.Span():
            index.pop()
        return t.Entry(s.name, tuple(index) or (t.Rest(),))

    def places(self, letters: Sequence[str]) -> list[n.Node]:
        """Indices of an array with these letters: numbers, rows, or all of an axis."""
        kept = self.program.flat(letters)
        return [self.place(a.Ix(x)) if x in self.bound or self.letters[x].under else t.Span()
                for x in kept]  # fmt: skip

    def scattered(self, s: a.Let, e: n.Node) -> list[t.Statement]:
        """Terms are added where their labels say."""
        assert isinstance(e, a.Red)
        out: list[t.Statement] = []
        if s.name not in self.inside:
            shape = tuple(self.size(x) for x in s.letters)
            out.append(t.Make(s.name, shape, fill=n.ZERO))
        elif not set(e.letters) & set(self.bound):  # at each index of a recurrence anew
            out.append(t.Assign(self.target(s, ()), n.ZERO))
        order = tuple(x for i in s.at for x in a.free(i) if x not in self.bound)
        rest = tuple(x for x in e.letters if x not in order and x not in self.bound)
        value = self.aligned(self.expr(a.Red("sum", rest, e.arg) if rest else e.arg), order)
        every = t.Apply("slice", (t.name("None"),))
        index = [
            self.value_of(i).node if isinstance(i, a.At)
            else self.place(i) if set(a.free(i)) <= set(self.bound) else every
            for i in s.at
        ]  # fmt: skip
        while index[-1] == every:
            index.pop()
        where = t.Apply("", tuple(index)) if len(index) > 1 else index[0]
        out.append(t.Invoke("np.add.at", (t.name(s.name), where, value), False))
        return out
