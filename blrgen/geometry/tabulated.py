"""The density itself, as a table of nodes and probabilities: what every claim is held against.

At a point λ the table holds T(x), log h(x) and the probability of each node of a quadrature
of h exp⟨λ, T⟩ (of each term of its sum).  Nothing derived is used: its total is exp A,
its moments are μ, F, and −E[log q].
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import mpmath
import sympy as sp

from blrgen.core import Family
from blrgen.errors import UserError
from blrgen.value.evaluate import Undefined, evaluate
from blrgen.value.line import Diverges, integer_nodes, line_nodes, peaks

Expr = Any
Value = Any
DPS = 30
AGREE = mpmath.mpf(10) ** -14  # two successive steps of the quadrature
LEVELS = (2, 3, 4, 5, 6, 7)


class NotIntegrated(Exception):
    """No number for the density's mass here; the message says why.  Not that it has none."""


@dataclass(frozen=True)
class Table:
    """Nodes of a density: x, T(x), log h(x), probabilities; and the log of the total mass."""

    x: list[Value]
    statistics: list[list[Value]]  # one list a statistic
    log_base: list[Value]
    probability: list[Value]
    log_mass: Value
    natural: tuple[Value, ...]

    def mean(self, values: list[Value]) -> Value:
        return mpmath.fsum(p * v for p, v in zip(self.probability, values, strict=True))

    def covariance(self, left: list[Value], right: list[Value]) -> Value:
        a, b = self.mean(left), self.mean(right)
        return mpmath.fsum(
            p * (u - a) * (v - b)
            for p, u, v in zip(self.probability, left, right, strict=True)
        )  # fmt: skip

    @cached_property
    def means(self) -> list[Value]:
        return [self.mean(t) for t in self.statistics]

    @cached_property
    def covariances(self) -> list[list[Value]]:
        full = [[mpmath.mpf(0)] * len(self.statistics) for _ in self.statistics]
        for i, a in enumerate(self.statistics):
            for j, b in enumerate(self.statistics[: i + 1]):
                full[i][j] = full[j][i] = self.covariance(a, b)
        return full

    @cached_property
    def log_density(self) -> list[Value]:
        rows = zip(self.log_base, *self.statistics, strict=True)
        return [
            mpmath.fsum(v * t for v, t in zip(self.natural, ts, strict=True)) + h - self.log_mass
            for h, *ts in rows
        ]

    @cached_property
    def entropy(self) -> Value:
        return -self.mean(self.log_density)

    @cached_property
    def entropy_slope(self) -> list[Value]:
        """∂𝓗/∂λ_i = −Cov(T_i, log q), since E[∂ log q] = 0."""
        return [-self.covariance(t, self.log_density) for t in self.statistics]


class Measure:
    """Tables of one family at one value of its fixed constants."""

    def __init__(self, family: Family) -> None:
        self.family = family
        self._tables: dict[tuple[Value, ...], Table] = {}

    def table(self, point: Mapping[Expr, Expr]) -> Table:
        """The table at a point, refined until mass and moments no longer change."""
        with mpmath.workdps(DPS):
            key = tuple(point[p.symbol] for p in (*self.family.fixed, *self.family.natural))
            if key not in self._tables:
                self._tables[key] = self._refined(point)
            return self._tables[key]

    def _refined(self, point: Mapping[Expr, Expr]) -> Table:
        family = self.family
        constants = {k: number(v) for k, v in point.items()}
        natural = tuple(constants[p.symbol] for p in family.natural)
        weigh = Weigh(family, {p.symbol: constants[p.symbol] for p in family.fixed}, natural)
        last, before = None, mpmath.mpf(0)  # the first change alone says little
        for level in LEVELS:
            now = self._at(point, weigh, level)
            if family.support.kind == "finite":
                return now
            if last is not None:
                gap = _change(last, now)
                # the error is squared by every halving of the step, once it is small
                if gap < AGREE or gap < min(mpmath.mpf(10) ** -7, before**1.6):
                    return now
                before = gap
            last = now
        raise NotIntegrated(f"the quadrature does not settle at {_at(point)}")

    def _at(self, point: Mapping[Expr, Expr], weigh: Weigh, level: int) -> Table:
        family, fixed, natural = self.family, weigh.fixed, weigh.natural
        try:
            nodes = self._nodes(weigh, fixed, level)
        except Diverges:
            raise diverges(family, point) from None
        if not nodes or max(mass for _, mass, _ in nodes) == mpmath.ninf:
            raise UserError(
                f"the density of {family.name!r} is zero everywhere", where=family.path,
                why=f"at {_at(point)} no point of {family.support.text} has weight",
            )  # fmt: skip
        top = max(mass for _, mass, _ in nodes)
        total = mpmath.fsum(mpmath.exp(mass - top) for _, mass, _ in nodes)
        log_mass = top + mpmath.log(total)
        rows = []
        for x, mass, need in nodes:
            with mpmath.workdps(need):
                rows.append((x, *weigh.parts(x), mpmath.exp(mass - log_mass)))
        return Table(
            [r[0] for r in rows],
            [[r[1][i] for r in rows] for i in range(len(family.statistics))],
            [r[2] for r in rows],
            [r[3] for r in rows],
            log_mass,
            natural,
        )

    def _nodes(
        self, weigh: Weigh, fixed: Mapping[Expr, Value], level: int
    ) -> list[tuple[Value, Value, int]]:
        """(x, log mass, digits) of every node that counts."""
        support = self.family.support
        if support.kind == "finite":
            points = [number(p) for p in support.points]
            return [(x, weigh(x), mpmath.mp.dps) for x in points]
        low, high = (_bound(b, fixed) for b in (support.lower, support.upper))
        if support.kind == "integers":
            return [n for n in integer_nodes(weigh, low, high, level) if n[1] > mpmath.ninf]
        if support.kind not in ("interval", "vector") or not self.family.elementwise:
            raise NotIntegrated("no quadrature over this support")
        if weigh.around is None:
            weigh.around = peaks(weigh, low, high)
        cuts = [*corners_of(self.family, fixed), *weigh.around[0]]
        return [
            (node.x, mass, node.digits)
            for node, mass in line_nodes(weigh, low, high, cuts, weigh.around[1], level)
        ]


class Weigh:
    """x → log h(x) + ⟨λ, T(x)⟩, and the parts of it."""

    def __init__(
        self, family: Family, fixed: Mapping[Expr, Value], natural: tuple[Value, ...]
    ) -> None:
        self.family, self.fixed, self.natural = family, fixed, natural
        self.memo: dict[Value, tuple[list[Value], Value]] = {}
        self.around: tuple[list[Value], Value] | None = None  # where the mass is, and its width

    def __call__(self, x: Value) -> Value:
        statistics, log_base = self.parts(x)
        if log_base == mpmath.ninf:
            return log_base
        pairs = zip(self.natural, statistics, strict=True)
        return log_base + mpmath.fsum(v * t for v, t in pairs)

    def parts(self, x: Value) -> tuple[list[Value], Value]:
        """T(x) and log h(x); a density that is negative or undefined inside its support raises."""
        found = self.memo.get(x)
        if found is None:
            env = {**self.fixed, self.family.variable: x}
            memo: dict[Expr, Value] = {}
            statistics = [self._real(t, env, memo, "the statistic") for t in self.family.statistics]
            base = self._real(self.family.base_measure, env, memo, "the base measure")
            if base < 0:
                raise UserError(
                    f"the base measure of {self.family.name!r} is negative",
                    where=self.family.path,
                    why=f"at {self.family.variable} = {mpmath.nstr(x, 8)} it is "
                    f"{mpmath.nstr(base, 8)}",
                )
            self.memo[x] = found = (statistics, mpmath.log(base) if base else mpmath.ninf)
        return found

    def _real(
        self, e: Expr, env: Mapping[Expr, Value], memo: dict[Expr, Value], what: str
    ) -> Value:
        try:
            value = evaluate(e, env, memo)
        except Undefined:
            value = None
        if value is None or isinstance(value, mpmath.mpc):
            x = env.get(self.family.variable, 0)
            if self.family.support.kind == "integers" and x != mpmath.floor(x):
                raise NotIntegrated(f"{what} {e} has no real value between the integers")
            raise UserError(
                f"{what} {e} has no real value on the support",
                where=self.family.path,
                why=f"there is none at {self.family.variable} = "
                f"{mpmath.nstr(env[self.family.variable], 8)}; "
                f"the support is {self.family.support.text}",
            )
        return value


def number(x: Any) -> Value:
    """An exact SymPy number at the working precision."""
    return evaluate(sp.sympify(x), {})


def _bound(bound: Expr, fixed: Mapping[Expr, Value]) -> Value:
    if bound is None:
        return mpmath.ninf
    if bound.is_infinite:
        return mpmath.inf if bound > 0 else mpmath.ninf
    return evaluate(bound, fixed)


def corners_of(family: Family, fixed: Mapping[Expr, Value]) -> list[Value]:
    """Where |·| inside the statistics or the base measure has its corner, for linear arguments."""
    x, found = family.variable, []
    for e in (*family.statistics, family.base_measure):
        for corner in sorted(e.atoms(sp.Abs), key=str):
            slope, shift = _linear(corner.args[0], x)
            if slope is not None:
                found.append(evaluate(-shift / slope, fixed))
    return found


def _linear(e: Expr, x: Expr) -> tuple[Expr | None, Expr]:
    if not e.is_polynomial(x):
        return None, sp.S.Zero
    poly = sp.Poly(e, x)
    return (poly.LC(), poly.nth(0)) if poly.degree() == 1 else (None, sp.S.Zero)


def _change(before: Table, after: Table) -> Value:
    size = range(len(after.means))
    pairs = [
        *zip(before.means, after.means, strict=True),
        (before.entropy, after.entropy),
        *((before.covariances[i][i], after.covariances[i][i]) for i in size),
    ]
    gaps = [abs(a - b) / max(1, abs(b)) for a, b in pairs]
    return max(abs(after.log_mass - before.log_mass), *gaps)


def _at(point: Mapping[Expr, Expr]) -> str:
    return ", ".join(f"{k} = {v}" for k, v in point.items())


def diverges(family: Family, point: Mapping[Expr, Expr]) -> UserError:
    """The density has no finite mass at a point of the declared domain."""
    return UserError(
        f"the density of {family.name!r} cannot be normalised",
        where=family.path,
        why=f"at {_at(point)}, inside the declared domain, its mass does not fall off",
        how="restrict the natural domain to where ∫ h exp⟨λ, T⟩ is finite",
    )


Comparison = tuple[str, Value, Value]
Compare = Callable[[Table, Mapping[Expr, Expr]], list[Comparison]]
