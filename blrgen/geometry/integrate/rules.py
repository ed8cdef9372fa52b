"""The rules, in the order in which they are tried; the first that answers is taken.

A rule is a module of this package with `integrate(problem) -> Integral | None`.  To add one,
write the module and put its name here.
"""

from __future__ import annotations

from importlib import import_module

from blrgen.algebra.ring import Ring
from blrgen.core import Family
from blrgen.errors import UserError
from blrgen.geometry.integrate.problem import Integral, Problem, exponent_of

RULES = ("finite_sum", "gaussian", "matrix_gaussian", "wishart", "inverse_matrix")


def integrate(problem: Problem) -> Integral | None:
    """The answer of the first rule that has one."""
    for name in RULES:
        found = import_module(f"blrgen.geometry.integrate.{name}").integrate(problem)
        if found is not None:
            return found  # type: ignore[no-any-return]
    return None


def log_integral(family: Family, ring: Ring) -> Integral:
    """A(λ) for the family, by the first rule that applies."""
    exponent = exponent_of(family, ring)
    found = integrate(Problem(family, exponent, family.variable, family.support, ring))
    if found is not None:
        return found
    if family.log_partition is not None:
        return Integral(
            family.log_partition,
            "given",
            "given by the declaration and checked against the density",
        )
    raise UserError(
        f"no closed form found for the log-partition of {family.name!r}",
        where=family.path,
        why="its exponent is neither quadratic in the variable nor over a finite support",
        how='give it in the file, log_partition = "…"; it is then checked against the density',
    )
