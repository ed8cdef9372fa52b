"""One-hot rows that nobody stores.

    sum(v, [z == v] * f(v))                    →  f(z)                   a gather
    s[v] = sum(n, [z[n] == v] * f(n))          →  s[z[n]] += f(n)        added up by label

Within one loop the order of additions stays that of the rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a


def labels(program: a.Program) -> a.Program:
    """The program with gathers and sums by label in the place of comparisons."""
    rows = {x.name: x.under for x in program.letters if x.under}

    def body(statements: tuple[a.Statement, ...], around: tuple[str, ...]) -> list[a.Statement]:
        return [
            replace(s, body=tuple(body(s.body, (*around, s.letter)))) if isinstance(s, a.Seq)
            else _scattered(_gathered(s, rows), rows, around) for s in statements
        ]  # fmt: skip

    return replace(program, body=tuple(body(program.body, ())))


def _gathered(s: a.Let, rows: Mapping[str, str]) -> a.Let:
    def on(e: n.Node) -> n.Node:
        return n.transform(e, lambda x: _gather(x, rows))

    first = None if s.first is None else on(s.first)
    init = None if s.init is None else on(s.init)
    return replace(s, expr=on(s.expr), first=first, init=init)


def _has_rows(letter: str, e: n.Node, letters: Sequence[str], rows: Mapping[str, str]) -> bool:
    """Whether rows of different lengths are those of the letter: of a label they are others."""
    inside = (x.letter for x in n.walk(e) if isinstance(x, a.Ix | a.Lag))
    return letter in {rows.get(x) for x in (*letters, *inside)}


def _gather(e: n.Node, rows: Mapping[str, str]) -> n.Node:
    """Σ_v [z = v] f(v) = f(z), for each such v."""
    if not isinstance(e, a.Red) or e.op != "sum":
        return e
    factors = _factors(e.arg)
    for x in (x for x in e.letters if not _has_rows(x, e.arg, e.letters, rows)):
        for f in factors:
            place = _other(f, x)
            if place is None or x in a.free(place):
                continue
            rest = n.mul(*(a.swapped(g, {x: place}) for g in factors if g is not f))
            left = tuple(y for y in e.letters if y != x)
            return _gather(a.Red("sum", left, rest), rows) if left else rest
    return e


def _scattered(s: a.Let, rows: Mapping[str, str], around: tuple[str, ...]) -> a.Let:
    """Where each term goes to one place, it is added there; a recurrence is at one of its own."""
    if not isinstance(s.expr, a.Red) or s.expr.op != "sum" or s.at:
        return s
    factors = _factors(s.expr.arg)
    free = (x for x in s.letters if x not in around)
    for x in (x for x in free if not _has_rows(x, s.expr, s.letters, rows)):
        for f in factors:
            place = _other(f, x)
            if not isinstance(place, a.At) or not set(a.free(place)) & set(s.expr.letters):
                continue
            if set(a.free(place)) & set(s.letters):  # a sum of its own for each row of labels
                continue
            rest = [g for g in factors if g is not f]
            if any(x in a.free(g) for g in rest):
                rest = [a.swapped(g, {x: place}) for g in rest]
            at = tuple(place if y == x else a.Ix(y) for y in s.letters)
            return replace(s, expr=replace(s.expr, arg=n.mul(*rest)), at=at)
    return s


def _factors(e: n.Node) -> tuple[n.Node, ...]:
    return e.args if isinstance(e, n.Mul) else (e,)


def _other(e: n.Node, letter: str) -> n.Node | None:
    """What a letter is compared with, in [place == letter]."""
    if not isinstance(e, a.Is):
        return None
    if e.right == a.Ix(letter):
        return e.left
    return e.right if e.left == a.Ix(letter) else None
