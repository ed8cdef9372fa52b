"""Symbols for what has no known closed form: A(λ) and E_q[f](λ), as unevaluated SymPy functions.

    A(λ, c) = log ∫ h exp⟨λ, T⟩          ∂A/∂λ_i = E_q[T_i]
    E_q[f](λ, c)                         ∂E_q[f]/∂λ_i = E_q[f T_i] − E_q[f] E_q[T_i]

c are the known constants of the declaration.  There is one class for each declaration
and integrand, so two nodes are equal when they mean the same; `evaluate` and SymPy's
evalf give their numbers by quadrature or summation, to any number of digits.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from functools import lru_cache
from typing import Any, ClassVar

import mpmath
import sympy as sp

from blrgen.algebra.nodes import Numeric, has_nodes
from blrgen.core import Family

Expr = Any
_CLASSES: dict[tuple[Family, Expr], Any] = {}


class Node(Numeric):
    """A number of the density at its arguments, the natural parameters and the constants."""

    family: ClassVar[Family]

    def _eval_is_commutative(self) -> bool:
        return True

    def _eval_is_extended_real(self) -> bool | None:
        return True if all(a.is_extended_real for a in self.args) else None

    @property
    def own(self) -> bool:
        """Whether it stands at the family's own parameters."""
        return bool(self.args == arguments(self.family))

    def fdiff(self, argindex: int = 1) -> Expr:
        """The derivative in an argument, at the arguments."""
        slope = _slope(self.family, self.integrand, argindex - 1)
        if self.own:
            return slope
        return slope.xreplace(dict(zip(arguments(self.family), self.args, strict=True)))

    def value_at(self, args: list[Any]) -> Any:
        """The number at numeric arguments, at mpmath's precision."""
        from blrgen.geometry.numbers.moments import log_partition_at, mean_at

        if self.integrand is None:
            return log_partition_at(self.family, tuple(args))
        return mean_at(self.family, self.integrand, tuple(args))

    def _eval_evalf(self, prec: int) -> Expr | None:
        if not all(a.is_number for a in self.args):
            return None
        with mpmath.workprec(prec + 10):
            args = [mpmath.mpf(a.evalf(mpmath.mp.dps)._mpf_) for a in self.args]
            return sp.Float._new(self.value_at(args)._mpf_, prec)

    def _sympystr(self, printer: Any) -> str:
        inside = ", ".join(printer._print(a) for a in self.args)
        head = "A" if self.integrand is None else f"E[{printer._print(self.integrand)}]"
        return f"{head}({inside})"

    def __reduce_ex__(self, protocol: Any) -> Any:
        return _rebuild, (self.family, self.integrand, self.args)


class Covariance(sp.Function):  # type: ignore[misc]
    """Cov_q[f, g] at the natural parameters: a class for each family and pair."""

    is_real = True
    family: Family
    pair: tuple[Expr, Expr]


@lru_cache(maxsize=512)
def covariance_class(family: Family, f: Expr, g: Expr) -> Any:
    """The class of Cov[f, g] for a family."""
    made: Any = type(Covariance)
    return made(f"Cov[{f}, {g}]", (Covariance,), {"family": family, "pair": (f, g)})


def arguments(family: Family) -> tuple[Expr, ...]:
    """What a node depends on: the natural parameters, then the known constants."""
    return tuple(p.symbol for p in (*family.natural, *family.fixed))


def log_partition_node(family: Family) -> Expr:
    """A(λ) without a closed form."""
    return _class_of(family, None)(*arguments(family))


def mean_node(family: Family, f: Expr) -> Expr:
    """E_q[f]: linear in f, a statistic's in closed form where A has one."""
    total = []
    x = variables(family)
    for term in sp.Add.make_args(sp.expand(sp.sympify(f))):
        free, dependent = term.as_independent(*x, as_Add=False)
        if not free.is_commutative:
            free, dependent = sp.S.One, term
        mean = sp.S.One if not dependent.has(*x) else _mean(family, dependent)
        total.append(free * mean)
    return sp.Add(*total)


def raw_node(family: Family, f: Expr, args: tuple[Expr, ...]) -> Expr:
    """E_q[f] at these arguments, by quadrature or summation even where a formula is known."""
    return _class_of(family, f)(*args)


def variables(family: Family) -> tuple[Expr, ...]:
    """The random variables of a declaration."""
    return tuple(getattr(family, "variables", ()) or (family.variable,))


def _mean(family: Family, f: Expr) -> Expr:
    if f in family.statistics:
        closed = _closed_mean(_same(family), family.statistics.index(f))
        if closed is not None:
            return closed
    return _class_of(family, f)(*arguments(family))


@lru_cache(maxsize=256)
def _closed_mean(family: Family, index: int) -> Expr | None:
    """E_q[T_i] = ∂A/∂λ_i where A has a closed form."""
    from blrgen.algebra.calculus import gradient
    from blrgen.algebra.partial import NoDerivative

    log_partition = _closed_log_partition(family)
    if log_partition is None or has_nodes(log_partition):
        return None
    try:
        return gradient(log_partition, family.natural[index].symbol)
    except NoDerivative:
        return None


@lru_cache(maxsize=64)
def _closed_log_partition(family: Family) -> Expr | None:
    from blrgen.algebra.ring import ring_of
    from blrgen.errors import InternalError, UserError
    from blrgen.geometry.integrate import log_integral

    try:
        found = log_integral(family, ring_of(family)).log_partition
    except (UserError, InternalError):
        return None
    return found


@lru_cache(maxsize=1024)
def _slope(family: Family, f: Expr | None, index: int) -> Expr:
    """The derivative of a node in its argument of that place, at the family's own arguments."""
    if index < len(family.natural):
        weight = family.statistics[index]
    else:
        weight = _exponent_slope(family, family.fixed[index - len(family.natural)].symbol)
    mean_weight = mean_node(family, weight)
    if f is None:
        return mean_weight
    here = _class_of(family, f)(*arguments(family))
    moved = sp.S.Zero
    if index >= len(family.natural):
        from blrgen.algebra.partial import partial

        moved = mean_node(family, partial(f, family.fixed[index - len(family.natural)].symbol))
    return mean_node(family, f * weight) - here * mean_weight + moved


def _exponent_slope(family: Family, constant: Expr) -> Expr:
    """∂/∂c of the exponent, for a constant that the support does not depend on."""
    from blrgen.algebra.partial import partial
    from blrgen.algebra.ring import ring_of
    from blrgen.errors import UserError
    from blrgen.geometry.integrate import exponent_of

    ends = [e for e in (family.support.lower, family.support.upper) if e is not None]
    if any(sp.sympify(e).has(constant) for e in ends):
        raise UserError(
            f"the support of {family.name!r} moves with {constant}",
            where=family.path,
            why="the derivative of an integral by its ends has no node",
        )
    return partial(exponent_of(family, ring_of(family)), constant)


@lru_cache(maxsize=256)
def _same(family: Family) -> Family:
    """What decides the density: names, files and charts left out."""
    return replace(
        family,
        title="",
        path="",
        working=(),
        natural=tuple(replace(p, chart=None) for p in family.natural),
    )


def _class_of(family: Family, integrand: Expr | None) -> Any:
    key = (_same(family), integrand)
    found = _CLASSES.get(key)
    if found is None:
        digest = hashlib.sha256(repr((_fingerprint(key[0]), sp.srepr(integrand))).encode())
        name = f"{'A' if integrand is None else 'E'}_{digest.hexdigest()[:12]}"
        content = {
            "family": family,
            "integrand": integrand,
            "nargs": len(arguments(family)),
            "__module__": __name__,
        }
        make: Any = type(Node)
        found = make(name, (Node,), content)
        _CLASSES[key] = found
    return found


def _fingerprint(family: Family) -> str:
    """The declaration as text, the same in every process."""
    parts = [family.support.text, *map(sp.srepr, variables(family))]
    parts += [sp.srepr(sp.sympify(e)) for e in (*family.statistics, family.base_measure)]
    parts += [f"{sp.srepr(p.symbol)} {p.domain.text}" for p in (*family.natural, *family.fixed)]
    return "\n".join([*parts, sp.srepr(family.log_partition)])


def _rebuild(family: Family, integrand: Expr | None, args: tuple[Expr, ...]) -> Expr:
    return _class_of(family, integrand)(*args)
