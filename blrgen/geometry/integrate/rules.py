"""The rules, in the order in which they are tried; the first that answers is taken.

A rule is a module of this package with `integrate(problem) -> Integral | None`.  To add one,
write the module and put its name here.
"""

from __future__ import annotations

from importlib import import_module

import sympy as sp

from blrgen.algebra.ring import Elementwise, Ring
from blrgen.core import Family
from blrgen.errors import UserError
from blrgen.geometry.falling import check_mass
from blrgen.geometry.holes import hole
from blrgen.geometry.integrate.exponents import tidy_numbers
from blrgen.geometry.integrate.problem import Integral, Problem, exponent_of
from blrgen.geometry.near_ends import check_scalars
from blrgen.geometry.numbers.nodes import log_partition_node
from blrgen.geometry.points import first_negative, zero_on_support

RULES = (
    "sequential",
    "finite_sum",
    "gaussian",
    "matrix_gaussian",
    "wishart",
    "inverse_matrix",
    "exponential",
    "power_exponential",
    "beta",
    "beta_prime",
    "bessel",
    "circle",
    "series",
    "zeta",
    "symmetric",
    "pieces",
    "mixture",
    "substitution",
)
_NUMERIC = ("interval", "integers", "vector", "finite", "joint")  # supports with a quadrature
_DEPTH = 3  # substitutions after one another


def integrate(problem: Problem) -> Integral | None:
    """The answer of the first rule that has one."""
    for name in ("separable",) if problem.ring.components else RULES:
        found = import_module(f"blrgen.geometry.integrate.{name}").integrate(problem)
        if found is not None:
            return found  # type: ignore[no-any-return]
    return None


def shallowest(problem: Problem, most: int = _DEPTH) -> Integral | None:
    """The answer that takes the fewest substitutions."""
    problem = _signed(problem)
    for limit in range(min(most, _DEPTH) + 1):
        found = integrate(problem.with_(limit=limit))
        if found is not None:
            return found.with_(depth=limit)
    return None


def _signed(problem: Problem) -> Problem:
    """A variable that is not negative, known as positive: the end has no mass."""
    x, low = problem.variable, problem.support.lower
    if not problem.is_interval or x.is_positive or problem.sign(low) not in (0, 1):
        return problem
    u = sp.Symbol(x.name, positive=True)
    return problem.with_(variable=u, exponent=problem.exponent.subs(x, u))


def log_integral(family: Family, ring: Ring) -> Integral:
    """A(λ) for the family, by the first rule that applies."""
    if isinstance(ring, Elementwise):
        _check_base(family)
    exponent = exponent_of(family, ring)
    found = shallowest(Problem(family, exponent, family.variable, family.support, ring))
    if found is not None:
        if ring.elementwise:
            found = found.with_(log_partition=tidy_numbers(found.log_partition))
        # of a quadratic `verify.check_normalisable` says more, of several variables `at_sizes`
        if found.quadratic is None and ring.elementwise and not family.joint:
            check_scalars(family, found.conditions)
        return found
    if isinstance(ring, Elementwise):
        check_mass(family, exponent)
    by_number = isinstance(ring, Elementwise) and family.support.kind in _NUMERIC
    gap = None
    if by_number and family.log_partition is not None and not family.joint:
        gap = hole(family, family.log_partition)
    if gap is not None:
        return Integral(
            log_partition_node(family),
            "numeric",
            f"the given form {family.log_partition} has no value at {gap[0]} = {gap[1]}, inside "
            "the domain: A is a number, by quadrature or summation",
        )
    if family.log_partition is not None:
        return Integral(
            family.log_partition,
            "given",
            "given by the declaration and checked against the density",
        )
    if by_number:
        return Integral(
            log_partition_node(family),
            "numeric",
            "no rule of integration fits the exponent: A is a number, by quadrature or summation",
        )
    raise UserError(
        f"no closed form found for the log-partition of {family.name!r}",
        where=family.path,
        why="no rule of integration fits its exponent on this support",
        how='give it in the file, log_partition = "…"; it is then checked against the density',
    )


def _check_base(family: Family) -> None:
    """A base measure is nowhere negative on the support, and somewhere positive."""
    if zero_on_support(family.base_measure, family):
        raise UserError(
            f"the density of {family.name!r} is empty",
            where=family.path,
            why=f"the base measure {family.base_measure} is zero all over the support",
            how="a base measure that is positive where the variable lives; 1 when left out",
        )
    found = first_negative(family.base_measure, family)
    if found is not None:
        shown = ", ".join(f"{k} = {v}" for k, v in found.items())
        raise UserError(
            f"the base measure of {family.name!r} is negative on the support",
            where=family.path,
            why=f"{family.base_measure} is negative at {shown}",
            how="restrict the support, or the domain of the constants",
        )
