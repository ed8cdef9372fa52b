"""The rule of a product is that of its factors side by side, each with letters of its own."""

from __future__ import annotations

import pytest
import sympy as sp

from blrgen.api import derive
from blrgen.rule.expand import expanded

FACTORS = ["generalized-inverse-gaussian", "gaussian", "beta"]


@pytest.mark.sweep(6)
@pytest.mark.parametrize("one", FACTORS)
@pytest.mark.parametrize("two", ["generalized-inverse-gaussian"])
def test_each_factor_steps_as_it_does_alone(one: str, two: str) -> None:
    """Names are read before anything else does: what a letter stands for is declared once."""
    product = derive(f"{one}*{two}")
    names = [a.name for a in product.rule.assignments]
    assert len(names) == len(set(names))
    known = {q.name for q in product.rule.quantities}
    found = expanded(product.rule)
    for k, name in enumerate((one, two), 1):
        alone = derive(name)
        own = expanded(alone.rule)
        places = {q.symbol: sp.Symbol(f"v{p}") for p, q in enumerate(_read(alone))}
        others = {
            product.rule[f"{q.name}_{k}"].symbol: places[q.symbol]
            for q in _read(alone) if f"{q.name}_{k}" in known
        }  # fmt: skip
        rho = {product.rule["rho"].symbol: places[alone.rule["rho"].symbol]}
        for x in alone.rule.of("state"):
            mine = found[f"{x.name}_{k}"].xreplace({**others, **rho})
            assert mine == own[x.name].xreplace(places), x.name


def _read(d):
    return [q for kind in ("state", "input", "hyper") for q in d.rule.of(kind)]
