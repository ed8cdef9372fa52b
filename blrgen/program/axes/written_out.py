"""Axes of known small sizes written out: every entry is an equation of its own.

    x[t,i] = sum(l, F[i,l] * m[t,l])    →    x_0[t] = F_0_0 * m_0[t] + F_0_1 * m_1[t]; x_1[t] = …

What is symmetric is computed once for both triangles; entries that are known to be 0 or 1, of
identities and of matrices given as constants, are folded.  Entries of what is given are loaded
before all loops, and results are put together entry by entry.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product

from blrgen.errors import InternalError
from blrgen.program import nodes as n
from blrgen.program.arithmetic import minus, over, plus, times
from blrgen.program.axes import factors
from blrgen.program.axes import nodes as a
from blrgen.program.axes.anf import taken
from blrgen.program.axes.writable import refuse
from blrgen.program.program import fresh

Known = Mapping[str, tuple[tuple[Fraction, ...], ...]]  # given matrices, as numbers
Places = tuple[int, ...]


def written_out(program: a.Program, axes: Set[int], known: Known | None = None) -> a.Program:
    """The program after `anf` with the axes of these sizes written out."""
    return Writing(program, axes, known or {}).whole()


@dataclass(frozen=True)
class Slot:
    """Where equations go that are made on the way: they hold always, later, or at first."""

    let: a.Let
    when: str

    def equation(self, name: str, letters: tuple[str, ...], e: n.Node) -> a.Let:
        if self.when == "first":
            return a.Let(name, letters, n.ZERO, first=e)
        later = n.ZERO if self.when == "later" else None
        return a.Let(name, letters, e, first=later)


class Writing:
    """The names that entries have, and the equations that load them."""

    def __init__(self, program: a.Program, axes: Set[int], known: Known) -> None:
        self.program, self.axes = program, axes
        self.taken = taken(program)
        self.size = {x.name: x.size for x in program.letters}
        self.letters = [x.name for x in program.letters if x.size in axes]
        self.sizes = program.sizes
        self.given = {q.name: q for q in program.given}
        self.symmetric = {x for x, s in program.structures.items() if s in ("sym", "spd")}
        self.lower = {x for x, s in program.structures.items() if s == "lower"}
        self.names: dict[tuple[str, Places], n.Node | str] = {}
        self.loads: list[a.Let] = []
        self.factors: dict[object, factors.Factor] = {}
        for name, rows in known.items():
            for i, row in enumerate(rows):
                for j, x in enumerate(row):
                    self.names[name, (i, j)] = n.Const(x)

    def whole(self) -> a.Program:
        p = self.program
        refuse(p, self.letters)
        body = self.body(p.body)
        put: list[a.Assembled] = []
        outs: list[str] = []
        for x in p.outs:
            if self.is_written(x):
                put.append(self.assembled(x, x))
            else:
                outs.append(x)
        writes: list[tuple[str, str]] = []
        for given, made in p.writes:
            if self.is_written(made):
                put.append(self.assembled(given, made))
            else:
                writes.append((given, made))
        letters = tuple(x for x in p.letters if x.name not in self.letters)
        return replace(p, letters=letters, body=(*self.loads, *body), outs=tuple(outs),
                       writes=tuple(writes), assembled=tuple(put))  # fmt: skip

    # -- statements ----------------------------------------------------------------
    def body(self, body: tuple[a.Statement, ...]) -> tuple[a.Statement, ...]:
        out: list[a.Statement] = []
        for s in body:
            if isinstance(s, a.Seq):
                self.named_before(s)
                out.append(replace(s, body=self.body(s.body)))
            else:
                out += self.let(s)
        return tuple(out)

    def named_before(self, s: a.Seq) -> None:
        """Entries that are read a step back have their names before they are made."""
        for x in a.lets(s.body):
            for at in self.places(x):
                self.names.setdefault((x.name, at), self.entry_name(x.name, at))

    def places(self, s: a.Let) -> list[Places]:
        """All places on the written axes of a left side; of two triangles one."""
        runs = [range(int(self.size[x])) for x in s.letters if x in self.letters]
        whole = list(product(*runs))
        half = s.name in self.symmetric
        half = half or (s.name in self.lower and not isinstance(s.expr, a.Lin))
        if half and self.is_square(s.name):
            return [x for x in whole if x[-1] <= x[-2]]
        return whole

    def is_square(self, name: str) -> bool:
        """Whether the last two axes are written."""
        return all(x in self.axes for x in self.sizes[name][-2:])

    def entry_name(self, name: str, at: Places) -> str:
        if (name, at) in self.names and isinstance(self.names[name, at], str):
            return str(self.names[name, at])
        if not at:
            return name
        own = fresh("_".join([name, *map(str, at)]), self.taken)
        self.taken.add(own)
        return own

    def let(self, s: a.Let) -> list[a.Statement]:
        """One equation for every entry."""
        e = s.first if s.expr == n.ZERO and isinstance(s.first, a.Lin) else s.expr
        if isinstance(e, a.Lin) and self.size[a.free(e.args[0].index[-1])[0]] in self.axes:
            when = "first" if e is s.first else "plain" if s.first is None else "later"
            return self.linear(s, e, Slot(s, when))
        out: list[a.Statement] = []
        rest = tuple(x for x in s.letters if x not in self.letters)
        for at in self.places(s):
            values = dict(zip((x for x in s.letters if x in self.letters), at, strict=True))
            expr = self.expr(s.expr, values)
            first = None if s.first is None else self.expr(s.first, values)
            init = None if s.init is None else self.expr(s.init, values)
            if isinstance(expr, n.Const) and first is None and init is None and at:
                self.names[s.name, at] = expr
                if s.name not in self.program.outs:
                    continue
            name = self.entry_name(s.name, at)
            self.names[s.name, at] = name
            out.append(a.Let(name, rest, expr, "dense", first, init, s.at))
        return out

    # -- expressions -----------------------------------------------------------------
    def expr(self, e: n.Node, values: dict[str, int]) -> n.Node:
        """With numbers in the place of written letters, 0 and 1 folded."""
        if isinstance(e, a.Ref):
            return self.entry(e, values)
        if isinstance(e, a.Red):
            return self.reduced(e, values)
        if isinstance(e, a.Is):
            left, right = (self.place(i, values) for i in (e.left, e.right))
            if isinstance(left, a.Num) and isinstance(right, a.Num):
                return n.ONE if left == right else n.ZERO
            return a.Is(left, right)
        parts = [self.expr(c, values) for c in e.children]
        if isinstance(e, n.Add):
            return plus(*parts)
        if isinstance(e, n.Sub):
            return minus(*parts)
        if isinstance(e, n.Mul):
            return times(*parts)
        if isinstance(e, n.Div):
            return over(*parts)
        if isinstance(e, n.Neg):
            return times(n.Const.of(-1), *parts)
        changed = iter(parts)
        return e.rebuilt(lambda _: next(changed))

    def place(self, i: n.Node, values: dict[str, int]) -> n.Node:
        if isinstance(i, a.Ix) and i.letter in values:
            return a.Num(values[i.letter])
        if isinstance(i, a.At):
            inner = tuple(self.place(x, values) for x in i.ref.index)
            return a.At(a.Ref(i.ref.name, inner))  # labels are read where they are
        return i

    def entry(self, r: a.Ref, values: dict[str, int]) -> n.Node:
        """A written entry by its name, a given one by what was loaded."""
        index = [self.place(i, values) for i in r.index]
        sizes = self.sizes[r.name]
        written = [p for p, x in enumerate(sizes) if x in self.axes]
        at: list[int] = []
        for p in written:
            i = index[p]
            if not isinstance(i, a.Num):
                return a.Ref(r.name, tuple(index))
            at.append(i.value)
        above = self.is_square(r.name) and at[-1:] > at[-2:-1]
        if r.name in self.symmetric and above:
            at[-1], at[-2] = at[-2], at[-1]
        if r.name in self.lower and r.name not in self.given and above:
            return n.ZERO
        key = (r.name, tuple(at))
        rest = tuple(i for p, i in enumerate(index) if p not in written)
        if r.name in self.given and key not in self.names:
            whole = list(index)
            for p, x in zip(written, at, strict=True):
                whole[p] = a.Num(x)
            if rest or not at:
                return a.Ref(r.name, tuple(whole))
            self.names[key] = self.entry_name(r.name, key[1])
            self.loads.append(a.Let(str(self.names[key]), (), a.Ref(r.name, tuple(whole))))
        found = self.names.get(key, r.name)
        return a.Ref(found, rest) if isinstance(found, str) else found

    def reduced(self, e: a.Red, values: dict[str, int]) -> n.Node:
        inner = [x for x in e.letters if x in self.letters]
        others = tuple(x for x in e.letters if x not in inner)
        runs = [range(int(self.size[x])) for x in inner]
        terms = [self.expr(e.arg, {**values, **dict(zip(inner, at, strict=True))})
                 for at in product(*runs)]  # fmt: skip
        if e.op == "sum":
            whole = plus(*terms)
        elif e.op == "max":
            whole = terms[0] if len(terms) == 1 else n.Call("max", tuple(terms))
        else:
            whole = n.mul(*terms) if others else n.Call("log", (n.mul(*terms),))
        return a.Red(e.op, others, whole) if others and whole != n.ZERO else whole

    # -- linear algebra --------------------------------------------------------------
    def linear(self, s: a.Let, e: a.Lin, slot: Slot) -> list[a.Statement]:
        """The entries of a factor, of a solution, or the log of a determinant."""
        out: list[a.Statement] = []
        own = tuple(x for x in a.own_letters(e) if x in self.letters)
        rest = tuple(x for x in s.letters if x not in own)
        batch = tuple(x for x in rest if x in {y for i in e.args[0].index[:-2] for y in a.free(i)})
        if any(x in self.letters for x in rest):
            raise InternalError("a stack of matrices is not written out")

        def under(letters: tuple[str, ...]) -> factors.Named:
            def named(stem: str, x: n.Node) -> n.Node:
                if isinstance(x, n.Const | a.Ref):
                    return x
                name = fresh(f"{s.name}_{stem}", self.taken)
                self.taken.add(name)
                out.append(slot.equation(name, letters, x))
                return a.Ref(name, tuple(map(a.Ix, letters)))

            return named

        found = self.solution(e, slot, under(batch), under(rest))
        if isinstance(found, n.Node):
            out.append(slot.equation(s.name, rest, found))
            return out
        for i, row in enumerate(found):
            for j, x in enumerate(row):
                at = (i, j)[: len(own)]
                name = self.entry_name(s.name, at)
                self.names[s.name, at] = name
                out.append(slot.equation(name, rest, x))
        return out

    def solution(
        self, e: a.Lin, slot: Slot, part: factors.Named, whole: factors.Named
    ) -> n.Node | factors.Rows:
        """The rows of the result; what is the matrix's alone under the names of `part`."""
        matrix = self.rows(e.args[0], 2)
        d = range(len(matrix))
        if e.op in ("solve", "logdet"):
            key = (tuple(x for row in matrix for x in row), slot.when)
            if key not in self.factors:
                self.factors[key] = factors.factored(matrix, part)
            f = self.factors[key]
            if e.op == "logdet":
                return f.volume
            return factors.solved(f, self.rows(e.args[1], len(a.own_letters(e))), whole)
        if e.op == "chol":
            return factors.root(matrix, part)
        pivots = [part(f"over_{i}", over(n.ONE, matrix[i][i])) for i in d]
        if e.op == "linv":
            right = factors.identity(len(matrix))
        else:
            right = self.rows(e.args[1], len(a.own_letters(e)))
        if e.op == "ltsolve":
            return factors.substituted(
                right, d[::-1], lambda i, k: matrix[k][i], whole, "z", pivots
            )
        return factors.substituted(right, d, lambda i, k: matrix[i][k], whole, "y", pivots)

    def rows(self, r: a.Ref, own: int) -> factors.Rows:
        """All written entries of a matrix, or of a vector as a column."""
        letters = [x for i in r.index[-own:] for x in a.free(i) if x in self.letters]
        runs = [range(int(self.size[x])) for x in letters]
        if len(letters) == 1:
            return [[self.entry(r, {letters[0]: i})] for i in runs[0]]
        return [[self.entry(r, {letters[0]: i, letters[1]: j}) for j in runs[1]] for i in runs[0]]

    # -- results ---------------------------------------------------------------------
    def is_written(self, name: str) -> bool:
        return any(x in self.axes for x in self.sizes[name])

    def assembled(self, array: str, name: str) -> a.Assembled:
        """Every entry of a result, with the one that holds it."""
        (s,) = (x for x in self.program.lets if x.name == name)
        runs = [range(int(self.size[x])) for x in s.letters if x in self.letters]
        entries: list[tuple[tuple[n.Node, ...], n.Node]] = []
        for at in product(*runs):
            values = dict(zip((x for x in s.letters if x in self.letters), at, strict=True))
            index = tuple(a.Num(values[x]) if x in values else a.Ix(x) for x in s.letters)
            entries.append((index, self.entry(a.Ref(name, index), {})))
        return a.Assembled(array, self.sizes[name], tuple(entries))
