"""log q, its gradient and its Hessian at the mean of every component.

With q_j(m_k) the density of component j at the mean of component k, all in logarithms,

    log q(m_k) = log Σ_j π_j q_j(m_k),            r_j = π_j q_j/q,
    ∇log q = Σ_j r_j ∇log q_j,
    ∇²log q = Σ_j r_j (∇²log q_j + c_j c_jᵀ),     c_j = ∇log q_j − ∇log q.

Each log q_j is written around its own mean, in δ = m_k − m_j: what would cancel there has gone
before a number is computed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy as sp

from blrgen.algebra.calculus import gradient, jacobian
from blrgen.algebra.partial import partial
from blrgen.core import Derivation
from blrgen.errors import UserError
from blrgen.geometry.integrate import exponent_of
from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a
from blrgen.program.mixture.entries import Equations
from blrgen.program.mixture.words import Words
from blrgen.program.types import SCALAR

Expr = Any


@dataclass(frozen=True)
class LogDensity:
    """log q_j, its slope and its curvature at θ = m_j + δ."""

    value: Expr
    slope: Expr
    curvature: Expr
    mean: Expr
    shift: Expr  # δ


def density_of(d: Derivation, shift: str) -> LogDensity:
    """The log density of a component around its mean, in working parameters."""
    g, x = d.geometry, d.geometry.family.variable
    mean = dict(d.candidate).get("mean")
    if mean is None:
        raise UserError(
            f"a mixture of {g.family.name} has no class",
            why="its components have no mean at which log q is taken",
            how="blrgen fit, which integrates",
        )  # fmt: skip
    delta = g.ring.symbol_like(x, shift)
    log = g.to_working(exponent_of(g.family, g.ring) - g.log_partition).subs(_held(d))
    slope = gradient(log, x)
    curvature = partial(slope, x) if _by_entries(d) else jacobian(slope, x)

    def around(e: Expr) -> Expr:
        return g.ring.tidy(sp.expand(e.subs(x, mean + delta)))

    return LogDensity(around(log), around(slope), around(curvature), mean, delta)


def _held(d: Derivation) -> dict[Expr, Expr]:
    """The family's scale as the rule keeps it: a number where it is not learned."""
    own, kept = d.facts.family_scale, d.facts.scale_value
    return {} if own is None or kept is None or own == kept else {own: kept}


def _by_entries(d: Derivation) -> bool:
    return bool(d.geometry.ring.elementwise or d.geometry.ring.components)


def write_log_q(d: Derivation, made: Equations, pi: str) -> None:
    """The equations of what the rule uses of log q."""
    k, j = made.axes.component, made.axes.other
    shift, lq, r = made.name("shift"), made.name("log_joint"), made.name("r")
    density = density_of(d, shift)
    _shifts(made, density, shift)
    inside = _of_others(made)
    made.put(lq, (k, j), n.add(n.Call("log", (a.ref(pi, j),)), _value(inside, density)))
    total = made.name("log_q")
    made.put(total, (k,), a.Red("lse", (j,), a.ref(lq, k, j)))
    made.put(r, (k, j), n.Call("exp", (n.Sub(a.ref(lq, k, j), a.ref(total, k)),)))
    made.batch[total] = (k,)
    named = {p.order: p.name for p in d.known}
    if 0 in named:
        made.put(named[0], (k,), a.ref(total, k))
    slopes = _Slopes(d, made, inside, density, r)
    if 1 in named:
        slopes.gradient(named[1])
    if 2 in named:
        slopes.hessian(named[2], named[1])


def _shifts(made: Equations, density: LogDensity, shift: str) -> None:
    """δ = m_k − m_j."""
    k, j = made.axes.component, made.axes.other
    m, own = density.mean.name, made.axes.places[:1]
    made.put(shift, (k, j, *own), n.Sub(a.ref(m, k, *own), a.ref(m, j, *own)))
    made.batch[shift], made.types[shift] = (k, j), made.types[m]


def _of_others(made: Equations) -> Equations:
    """The same equations with the states of component j."""
    j = made.axes.other
    batch = {x: (j,) if b == (made.axes.component,) else b for x, b in made.batch.items()}
    return Equations(made.axes, batch, made.types, made.taken, made.lets)


def _value(inside: Equations, density: LogDensity) -> n.Node:
    """log q_j(m_k): a sum over the coordinate that it is said for, where they are independent."""
    entry = Words(inside).number(density.value)
    own = tuple(x for x in a.free(entry) if x in inside.axes.places)
    return a.Red("sum", own, entry) if own else entry


@dataclass
class _Slopes:
    """∇log q and ∇²log q from those of the components."""

    d: Derivation
    made: Equations
    inside: Equations
    density: LogDensity
    r: str

    def __post_init__(self) -> None:
        self.k, self.j = self.made.axes.component, self.made.axes.other
        self.slope = self.made.name("slope")
        own = self.made.axes.places[:1]
        if _by_entries(self.d):
            entry = self.inside.entry(self.density.slope)
        else:
            entry = Words(self.inside).value(self.density.slope, *self.made.axes.places[:2])
        self.made.put(self.slope, (self.k, self.j, *own), entry)

    def gradient(self, name: str) -> None:
        own = self.made.axes.places[:1]
        term = n.mul(a.ref(self.r, self.k, self.j), a.ref(self.slope, self.k, self.j, *own))
        self.made.put(name, (self.k, *own), a.Red("sum", (self.j,), term))

    def hessian(self, name: str, gradient: str) -> None:
        k, j = self.k, self.j
        centred = self.made.name("centred")
        own = self.made.axes.places[:1]
        here = n.Sub(a.ref(self.slope, k, j, *own), a.ref(gradient, k, *own))
        self.made.put(centred, (k, j, *own), here)
        if _by_entries(self.d):
            curved = self.inside.entry(self.density.curvature)
            square = n.Pow(a.ref(centred, k, j, *own), 2)
            term = n.mul(a.ref(self.r, k, j), n.add(curved, square))
            if self.made.types[name] != SCALAR or not own:
                self.made.put(name, (k, *own), a.Red("sum", (j,), term))
                return
            whole = a.Red("sum", (j, *own), term)  # one curvature for all coordinates: the mean
            self.made.put(name, (k,), n.div(whole, a.Extent(self.made.axes.size)))
            return
        row, column, _ = self.made.axes.places
        curved = Words(self.inside).value(self.density.curvature, row, column)
        outer = n.mul(a.ref(centred, k, j, row), a.ref(centred, k, j, column))
        term = n.mul(a.ref(self.r, k, j), n.add(curved, outer))
        self.made.put(name, (k, row, column), a.Red("sum", (j,), term), "sym")
