"""The change of a location beside a rate: large powers of the location cancel in symbols."""

from __future__ import annotations

from pathlib import Path

import pytest
import sympy as sp

import blrgen
from blrgen.read.family import read_family

pytestmark = pytest.mark.core

FAMILY = """
name = "{name}"
title = "Normal beside an inverse gamma"
variable = ["x", "s"]
support = ["(-oo, oo)", "(0, oo)"]
statistics = ["x/s", "x**2/s", "log(s)", "1/s"]

[natural]
eta1 = {{ domain = "(-oo, oo)", working = "{mean}" }}
eta2 = {{ domain = "(-oo, 0)", working = "{half}" }}
eta3 = {{ domain = "(-oo, -3/2)", working = "-a - 3/2" }}
eta4 = {{ domain = "(-oo, eta1**2/(4*eta2))", working = "{rate}" }}

[working]
m = "(-oo, oo)"
{c} = "(0, oo)"
a = "(0, oo)"
b = "(0, oo)"
"""
CHARTS = [
    ("v", "m/v", "-1/(2*v)", "-b - m**2/(2*v)"),
    ("k", "k*m", "-k/2", "-b - k*m**2/2"),
    ("delta", "delta*m", "-delta/2", "-b - delta*m**2/2"),
    ("k", "k*m", "-k/2", "-1/b - k*m**2/2"),
]


@pytest.mark.sweep(4)
@pytest.mark.long
@pytest.mark.parametrize(("c", "mean", "half", "rate"), CHARTS)
def test_a_later_value_holds_the_change_alone(
    tmp_path: Path, c: str, mean: str, half: str, rate: str
) -> None:
    path = tmp_path / "beside.toml"
    path.write_text(FAMILY.format(name="beside", c=c, mean=mean, half=half, rate=rate))
    d = blrgen.derive(str(path))
    named = {a.name: sp.sympify(a.expr) for a in d.rule.assignments}
    letter = "delta2" if c == "delta" else "delta"
    assert str(named["m_next"]) == f"{letter} + m"
    used = {s.name for s in named["b_next"].free_symbols}
    assert letter in used and not used & {"m", "m_next"}
    # the equations that were solved, in symbols: λ(ψ⁺) = λ⁺
    known: dict[str, sp.Expr] = {}
    for a in d.rule.assignments:
        value = sp.sympify(a.expr)
        table = {s: known[s.name] for s in value.free_symbols if s.name in known}
        known[a.name] = value.xreplace(table)
    after = {x: known[f"{x.name}_next"] for x in d.geometry.working}
    for lam, right in zip(d.geometry.natural, d.exact.natural_next.parts, strict=True):
        left = d.geometry.natural_of_working[lam].xreplace(after)
        assert sp.cancel(sp.together(left - right)) == 0


@pytest.mark.long
def test_only_where_powers_fall() -> None:
    """A later value without squares of an earlier one has no use for its change."""
    names = ("gamma", "gaussian", "inverse-gaussian", "log-normal", "normal-gamma")
    made = [n for n in names if blrgen.derive(read_family(n).path).exact.changes]
    assert made == ["normal-gamma"]
