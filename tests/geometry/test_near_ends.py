"""A declaration whose density has no finite mass somewhere in its domains is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
import sympy as sp

from blrgen.errors import UserError
from blrgen.geometry.geometry import geometry_of
from blrgen.geometry.near_ends import first_not_positive
from blrgen.read.family import read_family

pytestmark = pytest.mark.core

TEXT = """
name = "f"
title = "F"
variable = "{v}"
support = "{s}"
statistics = [{t}]
base_measure = "{h}"
[natural]
{n}
"""
LOG, HALF = '"log(x)"', "(0, oo)"
# what, support, statistics, base measure, natural domains: one that is right, one just past it
CASES: dict[str, tuple[str, str, str, str, str, str]] = {
    "beta integral": ("x", "(0, 1)", LOG, "1", "(-1, oo)", "(-1.001, oo)"),
    "by a hair": ("x", "(0, 1)", LOG, "1", "(-1, oo)", "(-1.00000000001, oo)"),
    "an end that belongs to it": ("x", "(0, 1)", LOG, "1", "(-1, oo)", "[-1, oo)"),
    "tail of a power": ("x", "(1, oo)", LOG, "1", "(-oo, -1)", "(-oo, -0.9999)"),
    "half-line": ("x", HALF, '"x"', "1", "(-oo, 0)", "(-oo, 1e-9)"),
    "gaussian": ("x", "(-oo, oo)", '"x**2"', "1", "(-oo, 0)", "(-oo, 1e-6)"),
    "summation": ("x", "integers >= 0", '"x"', "1", "(-oo, 0)", "(-oo, 0.001)"),
    "zeta": ("x", "integers >= 1", LOG, "1", "(-oo, -1)", "(-oo, -0.999)"),
    "components": ("x", "simplex", LOG, "1/prod(x)", "(0, oo)^K", "(-0.001, oo)^K"),
    "no closed form, at zero": ("x", HALF, LOG, "exp(-x - x**3)", "(-1, oo)", "(-1.001, oo)"),
    "no closed form, far out": ("x", "(-oo, oo)", '"x**4"', "exp(x)", "(-oo, 0)", "(-oo, 1e-3)"),
    "no closed form, a root": ("x", HALF, '"sqrt(x)"', "1/(1 + x)", "(-oo, 0)", "(-oo, 1e-6)"),
}


def refused(folder: Path, case: str, domain: str) -> str:
    """Why the declaration is refused; empty where it is not."""
    v, s, t, h, _, _ = CASES[case]
    path = folder / "f.toml"
    path.write_text(TEXT.format(v=v, s=s, t=t, h=h, n=f'eta = "{domain}"'))
    try:
        geometry_of(read_family(str(path)))
    except UserError as e:
        assert "cannot be normalised" in e.what
        return e.why
    return ""


@pytest.mark.parametrize("case", CASES)
def test_the_condition_is_held_to_the_domain(case: str, tmp_path: Path) -> None:
    assert refused(tmp_path, case, CASES[case][4]) == ""
    assert "inside the declared domain" in refused(tmp_path, case, CASES[case][5])


def test_a_matrix_and_a_number_beside_it(tmp_path: Path) -> None:
    text = TEXT.format(
        v="X", s="SPD", t='"logdet(X)", "X"', h="1", n='a = "(-1.001, oo)"\nB = "-SPD"'
    )
    path = tmp_path / "w.toml"
    path.write_text(text)
    with pytest.raises(UserError, match="a \\+ 1 must be positive"):
        geometry_of(read_family(str(path)))
    path.write_text(text.replace("-1.001", "-1"))
    geometry_of(read_family(str(path)))


def test_a_condition_that_is_lost_inside() -> None:
    """η² − 10⁻⁶ is not positive between −10⁻³ and 10⁻³: the roots of a polynomial are looked at."""
    family = read_family("poisson")
    eta = family.natural[0].symbol
    found = first_not_positive(eta**2 - sp.Rational(1, 10**6), family)
    assert found is not None and abs(found[eta]) <= sp.Rational(1, 1000)
    assert first_not_positive(eta**2, family) == {eta: 0}
    assert first_not_positive(eta**2 + sp.Rational(1, 10**6), family) is None


@pytest.mark.parametrize(
    ("support", "h"),
    [("integers >= 0", "sin(pi*x)**2"), ("(0, oo)", "(x + 1)**2 - x**2 - 2*x - 1")],
)
def test_an_empty_density(support: str, h: str, tmp_path: Path) -> None:
    path = tmp_path / "f.toml"
    path.write_text(TEXT.format(v="x", s=support, t='"x"', h=h, n='eta = "(-oo, 0)"'))
    with pytest.raises(UserError, match="is empty"):
        geometry_of(read_family(str(path)))


def test_what_is_only_small_is_not_empty(tmp_path: Path) -> None:
    path = tmp_path / "f.toml"
    n = 'eta = "(-oo, 0)"'
    path.write_text(TEXT.format(v="x", s="(5, oo)", t='"x"', h="exp(-1000*x)", n=n))
    geometry_of(read_family(str(path)))
