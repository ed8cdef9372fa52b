"""What a declaration may not claim, and how it is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from blrgen.algebra.nodes import has_nodes
from blrgen.errors import UserError
from blrgen.geometry.geometry import geometry_of
from blrgen.read.family import read_family

pytestmark = pytest.mark.core

EXPONENTIAL = """
name = "e"
title = "Exponential"
variable = "x"
support = "(0, oo)"
statistics = ["x"]
log_partition = "{a}"
[natural]
eta = "{domain}"
"""
LINE = """
name = "q"
title = "On the line"
variable = "theta"
support = "(-oo, oo)"
statistics = ["theta", "{square}"]
{a}
[natural]
lam1 = {{ domain = "(-oo, oo)"{w1} }}
lam2 = {{ domain = "{domain}"{w2} }}
{working}
"""


def geometry(text: str, folder: Path) -> None:
    path = folder / "f.toml"
    path.write_text(text)
    geometry_of(read_family(str(path)))


def line(**changes: str) -> str:
    kept = {"square": "theta**2", "a": "", "domain": "(-oo, 0)", "w1": "", "w2": "", "working": ""}
    return LINE.format(**(kept | changes))


def test_a_wrong_log_partition_is_refused_with_the_right_value(tmp_path: Path) -> None:
    with pytest.raises(UserError) as wrong:
        geometry(EXPONENTIAL.format(a="log(-eta)", domain="(-oo, 0)"), tmp_path)
    assert "is wrong" in wrong.value.what
    assert "at eta = -1/3 it is -1.09861228867" in wrong.value.why
    assert "normalises with 1.09861228867" in wrong.value.why


def test_a_wrong_form_of_a_derived_one_is_refuted_at_a_point(tmp_path: Path) -> None:
    a = 'log_partition = "-lam1**2/(4*lam2) - log(-lam2)/2 + log(pi)/2"'
    geometry(line(a=a), tmp_path)
    with pytest.raises(UserError, match="is wrong") as wrong:
        geometry(line(a=a.replace("log(pi)/2", "log(pi)/3")), tmp_path)
    assert "normalises with" in wrong.value.why


@pytest.mark.parametrize(("a", "domain"), [("-log(eta)", "(0, oo)"), ("eta", "(-oo, oo)")])
def test_a_density_that_diverges_is_refused(a: str, domain: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"cannot be normalised|is wrong"):
        geometry(EXPONENTIAL.format(a=a, domain=domain), tmp_path)


def test_a_divergent_integral_is_not_called_a_wrong_formula(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be normalised") as wrong:
        geometry(EXPONENTIAL.format(a="-log(eta)", domain="(0, oo)"), tmp_path)
    assert "does not fall off" in wrong.value.why


def test_a_square_that_grows_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be normalised") as wrong:
        geometry(line(domain="(-oo, oo)"), tmp_path)
    assert "lam2 = 6/5" in wrong.value.why
    full = """
name = "f"
title = "Full"
variable = "theta"
support = "R^d"
statistics = ["theta", "outer(theta, theta)"]
[natural]
lam1 = "R^d"
lam2 = "SPD"
"""
    with pytest.raises(UserError, match="cannot be normalised"):
        geometry(full, tmp_path)


def test_no_closed_form_is_no_refusal(tmp_path: Path) -> None:
    """A is then a number, and μ, F and 𝓗 are."""
    path = tmp_path / "f.toml"
    path.write_text(line(square="theta**4"))
    derived = geometry_of(read_family(str(path)))
    assert derived.evidence["log_partition"].startswith("derived: numeric")
    assert has_nodes(derived.log_partition)


def test_charts_that_cannot_be_solved(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be solved for each other") as unsolvable:
        geometry(
            line(
                w1=', working = "a*s + exp(a)"', w2=', working = "-s*exp(a)/2"',
                working='[working]\na = "(-oo, oo)"\ns = "(0, oo)"',
            ),
            tmp_path,
        )  # fmt: skip
    assert "give the other direction" in unsolvable.value.how


def test_as_many_working_as_natural_parameters(tmp_path: Path) -> None:
    with pytest.raises(UserError):
        geometry(
            line(w1=', working = "s"', w2=', working = "-s/2"', working='[working]\ns = "(0, oo)"'),
            tmp_path,
        )


def test_a_discrete_density_that_diverges(tmp_path: Path) -> None:
    text = """
name = "k"
title = "Geometric, on the wrong side"
variable = "k"
support = "integers >= 0"
statistics = ["k"]
log_partition = "-log(exp(eta) - 1)"
[natural]
eta = "(0, oo)"
"""
    with pytest.raises(UserError, match="cannot be normalised"):
        geometry(text, tmp_path)
