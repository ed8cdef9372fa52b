"""The names in a loss besides the variable: hyperparameters of the table, or data."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from blrgen.core import Loss, Quantity, Rule
from blrgen.geometry.geometry import Geometry
from blrgen.rule.quantities import _HYPER, hyper, hyper_symbol

Expr = Any


def with_hyperparameters(loss: Loss) -> Loss:
    """Names of the hyperparameter table in a loss are those hyperparameters."""
    if loss.expr is None:
        return loss
    table = {x: hyper_symbol(x.name) for x in loss.data if x.name in _HYPER}
    return replace(
        loss, expr=loss.expr.xreplace(table), data=tuple(table.get(x, x) for x in loss.data)
    )


def data_quantities(loss: Loss, rule: Rule, geometry: Geometry) -> tuple[Quantity, ...]:
    """The other names in the loss that the rule does not have yet."""
    ring, made = geometry.ring, []
    for x in loss.data:
        if x.name in rule:
            continue
        if x.name in _HYPER:
            made.append(hyper(x.name))
            continue
        said = "data of the loss"
        made.append(Quantity(x.name, "data", ring.rank(x), x, said, domain="(-oo, oo)"))
    return tuple(made)
