"""A sum whose largest term lies a little way in begins with the first term all the same."""

from __future__ import annotations

from pathlib import Path

import mpmath
import pytest
import sympy as sp

from blrgen.geometry.numbers.nodes import mean_node
from blrgen.read.family import read_family
from blrgen.value.digits import evaluate_at

TEXT = """
name = "mine"
variable = "x"
support = "integers >= 0"
statistics = ["x"]
base_measure = "1/factorial(x)"
[natural]
eta = "(-oo, oo)"
"""


@pytest.mark.parametrize("eta", [1, 2, 3, 5])
def test_log_factorial(tmp_path: Path, eta: int) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(TEXT)
    family = read_family(path)
    x, (lam,) = family.variable, (p.symbol for p in family.natural)
    found, _ = evaluate_at(mean_node(family, sp.loggamma(x + 1)), {lam: sp.Integer(eta)}, 20)
    with mpmath.workdps(30):
        rate = mpmath.exp(eta)
        should = mpmath.fsum(
            mpmath.exp(k * eta - mpmath.loggamma(k + 1) - rate) * mpmath.loggamma(k + 1)
            for k in range(1200)
        )
        assert abs(found - should) < mpmath.mpf(10) ** -15 * should
