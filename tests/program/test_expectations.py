"""Integrands in the variable of a double exponential rule: the same function at x(t)."""

from __future__ import annotations

import pytest
import sympy as sp

from blrgen.program.expectations import T, change_of_variable
from blrgen.read.family import read_family

FAMILY = """
name = "mine"
variable = "x"
support = "{support}"
statistics = ["x"]
[natural]
eta = "(-oo, 0)"
"""


@pytest.mark.parametrize("support", ["(0, oo)", "(-oo, 3)", "(0, 1)", "(-1, 2)"])
def test_powers_and_logarithms_of_distances_stay_what_they_are(support, tmp_path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(FAMILY.format(support=support))
    family = read_family(path)
    x = family.variable
    (part,) = change_of_variable(family)
    place, log_slope, written = part
    ends = [e for e in (family.support.lower, family.support.upper) if e.is_finite]
    for e, sign in zip(ends, (1, -1) if family.support.lower in ends else (-1,), strict=False):
        far = sign * (x - e)
        for f in (sp.log(far), far**-2, far ** sp.Rational(3, 2), sp.log(2 * far) * far**-1):
            for t in (-0.7, 0.0, 1.3):
                at = {T: t}
                plain = f.subs(x, place.subs(at)).evalf()
                assert abs(written(f).subs(x, place).subs(at).evalf() - plain) < 1e-12 * (
                    1 + abs(plain)
                )
    slope = sp.diff(place, T)
    for t in (-0.7, 0.4):
        assert abs(sp.exp(log_slope.subs(T, t)).evalf() - abs(slope.subs(T, t).evalf())) < 1e-12
