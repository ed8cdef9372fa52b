"""Checking what a declaration claims: a given log-partition, and that the density normalises.

A given A is compared with the derived one when there is one, and with quadrature (or
summation) of the density itself otherwise: ∫ h exp(⟨λ,T⟩ − A) = 1 at interior points.
"""

from __future__ import annotations

from typing import Any

import mpmath
import sympy as sp

from blrgen.algebra.ring import Matrix, Ring
from blrgen.core import Family
from blrgen.errors import UserError
from blrgen.geometry.integrate import Integral
from blrgen.geometry.near_ends import first_not_positive, shown
from blrgen.geometry.points import inside as inside
from blrgen.geometry.points import interior_points as interior_points
from blrgen.geometry.points import numbers
from blrgen.geometry.points import parameter_points as parameter_points

Expr = Any
_TOLERANCE = mpmath.mpf(10) ** -10
_POINTS = 6


def verify_log_partition(family: Family, integral: Integral, ring: Ring) -> str:
    """The evidence level of A; a wrong given A raises, naming the value it should have."""
    given = family.log_partition
    if given is None:
        return f"derived: {integral.method}"
    if isinstance(ring, Matrix) or family.joint:
        from blrgen.geometry.at_sizes import verify_given

        derived = None if integral.method == "given" else integral.log_partition
        return verify_given(family, ring, derived)
    if integral.method not in ("given", "numeric"):
        return _against_derived(family, integral.log_partition)
    if not ring.elementwise or family.support.kind not in ("interval", "integers"):
        return "given: not checked (no quadrature over this support)"
    from dataclasses import replace

    from blrgen.cache import remembered

    declared = repr(replace(family, path=""))
    return str(remembered("log-partition", (declared,), lambda: _against_density(family)))


def _against_derived(family: Family, derived: Expr) -> str:
    """Points inside the domains first, then a proof; a domain may depend on other parameters."""
    from blrgen.decide.equal import equal

    for point in interior_points(family, _POINTS):
        found, claimed = (_number(e, point) for e in (derived, family.log_partition))
        if found is not None and (claimed is None or differ(claimed, found)):
            shown = ", ".join(f"{k} = {v}" for k, v in point.items())
            said = "no number" if claimed is None else mpmath.nstr(claimed, 12)
            raise _wrong(family, shown, said, mpmath.nstr(found, 12))
    domains = {p.symbol: p.domain.text.split("^")[0] for p in family.natural
               if p.domain.kind == "interval"}  # fmt: skip
    derived = derived.replace(lambda e: hasattr(e, "formula"), lambda e: e.formula)
    proof = equal(family.log_partition, derived, domains, claim="given A = derived A")
    if proof.level != "refuted":
        return f"{proof.level}: the given form equals the derived one"
    if _dependent(family):  # the point may lie outside
        return f"numeric: the given form equals the derived one at {_POINTS} points"
    where = ", ".join(f"{k} = {v}" for k, v in proof.point)
    raise _wrong(family, where, proof.left, proof.right)


def _dependent(family: Family) -> bool:
    """Whether the bounds of a parameter depend on others."""
    ends = [e for p in family.natural for e in (p.domain.lower, p.domain.upper) if e is not None]
    return any(sp.sympify(e).free_symbols for e in ends)


def _number(e: Expr, point: dict[Expr, Expr]) -> Any:
    """The value at a point with 30 digits; None where it is not real, or not scalar."""
    from blrgen.value.evaluate import Undefined, evaluate

    with mpmath.workdps(40):
        try:
            value = evaluate(e, numbers(point))
        except Undefined:
            return None
    return None if isinstance(value, mpmath.mpc) else value


def differ(a: Any, b: Any) -> bool:
    """Whether two numbers differ by more than 1e-10 of their size."""
    return bool(abs(a - b) > _TOLERANCE * max(1, abs(b)))


def _wrong(family: Family, point: str, given: Any, should: Any) -> UserError:
    return UserError(
        f"the log_partition of {family.name!r} is wrong",
        where=family.path,
        why=f"at {point} it is {given}, and the density normalises with {should}",
        how="correct it, or leave it out where blrgen derives it",
    )


def _against_density(family: Family) -> str:
    """A(λ) against the logarithm of the density's own mass, at points inside the domain."""
    from blrgen.geometry.tabulated import DPS, Measure, NotIntegrated

    measure, points = Measure(family), interior_points(family)
    for point in points:
        try:
            found = measure.table(point).log_mass
        except NotIntegrated as reason:
            return f"given: not checked ({reason})"
        with mpmath.workdps(DPS):
            claimed = _number(family.log_partition, point)
            if claimed is None or abs(claimed - found) > _TOLERANCE * max(1, abs(found)):
                shown = ", ".join(f"{k} = {v}" for k, v in point.items())
                said = "no number" if claimed is None else mpmath.nstr(claimed, 12)
                raise _wrong(family, shown, said, mpmath.nstr(found, 12))
    return f"numeric: agrees with the density's own integral to 1e-10 at {len(points)} points"


def check_normalisable(family: Family, precision: Expr, ring: Ring) -> None:
    """A quadratic exponent integrates only where P is positive: all over the declared domain."""
    how = "restrict the domain of the parameter that multiplies the square"
    if not ring.elementwise:
        for p in family.natural:
            if precision.has(p.symbol) and p.domain.kind in ("spd", "-spd"):
                slope = precision.coeff(p.symbol)
                fits = slope.is_positive if p.domain.kind == "spd" else slope.is_negative
                if slope != 0 and not fits:
                    raise UserError(
                        f"the density of {family.name!r} cannot be normalised",
                        where=family.path,
                        why="its exponent grows with the square when "
                        f"{p.name} is in {p.domain.text}",
                        how=how,
                    )
        return
    point = first_not_positive(precision, family)
    if point is not None:
        raise UserError(
            f"the density of {family.name!r} cannot be normalised",
            where=family.path,
            why=f"at {shown(point)}, inside the declared domain, the exponent does not fall off",
            how=how,
        )
