"""Forms in the inverse of a definite matrix by half a solution each: A = L D Lᵀ, L's diagonal 1.

    e[a] = solve(S[a,b], v[a]);  K[a,j] = solve(S[a,b], D[a,j])
    q = sum(a, v[a] * e[a]);  x[i] = sum(a, D[a,i] * e[a]);  P[i,j] = sum(a, D[a,i] * K[a,j])
    →   v_half[a] = half(S[a,b], v[a]);  v_weighed[a] = weighed(S[a,b], v_half[a]);  …
        q = sum(a, v_weighed[a] * v_half[a]);  x[i] = sum(a, v_weighed[a] * D_half[a,i]);  …

as vᵀ S⁻¹ w = (L⁻¹ v)ᵀ D⁻¹ (L⁻¹ w): the way back through Lᵀ is saved.  Only where all that reads
a solution is such a form, with a right side of the same matrix that is solved with so, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a
from blrgen.program.axes.anf import taken
from blrgen.program.program import fresh

Places = Mapping[str, n.Node]  # what stands where a letter stood


def forms(program: a.Program) -> a.Program:
    """The program after `anf` with halves of the solutions that only forms read."""
    solutions = _solutions(program)
    while True:
        found = _Found(program, solutions)
        left = {x: s for x, s in solutions.items() if x not in found.whole}
        if len(left) == len(solutions):
            break
        solutions = left
    sides = {y for pairs in found.pairs.values() for x in pairs for y in (x.solution.name, x.other)}
    solutions = {x: s for x, s in solutions.items() if x in sides}
    return _Halves(program, solutions, found.pairs).program() if solutions else program


@dataclass(frozen=True)
class _Solution:
    """`let` is A⁻¹ b for the letters `batch` of A, with the letter `own` of the system.

    `around` are the recurrences it stands in and `place` is where it comes among all equations.
    """

    let: a.Let
    around: tuple[a.Seq, ...]
    place: int

    @property
    def matrix(self) -> a.Ref:
        assert isinstance(self.let.expr, a.Lin)
        return self.let.expr.args[0]

    @property
    def right(self) -> a.Ref:
        assert isinstance(self.let.expr, a.Lin)
        return self.let.expr.args[1]

    @property
    def own(self) -> str:
        return a.own_letters(self.let.expr)[0] if isinstance(self.let.expr, a.Lin) else ""

    @property
    def batch(self) -> tuple[n.Node, ...]:
        return self.matrix.index[:-2]


@dataclass(frozen=True)
class _Pair:
    """In a sum a solution; what stands beside it is the right side of another one at letters."""

    solution: a.Ref
    beside: a.Ref
    other: str
    letters: tuple[n.Node, ...]


def _solutions(program: a.Program) -> dict[str, _Solution]:
    """All solutions with definite matrices at plain letters that nobody else may need."""
    kept = {*program.outs, *(y for _, y in program.writes)}
    kept |= {x for put in program.assembled for _, e in put.entries for x in e.names}
    found: dict[str, _Solution] = {}
    for place, (s, around) in enumerate(a.placed(program.body)):
        e = s.expr
        if not isinstance(e, a.Lin) or e.op != "solve" or s.name in kept:
            continue
        plain = s == a.Let(s.name, s.letters, e, s.structure) and all(map(_is_plain, e.args))
        if plain and program.structures[e.args[0].name] in ("spd", "factor"):
            found[s.name] = _Solution(s, around, place)
    return found


def _is_plain(r: a.Ref) -> bool:
    """Whether it stands at letters, each of them once."""
    return all(isinstance(i, a.Ix) for i in r.index) and len(set(r.index)) == len(r.index)


class _Found:
    """The pairs in sums, by equation; `whole` are solutions that are read otherwise."""

    def __init__(self, program: a.Program, solutions: dict[str, _Solution]) -> None:
        self.solutions, self.structures = solutions, program.structures
        self.whole: set[str] = set()
        self.pairs: dict[str, list[_Pair]] = {}
        for place, (s, around) in enumerate(a.placed(program.body)):
            read = [r.name for e in (*s.expressions, *s.at, *_truth(s)) for r in a.refs(e)]
            wanted = [x for x in read if x in solutions]
            if not wanted:
                continue
            self.pairs[s.name] = self.of(s, around, place)
            for x in self.pairs[s.name]:
                wanted.remove(x.solution.name)
            self.whole.update(wanted)

    def of(self, s: a.Let, around: tuple[a.Seq, ...], place: int) -> list[_Pair]:
        """The forms in a sum: for each of its letters the only two factors that have it."""
        e, out = s.expr, list[_Pair]()
        if not isinstance(e, a.Red) or e.op != "sum" or not isinstance(e.arg, n.Mul):
            return out
        for x in e.letters:
            both = [f for f in e.arg.args if x in a.free(f)]
            refs = [f for f in both if isinstance(f, a.Ref) and _is_plain(f)]
            if len(both) == len(refs) == 2:
                pairs = (p for f, g in (refs, refs[::-1]) for p in self.paired(f, g, x))
                out += [p for p in pairs if self.is_there(p, around, place)][:1]
        return out

    def is_there(self, pair: _Pair, around: tuple[a.Seq, ...], place: int) -> bool:
        """Whether the half is made before, and at the place where the recurrences around are."""
        other = self.solutions[pair.other]
        at = dict(zip(other.let.letters, pair.letters, strict=True))
        now = all(at.get(x.letter, a.Ix(x.letter)) == a.Ix(x.letter) for x in other.around)
        return other.place < place and around[: len(other.around)] == other.around and now

    def paired(self, f: a.Ref, g: a.Ref, summed: str) -> Iterator[_Pair]:
        """A solution and a right side, both along the letter, with the same matrix."""
        solution = self.solutions.get(f.name)
        if solution is None:
            return
        places = dict(zip(solution.let.letters, f.index, strict=True))
        if places[solution.own] != a.Ix(summed):
            return
        for name, other in self.solutions.items():
            for side in (x for x in self.sides(g) if x.name == other.right.name):
                letters = _half_at(solution, places, other, side, summed)
                if letters is not None:
                    yield _Pair(f, g, name, letters)

    def sides(self, g: a.Ref) -> tuple[a.Ref, ...]:
        """It, and what is the same of a symmetric matrix."""
        if self.structures.get(g.name) not in ("sym", "spd"):
            return (g,)
        *batch, i, j = g.index
        return g, a.Ref(g.name, (*batch, j, i))


def _half_at(
    solution: _Solution, places: Places, other: _Solution, side: a.Ref, summed: str
) -> tuple[n.Node, ...] | None:
    """Where half of the other solution stands if what is beside is its right side there."""
    if solution.matrix.name != other.matrix.name:
        return None
    at = {x: i for y, i in zip(other.right.index, side.index, strict=True) for x in a.free(y)}
    if at[other.own] != a.Ix(summed):
        return None
    for x, y in zip(solution.batch, other.batch, strict=True):
        (mine,), (its,) = a.free(x), a.free(y)
        if at.setdefault(its, places[mine]) != places[mine]:
            return None
    return tuple(at[x] for x in other.let.letters)


class _Halves:
    """The equations of halves, and of what is weighed of them."""

    def __init__(
        self, program: a.Program, solutions: dict[str, _Solution], pairs: dict[str, list[_Pair]]
    ) -> None:
        self.whole, self.solutions, self.pairs = program, solutions, pairs
        self.weighed = self.chosen()
        self.taken = taken(program)
        rights = {x: s.right.name for x, s in solutions.items()}
        self.half = {x: self.named(f"{right}_half") for x, right in rights.items()}
        self.names = {x: self.named(f"{rights[x]}_weighed") for x in rights if x in self.weighed}

    def chosen(self) -> set[str]:
        """Of each pair one side is weighed: what is on both sides, then what has fewer letters."""
        pairs = [p for x in self.pairs.values() for p in x]
        out = {p.other for p in pairs if p.solution.name == p.other}
        for p in pairs:
            sides = (p.solution.name, p.other)
            if not out & {*sides}:
                out.add(min(sides, key=lambda x: len(self.solutions[x].let.letters)))
        return out

    def named(self, stem: str) -> str:
        name = fresh(stem, self.taken)
        self.taken.add(name)
        return name

    def program(self) -> a.Program:
        return replace(self.whole, body=a.mapped(self.whole.body, self.let))

    def let(self, s: a.Let) -> tuple[a.Statement, ...]:
        if s.name in self.solutions:
            return self.solved(s)
        e = s.expr
        if not isinstance(e, a.Red) or not isinstance(e.arg, n.Mul) or not self.pairs.get(s.name):
            return (s,)
        args = list(e.arg.args)
        for p in self.pairs[s.name]:
            one, two = self.sides(p)
            args[args.index(p.solution)] = a.Ref(one, p.solution.index)
            args[args.index(p.beside)] = a.Ref(two, p.letters)
        return (replace(s, expr=replace(e, arg=n.mul(*args))),)

    def sides(self, p: _Pair) -> tuple[str, str]:
        """The names of both halves, one of them weighed."""
        if p.solution.name in self.weighed:
            return self.names[p.solution.name], self.half[p.other]
        return self.half[p.solution.name], self.names[p.other]

    def solved(self, s: a.Let) -> tuple[a.Statement, ...]:
        matrix, right = self.solutions[s.name].matrix, self.solutions[s.name].right
        half = a.Let(self.half[s.name], s.letters, a.Lin("half", (matrix, right)))
        if s.name not in self.weighed:
            return (half,)
        own = a.Ref(half.name, tuple(map(a.Ix, s.letters)))
        return half, a.Let(self.names[s.name], s.letters, a.Lin("weighed", (matrix, own)))


def _truth(s: a.Let) -> tuple[a.Ref, ...]:
    return () if s.where is None else (s.where[1],)
