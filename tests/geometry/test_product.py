"""Products of independent families: sums and blocks of their factors."""

from __future__ import annotations

from pathlib import Path

import pytest
import sympy as sp

from blrgen.api import derive
from blrgen.check import check
from blrgen.errors import UserError
from blrgen.geometry import geometry_of
from blrgen.geometry.at_sizes import comparisons
from blrgen.read.family import read_family
from blrgen.read.product import with_suffix
from blrgen.show import render_geometry

GAMMA = """
name = "gamma-here"
variable = "x"
support = "(0, oo)"
statistics = ["log(x)", "x"]
base_measure = "1/x"
[natural]
eta1 = "(0, oo)"
eta2 = "(-oo, 0)"
[working]
a = { domain = "(0, oo)", natural = "eta1" }
b = { domain = "(0, oo)", natural = "-eta2" }
"""


@pytest.fixture
def gamma(tmp_path: Path) -> str:
    path = tmp_path / "gamma.toml"
    path.write_text(GAMMA)
    return str(path)


def test_everything_is_the_sum_of_the_factors(gamma: str) -> None:
    g = geometry_of(read_family(f"{gamma}*gaussian"))
    first = geometry_of(with_suffix(read_family(gamma), "1"))
    second = geometry_of(with_suffix(read_family("gaussian"), "2"))
    assert [p.name for p in g.family.natural] == ["eta1_1", "eta2_1", "lam1_2", "lam2_2"]
    assert [x.name for x in g.family.variables] == ["x_1", "theta_2"]
    assert sp.expand(g.log_partition - first.log_partition - second.log_partition) == 0
    assert sp.expand(g.entropy - first.entropy - second.entropy) == 0
    assert g.mean == (*first.mean, *second.mean)
    assert g.entropy_gradient == (*first.entropy_gradient, *second.entropy_gradient)
    assert [row[2:] for row in g.fisher[:2]] == [(0, 0)] * 2
    assert [row[:2] for row in g.fisher[2:]] == [(0, 0)] * 2
    assert tuple(row[:2] for row in g.fisher[:2]) == first.fisher


def test_against_sums_over_the_joint_density(gamma: str) -> None:
    found = list(comparisons(geometry_of(read_family(f"{gamma}*gaussian"))))
    assert found
    assert max(c.gap for c in found) < 1e-11


def test_matrices_and_numbers(gamma: str) -> None:
    g = geometry_of(read_family(f"{gamma}*gaussian-full"))
    found = list(comparisons(g))
    assert {c.size for c in found} == {1, 2}
    assert max(c.gap for c in found) < 1e-10


def test_a_file_with_suffixes(tmp_path: Path, gamma: str) -> None:
    path = tmp_path / "field.toml"
    path.write_text(
        'name = "field"\ntitle = "Mean field"\nproduct = ["gamma.toml", "gaussian"]\n'
        'suffixes = ["s", "m"]\n'
    )
    family = read_family(str(path))
    assert [p.name for p in family.working] == ["a_s", "b_s", "m_m", "v_m"]
    assert family.title == "Mean field"


def test_each_factor_takes_its_own_rule(gamma: str) -> None:
    """The same updates as the factors' own, under other names."""
    both = derive(f"{gamma}*gaussian").rule
    alone = derive("gaussian").rule
    names = {"m": "m_2", "v": "v_2", "g": "g_2", "h": "h_2", "v_next": "v_2_next"}
    for state in ("m", "v"):
        e = alone.expr(f"{state}_next")
        table = {s: sp.Symbol(names[s.name]) for s in e.free_symbols if s.name in names}
        moved = e.subs(table)
        plain = both.expr(f"{state}_2_next")
        bare = {s: sp.Symbol(s.name) for s in (*plain.free_symbols, *moved.free_symbols)}
        assert sp.cancel(plain.subs(bare) - moved.subs(bare)) == 0


def test_inverse_mean_is_theirs() -> None:
    g = geometry_of(read_family("gaussian*gaussian"))
    mu1, mu2, mu3, mu4 = sp.symbols("mu1:5", real=True)
    assert g.inverse_mean is not None
    assert [e.free_symbols for e in g.inverse_mean] == [{mu1, mu2}] * 2 + [{mu3, mu4}] * 2 or [
        e.free_symbols for e in g.inverse_mean
    ] == [{mu1, mu2}, {mu1, mu2}, {mu3, mu4}, {mu3, mu4}]


def test_check_goes_through_the_factors(gamma: str, tmp_path: Path) -> None:
    found = {f.stage: f for f in check(f"{gamma}*gaussian")}
    assert all(f.passed for f in found.values())
    assert "joint density" in found["product"].text
    wrong = tmp_path / "wrong.toml"
    flipped = 'log_partition = "loggamma(eta1) + eta1*log(-eta2)"'
    wrong.write_text(GAMMA.replace("\n[natural]", f"\n{flipped}\n[natural]", 1))
    found = {f.stage: f for f in check(f"gaussian*{wrong}")}
    assert not found["log-partition"].passed
    assert "gamma-here" in found["log-partition"].text


@pytest.mark.sweep(4)
@pytest.mark.parametrize("format_", ["text", "latex", "markdown", "html", "json"])
def test_every_format_shows_it(format_: str) -> None:
    assert "gaussian" in render_geometry(geometry_of(read_family("gaussian*gaussian")), format_)


@pytest.mark.parametrize(
    ("what", "match"),
    [
        ("gaussian*", "no product"),
        ("gaussian*nothing", "unknown family"),
        ("gaussian*gaussian-diag", "cannot stand in one product"),
    ],
)
def test_mistakes_are_named(what: str, match: str) -> None:
    with pytest.raises(UserError, match=match):
        read_family(what)


def test_a_product_of_products_is_one(tmp_path: Path) -> None:
    inner, outer = tmp_path / "inner.toml", tmp_path / "outer.toml"
    inner.write_text('name = "inner"\nproduct = ["gaussian", "gaussian"]\n')
    outer.write_text('name = "outer"\nproduct = ["inner.toml", "gaussian"]\n')
    family = read_family(str(outer))
    assert [x.name for x in family.variables] == ["theta_1_1", "theta_2_1", "theta_2"]
    assert len(family.factors) == 3
    assert not any(f.factors for f in family.factors)
    own = tmp_path / "own.toml"
    own.write_text('name = "own"\nproduct = ["own.toml", "gaussian"]\n')
    with pytest.raises(UserError, match="itself as a factor"):
        read_family(str(own))
