"""A symmetric matrix that is made entry by entry, factored and solved with once.

Where a program hands out S⁺[i,j] = Σ cₖAₖ[i,j] (+ c[i = j]) of matrices that are there, and
reads it only for one solution S⁺⁻¹b, or for none and only looks whether it is definite, one
pass over memory writes it and the triangle that is factored.  What is not entry by entry
inside the sum, Σₖ X[k,i]X[k,j] say, is an equation of its own before it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a
from blrgen.program.axes.anf import taken
from blrgen.program.program import fresh

ENTRYWISE = (n.Add, n.Sub, n.Neg, n.Mul, n.Div)


@dataclass(frozen=True)
class Formed:
    """A matrix of a program that is made so; `state` is what it is the next value of."""

    name: str
    state: str
    factor: str
    program: a.Program  # the same, with the parts of the sum named
    products: tuple[str, ...] = ()  # the first equations, sums of X[k,i] A[k,…] with one X

    @cached_property
    def let(self) -> a.Let:
        """Its equation."""
        return next(s for s in self.program.lets if s.name == self.name)

    @property
    def leaves(self) -> tuple[str, ...]:
        """The matrices that it is made of."""
        return tuple(dict.fromkeys(r.name for r in a.refs(self.let.expr) if r.index))

    @property
    def scalars(self) -> tuple[str, ...]:
        """The numbers that it is made with."""
        return tuple(dict.fromkeys(r.name for r in a.refs(self.let.expr) if not r.index))

    @property
    def has_identity(self) -> bool:
        return any(isinstance(x, a.Is) for x in n.walk(self.let.expr))

    @property
    def solved(self) -> bool:
        """Whether something is solved with it; else it is only looked at."""
        return bool(_solutions(self.program, self.name))

    @property
    def known(self) -> str:
        """The factor of the old matrix, if it is only solved with: a look made it a step ago."""
        found = [s.name for s in self.program.lets if is_factor_of(s.expr, self.state)]
        if self.solved or len(found) != 1:
            return ""
        inside = [r for s in self.program.lets for x in n.walk(s.expr)
                  if isinstance(x, a.Lin) for r in x.args]  # fmt: skip
        reads = [r.name for s in self.program.lets for r in a.refs(s.expr)]
        same = reads.count(found[0]) == sum(r.name == found[0] for r in inside)
        return found[0] if same else ""


def formed(
    program: a.Program, states: Mapping[str, str], data: Collection[str] = ()
) -> Formed | None:
    """The matrix that can be made so, where there is one.

    `states` says of what state a result is the next value, where it has an array of the same
    shape that is not the caller's; `data` are arrays of rows.
    """
    for s in program.lets:
        factor = _factor(program, s) if s.name in states else ""
        if factor and len(s.letters) == 2:
            parts = _Parts(program, s)
            whole = parts.program()
            products, whole = _products(whole, data, parts.taken)
            if _solutions(program, s.name) or not isinstance(parts.expr, a.Ref):
                return Formed(s.name, states[s.name], factor, whole, products)
    return None


def is_factor_of(e: n.Node, name: str) -> bool:
    """Whether it is the factor of a matrix of that name."""
    return isinstance(e, a.Lin) and e.op == "chol" and e.args[0].name == name


def _solutions(program: a.Program, name: str) -> list[a.Lin]:
    """What is solved with a matrix."""
    nodes = (x for s in program.lets for x in n.walk(s.expr))
    return [x for x in nodes if isinstance(x, a.Lin) and x.op == "solve" and x.args[0].name == name]


def _factor(program: a.Program, matrix: a.Let) -> str:
    """The factor's name, where at most one solution with a vector reads the matrix besides."""
    factors = [s.name for s in program.lets if is_factor_of(s.expr, matrix.name)]
    solutions = _solutions(program, matrix.name)
    reads = [r.name for s in program.lets for r in a.refs(s.expr)]
    alone = reads.count(matrix.name) == len(factors) + len(solutions)
    if len(factors) != 1 or not alone or len(solutions) > 1 or factors[0] in reads:
        return ""
    return factors[0] if all(len(x.args[1].index) == 1 for x in solutions) else ""


class _Parts:
    """Takes the equation of a matrix apart."""

    def __init__(self, program: a.Program, matrix: a.Let) -> None:
        self.whole, self.matrix, self.taken = program, matrix, taken(program)
        self.parts: dict[n.Node, a.Let] = {}
        self.expr = self.entry(matrix.expr)

    def program(self) -> a.Program:
        """The program with the parts before the matrix."""

        def change(s: a.Let) -> tuple[a.Statement, ...]:
            if s.name != self.matrix.name:
                return (s,)
            return *self.parts.values(), replace(s, expr=self.expr)

        return replace(self.whole, body=a.mapped(self.whole.body, change))

    def entry(self, e: n.Node) -> n.Node:
        """One entry, made of entries at the same place, numbers and the identity."""
        letters = self.matrix.letters
        if not a.free(e):
            return self.number(e)
        if isinstance(e, a.Is) or (isinstance(e, a.Ref) and e.index == tuple(map(a.Ix, letters))):
            return e
        if isinstance(e, ENTRYWISE) and all(self.is_whole(x) for x in e.children):
            return e.rebuilt(self.entry)
        numbers = [x for x in e.children if not a.free(x)]
        if isinstance(e, n.Mul) and numbers:
            rest = n.mul(*(x for x in e.args if a.free(x)))
            return n.mul(*map(self.number, numbers), self.entry(rest))
        return self.named(e, "product" if isinstance(e, a.Red) else "part", letters)

    def is_whole(self, e: n.Node) -> bool:
        """Whether it is a number, or has both of the matrix's letters."""
        return not a.free(e) or set(a.free(e)) == set(self.matrix.letters)

    def number(self, e: n.Node) -> n.Node:
        """A number, what is made of whole arrays in it by name."""
        if any(isinstance(x, a.Red | a.Lin | a.Extent) for x in n.walk(e)):
            return self.named(e, "number", ())
        return e

    def named(self, e: n.Node, stem: str, letters: tuple[str, ...]) -> a.Ref:
        if e not in self.parts:
            name = fresh(stem, self.taken)
            self.taken.add(name)
            self.parts[e] = a.Let(name, letters, e)
        return a.Ref(self.parts[e].name, tuple(map(a.Ix, letters)))


def _products(
    program: a.Program, data: Collection[str], taken: set[str]
) -> tuple[tuple[str, ...], a.Program]:
    """Sums of X[k,i] A[k,…] with the same X, where there are several, as the first equations."""
    nodes = dict.fromkeys(x for s in program.lets for x in n.walk(s.expr))
    turned = [x for x in nodes if turned_product(x) and set(turned_product(x)) <= set(data)]
    found = [x for x in turned if turned_product(x)[0] == turned_product(turned[0])[0]]
    if len(found) < 2:
        return (), program
    known = {s.expr: s for s in program.lets if s.expr in found}
    for x in found:
        if x not in known:
            name = fresh("product", taken)
            taken.add(name)
            known[x] = a.Let(name, a.free(x), x)

    def change(e: n.Node) -> n.Node:
        if e in known:
            return a.Ref(known[e].name, tuple(map(a.Ix, known[e].letters)))
        return e.rebuilt(change)

    first = tuple(known[x] for x in found)
    rest = (s for s in program.lets if s.expr not in known)
    body = (*first, *(replace(s, expr=change(s.expr)) for s in rest))
    return tuple(s.name for s in first), replace(program, body=body)


def turned_product(e: n.Node) -> tuple[str, ...]:
    """X and A where it is Σₖ X[k,i] A[k,…], a matrix read down its columns; else nothing."""
    if not isinstance(e, a.Red) or e.op != "sum" or not isinstance(e.arg, n.Mul):
        return ()
    refs = [x for x in e.arg.args if isinstance(x, a.Ref)]
    first = tuple(map(a.Ix, e.letters))
    if len(refs) != 2 or len(refs) != len(e.arg.args) or any(x.index[:1] != first for x in refs):
        return ()
    return (refs[0].name, refs[1].name) if len(refs[0].index) == 2 else ()
