"""First values are inside their domains, whatever the sizes are."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sympy as sp

from blrgen.core import Domain
from blrgen.read.domain import read_domain
from blrgen.read.family import read_family
from blrgen.rule.start import start, starts

pytestmark = pytest.mark.core

FAMILIES = sorted(p.stem for p in (Path(__file__).parents[2] / "families").glob("*.toml"))
SIZES = (1, 2, 7)


def inside(domain: Domain, value: Any, known: dict[Any, Any], size: int) -> bool:
    """Whether a first value lies in the domain, sizes being a number."""
    if domain.kind != "interval":
        wanted = {"spd": 1, "-spd": -1}.get(domain.kind, 0)
        return bool(value == wanted)

    def number(e: Any) -> Any:
        e = sp.sympify(e).subs(known)
        return e.subs({s: size for s in e.free_symbols})

    low, high, x = (number(e) for e in (domain.lower, domain.upper, value))
    above = low < x if domain.lower_open else low <= x
    below = x < high if domain.upper_open else x <= high
    return bool(above and below)


@pytest.mark.parametrize("name", FAMILIES)
def test_every_family_starts_inside(name: str) -> None:
    family = read_family(name)
    for parameters in (family.working, family.natural):
        every = (*family.fixed, *parameters)
        found = starts(every)
        known: dict[Any, Any] = {}
        for p in every:
            for size in SIZES:
                assert inside(p.domain, found[p.symbol], known, size), p.name
            known[p.symbol] = found[p.symbol]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("(d - 1, oo)", "d"), ("(-oo, -d)", "-d - 1"), ("(d, d + 2)", "d + 1"),
        ("(-d, d)", "0"), ("(d/2, oo)", "d/2 + 1"), ("(1/2, oo)", "1"), ("[-1, oo)", "0"),
    ],
)  # fmt: skip
def test_ends_made_of_sizes(text: str, wanted: str) -> None:
    d = sp.Symbol("d", integer=True, positive=True)
    domain = read_domain(text, {"d": d})
    found = start(replace(domain), {})
    assert sp.expand(found - sp.sympify(wanted, locals={"d": d})) == 0
    for size in SIZES:
        assert inside(domain, found, {}, size)
