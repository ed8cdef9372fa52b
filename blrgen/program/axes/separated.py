"""The exponential of a sum is a product, and its factors have fewer places than it.

    z[d,i,k] = a[d,k] + b[w[d,i],k]
    top[d,i] = max(k, z[d,i,k]);  e[d,i,k] = exp(z[d,i,k] - top[d,i])
    →   e[d,i,k] = exp(a[d,k] - max(k, a[d,k])) * exp(b[j,k] - max(k, b[j,k])) at j = w[d,i]

So there are as many exponentials as a and b have places.  Where the two largest are far apart the
products may vanish that matter: a sum over k that is not above 10⁻²⁵ is made anew by the sum's own
exponentials, in loops that are empty elsewhere.  What is left out of a sum above it is smaller
than the rounding of it, in single precision too.

Only for what is in a recurrence or in ragged rows: loops over blocks of rows have no branches.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a
from blrgen.program.axes.anf import taken
from blrgen.program.axes.contracted import factors_of, terms_of
from blrgen.program.axes.dead import dead
from blrgen.program.program import fresh

SMALL = n.Const(Fraction(1, 10**25))
NONE = n.neg(n.Named("inf"))


def separated(program: a.Program, order: Sequence[str]) -> a.Program:
    """The program after `stable`, for loops in that order."""
    work = _Separating(program, order)
    body = work.body(program.body, False)
    return dead(replace(program, body=(*work.begin, *work.after_tables(body))))


@dataclass(frozen=True)
class _Found:
    """Equations of one log-sum-exp: the terms, the largest, what is taken off, e, Σ e."""

    z: a.Let
    highest: a.Let
    top: a.Let
    exponential: a.Let
    total: a.Let

    @property
    def letter(self) -> str:
        return self.z.letters[-1]


class _Separating:
    def __init__(self, program: a.Program, order: Sequence[str]) -> None:
        self.program, self.order, self.taken = program, list(order), taken(program)
        self.top_level = {q.name for q in program.given}
        self.top_level |= {s.name for s in program.body if isinstance(s, a.Let)}
        self.begin: list[a.Let] = []
        self.tables: dict[str, list[a.Let]] = {}  # after which equation
        self.known: dict[tuple[str, int], tuple[str, str]] = {}  # of a table: its factor, its top

    def own(self, name: str) -> str:
        name = fresh(name, self.taken)
        self.taken.add(name)
        return name

    def after_tables(self, body: tuple[a.Statement, ...]) -> tuple[a.Statement, ...]:
        """Each table's exponentials after the table."""
        return tuple(x for s in body for x in (
            s, *(self.tables.get(s.name, ()) if isinstance(s, a.Let) else ())))  # fmt: skip

    def body(self, body: tuple[a.Statement, ...], inside: bool) -> tuple[a.Statement, ...]:
        """One body: each log-sum-exp where all of its equations stand."""
        out = [replace(s, body=self.body(s.body, True)) if isinstance(s, a.Seq) else s
               for s in body]  # fmt: skip
        lets = {s.name: s for s in out if isinstance(s, a.Let)}
        for s in [*lets.values()]:
            found = _found(s, lets)
            if found is None or not self.branches(found, inside):
                continue
            factors = self.factors(found)
            if factors is not None:
                out = self.put(found, factors, out)
        return tuple(out)

    def branches(self, found: _Found, inside: bool) -> bool:
        """Whether a branch stands outside of the loop over the letter that is summed."""
        letters = found.z.letters
        ragged = any(self.program.letter(x).under for x in letters)
        last = all(self.order.index(x) < self.order.index(found.letter) for x in letters[:-1])
        return (inside or ragged) and last

    # -- factors -----------------------------------------------------------------------------
    def factors(self, found: _Found) -> list[tuple[list[a.Let], a.Ref, a.Ref]] | None:
        """For each of two parts of the sum: equations, its exponential, what was taken off."""
        k, whole = found.letter, set(found.z.letters)
        plain: dict[frozenset[str], list[n.Node]] = {}
        gathered: list[a.Ref] = []
        for term in terms_of(found.z.expr):
            if isinstance(term, a.Ref) and any(isinstance(i, a.At) for i in term.index):
                gathered.append(term)
            else:
                plain.setdefault(frozenset(a.free(term)), []).append(term)
        if len(plain) + len(gathered) != 2:
            return None
        if any(k not in x or not x < whole for x in plain):
            return None
        if any(not self.is_table(r, k) for r in gathered):
            return None
        made = [self.plain(found, n.add(*terms)) for terms in plain.values()]
        return [*made, *(self.gathered(r, k) for r in gathered)]

    def is_table(self, r: a.Ref, k: str) -> bool:
        """Whether all its places are known before any row: labels, and the letter once."""
        others = [i for i in r.index if not isinstance(i, a.At)]
        return others == [a.Ix(k)] and len(r.index) == 2 and r.name in self.top_level

    def plain(self, found: _Found, e: n.Node) -> tuple[list[a.Let], a.Ref, a.Ref]:
        letters = tuple(x for x in found.z.letters if x in a.free(e))
        made, power, top = self.exponentials(f"{found.z.name}_part", letters, e, found.letter)
        own = tuple(x for x in letters if x != found.letter)
        return made, a.ref(power, *letters), a.ref(top, *own)

    def gathered(self, r: a.Ref, k: str) -> tuple[list[a.Let], a.Ref, a.Ref]:
        """Of a table; its exponentials stand after it, once for all that read it."""
        at = next(p for p, i in enumerate(r.index) if isinstance(i, a.At))
        if (r.name, at) not in self.known:
            size = self.program.sizes[r.name][at]
            used = {k, *(s.letter for s in a.recurrences(self.program.body))}
            j = next(x.name for x in self.program.letters
                     if x.size == size and not x.under and x.name not in used)  # fmt: skip
            index = tuple(a.Ix(j if p == at else k) for p in range(2))
            made, power, top = self.exponentials(r.name, (j, k), a.Ref(r.name, index), k)
            given = {q.name for q in self.program.given}
            (self.begin if r.name in given else self.tables.setdefault(r.name, [])).extend(made)
            self.known[r.name, at] = power, top
        power, top = self.known[r.name, at]
        place = r.index[at]
        return [], a.Ref(power, (place, a.Ix(k))), a.Ref(top, (place,))

    def exponentials(
        self, stem: str, letters: tuple[str, ...], e: n.Node, k: str
    ) -> tuple[list[a.Let], str, str]:
        """exp(e − the largest over k), and that."""
        highest, top, power = (self.own(f"{stem}_{x}") for x in ("highest", "top", "exp"))
        own = tuple(x for x in letters if x != k)
        most = a.ref(highest, *own)
        made = [
            a.Let(highest, own, a.Red("max", (k,), e)),
            a.Let(top, own, n.Select(n.Compare("==", most, NONE), n.ZERO, most)),
            a.Let(power, letters, n.Call("exp", (n.Sub(e, a.ref(top, *own)),))),
        ]
        return made, power, top

    # -- equations ---------------------------------------------------------------------------
    def put(
        self, f: _Found, factors: list[tuple[list[a.Let], a.Ref, a.Ref]], body: list[a.Statement]
    ) -> list[a.Statement]:
        """The same names, of products where their sum is large enough."""
        k, own = f.letter, f.top.letters
        names = {x: self.own(f"{x}_apart") for x in (f.top.name, f.exponential.name, f.total.name)}
        product, near, far = (self.own(f"{f.z.name}_{x}") for x in ("product", "near", "far"))
        before = [s for made, _, _ in factors for s in made]
        before += [
            a.Let(product, f.z.letters, n.mul(*(power for _, power, _ in factors))),
            a.Let(near, own, a.Red("sum", (k,), a.ref(product, *f.z.letters))),
            a.Let(far, own, n.Compare("<=", a.ref(near, *own), SMALL)),
        ]
        there = (k, a.ref(far, *own))

        def either(s: a.Let, other: n.Node) -> a.Let:
            exact = a.ref(names[s.name], *s.letters)
            return replace(s, expr=n.Select(a.ref(far, *own), exact, other))

        def exact(s: a.Let) -> a.Let:
            return replace(s, name=names[s.name], expr=a.renamed(s.expr, names), where=there)

        tops = n.add(*(top for _, _, top in factors))
        readers = [s for s in a.lets(self.program.body)
                   if any(f.z.name in e.names for e in s.expressions)]  # fmt: skip
        alone = {s.name for s in readers} == {f.highest.name, f.exponential.name}
        changed: dict[str, list[a.Let]] = {
            f.z.name: [*before, replace(f.z, where=there if alone else None)],
            f.highest.name: [replace(f.highest, where=there)],
            f.top.name: [replace(exact(f.top), where=None)],
            f.exponential.name: [exact(f.exponential)],
            f.total.name: [
                exact(f.total),
                either(f.top, tops),
                either(f.exponential, a.ref(product, *f.z.letters)),
                either(f.total, a.ref(near, *own)),
            ],
        }  # fmt: skip
        lets = {s.name: s for s in body if isinstance(s, a.Let)}
        for s in lets.values():
            powers = [power for _, power, _ in factors]
            made = self.summed(s, f, powers, exact(f.exponential), a.ref(far, *own), lets)
            if made is not None:
                changed[s.name] = made
        return [x for s in body
                for x in (changed.get(s.name, [s]) if isinstance(s, a.Let) else [s])]  # fmt: skip

    def summed(
        self, s: a.Let, f: _Found, powers: Sequence[a.Ref], exact: a.Let, far: a.Ref,
        lets: dict[str, a.Let],
    ) -> list[a.Let] | None:  # fmt: skip
        """A sum that e weighs: what does not vary stays outside, and what is far is one more."""
        e = s.expr
        if not isinstance(e, a.Red) or e.op != "sum" or s.at or s.name == f.total.name:
            return None
        rest = _weights(e.arg, f.exponential, lets)
        outer = [x for x in powers if not {*a.free(x)} & {*e.letters}]
        if rest is None or not outer or s.first is not None or s.init is not None:
            return None
        inner = [x for x in powers if x not in outer]
        near, apart = self.own(f"{s.name}_near"), self.own(f"{s.name}_far")
        there = self.own(f"{far.name}_not")
        own = a.ref(exact.name, *exact.letters)
        weight = a.ref(there, *f.top.letters)
        at = [a.ref(x, *s.letters) for x in (near, apart)]
        return [
            a.Let(there, f.top.letters, n.Select(far, n.ZERO, n.ONE)),
            a.Let(near, s.letters, replace(e, arg=n.mul(*rest, weight, *inner))),
            a.Let(
                apart,
                s.letters,
                replace(e, arg=n.Select(far, n.mul(*rest, own), n.ZERO)),
                where=(f.letter, far),
            ),
            replace(s, expr=n.add(n.mul(*outer, at[0]), at[1])),
        ]


def _weights(e: n.Node, power: a.Let, lets: dict[str, a.Let]) -> list[n.Node] | None:
    """What is multiplied with the exponential, once, by way of equations of products."""
    own, rest = a.ref(power.name, *power.letters), list[n.Node]()
    found = 0
    for f in factors_of(e):
        made = lets.get(f.name) if isinstance(f, a.Ref) else None
        if f == own:
            found += 1
        elif made is not None and power.name in made.expr.names:
            inside = (
                None if f != a.ref(made.name, *made.letters) else _weights(made.expr, power, lets)
            )
            if inside is None:
                return None
            found, rest = found + 1, [*rest, *inside]
        else:
            rest.append(f)
    return rest if found == 1 else None


def _found(total: a.Let, lets: dict[str, a.Let]) -> _Found | None:
    """The equations that end with this Σ e, as `stable` makes them."""
    e = total.expr
    if not isinstance(e, a.Red) or e.op != "sum" or not isinstance(e.arg, a.Ref):
        return None
    power = lets.get(e.arg.name)
    if power is None or power.letters != (*total.letters, *e.letters):
        return None
    match power.expr:
        case n.Call(name="exp", args=(n.Sub(left=a.Ref() as z, right=a.Ref() as top),)):
            pass
        case _:
            return None
    made, off = lets.get(z.name), lets.get(top.name)
    if made is None or off is None or made.letters != power.letters:
        return None
    match off.expr:
        case n.Select(condition=n.Compare(left=a.Ref() as highest), yes=n.Const(), no=a.Ref()):
            most = lets.get(highest.name)
        case _:
            return None
    if most is None or most.expr != a.Red("max", e.letters, z) or len(e.letters) != 1:
        return None
    parts = (made, most, off, power, total)
    plain = all(s.first is None and s.init is None and not s.at for s in parts)
    alike = (z, top) == (a.ref(z.name, *made.letters), a.ref(top.name, *total.letters))
    return _Found(*parts) if plain and alike else None
