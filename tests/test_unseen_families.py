"""Families that are not shipped go from their file alone to proved, emitted code."""

from __future__ import annotations

from pathlib import Path

import pytest

import blrgen
from blrgen.check import check
from blrgen.validate.derivation import verify_derivation

HEAD = 'name = "mine"\ntitle = "Mine"\nvariable = "x"\n'
FAMILIES = {
    "bernoulli in its probability": """
support = "{0, 1}"
statistics = ["x"]
[natural]
eta = "(-oo, oo)"
[working]
p = { domain = "(0, 1)", natural = "1/(1+exp(-eta))" }
""",
    "known variance": """
support = "(-oo, oo)"
statistics = ["x"]
base_measure = "exp(-x**2/(2*w))"
[fixed]
w = "(0, oo)"
[natural]
eta = "(-oo, oo)"
[working]
mu = { domain = "(-oo, oo)", natural = "w*eta" }
""",
    "known mean": """
support = "(-oo, oo)"
statistics = ["x**2"]
[natural]
eta = "(-oo, 0)"
[working]
s = { domain = "(0, oo)", natural = "-2*eta" }
""",
    "standard deviation": """
support = "(-oo, oo)"
statistics = ["x", "x**2"]
[natural]
a1 = { domain = "(-oo, oo)", working = "mu/sd**2" }
a2 = { domain = "(-oo, 0)", working = "-1/(2*sd**2)" }
[working]
mu = "(-oo, oo)"
sd = "(0, oo)"
""",
    "full covariance": """
support = "R^d"
statistics = ["x", "outer(x, x)"]
[natural]
a1 = { domain = "R^d", working = "inv(V)*m" }
a2 = { domain = "-SPD", working = "-inv(V)/2" }
[working]
m = "R^d"
V = "SPD"
""",
    "three levels": """
support = "{-1, 0, 1}"
statistics = ["x", "x**2"]
[natural]
a = "(-oo, oo)"
b = "(-oo, oo)"
""",
    "exponential": """
support = "(0, oo)"
statistics = ["x"]
log_partition = "-log(-eta)"
[natural]
eta = "(-oo, 0)"
[working]
r = { domain = "(0, oo)", natural = "-eta" }
""",
}


@pytest.mark.sweep(6)
@pytest.mark.parametrize("family", FAMILIES)
def test_from_the_file_alone(family: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(HEAD + FAMILIES[family])
    findings = check(str(path))
    assert all(f.passed for f in findings), findings
    d = blrgen.derive(str(path))
    report = verify_derivation(d)
    assert len(report.parts) >= 2
    assert report.proved, report
    assert "x" in str(d)


def test_special_functions_are_emitted_and_checked(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(
        HEAD
        + """
support = "(0, oo)"
statistics = ["log(x)", "x"]
base_measure = "1/x"
log_partition = "loggamma(eta1) - eta1*log(-eta2)"
[natural]
eta1 = "(0, oo)"
eta2 = "(-oo, 0)"
"""
    )
    report = verify_derivation(blrgen.derive(str(path)))
    assert report.proved, report
    for _, verdict in report.parts:
        assert any("polygamma(1, x)" in note and "(numeric)" in note for note in verdict.notes)


def test_a_chart_that_leaves_a_domain_is_named(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(HEAD + FAMILIES["known mean"].replace('"(0, oo)"', '"(-oo, oo)"'))
    (wrong,) = (f for f in check(str(path)) if not f.passed)
    assert wrong.stage == "charts"
    assert "leaves the domain of 'eta'" in wrong.text
    with pytest.raises(blrgen.UserError, match="leaves the domain"):
        blrgen.derive(str(path))


def test_three_levels_with_weights_are_derived_without_multiplying_out(tmp_path: Path) -> None:
    """Its ∇_μ E[log h] is a quotient of long sums of exponentials: left as it is."""
    path = tmp_path / "levels.toml"
    path.write_text(
        'name = "levels"\nvariable = "x"\nsupport = "{0, 1, 2}"\nstatistics = ["x", "x**2"]\n'
        'base_measure = "binomial(2, x)"\n[natural]\neta1 = "(-oo, oo)"\neta2 = "(-oo, oo)"\n'
    )
    rule = blrgen.derive(str(path)).rule
    assert [a.name for a in rule.assignments] == ["eta1_next", "eta2_next"]
