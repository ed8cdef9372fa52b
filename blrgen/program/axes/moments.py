"""Sums over rows of what is a polynomial of their data are made of sums of data alone.

    h[n,i] = solve(P[i,k], sum(j, W[j,i] * x[n,j]));  s[i,j] = sum(n, h[n,i] * x[n,j])
    →   c[i,k] = solve(P[i,k], [i = k]);  t[i,j] = sum(n, x[n,i] * x[n,j])
        u[i,j] = sum(k, W[k,i] * t[k,j]);  s[i,j] = sum(k, c[i,k] * u[k,j])

An equation of rows is put into the sum that reads it, the earliest of several first, so that
sums that lead to the same ones share them; what does not know the row stands outside.  A program
in which a row would still be read by something else than a sum of data is given back as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import replace

from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a
from blrgen.program.axes.alike import alike
from blrgen.program.axes.anf import anf, taken
from blrgen.program.axes.contracted import factors_of, terms_of
from blrgen.program.axes.dead import dead
from blrgen.program.axes.narrowed import narrowed
from blrgen.program.program import fresh

AXES = 2  # of an array of sums of data, at most
DEGREE = 4  # of a power that is multiplied out, at most


def moments(program: a.Program, rows: Set[a.Size], data: Set[str]) -> a.Program:
    """The program in sums of `data` over the axes `rows`, if nothing else reads their rows."""
    plain = dead(alike(anf(narrowed(anf(program)))))
    try:
        return _Moments(plain, rows, data).program()
    except _RowsStay:
        return program


class _RowsStay(Exception):
    """Something of a row is no polynomial of its data, or needs it by itself."""


class _Moments:
    """Equations of rows, and the sums that were made of them."""

    def __init__(self, program: a.Program, rows: Set[a.Size], data: Set[str]) -> None:
        self.whole, self.data, self.taken = program, data, taken(program)
        self.letters = list(program.letters)
        self.over = {x.name for x in program.letters if x.size in rows or x.under}
        self.rows = {s.name: s for s in program.body if isinstance(s, a.Let) and self.of_row(s)}
        self.order = {name: k for k, name in enumerate(self.rows)}
        self.known: dict[object, tuple[str, tuple[str, ...]]] = {}
        self.inverses: dict[str, str] = {}
        self.before: list[a.Let] = []

    def of_row(self, s: a.Let) -> bool:
        return bool(self.over & set(s.letters))

    def program(self) -> a.Program:
        """All equations that are not of rows, after the sums that they need."""
        if not self.rows or self.rows.keys() & {*self.whole.outs}:
            raise _RowsStay
        body: list[a.Statement] = []
        for s in self.whole.body:
            if isinstance(s, a.Seq) or s.at or s.first is not None or s.init is not None:
                if any(self.over & set(_every(x)) for x in a.lets((s,))):
                    raise _RowsStay
                body.append(s)
            elif s.name not in self.rows:
                expr = self.read(s.expr)
                body += [*self.before, replace(s, expr=expr)]
                self.before = []
        return dead(replace(self.whole, letters=tuple(self.letters), body=tuple(body)))

    def read(self, e: n.Node) -> n.Node:
        """The expression with its sums over rows in terms of those of data."""
        if isinstance(e, a.Red) and self.over & {*e.letters, *a.free(e.arg)}:
            row = [x for x in e.letters if x in self.over]
            if e.op != "sum" or len(row) != 1:
                raise _RowsStay
            others = tuple(x for x in e.letters if x not in row)
            return self.total(row[0], others, self.terms(e.arg, row[0], {*_inside(e)}))
        if isinstance(e, a.Ref) and (e.name in self.rows or self.over & set(a.free(e))):
            raise _RowsStay
        return e.rebuilt(self.read)

    # -- polynomials -----------------------------------------------------------------------
    def total(
        self, row: str, others: Sequence[str], terms: Sequence[tuple[list[n.Node], list[str]]]
    ) -> n.Node:
        """Σ over the row, the other letters and those of each term."""
        found = []
        for factors, inner in terms:
            own = [f for f in factors if row in a.free(f)]
            rest = [f for f in factors if row not in a.free(f)]
            outer = [*others, *inner]
            made = self.named(row, own) if own else self.count(row)
            value = n.mul(*rest, made)
            used = tuple(x for x in outer if x in a.free(value))
            idle = [self.count(x) for x in outer if x not in used]
            found.append(n.mul(*idle, a.Red("sum", used, value) if used else value))
        return n.add(*found) if found else n.ZERO

    def count(self, letter: str) -> n.Node:
        size = self.letter(letter).size
        return n.Const.of(size) if isinstance(size, int) else a.Extent(size)

    def letter(self, name: str) -> a.Letter:
        return next(x for x in self.letters if x.name == name)

    def terms(self, e: n.Node, row: str, used: set[str]) -> list[tuple[list[n.Node], list[str]]]:
        """Products of what knows the row by name and what does not, and their own letters."""
        if row not in a.free(e):
            return [([e], [])]
        parts = terms_of(e)
        if len(parts) > 1:
            return [t for x in parts for t in self.terms(x, row, used)]
        (e,) = parts
        if isinstance(e, n.Neg):
            return [([n.Const.of(-1), *f], b) for f, b in self.terms(e.arg, row, used)]
        if isinstance(e, n.Mul | n.Div):
            factors = factors_of(e)
            if e in factors:
                raise _RowsStay
            return self.product(factors, row, used)
        if isinstance(e, n.Pow) and e.exponent in range(2, DEGREE + 1):
            return self.product([e.base] * int(e.exponent), row, used)
        if isinstance(e, a.Red) and e.op == "sum" and e.more is None:
            places = {x: self.other(x, used) for x in e.letters}
            used |= {*places.values()}
            arg = a.swapped(e.arg, {k: a.Ix(v) for k, v in places.items()})
            inner = self.terms(arg, row, used)
            return [(f, [*places.values(), *b]) for f, b in inner]
        own = isinstance(e, a.Ref) and (e.name in self.rows or e.name in self.data)
        if own and all(isinstance(i, a.Ix) for i in e.children):
            return [([e], [])]
        raise _RowsStay

    def product(
        self, factors: Sequence[n.Node], row: str, used: set[str]
    ) -> list[tuple[list[n.Node], list[str]]]:
        """Each term of one factor with each of the others."""
        found: list[tuple[list[n.Node], list[str]]] = [([], [])]
        for f in factors:
            more = [self.terms(f, row, used) for _ in found]  # letters of their own for each
            pairs = [(y, z) for y, terms in zip(found, more, strict=True) for z in terms]
            found = [([*y, *z], [*b, *c]) for (y, b), (z, c) in pairs]
        return found

    def other(self, letter: str, used: Set[str]) -> str:
        """The letter, or another one over its axis that is not in use."""
        at = self.letter(letter)
        if letter not in used:
            return letter
        for x in self.letters:
            if x.size == at.size and not x.down and not x.under and x.name not in used:
                return x.name
        name = fresh(letter, self.taken)
        self.taken.add(name)
        self.letters.append(a.Letter(name, at.size))
        return name

    # -- sums over one row -----------------------------------------------------------------
    def named(self, row: str, own: Sequence[n.Node]) -> n.Node:
        """Σ over the row of a product of references, as an equation of its own."""
        refs = sorted((f for f in own if isinstance(f, a.Ref)), key=self.rank)
        if len(refs) < len(own):
            raise _RowsStay
        letters = tuple(dict.fromkeys(x for r in refs for x in a.free(r) if x != row))
        places: dict[str, n.Node] = {x: a.Ix(f"#{k}") for k, x in enumerate((row, *letters))}
        key = tuple(a.swapped(r, places) for r in refs)
        if key not in self.known:
            expr = self.summed(row, refs, set(letters))
            name = fresh("row_sum", self.taken)
            self.taken.add(name)
            self.known[key] = name, letters
            self.before.append(a.Let(name, letters, expr))
        return a.ref(self.known[key][0], *letters)

    def rank(self, r: a.Ref) -> tuple[int, str]:
        return self.order.get(r.name, -1), r.name

    def summed(self, row: str, refs: Sequence[a.Ref], used: set[str]) -> n.Node:
        """A sum of data, or one in which the earliest equation of rows is put in."""
        at = next((k for k, r in enumerate(refs) if r.name in self.rows), None)
        if at is None:
            if len(used) > AXES:
                raise _RowsStay
            return a.Red("sum", (row,), n.mul(*refs))
        rest = [*refs[:at], *refs[at + 1 :]]  # of a square the other one stays
        used = {row, *used}
        terms = self.terms(self.meant(refs[at], used), row, used)
        return self.total(row, (), [([*f, *rest], b) for f, b in terms])

    def meant(self, r: a.Ref, used: Set[str]) -> n.Node:
        """What stands on the right side of an equation, at these letters."""
        s = self.rows[r.name]
        if isinstance(s.expr, a.Lin):
            return self.solved(s, r, used)
        letters = {x for x in _inside(s.expr) if x not in s.letters}
        places: dict[str, n.Node] = dict(zip(s.letters, r.index, strict=True))
        used = {*used, *s.letters}
        for x in sorted(letters):  # those that are summed on the right, apart from all others
            new = self.other(x, used | letters - {x})
            used.add(new)
            places[x] = a.Ix(new)
        return _placed(s.expr, places)

    def solved(self, s: a.Let, r: a.Ref, used: Set[str]) -> n.Node:
        """A⁻¹ b as a sum over an inverse that is the same for all rows."""
        lin = s.expr
        assert isinstance(lin, a.Lin)
        matrix, right = lin.args[0], lin.args[-1]
        if lin.op != "solve" or self.over & set(a.free(matrix)) or not _plain(matrix, right):
            raise _RowsStay
        *_, p, q = a.free(matrix)
        shared = p if p in a.free(right) else q
        at = dict(zip(s.letters, r.index, strict=True))
        own = self.other(shared, used)
        front = [at.get(i.letter, i) for i in matrix.index[:-2] if isinstance(i, a.Ix)]
        inverse = a.Ref(self.inverse(matrix), (*front, at[shared], a.Ix(own)))
        index = tuple(a.Ix(own) if i == a.Ix(shared) else at[i.letter]
                      for i in right.index if isinstance(i, a.Ix))  # fmt: skip
        return a.Red("sum", (own,), n.mul(inverse, a.Ref(right.name, index)))

    def inverse(self, matrix: a.Ref) -> str:
        """A⁻¹, entry by entry."""
        if matrix.name not in self.inverses:
            *batch, row, column = a.free(matrix)
            one, name = (fresh(f"{matrix.name}_{x}", self.taken) for x in ("identity", "inverse"))
            self.taken |= {one, name}
            other = self.other(column, {*batch, row, column})
            letters = (*batch, row, other)
            self.before.append(a.Let(one, letters, a.Is(a.Ix(row), a.Ix(other))))
            lin = a.Lin("solve", (matrix, a.ref(one, *letters)))
            self.before.append(a.Let(name, letters, lin))
            self.inverses[matrix.name] = name
        return self.inverses[matrix.name]


def _plain(*refs: a.Ref) -> bool:
    """Whether indices are letters, each once."""
    return all(isinstance(i, a.Ix) for r in refs for i in r.index) and all(
        len(set(r.index)) == len(r.index) for r in refs
    )


def _inside(e: n.Node) -> Iterator[str]:
    """All letters of an expression, reduced ones too."""
    for x in n.walk(e):
        if isinstance(x, a.Ix | a.Lag | a.Last):
            yield x.letter
        elif isinstance(x, a.Red):
            yield from x.letters


def _every(s: a.Let) -> Iterator[str]:
    yield from s.letters
    for e in (*s.expressions, *s.at):
        yield from _inside(e)


def _placed(e: n.Node, places: dict[str, n.Node]) -> n.Node:
    """The expression at other letters, reduced ones too."""
    made = e.rebuilt(lambda c: _placed(c, places))
    if isinstance(made, a.Ix):
        return places.get(made.letter, made)
    if isinstance(made, a.Red):
        letters = (places.get(x, a.Ix(x)) for x in made.letters)
        return replace(made, letters=tuple(x.letter for x in letters if isinstance(x, a.Ix)))
    return made
