"""Densities at points, kept: A, the means and the Fisher matrix at one point share a quadrature.

In doubles by NumPy, or at mpmath's precision with as many more digits as the terms of
the exponent cancel.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import mpmath

from blrgen.core import Family
from blrgen.errors import UserError
from blrgen.geometry.numbers.density_rule import Averages, refusal
from blrgen.geometry.numbers.make import cancelled, check_support, rule_of, size_of
from blrgen.geometry.numbers.task import Divergent, Task, TooMany, Unsettled

__all__ = ["Averages", "averages_of", "check_support", "log_partition_at", "mean_at"]

Expr = Any
_KEPT = 256
_DENSITIES: OrderedDict[tuple[Any, ...], Averages] = OrderedDict()


def averages_of(
    family: Family, args: tuple[Any, ...], digits: int, *, doubles: bool = False,
    functions: tuple[Expr, ...] = (), order: int = 2,
) -> Averages:  # fmt: skip
    """The density at numeric natural parameters and constants, to so many digits.

    The rule is settled for the statistics up to the power `order` and for `functions`.
    """
    key = (family, tuple(args), digits, doubles, order)
    found = _DENSITIES.get(key)
    if found is None:
        args = tuple(float(a) if doubles else mpmath.mpf(a) for a in args)
        task = Task(family, args, (), order, digits, doubles)
        try:
            found = _make(task)
        except Divergent as e:
            raise refusal(task, "cannot be normalised", str(e)) from e
        except Unsettled as e:
            raise refusal(task, "could not be integrated", str(e)) from e
        _DENSITIES[key] = found
        while len(_DENSITIES) > _KEPT:
            _DENSITIES.popitem(last=False)
    _DENSITIES.move_to_end(key)
    for f in functions:
        found.mean(f)
    return found


def _make(task: Task) -> Averages:
    family, args, digits = task.family, task.args, task.digits
    if task.doubles:
        task = Task(family, args, (), task.order, min(digits, 15), True)
        try:
            rule = rule_of(task)
            return Averages(task, 53, rule, size_of(task, rule))
        except TooMany:
            raise
        except Unsettled:
            args = tuple(mpmath.mpf(a) for a in args)
    task = Task(family, args, (), task.order, digits, False)
    with mpmath.workdps(digits + 10):
        guard = 8 + cancelled(task)
    with mpmath.workdps(digits + guard):
        return Averages(task, mpmath.mp.prec, rule_of(task))


def log_partition_at(family: Family, args: tuple[Any, ...]) -> Any:
    """A at numeric natural parameters and constants, at mpmath's precision."""
    if family.joint:
        return _of_several(family, None, args)
    return +_shared(family, args).log_partition()[0]


def mean_at(family: Family, f: Expr, args: tuple[Any, ...]) -> Any:
    """E_q[f] at numeric natural parameters and constants, at mpmath's precision."""
    if family.joint:
        return _of_several(family, f, args)
    return +_shared(family, args).mean(f)[0]


def _shared(family: Family, args: tuple[Any, ...]) -> Averages:
    """The density that has second moments too, where there are any."""
    try:
        return averages_of(family, args, mpmath.mp.dps)
    except UserError:
        return averages_of(family, args, mpmath.mp.dps, order=0)


def _of_several(family: Family, f: Expr, args: tuple[Any, ...]) -> Any:
    """The same of a density of several variables, in doubles."""
    from blrgen.geometry.at_sizes import joint_at

    return mpmath.mpf(joint_at(family, f, tuple(float(a) for a in args)))
