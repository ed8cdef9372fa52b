"""A block's member of its family on plates: natural parameters, statistics, A, working ones.

    λ[plates, …]      from the divided log joint, or from working parameters by the chart
    E[T][plates, …]   = ∇A(λ)
    A[plates]
    w[plates, …]      from λ by the inverse chart

A one-hot variable has all K coefficients c_k, up to a common constant: E[z] = exp(c − lse c),
A = lse c, and the working parameter is E[z].
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import sympy as sp

from blrgen.algebra.indexed import Expression, Index
from blrgen.algebra.indexed.build import add, moved, scaled
from blrgen.algebra.ranks import axes_of
from blrgen.core import Family, Parameter
from blrgen.errors import UserError
from blrgen.expect.blocks.values import Block, Statistic
from blrgen.geometry import kept_geometry
from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a
from blrgen.program.model.expressions import Equations, Reader
from blrgen.program.model.family import family_program, inlined, negated, resized
from blrgen.program.model.names import size_of
from blrgen.program.model.values import DEFINITE, REAL, SIMPLEX, Array

Expr = Any


@dataclass(frozen=True)
class Member:
    """A block, its family, and whether its variable is one-hot."""

    block: Block
    family: Family
    one_hot: bool

    @property
    def is_plain(self) -> bool:
        """Whether it is one member of a family, on no plate."""
        return self.block.kind == "element" and not self.element and not self.one_hot

    # -- axes --------------------------------------------------------------------------
    @property
    def statistics(self) -> tuple[Statistic, ...]:
        """One a natural parameter, in their order."""
        found = {s.positions[0]: s for s in (p.statistic for p in self.block.parts)
                 if len(s.positions) == 1}  # fmt: skip
        return tuple(found[k] for k in sorted(found))

    def own(self, k: int) -> int:
        """How many axes of its own the k-th natural parameter has."""
        return 1 if self.one_hot else len(axes_of(self.family.natural[k].symbol))

    @property
    def element(self) -> tuple[Index, ...]:
        """Where an element stands: its plates, and of a vector of numbers their place in it."""
        places = self.statistics[0].places
        return places[: len(places) - self.own(0)]

    @property
    def sizes(self) -> dict[str, str]:
        """The axes that the family's sizes are here."""
        found: dict[str, str] = {}
        for k, s in enumerate(self.statistics):
            shape = axes_of(self.family.natural[k].symbol)
            for size, place in zip(shape, s.places[len(s.places) - len(shape) :], strict=True):
                found.setdefault(size.replace("-1", "") if self.one_hot else size, place.axis)
        return found

    def axes(self, p: Parameter) -> tuple[a.Size, ...]:
        """The sizes of a working parameter's array."""
        own = (self.sizes.get(x, x) for x in axes_of(p.symbol))
        return (*self.plates, *map(size_of, own))

    @property
    def plates(self) -> tuple[a.Size, ...]:
        return tuple(size_of(i.axis) for i in self.element)

    @property
    def working(self) -> tuple[str, ...]:
        """What people call its parameters; of a one-hot variable its probabilities."""
        return tuple(p.name for p in self.parameters) or ("p",)

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        return self.family.working or (() if self.one_hot else self.family.natural)

    def array(self, k: int, name: str) -> Array:
        """The array of the k-th working parameter."""
        if self.one_hot:
            axis = size_of(self.statistics[0].places[-1].axis)
            return Array(name, (*self.plates, axis), SIMPLEX)
        p = self.parameters[k]
        return Array(name, self.axes(p), parameter_domain(p, self.sizes))


def parameter_domain(p: Parameter, axes: Mapping[str, str]) -> str:
    """As an emitted file checks it; an end may be a size, more or less a whole number."""
    if p.domain.kind == "spd":
        return DEFINITE
    if p.domain.kind != "interval":
        return REAL
    low, high = (_end(x, axes) for x in (p.domain.lower, p.domain.upper))
    left = "(" if p.domain.lower_open or low in ("", "-oo") else "["
    right = ")" if p.domain.upper_open or high in ("", "oo") else "]"
    text = f"{left}{low or '-oo'}, {high or 'oo'}{right}"
    return REAL if text == "(-oo, oo)" else text


def _end(e: Expr, axes: Mapping[str, str]) -> str:
    """An end as text, "" where it is anything else."""
    e = sp.sympify(e)
    if e.is_number:
        return str(e)
    more, size = e.as_coeff_Add()
    if not size.is_Symbol or not more.is_Integer or str(size) not in axes:
        return ""
    name = axes[str(size)]
    return f"{name} {'-' if more < 0 else '+'} {abs(more)}" if more else name


Outcomes = list[tuple[Member, tuple[str, ...]]]


class Lowered:
    """A member's equations; `eq` holds them."""

    def __init__(self, eq: Equations, member: Member) -> None:
        self.eq, self.member = eq, member
        self.geometry = None if member.one_hot else kept_geometry(member.family)
        self.extra: tuple[str, ...] = ()  # letters before those of the block's plates
        self.last: tuple[str, ...] = ()  # E[T] as it stands
        self.pairs: dict[str, tuple[str, ...]] = {}  # of a chain: the joint of neighbours, by node
        # of labels: start, transition, evidence as logarithms, by node
        self.path: dict[str, tuple[str, ...]] = {}
        self.moving = False  # whether the transitions change along the chain

    @property
    def elements(self) -> tuple[Index, ...]:
        """Where A has a value of its own."""
        return self.member.element

    # -- λ ------------------------------------------------------------------------------
    def natural(self, stem: str) -> tuple[str, ...]:
        """λ, one a statistic: what the other blocks expect of its coefficient."""
        turned = set(negated(self.geometry)) if self.geometry else set()
        expected = {p.statistic: p.expected for p in self.member.block.parts}
        out = []
        for k, s in enumerate(self.member.statistics):
            e = expected[s]
            symbol = self.member.family.natural[k].symbol
            matrix = not self.member.one_hot and len(axes_of(symbol)) == 2
            if matrix:
                e = symmetrised(e, s.places[-2], s.places[-1])
            minus = symbol in turned
            name = self.eq.own(f"{stem}_{k + 1}")
            kind = "spd" if minus else "sym" if matrix else "dense"
            self.eq.equation(name, s.places, scaled(e, -1) if minus else e, kind)
            out.append(name)
        return tuple(out)

    def readers(self, natural: tuple[str, ...], stem: str) -> dict[str, Reader]:
        """How expressions read E[T], by the names of the statistics."""
        self.last = self.means(natural, stem)
        pairs = zip(self.member.statistics, self.last, strict=True)
        return {s.name: named(name) for s, name in pairs}

    def natural_of_state(self, state: tuple[str, ...], stem: str) -> tuple[str, ...]:
        """λ from the arrays of working parameters."""
        if self.member.one_hot:
            element, k = self.letters_of(self.member.statistics[0])
            name = self.eq.own(f"{stem}_1")
            self.eq.let(a.Let(name, (*element, k),
                              n.Call("log", (a.ref(state[0], *element, k),))))  # fmt: skip
            return (name,)
        names = dict(zip(self.member.working, state, strict=True))
        turned = set(negated(self.geometry)) if self.geometry else set()
        definite = [k for k, p in enumerate(self.member.family.natural) if p.symbol in turned]
        return self.inline("natural", names, stem, definite)

    # -- what follows from λ ------------------------------------------------------------
    def means(self, natural: tuple[str, ...], stem: str) -> tuple[str, ...]:
        """E[T], one a statistic."""
        if self.member.one_hot:
            element, k = self.letters_of(self.member.statistics[0])
            whole = self.whole(natural)
            name = self.eq.own(stem)
            level = n.Sub(a.ref(natural[0], *element, k), a.ref(whole, *element))
            self.eq.let(a.Let(name, (*element, k), n.Call("exp", (level,))))
            return (name,)
        return self.inline("mean", self.named(natural), stem)

    def whole(self, natural: tuple[str, ...]) -> str:
        """log Σ exp of a one-hot variable's coefficients."""
        element, k = self.letters_of(self.member.statistics[0])
        lse = a.Let("", element, a.Red("lse", (k,), a.ref(natural[0], *element, k)))
        return self.eq.once("lse", lse)

    def partition(self, natural: tuple[str, ...], stem: str) -> str:
        """A of each element."""
        if self.member.one_hot:
            return self.whole(natural)
        return self.inline("partition", self.named(natural), stem)[0]

    def working(self, natural: tuple[str, ...], stem: str) -> tuple[str, ...]:
        """Working parameters, one a parameter of the family."""
        if self.member.one_hot:
            return self.means(natural, stem)
        return self.inline("working", self.named(natural), stem)

    # -- of chains, whose natural parameters may be in the state ----------------------------
    def kept_as(self) -> tuple[tuple[str, tuple[str, ...], str], ...]:
        """What each natural parameter is called in a state, its letters, where it is."""
        raise self.stateless()

    def independent(self, state: dict[str, tuple[str, ...]], stem: str) -> tuple[str, ...]:
        """Natural parameters of a q under which all elements are independent."""
        raise self.stateless()

    def paired(self, natural: tuple[str, ...]) -> list[n.Node]:
        """⟨λ, E[T]⟩ of a chain."""
        raise self.stateless()

    def stateless(self) -> UserError:
        """What is said of a block that has no place in a state."""
        return UserError(f"no programs yet for the block {self.member.block.name} in a state")

    def outcomes(self, natural: tuple[str, ...], stem: str) -> list[tuple[Member, tuple[str, ...]]]:
        """What is known of each node: its member, and its working parameters."""
        return [(self.member, self.working(natural, stem))]

    # -- inlining -------------------------------------------------------------------------
    def named(self, natural: tuple[str, ...]) -> dict[str, str]:
        return dict(zip((p.name for p in self.member.family.natural), natural, strict=True))

    def letters_of(self, s: Statistic) -> tuple[tuple[str, ...], str]:
        """Letters for an element's place and the last place of a statistic."""
        found: tuple[str, ...] = ()
        for i in s.places:
            found = (*found, self.eq.letter(i.axis, i.name, found))
        return found[:-1], found[-1]

    def inline(
        self, kind: str, names: dict[str, str], stem: str, definite: Sequence[int] = ()
    ) -> tuple[str, ...]:
        """One of the family's functions, for every element; some outs are definite."""
        assert self.geometry is not None
        program = family_program(self.geometry, kind)
        program = resized(program, {k: size_of(v) for k, v in self.member.sizes.items()})
        plates = self.extra
        for i in self.member.element:
            plates = (*plates, self.eq.letter(i.axis, i.name, plates))
        letters: dict[str, str] = {}
        for x in program.letters:
            used = (*plates, *letters.values())
            letters[x.name] = self.eq.letter(str(x.size), x.name, used)
        own = dict(names)
        for s in program.lets:
            out = s.name in program.outs
            number = program.outs.index(s.name) + 1 if out else 0
            several = out and len(program.outs) > 1
            wish = (f"{stem}_{number}" if several else stem) if out else f"{stem}_{s.name}"
            own[s.name] = self.eq.own(wish)
        known = {own[program.outs[k]] for k in definite}
        for s in inlined(program, plates, own, letters):
            self.eq.let(replace(s, structure="spd") if s.name in known else s)
        return tuple(own[x] for x in program.outs)


def named(name: str) -> Reader:
    """An array by its name."""
    return lambda index: a.Ref(name, index)


def even(eq: Equations, name: str, domain: str, stem: str) -> str:
    """(M + Mᵀ)/2 of a matrix that is kept or shown, which is M but for rounding.

    A step goes on from it: what makes two triangles differ may grow by a factor each time.
    """
    if domain != DEFINITE:
        return name
    made = next(s for s in eq.body if isinstance(s, a.Let) and s.name == name)
    *rest, i, j = made.letters
    both = n.add(a.ref(name, *rest, i, j), a.ref(name, *rest, j, i))
    own = eq.own(stem)
    eq.let(a.Let(own, made.letters, n.mul(n.HALF, both), "spd"))
    return own


def evened(eq: Equations, known: Outcomes) -> Outcomes:
    """What is known of nodes, its matrices with two equal triangles."""
    return [
        (m, tuple(even(eq, x, m.array(k, x).domain, f"{x}_even") for k, x in enumerate(names)))
        for m, names in known
    ]


def symmetrised(e: Expression, i: Index, j: Index) -> Expression:
    """(M + Mᵀ)/2, which is M where it is symmetric already."""
    from fractions import Fraction

    turned = moved(e, {i: j, j: i})
    return e if turned == e else scaled(add(e, turned), Fraction(1, 2))
