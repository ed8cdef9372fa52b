"""x = g(u): the exponent becomes f(g(u)) + log|g′(u)|, and the rules are tried again.

Tried are a shift to the end of the interval, a scale, u = log(a + b x), u = e^{kx},
u = xᵖ (1/x among them) and u = logit x.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import sympy as sp

from blrgen.geometry.integrate.problem import Integral, Problem, said
from blrgen.geometry.integrate.terms import affine

Expr = Any


@dataclass(frozen=True)
class Change:
    """x as a function of u, log|dx/du|, the ends of u, and how it is said."""

    u: Expr
    x: Expr
    log_slope: Expr
    ends: tuple[Expr, Expr]
    said: str
    exponent: Expr | None = None  # where putting x in is not enough


def integrate(problem: Problem) -> Integral | None:
    """The first change of variable after which a rule applies."""
    if not problem.is_interval or problem.depth >= problem.limit:
        return None
    for change, moved in _moves(problem.with_(depth=0, limit=0)):
        found = moved.with_(depth=problem.depth + 1, limit=problem.limit).integrate()
        if found is not None:
            return found.with_(
                because=f"with {change.said}: {found.because}",
                quadratic=None,
                sampler=None if found.sampler is None else change.x.subs(change.u, found.sampler),
            )
    return None


@lru_cache(maxsize=512)
def _moves(problem: Problem) -> tuple[tuple[Change, Problem], ...]:
    """The changes of variable with the problem after each; with one limit as with another."""
    plain, found = problem.exponent_opened, []
    for change in _changes(problem):
        inside = change.exponent
        if inside is None:
            inside = plain.subs(problem.variable, change.x)
        moved = problem.moved(change.u, change.ends, inside + change.log_slope)
        found.append((change, moved))
    return tuple(found)


def _changes(problem: Problem) -> Iterator[Change]:
    yield from _logarithms(problem)
    yield from _to_the_end(problem)
    yield from _exponentials(problem)
    yield from _powers(problem)
    yield from _logit(problem)


def _to_the_end(problem: Problem) -> Iterator[Change]:
    x, (low, high) = problem.variable, problem.ends
    u = sp.Dummy(problem.letter, positive=True)
    if low.is_finite and high == sp.oo and low != 0:
        yield Change(u, low + u, sp.S.Zero, (sp.S.Zero, sp.oo), f"{u.name} = {said(x)} − ({low})")
    elif low == -sp.oo and high.is_finite:
        yield Change(u, high - u, sp.S.Zero, (sp.S.Zero, sp.oo), f"{u.name} = {high} − {said(x)}")
    elif low.is_finite and high.is_finite and (low, high) != (0, 1):
        width = sp.expand(high - low)
        text = f"{u.name} = ({said(x)} − ({low}))/({width})"
        yield Change(u, low + width * u, sp.log(width), (sp.S.Zero, sp.S.One), text)


def _logarithms(problem: Problem) -> Iterator[Change]:
    x, ends = problem.variable, problem.ends
    exponent = sp.Add(*[c * f for f, c in problem.coefficients.items()])
    for f in sorted(exponent.atoms(sp.log), key=sp.default_sort_key):
        line = affine(f.args[0], x) if f.has(x) else None
        side = problem.sign(line[1]) if line else None
        if line is None or not side:
            continue
        u = sp.Dummy(problem.letter, real=True)
        first, last = (
            _limit_log(line[0] + line[1] * e if e.is_finite else side * e) for e in ends[::side]
        )
        if first is not None and last is not None:
            new = (sp.exp(u) - line[0]) / line[1]
            yield Change(u, new, u - sp.log(side * line[1]), (first, last), f"{u.name} = {said(f)}")


def _limit_log(a: Expr) -> Expr | None:
    a = sp.expand(a)
    return {sp.S.Zero: -sp.oo, sp.oo: sp.oo, -sp.oo: None}.get(a, sp.log(a))


def _exponentials(problem: Problem) -> Iterator[Change]:
    x = problem.variable
    exponent = sp.Add(*[c * f for f, c in problem.coefficients.items()])
    rates = []
    for f in sorted(exponent.atoms(sp.exp), key=sp.default_sort_key):
        line = affine(f.args[0], x) if f.has(x) else None
        if line is not None and line[1] not in rates and problem.sign(line[1]):
            rates.append(line[1])
    for k in rates:
        side = problem.sign(k) or 1
        u = sp.Dummy(problem.letter, positive=True)
        first, last = (_image_exp(k, e, side) for e in problem.ends[::side])
        slope = -sp.log(u) - sp.log(side * k)
        yield Change(u, sp.log(u) / k, slope, (first, last), f"{u.name} = {said(sp.exp(k * x))}")


def _image_exp(k: Expr, end: Expr, side: int) -> Expr:
    if end.is_finite:
        return sp.exp(k * end)
    return sp.oo if (end == sp.oo) == (side > 0) else sp.S.Zero


def _powers(problem: Problem) -> Iterator[Change]:
    x, (low, high) = problem.variable, problem.ends
    if problem.sign(low) not in (0, 1):
        return
    exponent = sp.Add(*[c * f for f, c in problem.coefficients.items()])
    hidden = problem.exponent.atoms(sp.Pow) - exponent.atoms(sp.Pow)
    powers = [f.exp for f in sorted(exponent.atoms(sp.Pow) | hidden, key=sp.default_sort_key)
              if f.base == x and not f.exp.has(x)]  # fmt: skip
    for p in dict.fromkeys(powers):
        side = problem.sign(p)
        if not side:
            continue
        u = sp.Dummy(problem.letter, positive=True)
        first, last = (_power_image(e, p, side) for e in (low, high)[::side])
        slope = (1 / p - 1) * sp.log(u) - sp.log(side * p)
        text = f"{u.name} = {said(x**p)}"
        yield Change(u, u ** (1 / p), slope, (first, last), text)
        if x**p in hidden:  # opened, log(1 − x³) is log(1 − x) + log(1 + x + x²)
            inside = problem.exponent.subs(x, u ** (1 / p))
            yield Change(u, u ** (1 / p), slope, (first, last), text, inside)


def _power_image(end: Expr, p: Expr, side: int) -> Expr:
    if end in (0, sp.oo):
        return end if side > 0 else (sp.oo if end == 0 else sp.S.Zero)
    return end**p


def _logit(problem: Problem) -> Iterator[Change]:
    """u = log(x/(1 − x)) where the logarithms of x and 1 − x stand in powers."""
    x = problem.variable
    logs = sp.log(x), sp.log(1 - x)
    if problem.ends != (0, 1):
        return
    u = sp.Dummy(problem.letter, real=True)
    rest = sp.log(1 + sp.exp(u))
    exponent = sp.expand(
        problem.exponent_opened.subs({logs[0]: u - rest, logs[1]: -rest})
        + u - 2 * rest
    )  # fmt: skip
    if exponent.has(x):
        return
    text = f"{u.name} = log({said(x)}/(1 − {said(x)}))"
    yield Change(u, 1 / (1 + sp.exp(-u)), sp.S.Zero, (-sp.oo, sp.oo), text, exponent)
