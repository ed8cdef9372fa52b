"""The known constants of a family, n of a binomial, as somebody gives them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import sympy as sp

from blrgen.core import Derivation, Quantity
from blrgen.errors import UserError

WHERE = "--set"


def constants_of(d: Derivation) -> tuple[Quantity, ...]:
    """Those that the rule reads, with the values they have if nobody says otherwise."""
    names = {p.name for p in d.geometry.family.fixed}
    return tuple(q for q in d.rule.of("hyper") if q.name in names and q.default is not None)


def with_constants(d: Derivation, given: Mapping[str, Any]) -> Derivation:
    """The rule with the constants that are given, each inside its domain."""
    from blrgen.sampling import checked

    family = d.geometry.family
    new: dict[str, Any] = {}
    for p in family.fixed:
        if p.name in given:
            try:
                value = checked((p,), {p.name: given[p.name]}, family)[p.name]
            except UserError as error:
                raise UserError(error.what, where=WHERE, why=error.why) from None
            if value.ndim:
                raise UserError(f"{p.name} is one number", where=WHERE,
                                why=f"its shape is {value.shape}")  # fmt: skip
            new[p.name] = sp.Integer(int(value)) if p.domain.whole else sp.Float(float(value))
    changed = tuple(replace(q, default=new.get(q.name, q.default)) for q in d.rule.quantities)
    return d.with_(rule=replace(d.rule, quantities=changed)) if new else d
