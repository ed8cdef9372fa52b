"""Xᵀ A⁻¹ X with a factor A = L Lᵀ is Zᵀ Z with Z = L⁻¹ X: one substitution and one triangle.

    sum(k, X[k,i] * solve(A[k,l], X[k,j]))   →   z[i,j] = lsolve(L[i,l], X[i,j]);
                                                 sum(k, z[k,i] * z[k,j])

Solving with A for all columns of X and multiplying by Xᵀ takes 4 d³ operations; L⁻¹ X takes
d³, and the symmetric product another d³.  What comes out equals its transpose exactly.
"""

from __future__ import annotations

from dataclasses import replace

from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a
from blrgen.program.axes.anf import taken
from blrgen.program.program import fresh


def congruent(program: a.Program) -> a.Program:
    """Every Xᵀ A⁻¹ X whose A is factored, written as Zᵀ Z."""
    return replace(program, body=_Halves(program).body())


class _Halves:
    """The equations of Z that are there, by what they are halves of."""

    def __init__(self, program: a.Program) -> None:
        self.program, self.taken = program, taken(program)
        self.made: dict[tuple[str, str], str] = {}
        self.roots = {
            s.expr.args[0].name: s.name
            for s in program.lets
            if isinstance(s.expr, a.Lin) and s.expr.op == "chol"
        }

    def body(self) -> tuple[a.Statement, ...]:
        return a.mapped(self.program.body, self.let)

    def let(self, s: a.Let) -> tuple[a.Statement, ...]:
        """The equation after those of the halves that it is the first to read."""
        before: list[a.Let] = []
        expr = self.changed(s.expr, before)
        return (*before, replace(s, expr=expr))

    def changed(self, e: n.Node, before: list[a.Let]) -> n.Node:
        e = e.rebuilt(lambda c: self.changed(c, before))
        if not isinstance(e, a.Red) or e.op != "sum" or not isinstance(e.arg, n.Mul):
            return e
        x, solved = e.arg.args[0], e.arg.args[-1]
        if len(e.arg.args) != 2 or not isinstance(x, a.Ref) or not isinstance(solved, a.Lin):
            return e
        right, (k,) = solved.args[-1], e.letters
        if not self.is_square(x, solved, k):
            return e
        z = self.half(solved, before)
        (i,) = (y for y in a.free(x) if y != k)
        return replace(e, arg=n.mul(a.ref(z, k, i), a.ref(z, *a.free(right))))

    def is_square(self, x: a.Ref, solved: a.Lin, k: str) -> bool:
        """Whether it is Σ_k X[k,i] (A⁻¹X)[k,j] with a factor of A; or X[i,k] of a symmetric X."""
        right = solved.args[-1]
        rooted = solved.op == "solve" and solved.args[0].name in self.roots
        if not rooted or x.name != right.name or len(a.free(x)) != 2 or len(a.free(right)) != 2:
            return False
        down = a.Ix(k) in (x.index[0], *x.index[1:] * self.is_symmetric(x.name))
        return down and right.index[0] == a.Ix(k)

    def is_symmetric(self, name: str) -> bool:
        return self.program.structures[name] in ("sym", "spd")

    def half(self, solved: a.Lin, before: list[a.Let]) -> str:
        """Z's name; what is symmetric is read by columns, as LAPACK does."""
        matrix, right = solved.args
        key = matrix.name, right.name
        if key not in self.made:
            of, letters = right.name, a.free(right)
            if self.is_symmetric(of):
                of = self.named("part", a.ref(right.name, *letters[::-1]), letters, before)
            (inner,) = (x for x in a.free(matrix) if x not in letters)
            root = a.ref(self.roots[matrix.name], letters[0], inner)
            whole = a.Lin("lsolve", (root, a.ref(of, *letters)))
            self.made[key] = self.named("half", whole, letters, before)
        return self.made[key]

    def named(self, stem: str, e: n.Node, letters: tuple[str, ...], before: list[a.Let]) -> str:
        name = fresh(stem, self.taken)
        self.taken.add(name)
        before.append(a.Let(name, letters, e))
        return name
