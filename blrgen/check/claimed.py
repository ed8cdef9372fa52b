"""What a claim under [check] is held against: the derived expression, and the density's number."""

from __future__ import annotations

from typing import Any

import mpmath

from blrgen.check.context import Context
from blrgen.check.finding import NotChecked
from blrgen.geometry.tabulated import Table
from blrgen.read.claims import Claim

Expr = Any


def derived(context: Context, claim: Claim) -> Expr:
    """The expression in natural parameters that the claim should equal."""
    geometry = context.geometry
    if claim.key == "inverse_mean":
        if geometry.inverse_mean is None:
            raise NotChecked("no closed form for μ → λ is derived")
        return geometry.inverse_mean[claim.index[0]]
    value = getattr(geometry, claim.key)
    if claim.key == "fisher" and not context.family.elementwise:
        raise NotChecked("the Fisher information of matrices is a quadratic form")
    for i in claim.index:
        value = value[i]
    return value


def measured(claim: Claim, table: Table) -> Any:
    """The same quantity from the density's own table."""
    from blrgen.check.stages.entropy_gradient import gradient_of

    found: dict[str, Any] = {
        "log_partition": lambda: table.log_mass,
        "mean": lambda: table.means[claim.index[0]],
        "fisher": lambda: table.covariances[claim.index[0]][claim.index[1]],
        "entropy": lambda: table.entropy,
        "entropy_gradient": lambda: gradient_of(table)[claim.index[0]],
        "inverse_mean": lambda: mpmath.mpf(table.natural[claim.index[0]]),
    }
    return found[claim.key]()
