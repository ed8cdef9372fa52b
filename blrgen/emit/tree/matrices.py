"""Equations of vectors and matrices → array statements in the words of linear algebra.

    sum(k, A[i,k] * B[k,j])    A @ B              L[i,j] = chol(S[i,j])    L = _cholesky("S", S)
    sum(k, A[k,k])             np.trace(A)        solve(S[i,k], b[i])      _solve(L, b)
    x[i] * y[j]                np.outer(x, y)     [i == j]                 np.eye(d, dtype=real)

What is solved with and has no factor may be indefinite: `np.linalg.solve`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from blrgen.emit.tree import nodes as t
from blrgen.emit.tree.statements import Statements
from blrgen.emit.tree.values import Valued
from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a


class Matrices(Statements):
    """Statements on vectors and matrices; `states` says whose next values results are."""

    def __init__(
        self, program: a.Program, name: str, states: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(program, name)
        self.states = states or {}
        self.factor_of = dict(_factors(program))
        read = {r.name for s in program.lets for r in a.refs(s.expr)} | set(program.outs)
        read |= {self.factor_of.get(x, "") for s in program.lets for x in solved_with(s.expr)}
        self.looks = set(self.factor_of.values()) - read  # factors that only show what is definite

    def body(self) -> tuple[t.Statement, ...]:
        """All statements."""
        return tuple(self.statements(self.program.body))

    def equation(self, s: a.Let, e: n.Node) -> list[t.Statement]:
        """A factor that nothing is solved with is a look at its matrix."""
        if s.name in self.looks and isinstance(e, a.Lin):
            return [t.Invoke("_cholesky", self.factored(e.args[0].name))]
        return super().equation(s, e)

    def word(self, e: n.Node) -> Valued | None:
        outer = self.outer(e) if isinstance(e, n.Mul) else None
        return super().word(e) if outer is None else outer

    def expr(self, e: n.Node) -> Valued:
        if isinstance(e, a.Is) and isinstance(e.left, a.Ix) and isinstance(e.right, a.Ix):
            places = e.left.letter, e.right.letter
            unit = t.Apply("np.eye", (self.length(places[0]),), options=(("dtype", "real"),))
            return Valued(unit, places)
        return super().expr(e)

    def length(self, letter: str) -> n.Node:
        """The size of an axis; one that is a number is read from an array, too."""
        size = self.letters[letter].size
        shapes = (t.Shape(q.name, p) for q in self.program.given
                  for p, x in enumerate(q.sizes) if x == size and isinstance(x, int))  # fmt: skip
        return next(shapes, self.size(letter))

    def red(self, e: a.Red) -> Valued:
        word = self.summed(e) if e.op == "sum" and len(e.letters) == 1 else None
        return super().red(e) if word is None else word

    # -- words -------------------------------------------------------------------------
    def outer(self, e: n.Mul) -> Valued | None:
        """A product of two vectors with letters of their own."""
        letters = self.order(a.free(e))
        if len(letters) != 2 or any(len(a.free(f)) > 1 for f in e.args):
            return None
        parts = [self.group([f for f in e.args if x in a.free(f)], (x,)) for x in letters]
        whole = t.Apply("np.outer", tuple(parts))
        return Valued(n.mul(*self.numbers(e.args), whole), tuple(letters))

    def summed(self, e: a.Red) -> Valued | None:
        """A trace, or a product of two: of matrices, of a matrix and a vector, of vectors."""
        (k,) = e.letters
        factors = [f for f in (e.arg.args if isinstance(e.arg, n.Mul) else (e.arg,)) if a.free(f)]
        kept = self.order(a.free(e))
        if len(factors) == 1:
            return self.trace(factors[0], k)
        groups = [[f for f in factors if x in a.free(f)] for x in kept]
        rest = [f for f in factors if a.free(f) == (k,)]
        if not kept:
            groups, rest = [rest[:1], rest[1:]], []
        groups += [rest] if rest else []
        if len(groups) != 2 or sum(map(len, groups)) != len(factors):
            return None
        if any(k not in a.free(f) for f in factors):
            return None
        left = self.group(groups[0], (*kept[:1], k))
        right = self.group(groups[1], (k, *kept[1:]))
        numbers = self.numbers(e.arg.args) if isinstance(e.arg, n.Mul) else []
        return Valued(n.mul(*numbers, t.Product(left, right)), tuple(kept))

    def trace(self, e: n.Node, k: str) -> Valued | None:
        """Σ of the diagonal of an array."""
        if isinstance(e, a.Ref) and e.index == (a.Ix(k), a.Ix(k)):
            return Valued(t.Apply("np.trace", (t.name(e.name),)))
        return None

    def group(self, factors: Sequence[n.Node], letters: tuple[str, ...]) -> n.Node:
        """The product of some factors, its axes in an order."""
        outer, self.left = self.left, letters
        value = self.expr(n.mul(*factors))
        self.left = outer
        return self.aligned(value, letters)

    def numbers(self, factors: Sequence[n.Node]) -> list[n.Node]:
        return [self.expr(f).node for f in factors if not a.free(f)]

    # -- linear algebra ------------------------------------------------------------------
    def lin(self, e: a.Lin) -> Valued:
        """By the factor; the right side's letter that is the matrix's comes first."""
        matrix = e.args[0]
        if e.op == "chol":
            return Valued(t.Apply("_cholesky", self.factored(matrix.name)), a.own_letters(e))
        right = self.expr(e.args[1])
        own = a.own_letters(e)[0]
        letters = (own, *(x for x in right.letters if x != own))
        return Valued(self.solution(e, self.aligned(right, letters)), letters)

    def solution(self, e: a.Lin, right: n.Node) -> n.Node:
        """What is solved, of one right side or of several as columns."""
        name = e.args[0].name
        if e.op != "solve":
            word = {"lsolve": "_solve_lower", "ltsolve": "_solve_upper"}[e.op]
            return t.Apply(word, (t.name(name), right))
        if name not in self.factor_of:
            return t.Apply("np.linalg.solve", (t.name(name), right))
        return t.Apply("_solve", (t.name(self.factor_of[name]), right))

    def factored(self, matrix: str) -> tuple[n.Node, n.Node]:
        """A matrix and what it is called where it is indefinite."""
        return t.Quoted(told(self.program, matrix, self.states)), t.name(matrix)


def _factors(program: a.Program) -> list[tuple[str, str]]:
    """Each matrix that has a factor, with the factor's name."""
    found = [(s.name, s.expr) for s in program.lets]
    return [(e.args[0].name, x) for x, e in found if isinstance(e, a.Lin) and e.op == "chol"]


def solved_with(e: n.Node) -> list[str]:
    """The matrices whose solutions stand in an expression."""
    return [x.args[0].name for x in n.walk(e) if isinstance(x, a.Lin) and x.op == "solve"]


def told(program: a.Program, name: str, states: Mapping[str, str]) -> str:
    """What is factored, in words; `states` says of results whose next values they are."""
    if name in states:
        return f"the next {states[name]}"
    made = {s.name: s.expr for s in program.lets}
    maker = made.get(name)
    if maker is None:
        return name
    if isinstance(maker, n.Neg) and isinstance(maker.arg, a.Ref):
        return f"minus {told(program, maker.arg.name, states)}"
    inverses = {x for x, e in made.items() for y in n.walk(e)
                if isinstance(y, a.Lin) and y.op == "solve" and y.args[0].name == name
                and isinstance(made.get(y.args[1].name), a.Is)}  # fmt: skip
    for result, state in states.items():
        if result in inverses or inverses & {*made[result].names}:
            return f"the inverse of the next {state}"
    read = [states[x] for x in maker.names if x in states]  # less the end of its domain
    return f"the next {read[0]}" if read else name
