"""Expressions of the index algebra → equations over axes.

    ½ Σ_n z[n,k] x[n]²        →   1/2 * sum(n, z[n,k] * x[n]**2)
    δ(i,j)                    →   [i == j]
    x[n,v] of labels x[N]     →   [x[n] == v]
    inv(M)[i,j], logdet(M)    →   equations of their own: M, and what is solved with it
    log Σ_k exp(f)            →   lse(k, f)

A free index is a letter of the left side, a bound one is summed over.  Letters of one axis are
shared between equations: what stands around an expression is never used in it again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction

from blrgen.algebra.indexed import Atom, Expression, Index, Term
from blrgen.algebra.indexed.build import scaled
from blrgen.algebra.indexed.values import COLUMN, NUMBER, ROW
from blrgen.errors import InternalError
from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a
from blrgen.program.model.calls import called, factors
from blrgen.program.model.one_sum import one_sum
from blrgen.program.model.products import Factor, Product, product, times
from blrgen.program.model.stable_sites import stable_at
from blrgen.program.program import fresh
from blrgen.program.stable import stable_form

Reader = Callable[[tuple[n.Node, ...]], n.Node]
INFINITE = ("log_indicator", "log_reaches")  # 0, or −∞
NAMES = "ijhpqrsuvwnk"


@dataclass
class Equations:
    """Equations under way, with the letters and names that they use."""

    readers: Mapping[str, Reader] = field(default_factory=dict)
    ragged: Mapping[str, a.Letter] = field(default_factory=dict)  # by axis
    fixed: Mapping[str, int] = field(default_factory=dict)  # sizes that are numbers
    letters: dict[str, a.Letter] = field(default_factory=dict)
    body: list[a.Statement] = field(default_factory=list)
    taken: set[str] = field(default_factory=set)
    known: dict[tuple[str, str], str] = field(default_factory=dict)  # matrices that are there
    shares: frozenset[str] = frozenset()  # symbols on a simplex, of which entries may be 0
    tells: bool = False  # whether a logarithm of one has been read

    # -- letters -----------------------------------------------------------------------
    def letter(self, axis: str, wish: str, used: Iterable[str]) -> str:
        """A letter over the axis that is not in use around."""
        used = list(used)
        under = self.under(axis, used)
        for x in self.letters.values():
            fits = str(x.size) == axis and x.under == under and not x.down
            if fits and x.name not in used:
                return x.name
        stem = wish if wish.isidentifier() and wish[0] not in "_lIO" else NAMES[0]
        if stem in self.taken:
            stem = next((x for x in NAMES if x not in self.taken), stem)
        name = fresh(stem, self.taken)
        self.taken.add(name)
        pointers = self.ragged[axis].pointers if under else ""
        size = int(axis) if axis.isdigit() else axis
        self.letters[name] = a.Letter(name, size, under, pointers)
        return name

    def under(self, axis: str, used: list[str]) -> str:
        """The letter that a ragged one is under: the last over its outer axis that is in use."""
        if axis not in self.ragged:
            return ""
        first = self.ragged[axis].under
        outer = self.letters[first].size if first in self.letters else ""
        found = [x for x in used if self.letters[x].size == outer]
        return found[-1] if found else first

    def own(self, name: str) -> str:
        """A name for an equation."""
        name = fresh(name, self.taken)
        self.taken.add(name)
        return name

    def let(self, s: a.Let) -> None:
        """The next equation; what it has of exponentials in forms that do not overflow."""
        self.taken.add(s.name)
        exponential = any(isinstance(x, n.Call) and x.name == "exp" for x in n.walk(s.expr))
        self.body.append(
            replace(s, expr=stable_at(one_sum(stable_form(s.expr)))) if exponential else s
        )

    # -- expressions -------------------------------------------------------------------
    def equation(
        self, name: str, places: tuple[Index, ...], e: Expression, structure: str = "dense"
    ) -> a.Let:
        """name[places] = e, with what it needs before it."""
        own: tuple[str, ...] = ()
        for i in places:
            own = (*own, self.letter(i.axis, i.name, own))
        where = dict(zip((i.name for i in places), own, strict=True))
        made = a.Let(name, own, self.expr(e, where), structure)
        self.let(made)
        return made

    def expr(self, e: Expression, where: Mapping[str, str]) -> n.Node:
        """The value at letters: `where` has the letter of each free index."""
        if not e.terms:
            return n.ZERO
        return n.add(*(self.term(t, c, where) for t, c in e.terms))

    def term(self, t: Term, c: Fraction, where: Mapping[str, str]) -> n.Node:
        """A rational number times a product, summed over its bound indices."""
        inside = dict(where)
        over: list[str] = []
        for r in sorted(t.bound, key=lambda r: r.axis in self.ragged):
            name = self.letter(r.axis, r.name, inside.values())
            inside[r.name] = name
            over.append(name)
        masks = [m for r in t.bound for m in self.masks(r.low, r.high, inside[r.name])]
        sure = [x for x, _ in t.factors if x.name in INFINITE]
        if sure and (len(t.factors) > 1 or masks):
            return self.weighed(t, c, over, masks, inside)
        return times(c, self.contracted(Product(t, over, masks), inside))

    def weighed(
        self, t: Term, c: Fraction, over: list[str], masks: list[n.Node], where: Mapping[str, str]
    ) -> n.Node:
        """A term with a factor that may be −∞: 0 where the others are 0 together."""
        sure = [self.atom(x, where) for x, _ in t.factors if x.name in INFINITE]
        rest = [Factor(self.atom(x, where), q, x.known)
                for x, q in t.factors if x.name not in INFINITE]  # fmt: skip
        weight = product([*rest, *(Factor(m, Fraction(1), True) for m in masks)])
        value = n.Select(n.Compare("==", weight, n.ZERO), n.ZERO, n.mul(weight, *sure))
        return times(c, a.Red("sum", tuple(over), value) if over else value)

    def contracted(self, p: Product, where: Mapping[str, str]) -> n.Node:
        """Σ of the product: what is known alone is summed first, what does not vary stays out.

        Σ_n Σ_j L[j,i] x[n,j] = Σ_j L[j,i] (Σ_n x[n,j]), and the sum of data is found once.
        """
        bound = {where[r.name] for r in p.term.bound}
        parts = factors(self, p.term, where)
        parts += [Factor(m, Fraction(1), True) for m in p.masks]
        for b in sorted(bound):
            inner = [f for f in parts if b in f.letters]
            if len(inner) == len(parts) or not all(f.known for f in inner):
                continue
            rest = [f for f in parts if f not in inner]
            outside = {x for f in rest for x in f.letters}
            own = tuple(x for x in p.over if x in bound and x not in outside
                        and any(x in f.letters for f in inner))  # fmt: skip
            if b in own:
                idle = bound - {x for f in parts for x in f.letters}
                under = [x for x in p.over if x in idle and self.letters[x].under in own]
                _, rows, _ = self.counted((*own, *under), inner)  # as many as each row has
                inside = product([*inner, *(Factor(x, Fraction(1)) for x in rows)])
                parts = [*rest, Factor(a.Red("sum", own, inside), Fraction(1), True)]
                bound -= {*own, *under}
        inner = [f for f in parts if bound & set(f.letters)]
        outer = [f for f in parts if f not in inner]
        left, rows, counts = self.counted(tuple(x for x in p.over if x in bound), inner)
        inside = product([*inner, *(Factor(x, Fraction(1)) for x in rows)])
        found: list[n.Node] = [a.Red("sum", left, inside)] if left else []
        found += counts
        above = [*(f for f in outer if f.power > 0), *(Factor(x, Fraction(1)) for x in found)]
        return product([*above, *(f for f in outer if f.power < 0)])

    def counted(
        self, over: tuple[str, ...], inner: list[Factor]
    ) -> tuple[tuple[str, ...], list[n.Node], list[n.Node]]:
        """The letters that are summed over, and how many places those have that nothing varies on.

        What is ragged has as many places in all as its arrays are long; under one row as many as
        this row has: ones along it are summed, inside of the sum where the row is summed over.
        """
        used = {x for f in inner for x in f.letters}
        idle = [x for x in over if x not in used]
        unders = {self.letters[x].under for x in idle} - {""}
        rows: list[n.Node] = []
        counts: list[n.Node] = []
        for x in idle:
            under = self.letters[x].under
            if under and under not in idle:
                ones = self.once("ones", a.Let("", (under, x), n.ONE))
                own = a.Red("sum", (x,), a.ref(ones, under, x))
                (rows if under in over else counts).append(own)
            elif x not in unders:
                size = self.letters[x].size
                counts.append(n.Const.of(size) if isinstance(size, int) else a.Extent(size))
        return tuple(x for x in over if x in used), rows, counts

    def masks(self, low: int, high: int, letter: str) -> list[n.Node]:
        """1 where low < place ≤ size − high, counted from 1: factors."""
        found = [self.ends(low, letter, False), self.ends(high, letter, True)]
        front = [x for x in (self.letters[letter].under,) if x]
        return [a.ref(x, *front, letter) for x in found if x]

    def ends(self, count: int, letter: str, down: bool) -> str:
        """An array that is 0 at the first places, or the last ones, and 1 elsewhere."""
        if not count:
            return ""
        before = self.ends(count - 1, letter, down)
        along = self.along(letter, down)
        front = tuple(x for x in (self.letters[letter].under,) if x)
        lag = a.Lag(along, 1 if down else -1)
        earlier = a.Ref(before, (*map(a.Ix, front), lag)) if before else n.ONE
        return self.once("within", a.Let("", (*front, along), earlier, first=n.ZERO), along)

    def along(self, letter: str, down: bool) -> str:
        """The letter itself, or one over its axis that runs from the last place to the first."""
        if not down:
            return letter
        at = self.letters[letter]
        for x in self.letters.values():
            if x.down and x.size == at.size and x.under == at.under:
                return x.name
        name = self.own("u")
        self.letters[name] = replace(at, name=name, down=True)
        return name

    def beginning(self, x: Atom, k: int, where: Mapping[str, str]) -> n.Node:
        """x at a place of a row of its own length: a sum in which all others are 0."""
        i = x.indices[k]
        if i.name != NUMBER:
            raise InternalError(f"{x.key}: of rows of different lengths only places from the first")
        letter = self.letter(i.axis, "t", where.values())
        front = self.letters[letter].under
        mask = self.nth(i.shift, letter)
        places = (*x.indices[:k], Index(i.axis, "@begun"), *x.indices[k + 1 :])
        whole = Atom("symbol", x.name, places, symbol=x.symbol)
        inner = self.of_symbol(whole, {**where, "@begun": letter})
        return a.Red("sum", (letter,), n.mul(a.ref(mask, front, letter), inner))

    def shifted(self, x: Atom, k: int, where: Mapping[str, str]) -> n.Node:
        """x with its k-th index moved: an array of its own, 0 where that is outside."""
        i = x.indices[k]
        by = 1 if i.shift > 0 else -1
        along = self.along(where[i.name], by > 0)
        nearer = Atom("symbol", x.name, (*x.indices[:k], i.moved(-by), *x.indices[k + 1 :]),
                      symbol=x.symbol)  # fmt: skip
        whole = self.of_symbol(nearer, where)
        letters = tuple(dict.fromkeys(y for z in x.indices if not z.literal
                                      for y in [where[z.name]]))  # fmt: skip
        value = a.swapped(whole, {where[i.name]: a.Lag(along, by)})
        inside = tuple(along if y == where[i.name] else y for y in letters)
        name = self.once("shifted", a.Let("", inside, value, first=n.ZERO), along)
        return a.ref(name, *letters)

    def place(self, i: Index, where: Mapping[str, str]) -> n.Node:
        """An index as a place."""
        if i.name == NUMBER:
            return a.Num(i.shift - 1)
        if i.literal:
            if i.axis.isdigit():
                return a.Num(int(i.axis) - 1 + i.shift)
            raise InternalError(f"the last place of {i.axis} is known only where it is a number")
        return a.Ix(where[i.name])

    # -- atoms ---------------------------------------------------------------------------
    def atom(self, x: Atom, where: Mapping[str, str]) -> n.Node:
        found: n.Node = getattr(self, f"of_{x.kind}")(x, where)
        return found

    def of_symbol(self, x: Atom, where: Mapping[str, str]) -> n.Node:
        moved = [k for k, i in enumerate(x.indices) if i.shift and not i.literal]
        if moved:
            return self.shifted(x, moved[0], where)
        begun = [k for k, i in enumerate(x.indices) if i.literal and i.axis in self.ragged]
        if begun:
            return self.beginning(x, begun[0], where)
        index = tuple(self.place(i, where) for i in x.indices)
        read = self.readers.get(x.name)
        return a.Ref(x.name, index) if read is None else read(index)

    def of_delta(self, x: Atom, where: Mapping[str, str]) -> n.Node:
        for i, j in (x.indices, x.indices[::-1]):
            if not i.literal and i.axis in self.ragged and j.name == NUMBER:
                letter = where[i.name]
                return a.ref(self.nth(j.shift, letter), self.letters[letter].under, letter)
        left, right = (self.place(y, where) for y in x.indices)
        return a.Is(right, left) if isinstance(left, a.Num) else a.Is(left, right)

    def nth(self, count: int, letter: str) -> str:
        """An array that is 1 at the count-th place of each row of its own length, 0 elsewhere."""
        front = self.letters[letter].under
        if count == 1:
            return self.once("begins", a.Let("", (front, letter), n.ZERO, first=n.ONE), letter)
        earlier = a.ref(self.nth(count - 1, letter), front, a.Lag(letter, -1))
        return self.once("begins", a.Let("", (front, letter), earlier, first=n.ZERO), letter)

    def of_guard(self, x: Atom, where: Mapping[str, str]) -> n.Node:
        (i,) = x.indices
        return n.mul(*self.masks(*x.cut, where[i.name]))

    def of_size(self, x: Atom, where: Mapping[str, str]) -> n.Node:
        return a.Extent(x.name)

    def of_sum(self, x: Atom, where: Mapping[str, str]) -> n.Node:
        return self.expr(x.arguments[0], where)

    def of_function(self, x: Atom, where: Mapping[str, str]) -> n.Node:
        return called(self, x, where)

    def level(self, e: n.Node, letters: tuple[str, ...] = ()) -> n.Node:
        """What is told of log p: −∞ where a log 0 is in it."""
        if not self.tells:
            return e
        whole = self.own("log_p")
        self.let(a.Let(whole, letters, e))
        return n.Call("level", (a.ref(whole, *letters),))

    def of_matrix(self, x: Atom, where: Mapping[str, str]) -> n.Node:
        """inv(M)[i,j] or logdet(M): M is an equation, and so is what is made of it.

        M is positive definite; one whose terms are all negative is minus such a matrix.
        """
        inner = x.arguments[0]
        minus = x.name == "inv" and all(c < 0 for _, c in inner.terms)
        inner = scaled(inner, -1) if minus else inner
        batch = tuple(where[i.name] for i in x.letters if i.name in where
                      and i in inner.letters)  # fmt: skip
        axis = next(i.axis for i in inner.letters if i.name in (ROW, COLUMN))
        row = self.letter(axis, "i", where.values())
        column = self.letter(axis, "j", (*where.values(), row))
        third = self.letter(axis, "h", (*where.values(), row, column))
        matrix = self.expr(inner, {**where, ROW: row, COLUMN: column})
        name = self.once("matrix", a.Let("", (*batch, row, column), matrix, "spd"))
        if x.name == "logdet":
            volume = a.Lin("logdet", (a.ref(name, *batch, row, column),))
            return a.ref(self.once("volume", a.Let("", batch, volume)), *batch)
        same = self.once("same", a.Let("", (row, column), a.Is(a.Ix(row), a.Ix(column))))
        solved = a.Lin("solve", (a.ref(name, *batch, row, third), a.ref(same, row, column)))
        made = self.once("inverse", a.Let("", (*batch, row, column), solved, "spd"))
        i, j = (self.place(y, where) for y in x.indices)
        found = a.Ref(made, (*map(a.Ix, batch), i, j))
        return n.neg(found) if minus else found

    def once(self, stem: str, s: a.Let, along: str = "") -> str:
        """The name of an equation, which is there already or made now; `along` a recurrence."""
        key = (stem, repr((s.letters, s.expr, s.structure, s.first)))
        if key not in self.known:
            made = replace(s, name=self.own(stem))
            self.known[key] = made.name
            self.taken.add(made.name)
            under = self.letters[along].under if along else ""
            whole = a.Seq(along, (made,)) if along else made
            self.body.append(a.Seq(under, (whole,)) if under else whole)
        return self.known[key]


def labels_reader(name: str) -> Reader:
    """One-hot rows that are kept as labels: x[n,v] is 1 where the label of n is v."""

    def read(index: tuple[n.Node, ...]) -> n.Node:
        *front, last = index
        return a.Is(a.At(a.Ref(name, tuple(front))), last)

    return read


def named_reader(node: n.Node) -> Reader:
    """A number by its name."""
    return lambda index: node
