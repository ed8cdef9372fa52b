"""Equations → array statements: letters become axes, loops are left for recurrences only.

    dx[n,k,i] = x[n,i] - mu[k,i]              dx = x[:, None, :] - mu
    s[k,i] = sum(n, r[n,k] * x[n,i])          s = np.einsum("nk,ni->ki", r, x)
    for t: a[t,k] = …                         for t in range(T): a[t] = …

An axis under which another is ragged is a loop too, with the row of it as a slice.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from blrgen.emit.tree import nodes as t
from blrgen.emit.tree.constants import typed
from blrgen.errors import InternalError
from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a
from blrgen.program.axes.anf import anf, taken
from blrgen.program.axes.check import check
from blrgen.program.axes.dead import dead
from blrgen.program.axes.labels import labels
from blrgen.program.axes.once import is_once
from blrgen.program.axes.ragged import opened
from blrgen.program.axes.stable import stable
from blrgen.program.expand import expanded
from blrgen.program.program import fresh

OWN = ("sqrt", "exp", "log", "log1p", "expm1", "sin", "cos", "tanh", "sinh", "cosh", "atanh",
       "abs", "sign", "floor", "max", "min", "pow")  # fmt: skip
START = {"sum": n.ZERO, "sumlog": n.ZERO, "max": n.neg(n.Named("inf"))}


def array_function(program: a.Program, name: str) -> t.Function:
    """The program as one function on arrays, which returns its outs."""
    check(program)
    return _Arrays(opened(dead(stable(anf(labels(program))))), name).function()


@dataclass(frozen=True)
class Valued:
    """An expression, and the letters of its axes."""

    node: n.Node
    letters: tuple[str, ...] = ()


class _Arrays:
    def __init__(self, program: a.Program, name: str) -> None:
        self.program, self.name = program, name
        self.letters = {x.name: x for x in program.letters}
        self.sizes = program.sizes
        self.ragged = {x.size: x for x in program.letters if x.under}
        self.bound: tuple[str, ...] = ()
        self.taken = taken(program)
        self.makers = {s.name: s for s in program.lets}
        self.before: dict[str, str] = {}
        self.left: tuple[str, ...] = ()
        self.around = dict(_around(program.body))
        self.local = _local(program, self.around)
        self.inside = {s.name for x in program.body if isinstance(x, a.Seq) for s in a.lets((x,))}

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
        body = [*self.statements(rest)]
        for given, made in p.writes:
            body.append(t.Assign(t.Entry(given, (t.Rest(),)), t.name(made)))
        arrays = tuple(q.name for q in p.given if q.sizes)
        reals = tuple(q.name for q in p.given if not q.sizes)
        head, wholes = self.named_sizes(tuple(body))
        whole = {x.pointers for x in p.letters}
        real = next((q.name for q in p.given if q.sizes and q.labels == "" and not q.key
                     and q.name not in whole), "")  # fmt: skip
        whole_function = t.Function(self.name, arrays, wholes, reals, (*head, *body), "Do all of it.",
                          reals_of=real, returns=p.outs, once=tuple(once))  # fmt: skip
        return typed(whole_function)

    def named_sizes(
        self, body: tuple[t.Statement, ...]
    ) -> tuple[list[t.Statement], tuple[str, ...]]:
        """Each size that the body names."""
        used = {x for s in t.statements(body) for e in t.expressions(s) for x in e.names}
        head: list[t.Statement] = []
        wholes: list[str] = []
        for size in sorted(used & {str(x.size) for x in self.program.letters}):
            found = next((t.Shape(q.name, p) for q in self.program.given
                          for p, x in enumerate(self.stored(q.sizes)) if x == size), None)  # fmt: skip
            if found is None:
                wholes.append(size)
            else:
                head.append(t.Assign(t.name(size), found))
        return head, tuple(wholes)

    def stored(self, sizes: Sequence[a.Size]) -> list[a.Size]:
        drop = [p - 1 for p, x in enumerate(sizes) if x in self.ragged]
        return [x for p, x in enumerate(sizes) if p not in drop]

    def size(self, letter: str) -> n.Node:
        size = self.letters[letter].size
        return t.Whole(size) if isinstance(size, int) else t.name(size)

    # -- statements --------------------------------------------------------------------
    def statements(self, body: Iterable[a.Statement]) -> list[t.Statement]:
        out: list[t.Statement] = []
        for s in body:
            for x in self.let(s) if isinstance(s, a.Let) else self.seq(s):
                last = out[-1] if out else None
                if isinstance(x, t.If) and isinstance(last, t.If) and x.condition == last.condition:
                    out[-1] = t.If(x.condition, last.body + x.body, last.other + x.other)
                else:
                    out.append(x)
        return out

    def seq(self, s: a.Seq) -> list[t.Statement]:
        """A loop, after the arrays that it fills."""
        letter = self.letters[s.letter]
        out: list[t.Statement] = []
        for x in s.body if self.bound else a.lets(s.body):
            held = isinstance(x, a.Let) and x.name not in self.local
            if held and isinstance(x, a.Let) and self.is_made_here(x, s):
                out.append(self.made(x, s))
        outer, self.bound = self.bound, (*self.bound, s.letter)
        body = [*self.rows(s.letter), *self.remembered(s), *self.statements(s.body)]
        if s.stop:
            at = a.Ref(s.stop, tuple(map(a.Ix, self.makers[s.stop].letters)))
            body += [self.last(s), t.If(self.expr(at).node, (t.Break(),))]
        elif self.reads_last(s.letter):
            body.append(self.last(s))
        self.bound = outer
        loop = t.For(s.letter, t.Whole(0), self.size(s.letter), tuple(body), down=letter.down)
        return [*out, loop]

    def is_made_here(self, x: a.Let, s: a.Seq) -> bool:
        """Whether the array of an equation is made before this loop: it is before the outermost."""
        return not self.bound or (isinstance(x.expr, a.Red) and s.letter in x.expr.letters
                                  and not set(self.bound) & set(x.letters))  # fmt: skip

    def made(self, x: a.Let, s: a.Seq) -> t.Statement:
        stored = self.program.flat(x.letters)
        shape = tuple(self.size(y) for y in stored)
        if isinstance(x.expr, a.Red) and s.letter in x.expr.letters:
            return t.Make(x.name, shape, fill=START[x.expr.op])
        return t.Make(x.name, shape, "truth" if isinstance(x.expr, n.Compare) else "real")

    def reads_last(self, letter: str) -> bool:
        refs = (r for s in self.program.lets for e in s.expressions for r in a.refs(e))
        return any(a.Last(letter) in r.index for r in refs)

    def last(self, s: a.Seq) -> t.Statement:
        return t.Assign(t.name(f"{s.letter}_last"), t.name(s.letter))

    def rows(self, letter: str) -> list[t.Statement]:
        """The row of what is ragged under the letter, as a slice."""
        out: list[t.Statement] = []
        for w in self.letters.values():
            if w.under == letter:
                d = t.name(letter)
                low, high = (t.Entry(w.pointers, (t.plus(d, t.Whole(k)),)) for k in (0, 1))
                out.append(t.Assign(t.name(w.name), t.Apply("slice", (low, high))))
        return out

    def remembered(self, s: a.Seq) -> list[t.Statement]:
        """The values of the index before, or what is said of the time before the first."""
        out: list[t.Statement] = []
        for x in (x for x in s.body if isinstance(x, a.Let) and x.init is not None):
            assert x.init is not None
            name = fresh(f"{x.name}_before", self.taken)
            self.taken.add(name)
            letters = tuple(y for y in x.letters if y not in self.bound)
            lag = 1 if self.letters[s.letter].down else -1
            earlier = self.ref(a.Ref(x.name, tuple(
                a.Lag(y, lag) if y == s.letter else a.Ix(y) for y in x.letters)))  # fmt: skip
            self.before[x.name] = name
            start = self.whole(self.aligned(self.expr(x.init), letters), x.init, letters)
            out.append(t.Assign(t.name(name), start))
            own = t.If(self.later(s.letter), (t.Assign(t.name(name), earlier.node),))
            out.append(own)
        return out

    def later(self, letter: str) -> n.Node:
        if self.letters[letter].down:
            return n.Compare("<", t.name(letter), t.plus(self.size(letter), t.Whole(-1)))
        return n.Compare(">", t.name(letter), t.Whole(0))

    def let(self, s: a.Let) -> list[t.Statement]:
        """One equation; another one at a recurrence's first index."""
        usual = self.equation(s, s.expr)
        if s.first is None:
            return usual
        letter = next(x for x in reversed(self.bound) if x in s.letters)
        begun = self.equation(s, s.first) if self.begins(s) else []
        return [t.If(self.later(letter), tuple(usual), tuple(begun))]

    def begins(self, s: a.Let) -> bool:
        """Whether anybody reads the value at the first index."""
        if s.name not in self.local:
            return True
        readers = [x for x in self.program.lets if x is not s]
        return any(s.name in e.names for x in readers
                   for e in ([x.expr] if x.first is None else [x.first]))  # fmt: skip

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
            target = t.Entry(s.name, (t.Rest(),)) if s.letters else t.name(s.name)
            if e.op == "max":
                return [t.Assign(target, n.Call("max", (target, value)))]
            log = e.op == "sumlog" and not left
            return [t.Increase(target, n.Call("log", (value,)) if log else value)]
        value = self.aligned(self.expr(e), free)
        if s.name not in self.inside or s.name in self.local:
            return [t.Assign(t.name(s.name), self.whole(value, e, free))]
        return [t.Assign(self.target(s, free), value)]

    def whole(self, value: n.Node, e: n.Node, letters: tuple[str, ...]) -> n.Node:
        """The value with all of its axes, where the equation names only some of them."""
        if isinstance(e, a.Lin | a.Red) or set(letters) <= set(a.free(e)):
            plain = isinstance(value, n.Sym) and value.name in self.sizes
            return t.Apply("np.copy", (value,)) if plain and letters else value
        shape = t.Apply("", tuple(self.size(x) for x in letters))
        return t.Apply("np.full", (shape, value, t.name("real")))

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
        order = tuple(x for i in s.at for x in a.free(i) if x not in self.bound)
        value = self.aligned(self.expr(e.arg), order)
        every = t.Apply("slice", (t.name("None"),))
        index = [self.value_of(i).node if isinstance(i, a.At) else every for i in s.at]
        where = t.Apply("", tuple(index)) if len(index) > 1 else index[0]
        out.append(t.Invoke("np.add.at", (t.name(s.name), where, value), False))
        return out

    # -- expressions -------------------------------------------------------------------
    def aligned(self, v: Valued, letters: Sequence[str]) -> n.Node:
        """The value with its axes among those of the letters."""
        order = [x for x in letters if x in v.letters]
        if len(order) != len(v.letters):
            raise InternalError(f"axes {v.letters} among {tuple(letters)}")
        node = v.node
        if tuple(order) != v.letters:
            node = t.Turned(node, tuple(v.letters.index(x) for x in order))
        there = tuple(x in v.letters for x in letters)
        while there and not there[0]:
            there = there[1:]
        return node if all(there) else t.Spread(node, there)

    def joined(self, e: n.Node) -> Valued:
        """An entrywise expression: every part among the axes of all."""
        parts: list[Valued] = []
        e = expanded(e) if isinstance(e, n.Call) else e
        letters = tuple(x for x in self.order(a.free(e)) if x not in self.bound)

        def on(x: n.Node) -> n.Node:
            if isinstance(x, a.Ref | a.Red | a.Lin | a.Is | a.Extent):
                parts.append(self.expr(x))
                return self.aligned(parts[-1], letters)
            x = expanded(x) if isinstance(x, n.Call) else x
            x = x.rebuilt(on)
            if isinstance(x, n.Call) and x.name not in OWN and not x.name.startswith("_"):
                return n.Call(f"_{x.name}", x.args)
            return x

        return Valued(on(e), letters)

    def order(self, letters: Sequence[str]) -> list[str]:
        """As on the left side of the equation, then the others."""
        return [
            *(x for x in self.left if x in letters),
            *(x for x in letters if x not in self.left),
        ]

    def expr(self, e: n.Node) -> Valued:
        if isinstance(e, a.Ref):
            return self.ref(e)
        if isinstance(e, a.Red):
            return self.red(e)
        if isinstance(e, a.Lin):
            return self.lin(e)
        if isinstance(e, a.Extent):
            return Valued(t.Real(t.name(e.axis)))
        if isinstance(e, a.Is):
            left, right = self.value_of(e.left), self.value_of(e.right)
            letters = tuple(dict.fromkeys((*left.letters, *right.letters)))
            same = n.Compare("==", self.aligned(left, letters), self.aligned(right, letters))
            return Valued(n.Select(same, n.ONE, n.ZERO), letters)
        return self.joined(e)

    def value_of(self, i: n.Node) -> Valued:
        """An index as an array of places."""
        if isinstance(i, a.At):
            return self.ref(i.ref)
        if isinstance(i, a.Ix) and i.letter not in self.bound:
            return Valued(t.Apply("np.arange", (self.size(i.letter),)), (i.letter,))
        return Valued(self.place(i))

    def place(self, i: n.Node) -> n.Node:
        if isinstance(i, a.Ix):
            return t.name(i.letter)
        if isinstance(i, a.Lag):
            return t.plus(t.name(i.letter), t.Whole(i.by))
        if isinstance(i, a.Num):
            return t.Whole(i.value)
        if isinstance(i, a.Last):
            return t.name(f"{i.letter}_last")
        raise InternalError(f"no place: {type(i).__name__}")

    def ref(self, r: a.Ref) -> Valued:
        """The axes that are free; numbers first, then rows, then labels."""
        lag = any(isinstance(i, a.Lag) and i.letter in self.bound for i in r.index)
        name = self.before.get(r.name, r.name) if lag else r.name
        sizes = self.sizes[r.name]
        drop = [p - 1 for p, x in enumerate(sizes) if x in self.ragged]
        index = [i for p, i in enumerate(r.index) if p not in drop]
        apart = name != r.name or r.name in self.local
        if apart:
            own = self.makers[r.name].letters
            index = [i for x, i in zip(own, r.index, strict=True) if x not in self.around[r.name]]
        letters: list[str] = []
        first: list[n.Node] = []
        labels: list[n.Node] = []
        for i in index:
            if isinstance(i, a.Ix) and i.letter not in self.bound:
                under = self.letters[i.letter].under
                first.append(t.name(i.letter) if under and not apart else t.Span())
                labels.append(t.Span())
                letters.append(i.letter)
            elif isinstance(i, a.At):
                place = self.ref(i.ref)
                first.append(t.Span())
                labels.append(place.node)
                letters += place.letters
            else:
                first.append(self.place(i))
        node: n.Node = t.name(name)
        for chosen in (first, labels):
            while chosen and chosen[-1] == t.Span():
                chosen.pop()
            if chosen:
                node = t.Part(node, tuple(chosen))
        if len(set(letters)) < len(letters):
            return self.diagonal(node, letters)
        return Valued(node, tuple(letters))

    def diagonal(self, node: n.Node, letters: list[str]) -> Valued:
        once = tuple(dict.fromkeys(letters))
        return Valued(
            t.Apply("np.einsum", (node,), (f"{self.axes(letters)}->{self.axes(once)}",)), once
        )

    def axes(self, letters: Iterable[str]) -> str:
        """The letters as einsum wants them: one character each."""
        known = list(self.letters)
        plain = all(len(x) == 1 for x in known)
        return "".join(x if plain else chr(97 + known.index(x)) for x in letters)

    def red(self, e: a.Red) -> Valued:
        over = tuple(x for x in e.letters if x not in self.bound)
        if e.op == "sum":
            product = self.product(e.arg, over)
            if product is not None:
                return product
        v = self.expr(n.Call("log", (e.arg,)) if e.op == "sumlog" else e.arg)
        kept = tuple(x for x in v.letters if x not in over)
        places = [p for p, x in enumerate(v.letters) if x in over]
        axis = str(places[0]) if len(places) == 1 else str(tuple(places))
        options = () if not kept else (("axis", axis),)
        word = "np.max" if e.op == "max" else "np.sum"
        return Valued(t.Apply(word, (v.node,), options=options), kept)

    def product(self, e: n.Node, over: tuple[str, ...]) -> Valued | None:
        """Σ of a product of entries."""
        factors = list(e.args) if isinstance(e, n.Mul) else [e]
        plain = [f for f in factors if a.free(f)]
        if len(plain) < 2:
            return None
        parts = [self.expr(f) for f in plain]
        numbers = [self.expr(f).node for f in factors if f not in plain]
        letters = tuple(dict.fromkeys(x for p in parts for x in p.letters))
        kept = tuple(x for x in letters if x not in over)
        spec = ",".join(self.axes(p.letters) for p in parts) + "->" + self.axes(kept)
        options = (("optimize", "True"),) if len(parts) > 2 else ()
        whole = t.Apply("np.einsum", tuple(p.node for p in parts), (spec,), options)
        return Valued(n.mul(*numbers, whole), kept)

    def lin(self, e: a.Lin) -> Valued:
        """The library's, on stacks of matrices."""
        matrix = tuple(x for i in e.args[0].index[-2:] for x in a.free(i))
        own = a.own_letters(e)
        parts = [self.expr(x) for x in e.args]
        batch = tuple(
            dict.fromkeys(x for p in parts for x in p.letters if x not in (*matrix, *own))
        )
        first = self.aligned(parts[0], (*batch, *matrix))
        if e.op == "logdet":
            pair = t.Apply("np.linalg.slogdet", (first,))
            return Valued(t.Part(pair, (t.Whole(1),)), batch)
        if len(parts) == 1:
            word = "np.linalg.cholesky" if e.op == "chol" else "np.linalg.inv"
            return Valued(t.Apply(word, (first,)), (*batch, *own))
        if e.op == "ltsolve":
            first = t.Apply("np.swapaxes", (first, t.Whole(-1), t.Whole(-2)))
        right = self.aligned(parts[1], (*batch, *own))
        if len(own) == 2:
            return Valued(t.Apply("np.linalg.solve", (first, right)), (*batch, *own))
        column = t.Apply("np.linalg.solve", (first, t.Part(right, (t.Rest(), t.Added()))))
        return Valued(t.Part(column, (t.Rest(), t.Whole(0))), (*batch, *own))


def _around(
    body: tuple[a.Statement, ...], outer: tuple[str, ...] = ()
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """For every equation the letters of the loops around it."""
    for s in body:
        if isinstance(s, a.Let):
            yield s.name, outer
        else:
            yield from _around(s.body, (*outer, s.letter))


def _local(program: a.Program, around: dict[str, tuple[str, ...]]) -> set[str]:
    """What is read only in the loops in which it is made, at their own indices."""
    made = {s.name: s for s in program.lets if around[s.name] and s.init is None}
    kept = {*program.outs, *(y for _, y in program.writes)}
    kept |= {s.stop for s in _recurrences(program.body)}
    for s in program.lets:
        for r in (r for e in s.expressions for r in a.refs(e) if r.name in made):
            outer, maker = around[r.name], made[r.name]
            at = dict(zip(maker.letters, r.index, strict=True))
            inside = around[s.name][: len(outer)] == outer
            if not inside or any(at.get(x) != a.Ix(x) for x in outer):
                kept.add(r.name)
    return {x for x, s in made.items() if x not in kept and set(around[x]) <= set(s.letters)}


def _recurrences(body: tuple[a.Statement, ...]) -> Iterator[a.Seq]:
    for s in body:
        if isinstance(s, a.Seq):
            yield s
            yield from _recurrences(s.body)
