"""Expectations without a closed form → calls, and what those calls are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sympy as sp

from blrgen.core import Family, Support
from blrgen.errors import UserError
from blrgen.program import nodes as n
from blrgen.program.density import BinomialMean, Expectation, Piece, Weight
from blrgen.program.expand import expanded
from blrgen.program.expectations import change_of_variable, in_t, log_weights
from blrgen.program.stable import stable_form
from blrgen.program.types import SCALAR

Expr = Any


class AverageLowering:
    """Methods for nodes of `blrgen.geometry.numbers`; the calls are collected on the way."""

    expectations: list[Expectation]
    meanings: dict[str, Callable[..., Expr]]
    binomial_means: list[BinomialMean]
    where: str
    _named: dict[Any, str]
    first: int = 0  # how many there are already in the program

    def visit(self, x: Expr) -> n.Node:
        raise NotImplementedError

    def visit_Numeric(self, x: Expr) -> n.Node:
        """E[f] or A, at the arguments of the node."""
        f = type(x).integrand
        integrands = () if f is None else (f,)
        said = "A" if f is None else f"𝔼_q[{shown(f)}]"
        return self._call(x, type(x).family, integrands, said)

    def visit_Covariance(self, x: Expr) -> n.Node:
        """Cov[f, g] at the arguments of the node."""
        f, g = type(x).pair
        said = f"Var_q[{shown(f)}]" if f == g else f"Cov_q[{shown(f)}, {shown(g)}]"
        return self._call(x, type(x).family, (f, g), said)

    def visit_binomial_mean(self, x: Expr) -> n.Node:
        """E[g(j)] of a binomial j, as a function of n, p and what is in g."""
        from blrgen.algebra.binomial import COUNT, binomial_mean

        g, trials, p = x.args
        inside = sorted(g.free_symbols - {COUNT}, key=lambda s: s.name)
        key = (binomial_mean, g)
        if key not in self._named:
            name = f"binomial_mean_{len(self.binomial_means) + 1}"
            self._named[key] = name
            names = tuple(s.name for s in inside)
            of = _lowered_in(g, ("j", *names), self.where)
            self.binomial_means.append(BinomialMean(name, shown(g), of, names))
            self.meanings[name] = lambda q, k, *values: binomial_mean(
                g.xreplace(dict(zip(inside, values, strict=True))), k, q
            )
        return n.Call(
            self._named[key], (self.visit(p), self.visit(trials), *map(self.visit, inside))
        )

    def _call(self, x: Expr, family: Family, integrands: tuple[Expr, ...], said: str) -> n.Node:
        key = type(x)
        if key not in self._named:
            name = f"expectation_{self.first + len(self._named) + 1}"
            self._named[key] = name
            self.expectations.append(expectation(name, family, integrands, said))
            self.meanings[name] = meaning(key)
        return n.Call(self._named[key], tuple(self.visit(a) for a in x.args))


def shown(f: Expr) -> str:
    """A function of the variable, for reading."""
    from blrgen.text.expression import unicode

    return unicode(f)


def meaning(cls: Any) -> Callable[..., Expr]:
    """The node of a class at any arguments; a covariance through expectations."""
    if not hasattr(cls, "pair"):
        return lambda *args: cls(*args)

    def covariance(*args: Expr) -> Expr:
        from blrgen.geometry.numbers.nodes import arguments, mean_node

        f, g = cls.pair
        family = cls.family
        own = mean_node(family, sp.expand(f * g)) - mean_node(family, f) * mean_node(family, g)
        return own.xreplace(dict(zip(arguments(family), args, strict=True)))

    return covariance


def expectation(name: str, family: Family, integrands: tuple[Expr, ...], said: str) -> Expectation:
    """E[f] or Cov[f, g] of a family, lowered."""
    of = weight_of(family)
    rows = [[] for _ in of.pieces]  # type: list[list[n.Node]]
    swap = _parameters(family)
    for f in integrands:
        for row, e in zip(rows, in_t(family, f), strict=True):
            row.append(_lowered(e.xreplace(swap), of.parameters, family))
    return Expectation(name, said, of, tuple(tuple(row) for row in rows))


def weight_of(family: Family) -> Weight:
    """The density of a family of one variable, lowered."""
    if len(getattr(family, "variables", ()) or (family.variable,)) > 1 or not family.elementwise:
        raise UserError(
            f"no target can average over the variables of {family.name!r}",
            where=family.path,
            why="no closed form was found, and quadrature is emitted for one variable",
        )
    swap = _parameters(family)
    names = tuple(s.name for s in swap.values())
    pieces = tuple(
        Piece(*(_lowered(e.xreplace(swap), names, family) for e in pair))
        for pair in log_weights(family)
    )
    support, first = family.support, None
    if support.kind == "integers" and support.lower is not None and support.lower.is_finite:
        first = int(support.lower)
    said = " · ".join(
        [] if family.base_measure == 1 else [f"({family.base_measure})"]
    ) + _exponential(family)
    return Weight(family.name, said, names, pieces, first, support.kind == "integers")


def _exponential(family: Family) -> str:
    swap = _parameters(family)
    pairs = zip(family.natural, family.statistics, strict=True)
    inside = sp.Add(*[swap[p.symbol] * t for p, t in pairs])
    return f"exp({inside})"


def _parameters(family: Family) -> dict[Expr, Expr]:
    """Natural parameters and constants under names of their own, p1 and so on."""
    found = {}
    for k, p in enumerate((*family.natural, *family.fixed), start=1):
        found[p.symbol] = _renamed(p.symbol, f"p{k}")
    return found


def _renamed(s: Expr, name: str) -> Expr:
    return sp.Symbol(name, **{a: v for a, v in s._assumptions_orig.items() if v is not None})


def _lowered(e: Expr, names: tuple[str, ...], family: Family) -> n.Node:
    return _lowered_in(e, ("t", *names), f"in the density of {family.name!r}")


def _lowered_in(e: Expr, names: tuple[str, ...], where: str) -> n.Node:
    from blrgen.program.lowering import Lowering

    node = Lowering(dict.fromkeys(names, SCALAR)).lower(e, where=where)
    return expanded(stable_form(node))


def density_in_t(
    name: str, exponent: Expr, x: Expr, low: Expr, high: Expr, whole: bool
) -> tuple[Weight, list[Expr]]:
    """exp(exponent) over an interval or whole numbers, in t; and the values of its parameters."""
    exponent = sp.expand(exponent).as_independent(x, as_Add=True)[1]
    if whole and not (low.is_Integer or low == -sp.oo):
        raise UserError(f"no target can sum from {low} on", how="start at a number")
    if whole and high != sp.oo:
        exponent = sp.Piecewise((exponent, x <= high), (-sp.oo, True))
    support = Support("integers" if whole else "interval", (), low, high)
    held = Family("", "", x, support, (exponent,), sp.S.One, ())
    symbols = sorted(sp.Tuple(exponent, low, high).free_symbols - {x}, key=lambda s: s.name)
    symbols = symbols or [sp.Symbol("unused", real=True)]
    swap = {s: _renamed(s, f"p{k}") for k, s in enumerate(symbols, start=1)}
    names = tuple(s.name for s in swap.values())
    pieces = []
    for place, slope, change in change_of_variable(held):
        inside = change(exponent).xreplace({x: place}) + slope
        pieces.append(Piece(*(_lowered(e.xreplace(swap), names, held) for e in (inside, place))))
    said = f"exp({exponent.xreplace({**swap, x: sp.Symbol('x')})})"
    made = Weight(name, said, names, tuple(pieces), int(low) if low.is_Integer else None, whole)
    return made, [sp.S.Zero if s.name == "unused" else s for s in symbols]
