"""Equations that say the same are one.

    a[k,i] = sum(n, r[n,k] * x[n,i]); b[k,j] = sum(r, r[r,k] * x[r,j]); … b[k,j] …
    →   a[k,i] = sum(n, r[n,k] * x[n,i]); … a[k,j] …

Two equations are compared with their letters under names by place: those on the left first,
then those that are summed.  Symmetric matrices are read along their rows, factors and terms
stand in one order.  An equation that only hands on another quantity is read through.
"""

from __future__ import annotations

from dataclasses import replace

from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a


def alike(program: a.Program) -> a.Program:
    """The program after `anf` without equations that are there already."""
    return replace(program, body=_Alike(program).body(program.body, (), {}))


class _Alike:
    """What is known of names: which one stands for another, with the letters of its own."""

    def __init__(self, program: a.Program) -> None:
        self.program = program
        self.kept = {*program.outs, *(y for _, y in program.writes)}
        self.kept |= {x.name for x in program.assembled}
        self.kept |= {x for put in program.assembled for _, e in put.entries for x in e.names}
        self.kept |= {s.stop for s in a.recurrences(program.body)}
        lets = a.lets(program.body)
        linear = [e for s in lets for x in s.expressions for e in n.walk(x) if isinstance(e, a.Lin)]
        self.solved = {r.name for e in linear for r in e.args}  # whose letters have an order
        self.instead: dict[str, tuple[tuple[str, ...], a.Ref]] = {}

    def body(
        self, body: tuple[a.Statement, ...], around: tuple[str, ...], known: dict[object, a.Let]
    ) -> tuple[a.Statement, ...]:
        """One body after another; what stands outside of a recurrence is not known inside."""
        out: list[a.Statement] = []
        for s in body:
            s = self.read(s)
            inner = _single(s)
            if isinstance(inner, a.Let) and not inner.at and not inner.after:
                if self.handed_on(s):
                    continue
                key = self.key(s, around)
                if key in known and inner.name not in self.kept:
                    self.stands(known[key], inner)
                    continue
                known.setdefault(key, inner)
            elif isinstance(s, a.Seq):
                s = replace(s, body=self.body(s.body, (*around, s.letter), {}))
            out.append(s)
        return tuple(out)

    # -- one for another -----------------------------------------------------------------
    def read(self, s: a.Statement) -> a.Statement:
        """The statement with what is read under the names that stayed."""
        if not self.instead:
            return s
        if isinstance(s, a.Seq):
            return replace(s, body=tuple(map(self.read, s.body)))
        first = None if s.first is None else n.transform(s.first, self.other)
        init = None if s.init is None else n.transform(s.init, self.other)
        at = tuple(n.transform(i, self.other) for i in s.at)
        return replace(s, expr=n.transform(s.expr, self.other), first=first, init=init, at=at)

    def other(self, e: n.Node) -> n.Node:
        if not isinstance(e, a.Ref) or e.name not in self.instead:
            return e
        letters, value = self.instead[e.name]
        at = dict(zip(letters, e.index, strict=True))
        return a.Ref(value.name, tuple(at[i.letter] for i in value.index if isinstance(i, a.Ix)))

    def stands(self, one: a.Let, other: a.Let) -> None:
        self.instead[other.name] = (other.letters, a.Ref(one.name, tuple(map(a.Ix, other.letters))))

    def handed_on(self, s: a.Statement) -> bool:
        """Whether the equation is another quantity, which is then read in its place."""
        if not isinstance(s, a.Let) or s.name in self.kept or s.first is not None:
            return False
        e = s.expr
        if not isinstance(e, a.Ref) or not all(isinstance(i, a.Ix) for i in e.index):
            return False
        places = sorted(i.letter for i in e.index if isinstance(i, a.Ix))
        if s.init is not None or places != sorted(s.letters):
            return False
        same = self.program.structures.get(e.name) == s.structure
        turned = [i.letter for i in e.index if isinstance(i, a.Ix)]
        plain = turned == list(s.letters)
        mirrored = s.structure in ("sym", "spd") and turned == _mirrored(s.letters)
        if s.structure != "dense" and not (same and (plain or mirrored)):
            return False
        if s.name in self.solved and not (plain or mirrored):
            return False
        index = s.letters if mirrored else turned
        self.instead[s.name] = (s.letters, a.Ref(e.name, tuple(map(a.Ix, index))))
        return True

    # -- what an equation says ---------------------------------------------------------
    def key(self, s: a.Statement, around: tuple[str, ...]) -> object:
        """Equal for statements that say the same of letters of their own."""
        if isinstance(s, a.Seq):
            at = self.program.letter(s.letter)
            (inner,) = s.body
            return "seq", s.letter in _letters(inner), at.down, s.stop, self.key(inner, around)
        places = {x: f"#{p}" for p, x in enumerate(s.letters)}
        own = tuple(self.axis(x) if x not in around else x for x in s.letters)
        parts = tuple(self.named(e, places, s.name) if e is not None else None
                      for e in (s.expr, s.first, s.init))  # fmt: skip
        axes = tuple((y, self.axis(x)) for x, y in places.items() if x not in s.letters)
        recurring = tuple(places.get(x, "") for x in around)
        return s.structure, own, axes, parts, recurring

    def axis(self, letter: str) -> tuple[object, ...]:
        x = self.program.letter(letter)
        return x.size, bool(x.under), x.pointers

    def named(self, e: n.Node, places: dict[str, str], own: str) -> n.Node:
        """The expression with letters under their places' names, in one order."""
        if isinstance(e, a.Red):
            for x in _by_use(e):
                places.setdefault(x, f"#{len(places)}")
        elif isinstance(e, a.Lin):
            for x in sorted(a.consumed(e)):
                places.setdefault(x, f"#{len(places)}")
        made = e.rebuilt(lambda c: self.named(c, places, own))
        if isinstance(made, a.Red):
            return replace(made, letters=tuple(sorted(places[x] for x in made.letters)))
        if isinstance(made, a.Ix | a.Lag):
            return replace(made, letter=places.get(made.letter, made.letter))
        if isinstance(made, n.Add | n.Mul):
            return type(made)(tuple(sorted(made.args, key=repr)))
        if isinstance(made, a.Ref):
            name = "" if made.name == own else made.name  # an earlier value of itself
            return a.Ref(name, self.rows(made))
        return made

    def rows(self, r: a.Ref) -> tuple[n.Node, ...]:
        symmetric = self.program.structures.get(r.name) in ("sym", "spd")
        if not symmetric or not all(isinstance(i, a.Ix) for i in r.index[-2:]):
            return r.index
        return (*r.index[:-2], *sorted(r.index[-2:], key=repr))


def _by_use(e: a.Red) -> list[str]:
    """The reduced letters in the order in which they are met, names of quantities in order."""
    refs = sorted(a.refs(e), key=lambda r: r.name)
    met = dict.fromkeys(x for r in refs for i in r.index for x in a.free(i) if x in e.letters)
    return [*met, *(x for x in e.letters if x not in met)]


def _single(s: a.Statement) -> a.Statement:
    """The equation of a recurrence that has no other."""
    while isinstance(s, a.Seq) and len(s.body) == 1 and not s.stop:
        s = s.body[0]
    return s


def _letters(s: a.Statement) -> tuple[str, ...]:
    return s.letters if isinstance(s, a.Let) else tuple(x for y in s.body for x in _letters(y))


def _mirrored(letters: tuple[str, ...]) -> list[str]:
    return [*letters[:-2], letters[-1], letters[-2]]
