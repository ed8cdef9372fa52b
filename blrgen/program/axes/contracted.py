"""Sums of products one letter at a time, and what does not vary outside of the rows.

    q[n,k] = sum((i,j), m[k,i] * P[k,i,j] * x[n,j])
    →   q_part[k,j] = sum(i, m[k,i] * P[k,i,j]);  q[n,k] = sum(j, q_part[k,j] * x[n,j])
    b[k] = sum(n, c[k] * r[n,k])  →  b_part[k] = sum(n, r[n,k]);  b[k] = c[k] * b_part[k]
    q[n] = sum((i,j), x[n,i] * P[i,j] * x[n,j])
    →   q_part[n,i] = sum(j, P[i,j] * x[n,j]);  q[n] = sum(i, x[n,i] * q_part[n,i])

The letter that goes first is the one that meets the fewest others; of two that meet all, the
outermost (so that what is kept has no rows), or inside of rows the innermost.  Factors and terms
without the outermost letter are equations of their own, computed once for all rows; of a
recurrence only where no array is made for it that is larger than those that it multiplies.
"""

from __future__ import annotations

from dataclasses import replace

from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a
from blrgen.program.axes.anf import taken
from blrgen.program.axes.order import order
from blrgen.program.program import fresh


def contracted(program: a.Program, whole: bool = False) -> a.Program:
    """The program after `anf`; with `whole` no array larger than what is handed out is made.

    That is for targets where each equation is an array.
    """
    work = _Contracting(program, whole)
    return replace(program, body=a.mapped(program.body, work.let))


class _Contracting:
    """The names in use, and the order of loops that is to come."""

    def __init__(self, program: a.Program, whole: bool) -> None:
        self.program, self.taken, self.whole = program, taken(program), whole
        self.order = list(order(program))
        self.turning = {x.letter for x in a.recurrences(program.body)}

    def let(self, s: a.Let) -> tuple[a.Statement, ...]:
        if s.first is not None or s.init is not None or s.at or isinstance(s.expr, a.Lin):
            return (s,)
        before: list[a.Let] = []
        if isinstance(s.expr, a.Red):
            expr: n.Node = self.summed(s, s.expr, before)
        else:
            expr = self.grouped(s, s.expr, before)
        return (*before, replace(s, expr=expr))

    # -- sums ------------------------------------------------------------------------------
    def summed(self, s: a.Let, e: a.Red, before: list[a.Let]) -> n.Node:
        """The sum with one letter after the other taken out."""
        if e.op != "sum" or any(self.program.letter(x).under for x in self.met(e)):
            return e
        factors = factors_of(e.arg)
        letters = list(e.letters)
        outside = [f for f in factors if not set(letters).intersection(a.free(f))]
        factors = [f for f in factors if f not in outside]
        while len(letters) > 1:
            found = self.next(letters, factors)
            if found is None:
                break
            inside = [f for f in factors if found in a.free(f)]
            over = tuple(x for x in letters if x == found)
            part = self.named(s, a.Red("sum", over, n.mul(*self.fixed(s, inside, before))), before)
            factors = [*(f for f in factors if found not in a.free(f)), part]
            letters.remove(found)
        inner = replace(e, letters=tuple(letters), arg=n.mul(*self.fixed(s, factors, before)))
        return n.mul(*outside, self.named(s, inner, before)) if outside else inner

    def met(self, e: a.Red) -> tuple[str, ...]:
        return (*e.letters, *a.free(e))

    def next(self, letters: list[str], factors: list[n.Node]) -> str | None:
        """The letter whose sum is smallest, if others are left to multiply it."""
        every = {x for f in factors for x in a.free(f)}
        outermost = min(every, key=self.order.index)
        best: tuple[tuple[int, int, int], str] | None = None
        for x in letters:
            meets = {y for f in factors if x in a.free(f) for y in a.free(f)}
            apart = [f for f in factors if x not in a.free(f)]
            if not apart or (self.whole and meets == every):
                continue
            rank = (len(meets), int(x != outermost), -self.order.index(x))
            if best is None or rank < best[0]:
                best = rank, x
        return None if best is None else best[1]

    # -- what does not vary ----------------------------------------------------------------
    def fixed(self, s: a.Let, factors: list[n.Node], before: list[a.Let]) -> list[n.Node]:
        """The factors, those without the outermost letter as one."""
        rows, idle = self.parted(factors)
        if not rows or not idle or (len(idle) == 1 and isinstance(idle[0], a.Ref | n.Const)):
            return factors
        if not any(a.free(f) for f in idle) or self.swells(factors, idle):
            return factors
        return [self.named(s, n.mul(*idle), before), *rows]

    def swells(self, factors: list[n.Node], idle: list[n.Node]) -> bool:
        """Whether a recurrence would keep their product, which is larger than each of them."""
        outermost = min((x for f in factors for x in a.free(f)), key=self.order.index)
        letters = set(a.free(n.mul(*idle)))
        return outermost in self.turning and all(letters > set(a.free(f)) for f in idle)

    def parted(self, parts: list[n.Node]) -> tuple[list[n.Node], list[n.Node]]:
        """Those with the outermost letter, and those without."""
        every = {x for f in parts for x in a.free(f)}
        if not every:
            return [], parts
        outermost = min(every, key=self.order.index)
        rows = [f for f in parts if outermost in a.free(f)]
        return rows, [f for f in parts if outermost not in a.free(f)]

    def grouped(self, s: a.Let, e: n.Node, before: list[a.Let]) -> n.Node:
        """The terms without the outermost letter as one."""
        terms = terms_of(e)
        if len(terms) < 2:
            return e
        rows, idle = self.parted(terms)
        if not rows or len(idle) < 2 or not any(a.free(x) for x in idle):
            return e
        return n.add(self.named(s, n.add(*idle), before), *rows)

    def named(self, s: a.Let, e: n.Node, before: list[a.Let]) -> a.Ref:
        order = dict.fromkeys((*s.letters, *self.order))
        letters = self.program.arranged(x for x in order if x in a.free(e))
        name = fresh(f"{s.name}_part", self.taken)
        self.taken.add(name)
        before.append(a.Let(name, letters, e))
        return a.Ref(name, tuple(map(a.Ix, letters)))


def factors_of(e: n.Node) -> list[n.Node]:
    """What is multiplied; what it is divided by as its reciprocal."""
    if isinstance(e, n.Mul):
        return [x for f in e.args for x in factors_of(f)]
    if isinstance(e, n.Div) and e.top != n.ONE:
        return [*factors_of(e.top), *factors_of(n.div(n.ONE, e.bottom))]
    return [] if e == n.ONE else [e]


def terms_of(e: n.Node) -> list[n.Node]:
    """What is added up."""
    if isinstance(e, n.Add):
        return [x for t in e.args for x in terms_of(t)]
    if isinstance(e, n.Sub):
        return [*terms_of(e.left), *map(n.neg, terms_of(e.right))]
    if isinstance(e, n.Neg):
        return [*map(n.neg, terms_of(e.arg))]
    return [e]
