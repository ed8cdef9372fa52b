"""Chains of labels: forward and backward, scaled at every step.

With evidence e_t, start log p and transitions W_t, all logarithms of numbers that need not
sum to 1, B_t = exp(e_t − max e_t), A_t = exp W_t (most often all alike):

    α_t ∝ B_t (A_tᵀ α_{t−1})      L = Σ_t log s_t + max e_t, s_t what makes α_t sum to 1
    β_t = A_{t+1} v_{t+1}         v_t = B_t β_t/s_t
    E[z_t] = α_t β_t              E[z_t z_{t−1}ᵀ] = v_t α_{t−1}ᵀ ∘ A_tᵀ

L is log Σ over all paths, which is A(λ).  Nothing over pairs is kept for every t.
"""

from __future__ import annotations

from fractions import Fraction

from blrgen.algebra.indexed import Expression, Index, Term
from blrgen.algebra.indexed.values import NUMBER
from blrgen.errors import UserError
from blrgen.expect.blocks.values import Part
from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a
from blrgen.program.model.expressions import Reader
from blrgen.program.model.member import Lowered
from blrgen.program.model.values import LEVEL


class Labels(Lowered):
    """A chain of one-hot variables with lag 1."""

    @property
    def along(self) -> Index:
        """The letter of the chain."""
        block = self.member.block
        return next(i for i in self.member.element if i.axis == block.axis)

    @property
    def elements(self) -> tuple[Index, ...]:
        return tuple(i for i in self.member.element if i != self.along)

    @property
    def pair(self) -> Part:
        """The statistic of neighbours."""
        found = [p for p in self.member.block.parts if len(p.statistic.positions) == 2]
        if len(found) != 1 or self.member.block.lag != 1:
            raise UserError(f"no programs yet for {self.member.block.name}: more than one lag")
        return found[0]

    def opened(self) -> None:
        """Letters of everything."""
        (s,) = self.member.statistics
        places = {i: self.letter(i) for i in s.places}
        self.t, self.k = places[self.along], places[s.places[-1]]
        self.outer = tuple(places[i] for i in self.elements)
        axis = self.pair.statistic.places[-1].axis
        self.j = self.eq.letter(axis, "j", (*self.outer, self.t, self.k))
        self.moving = self.along in unguarded(self.pair.expected).letters
        self.along_moves = (self.t,) if self.moving else ()

    def natural(self, stem: str) -> tuple[str, ...]:
        """Evidence, start and transitions as logarithms."""
        self.opened()
        (s,) = self.member.statistics
        (part,) = (p for p in self.member.block.parts if p.statistic == s)
        begun, usual = split_first(part.expected, self.along)
        where = {i.name: self.letter(i) for i in s.places}
        evidence = self.let(f"{stem}_evidence", (*self.outer, self.t, self.k),
                            self.eq.expr(usual, where))  # fmt: skip
        start = self.let(f"{stem}_start", (*self.outer, self.k), self.eq.expr(begun, where))
        return evidence, start, self.transitions(stem, where)

    # -- in a state -------------------------------------------------------------------------
    def kept_as(self) -> tuple[tuple[str, tuple[str, ...], str], ...]:
        self.opened()
        moves = (*self.outer, *self.along_moves, self.j, self.k)
        return (("evidence", (*self.outer, self.t, self.k), LEVEL),
                ("start", (*self.outer, self.k), LEVEL), ("moves", moves, LEVEL))  # fmt: skip

    def independent(self, state: dict[str, tuple[str, ...]], stem: str) -> tuple[str, ...]:
        """log p as evidence, and no more."""
        (evidence, at, _), *others = self.kept_as()
        ((p,),) = state.values()
        element = [self.letter(i) for i in self.member.element]
        here = a.ref(p, *element, self.k)
        made = self.let(f"{stem}_{evidence}", at, n.Call("log", (here,)))
        return (made, *(self.let(f"{stem}_{x}", letters, n.ZERO) for x, letters, _ in others))

    def paired(self, natural: tuple[str, ...]) -> list[n.Node]:
        """Evidence, start and transitions, each with its probability; 0 where that is 0."""
        evidence, start, moves = natural
        o, t, k, j = self.outer, self.t, self.k, self.j
        here = a.ref(self.both, *o, t, k)
        begun = n.mul(self.begins(), here)
        both = self.neighbours((*map(a.Ix, o), a.Ix(t), a.Ix(k), a.Ix(j)))
        pairs = ((here, a.ref(evidence, *o, t, k)), (begun, a.ref(start, *o, k)),
                 (both, a.ref(moves, *o, *self.along_moves, j, k)))  # fmt: skip
        out: list[n.Node] = []
        for weight, value in pairs:
            sure = n.Select(n.Compare("==", weight, n.ZERO), n.ZERO, n.mul(weight, value))
            letters = (*o, t, k, j) if value is pairs[2][1] else (*o, t, k)
            out.append(a.Red("sum", letters, sure))
        return out

    def begins(self) -> n.Node:
        """1 at the first element of each chain."""
        if self.eq.letters[self.t].under:
            return a.ref(self.eq.nth(1, self.t), *self.outer, self.t)
        return a.Is(a.Ix(self.t), a.Num(0))

    def letter(self, i: Index) -> str:
        return self.eq.letter(i.axis, i.name, ())

    def let(self, name: str, letters: tuple[str, ...], e: n.Node) -> str:
        name = self.eq.own(name)
        self.eq.let(a.Let(name, letters, e))
        return name

    def transitions(self, stem: str, where: dict[str, str]) -> str:
        """W[j, k] from j to k; W[t, j, k] where it changes along the chain."""
        places = self.pair.statistic.places
        now, before = places[-2], places[-1]
        inside = {**{i.name: where[j.name] for i, j in zip(places, self.member.statistics[0].places,
                  strict=False)}, now.name: self.k, before.name: self.j}  # fmt: skip
        e = self.eq.expr(unguarded(self.pair.expected), inside)
        return self.let(f"{stem}_moves", (*self.outer, *self.along_moves, self.j, self.k), e)

    def readers(self, natural: tuple[str, ...], stem: str) -> dict[str, Reader]:
        """E[z_t], and E[z_t z_{t−1}] as a product of what is kept."""
        own = self.forward(natural, stem)
        self.backward(own, stem)
        self.last = (self.both,)
        self.kept(natural, stem)
        return {
            self.member.statistics[0].name: lambda i: a.Ref(self.both, self.turned(i)),
            self.pair.statistic.name: lambda i: self.neighbours(self.turned(i)),
        }

    def turned(self, index: tuple[n.Node, ...]) -> tuple[n.Node, ...]:
        """The index with the chain's place behind those of all other plates."""
        at, count = self.member.element.index(self.along), len(self.member.element)
        return (*index[:at], *index[at + 1 : count], index[at], *index[count:])

    def neighbours(self, index: tuple[n.Node, ...]) -> n.Node:
        """E[z_t z_{t−1}] at (…, t, k, j)."""
        *front, t, k, j = index
        earlier, later = a.Ref(self.before, (*front, t, j)), a.Ref(self.ahead, (*front, t, k))
        here = (t,) if self.along_moves else ()
        return n.mul(earlier, a.Ref(self.move, (*front, *here, j, k)), later)

    def forward(self, natural: tuple[str, ...], stem: str) -> str:
        """α, its scales, and L; returns B."""
        evidence, start, moves = natural
        o, t, k, j = self.outer, self.t, self.k, self.j
        top = self.let(f"{stem}_top", (*o, t), a.Red("max", (k,), a.ref(evidence, *o, t, k)))
        level = n.Sub(a.ref(evidence, *o, t, k), a.ref(top, *o, t))
        own = self.let(f"{stem}_own", (*o, t, k), n.Call("exp", (level,)))
        first = self.let(f"{stem}_first", (*o, k), n.Call("exp", (a.ref(start, *o, k),)))
        places = (*o, *self.along_moves, j, k)
        self.move = self.let(f"{stem}_move", places, n.Call("exp", (a.ref(moves, *places),)))
        whole, scale, alpha, before = (self.eq.own(f"{stem}_{x}") for x in
                                       ("whole", "scale", "alpha", "before"))  # fmt: skip
        earlier = a.Lag(t, -1)
        moved = a.Red("sum", (j,), n.mul(a.ref(alpha, *o, earlier, j), a.ref(self.move, *places)))
        here = a.ref(own, *o, t, k)
        body = (
            a.Let(whole, (*o, t, k), n.mul(moved, here), first=n.mul(a.ref(first, *o, k), here)),
            a.Let(scale, (*o, t), a.Red("sum", (k,), a.ref(whole, *o, t, k))),
            a.Let(alpha, (*o, t, k), n.div(a.ref(whole, *o, t, k), a.ref(scale, *o, t))),
            a.Let(before, (*o, t, k), a.ref(alpha, *o, earlier, k), first=n.ZERO),
        )
        self.eq.body.append(self.wrapped(a.Seq(t, body)))
        self.alpha, self.before, self.scale = alpha, before, scale
        total = n.add(a.Red("sumlog", (t,), a.ref(scale, *o, t)), a.Red("sum", (t,),
                      a.ref(top, *o, t)))  # fmt: skip
        self.total = self.let(f"{stem}_total", o, total)
        return own

    def wrapped(self, s: a.Seq) -> a.Seq:
        """In a loop over what the chain is ragged under."""
        under = self.eq.letters[s.letter].under
        return a.Seq(under, (s,)) if under else s

    def backward(self, own: str, stem: str) -> None:
        """β, what comes ahead, and E[z]."""
        o, k, j = self.outer, self.k, self.j
        u = self.eq.along(self.t, True)
        beta, ahead, both = (self.eq.own(f"{stem}_{x}") for x in ("beta", "ahead", "both"))
        later = a.Lag(u, 1)
        places = (later,) if self.along_moves else ()
        move = a.ref(self.move, *o, *places, k, j)  # from k to j
        come = a.Red("sum", (j,), n.mul(move, a.ref(ahead, *o, later, j)))
        here = n.mul(a.ref(own, *o, u, k), a.ref(beta, *o, u, k))
        body = (
            a.Let(beta, (*o, u, k), come, first=n.ONE),
            a.Let(ahead, (*o, u, k), n.div(here, a.ref(self.scale, *o, u)), init=n.ZERO),
            a.Let(both, (*o, u, k), n.mul(a.ref(self.alpha, *o, u, k), a.ref(beta, *o, u, k))),
        )
        self.eq.body.append(self.wrapped(a.Seq(u, body)))
        self.ahead, self.both = ahead, both

    def kept(self, natural: tuple[str, ...], stem: str) -> None:
        """What `pairs` and `path` hand out."""
        evidence, start, moves = natural
        joint = self.neighbours((*map(a.Ix, self.outer), a.Ix(self.t), a.Ix(self.k), a.Ix(self.j)))
        name = self.let(f"{stem}_joint", (*self.outer, self.t, self.j, self.k), joint)
        self.pairs = {self.member.block.name: (name,)}
        self.path = {self.member.block.name: (start, moves, evidence)}

    def partition(self, natural: tuple[str, ...], stem: str) -> str:
        return self.total

    def working(self, natural: tuple[str, ...], stem: str) -> tuple[str, ...]:
        """E[z], plates in the order of the model."""
        if self.member.element[-1] == self.along:
            return (self.both,)
        places = tuple(self.letter(i) for i in self.member.element)
        value = a.Ref(self.both, self.turned(tuple(map(a.Ix, (*places, self.k)))))
        return (self.let(f"{stem}_p", (*places, self.k), value),)


def split_first(e: Expression, along: Index) -> tuple[Expression, Expression]:
    """What stands at the first place only, without its delta, and all else."""
    begun: list[tuple[Term, Fraction]] = []
    usual: list[tuple[Term, Fraction]] = []
    for term, c in e.terms:
        found = [(x, p) for x, p in term.factors if not _is_first(x, along)]
        first = len(found) < len(term.factors)
        (begun if first else usual).append((Term(tuple(found), term.bound), c))
    return Expression(tuple(begun)), Expression(tuple(usual))


def _is_first(x: object, along: Index) -> bool:
    from blrgen.algebra.indexed import Atom

    assert isinstance(x, Atom)
    if x.kind != "delta":
        return False
    return along in x.indices and any(i.name == NUMBER and i.shift == 1 for i in x.indices)


def unguarded(e: Expression) -> Expression:
    """Without the guards that keep neighbours inside: what is not there is not read."""
    found = []
    for term, c in e.terms:
        kept = tuple((x, p) for x, p in term.factors if x.kind != "guard" or x.cut != (1, 0))
        found.append((Term(kept, term.bound), c))
    return Expression(tuple(found))
