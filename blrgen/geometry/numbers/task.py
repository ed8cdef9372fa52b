"""What is integrated, nodes with weights, and arrays of doubles or of mpmath numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

import mpmath
import numpy as np

from blrgen.core import Family
from blrgen.geometry.numbers.branch import Branch, values
from blrgen.value.tape import exp_of, is_exact

Expr = Any
Array = Any


class Divergent(Exception):
    """The integrand does not fall off, or not within the reach of any number."""


class Unsettled(Exception):
    """Panels were halved without agreement."""


class TooMany(Unsettled):
    """So many panels that more digits would not help."""


@dataclass(frozen=True)
class Task:
    """What to integrate: the density of a family at a point, and functions beside it.

    The statistics (order 1) and their products (order 2) are among the integrands.
    """

    family: Family
    args: tuple[Any, ...]  # natural parameters, then constants: mpmath numbers or doubles
    functions: tuple[Expr, ...]
    order: int
    digits: int
    doubles: bool

    @property
    def constants(self) -> dict[Expr, Any]:
        """The known constants of the declaration, as mpmath numbers."""
        names = [p.symbol for p in self.family.fixed]
        values = self.args[len(self.family.natural) :]
        return {k: mpmath.mpf(v) for k, v in zip(names, values, strict=True)}

    def logs(self, branch: Branch, u: Array) -> tuple[Array, list[Array], list[Array], Array]:
        """(log of the integrand in u, statistics, functions, Σ|terms| of the logarithm)."""
        t, log_h, f = values(
            self.family, branch, u, self.args, self.functions, doubles=self.doubles
        )
        with np.errstate(all="ignore"):
            terms = [np.multiply(a, b) for a, b in zip(self.args, t, strict=False)]
            jacobian = u if branch.sign else 0 * u
            total = reduce(np.add, terms, np.add(jacobian, log_h))
            size = reduce(np.add, map(abs, terms), np.add(abs(jacobian), abs(log_h)))
        return _real(total), t, f, _real(size)


@dataclass(frozen=True)
class Nodes:
    """Points of a branch with weights: Σ w f(x) is a part of an integral or a sum."""

    branch: Branch
    u: Array
    weight: Array
    memo: dict[Expr, Array] = field(default_factory=dict, compare=False, repr=False)

    def values(self, task: Task, f: Expr) -> Array:
        """f at the nodes, computed once."""
        if f not in self.memo:
            found = values(
                task.family, self.branch, self.u, task.args, (f,), doubles=task.doubles
            )[2][0]  # fmt: skip
            self.memo[f] = np.broadcast_to(found, self.u.shape)
        return self.memo[f]

    def rows(self, which: Array) -> Nodes:
        """The nodes of some panels, `which` of them, each with equally many."""
        panels = len(which)

        def cut(x: Array) -> Array:
            return x.reshape(panels, -1)[which].ravel()

        memo = {f: cut(x) for f, x in self.memo.items()}
        return Nodes(self.branch, cut(self.u), cut(self.weight), memo)


@dataclass
class Panels:
    """Intervals of one branch."""

    branch: Branch
    low: Array
    high: Array

    def rows(self, which: Array) -> Panels:
        """Some of them."""
        return Panels(self.branch, self.low[which], self.high[which])

    def halved(self) -> Panels:
        """Both halves of each."""
        middle = (self.low + self.high) / 2
        low, high = np.concatenate([self.low, middle]), np.concatenate([middle, self.high])
        return Panels(self.branch, low, high)


@dataclass(frozen=True)
class Rule:
    """∫ f h exp⟨λ, T⟩ ≈ e^scale Σ w f(x), by a fine rule and by a coarser one.

    Of an integral the panels are kept: node sets and panels stand in the same order.
    """

    scale: Any
    fine: tuple[Nodes, ...]
    coarse: tuple[Nodes, ...]
    panels: tuple[Panels, ...] = ()
    peaks: tuple[Any, ...] = ()


def _real(x: Array) -> Array:
    """Reals where the imaginary part is zero; a complex density has no logarithm."""
    if not is_exact(x):
        return x
    fix: Any = np.frompyfunc(
        lambda v: v if isinstance(v, mpmath.mpf) else (v.real if v.imag == 0 else mpmath.nan), 1, 1
    )
    return fix(x)


def array(items: Sequence[Any], doubles: bool) -> Array:
    """Numbers as an array of doubles or of mpmath numbers."""
    if doubles:
        return np.array([float(x) for x in items])
    out = np.empty(len(items), dtype=object)
    out[:] = [mpmath.mpf(x) for x in items]
    return out


def as_doubles(x: Array) -> Array:
    """An array of doubles, for comparisons; nan where there is no number."""
    with np.errstate(all="ignore"):
        if is_exact(x):
            return np.array([_double(v) for v in x.ravel()]).reshape(x.shape)
        return np.asarray(x, dtype=float)


def above(total: Array, level: Any) -> Array:
    """total − level as doubles, for comparisons; `level` is finite, nan stays nan.

    Doubles are subtracted as doubles: an mpmath number beside a nan raises NumPy's flags.
    """
    return as_doubles(total - level) if is_exact(total) else np.subtract(total, float(level))


def _double(v: Any) -> float:
    if isinstance(v, mpmath.mpc):
        return float(v.real) if v.imag == 0 else math.nan
    return float(v)


def in_doubles(task: Task) -> Task:
    """The same task in doubles, to look around with."""
    if task.doubles:
        return task
    args = tuple(float(a) for a in task.args)
    return Task(task.family, args, task.functions, task.order, task.digits, True)


def product(mass: Array, f: Array) -> Array:
    """mass · f, 0 where there is no mass."""
    if is_exact(mass):
        found: Array = _times(mass, f)
        return found
    with np.errstate(all="ignore"):
        return np.where(mass == 0, 0 * mass, mass * f)


def exponential(task: Task, x: Array) -> Array:
    """eˣ; 0 where there is no density."""
    if task.doubles:
        found = np.exp(x)
        return np.where(np.isnan(found), 0.0, found)
    found = _exp_or_nothing(x)
    return found


_times: Any = np.frompyfunc(lambda m, v: m * v if m else m, 2, 1)
_exp_or_nothing: Any = np.frompyfunc(
    lambda v: mpmath.mpf(0) if v != v else exp_of(v), 1, 1
)  # fmt: skip


def integrands(
    task: Task, t: list[Array], f: list[Array], centre: list[Any], size: int
) -> list[Array]:
    """1, the statistics from their value at the mode on, their products, and the functions."""
    one = 1.0 if task.doubles else mpmath.mpf(1)
    rows = [np.broadcast_to(np.array([one]), (size,))]
    away = [np.subtract(x, c) for x, c in zip(t, centre, strict=True)] if task.order else []
    rows += away
    if task.order > 1:
        rows += [x * y for i, x in enumerate(away) for y in away[: i + 1]]
    return rows + [np.broadcast_to(x, (size,)) for x in f]
