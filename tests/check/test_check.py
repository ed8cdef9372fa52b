"""`check` passes what is right and names what is wrong, with the value it should have."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import sympy as sp

import blrgen
from blrgen.check import check
from blrgen.check.all import _kept, check_all
from blrgen.check.as_json import as_data
from blrgen.check.shipped import shipped
from blrgen.read.family import list_families

GAMMA = """
name = "mine"
title = "Gamma"
variable = "x"
support = "(0, oo)"
statistics = ["log(x)", "x"]
base_measure = "{base}"
log_partition = "{log_partition}"
[natural]
eta1 = "(0, oo)"
eta2 = "{domain}"
[working]
a = {{ domain = "(0, oo)", natural = "eta1" }}
b = {{ domain = "(0, oo)", natural = "-eta2" }}
"""
RIGHT = {
    "base": "1/x",
    "log_partition": "loggamma(eta1) - eta1*log(-eta2)",
    "domain": "(-oo, 0)",
}


def written(folder: Path, **changes: str) -> str:
    path = folder / "mine.toml"
    path.write_text(GAMMA.format(**{**RIGHT, **changes}))
    return str(path)


@pytest.mark.sweep(24)
@pytest.mark.parametrize("name", list_families())
def test_a_shipped_family_passes(name: str) -> None:
    """And what ships beside it is what is found."""
    found = as_data(name, check(name))
    assert found["passed"], [f for f in found["findings"] if f["status"] == "refuted"]
    data = shipped(name)
    assert data is not None, f"python -m blrgen.check.shipped: {name} has changed"
    assert told(data) == told(found)


def test_what_ships_is_there_for_every_family() -> None:
    missing = [name for name in list_families() if shipped(name) is None]
    assert missing == [], "python -m blrgen.check.shipped"


def test_families_are_checked_in_parallel() -> None:
    """In the order that is asked for; what is found is kept for `list families`."""
    names = ("poisson", "bernoulli-sign", "gaussian-fixed")
    done = list(check_all(names=names))
    assert [(d.name, d.names, d.passed) for d in done] == [(n, names, True) for n in names]
    for d in done:
        assert d.data == _kept(d.name) == as_data(d.name, check(d.name))


def told(data: Any) -> list[tuple[str, str, str]]:
    return [(f["stage"], f["status"], f["level"]) for f in data["findings"]]


def test_what_ships_is_of_one_file_and_one_version(monkeypatch: pytest.MonkeyPatch) -> None:
    assert shipped("gamma") is not None and shipped("no-such-family") is None
    monkeypatch.setattr(blrgen, "__version__", "0.0")
    assert shipped("gamma") is None


@pytest.mark.parametrize("name", ["gaussian", "gaussian-full", "bernoulli-sign"])
def test_a_family_of_each_kind(name: str) -> None:
    findings = check(name)
    assert [f for f in findings if not f.passed] == []
    assert findings[-1].stage == "rule"


def test_a_base_measure_that_leaves_no_mass(tmp_path: Path) -> None:
    """x⁻² under the gamma's kernel diverges at 0 for shapes up to 1, all in the domain."""
    wrong = next(f for f in check(written(tmp_path, base="1/x**2")) if not f.passed)
    assert "cannot be normalised" in wrong.text


def test_a_family_from_its_file_alone(tmp_path: Path) -> None:
    findings = check(written(tmp_path))
    assert [f.stage for f in findings if not f.passed] == []
    assert {"normalised", "mean", "covariance", "entropy", "rule"} <= {f.stage for f in findings}


def test_places_next_to_an_end_are_no_counterexamples(tmp_path: Path) -> None:
    """With b = 1/40 a quarter of the mass lies nearer to 1 than 1e-600."""
    path = tmp_path / "kumaraswamy.toml"
    path.write_text("""
name = "kumaraswamy"
title = "Kumaraswamy, first shape known"
variable = "x"
support = "(0, 1)"
statistics = ["log(1 - x**a)"]
base_measure = "x**(a - 1)/(1 - x**a)"
[natural]
eta = "(0, oo)"
[working]
b = { domain = "(0, oo)", natural = "eta" }
[fixed]
a = "(0, oo)"
""")
    (found,) = (f for f in check(str(path)) if f.stage == "parametrisations")
    assert found.passed, found.text


@pytest.mark.parametrize(
    "changes",
    [
        {"log_partition": "loggamma(eta1) + eta1*log(-eta2)"},
        {"log_partition": "loggamma(eta1) - eta1*log(-eta2) + 1/1000000"},
    ],
)
def test_a_wrong_line_is_named_with_its_value(tmp_path: Path, changes: dict[str, str]) -> None:
    wrong = next(f for f in check(written(tmp_path, **changes)) if not f.passed)
    assert wrong.stage == "log-partition"
    assert "normalises with" in wrong.text
    assert "eta1 = " in wrong.text


def test_a_broken_declaration_ends_the_report(tmp_path: Path) -> None:
    path = tmp_path / "broken.toml"
    path.write_text('name = "broken"\nstatistics = [')
    (only,) = check(str(path))
    assert not only.passed
    assert "broken.toml" in only.text


def test_small_moments_near_an_edge_are_compared_in_proportion(tmp_path: Path) -> None:
    """A covariance of 1e-3 that is 1e-9 of itself off is refuted; 1e-12 of itself is rounding."""
    import mpmath

    from blrgen.check.context import SMALL, Context
    from blrgen.check.finding import Wrong
    from blrgen.read.family import read_family

    context = Context(None, read_family(written(tmp_path)))  # type: ignore[arg-type]
    should = mpmath.mpf("1e-3")
    context.compare("Cov", sp.Float("1e-3", 30) * (1 + sp.Float("1e-12", 30)), should, {}, SMALL)
    with pytest.raises(Wrong):
        context.compare("Cov", sp.Float("1e-3", 30) * (1 + sp.Float("1e-9", 30)), should, {}, SMALL)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, "log h in the span of T: ∇_μ𝓗 = −λ − (-1, 0)"),
        (
            {"base": "x", "log_partition": "loggamma(eta1+2) - (eta1+2)*log(-eta2)"},
            "log h in the span of T: ∇_μ𝓗 = −λ − (1, 0)",
        ),
    ],
)
def test_a_base_measure_in_the_span_of_the_statistics_is_said_to_be(changes, said, tmp_path):
    (found,) = [f for f in check(written(tmp_path, **changes))
                if f.stage == "entropy gradient"]  # fmt: skip
    assert said in found.text


def test_a_base_measure_beside_the_statistics_is_said_to_be() -> None:
    (found,) = [f for f in check("poisson") if f.stage == "entropy gradient"]
    assert "h depends on x: ∇_μ𝓗 = −λ − ∇_μE[log h]" in found.text
