"""Wishart and its relatives: against scipy, differences of A, sums over the density."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.special
import scipy.stats
import sympy as sp
from numeric import spd

from blrgen.algebra.multigamma import multigammaln, multipolygamma
from blrgen.api import derive
from blrgen.check import check
from blrgen.errors import UserError
from blrgen.geometry import Geometry, geometry_of
from blrgen.geometry.at_sizes import comparisons, fisher_matrix
from blrgen.geometry.points_at_sizes import point_inside, random_like, sizes_at
from blrgen.read.expression import parse
from blrgen.read.family import read_family
from blrgen.rule.expand import expanded
from blrgen.show import render_geometry
from blrgen.value.evaluate import evaluate
from blrgen.value.instance import Instance

NAMES = ("wishart", "inverse-wishart", "matrix-normal", "normal-wishart")
FILES = Path(__file__).resolve().parents[2] / "families"


@cache
def geometry(name: str) -> Geometry:
    return geometry_of(read_family(name))


def with_working(g: Geometry, sizes: dict[Any, int], values: dict[str, Any]) -> Instance:
    """Natural parameters at working ones."""
    table = {p.symbol: values[p.name] for p in (*g.family.working, *g.family.fixed)}
    here = Instance(sizes, table)
    return here.with_({x: here.like(e, x) for x, e in g.natural_of_working.items()})


def log_density(g: Geometry, here: Instance, x: Any) -> float:
    """⟨λ, T(x)⟩ − A, from the derived A."""
    there = here.with_({g.family.variable: x})
    total = sum(
        np.sum(there.value(p) * there.value(t))
        for p, t in zip(g.natural, g.family.statistics, strict=True)
    )
    return float(total - here.value(g.log_partition))


@pytest.mark.parametrize("d", [1, 2, 3])
def test_wishart_against_scipy(d: int) -> None:
    g, rng = geometry("wishart"), np.random.default_rng(d)
    scale, n, x = spd(rng, d), d + 1.7, spd(rng, d)
    here = with_working(g, sizes_at(g.family, d), {"V": scale, "n": n})
    law = scipy.stats.wishart(n, scale)
    assert log_density(g, here, x) == pytest.approx(law.logpdf(x), rel=1e-11)
    assert float(here.value(g.entropy)) == pytest.approx(law.entropy(), rel=1e-11)
    np.testing.assert_allclose(here.value(g.mean[1]), np.atleast_2d(law.mean()), rtol=1e-11)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_inverse_wishart_against_scipy(d: int) -> None:
    g, rng = geometry("inverse-wishart"), np.random.default_rng(d)
    scale, nu, x = spd(rng, d), d + 1.7, spd(rng, d)
    here = with_working(g, sizes_at(g.family, d), {"Psi": scale, "nu": nu})
    law = scipy.stats.invwishart(nu, scale)
    # the entropy of scipy is another for d > 1; sums over the density, below, settle it
    assert log_density(g, here, x) == pytest.approx(law.logpdf(x), rel=1e-11)
    np.testing.assert_allclose(here.value(g.mean[1]), nu * np.linalg.inv(scale), rtol=1e-11)


@pytest.mark.parametrize(("n", "p"), [(1, 1), (2, 3), (3, 2)])
def test_matrix_normal_against_scipy(n: int, p: int) -> None:
    g, rng = geometry("matrix-normal"), np.random.default_rng(n)
    across, s, m = spd(rng, n), spd(rng, p), rng.normal(size=(n, p))
    sizes = {sp.Symbol(k, integer=True, positive=True): v for k, v in (("n", n), ("p", p))}
    here = with_working(g, sizes, {"U": across, "S": s, "M": m})
    law = scipy.stats.matrix_normal(m, across, np.linalg.inv(s))
    x = rng.normal(size=(n, p))
    assert log_density(g, here, x) == pytest.approx(law.logpdf(x), rel=1e-11)
    assert float(here.value(g.entropy)) == pytest.approx(law.entropy(), rel=1e-11)
    np.testing.assert_allclose(here.value(g.mean[0]), m, rtol=1e-11)


@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("name", NAMES)
def test_mean_and_fisher_are_derivatives_of_a(name: str, size: int) -> None:
    """Central differences of A and of μ along a direction in all parameters at once."""
    g = geometry(name)
    here = point_inside(g.family, sizes_at(g.family, size), 1)
    moves = {x: random_like(x, here.sizes, 5) for x in g.natural}
    step = 1e-5

    def at(e: float) -> Instance:
        return here.with_({x: here.values[x] + e * moves[x] for x in g.natural})

    def along(i: Instance) -> float:
        return float(sum(np.sum(i.like(m, x) * moves[x])
                         for m, x in zip(g.mean, g.natural, strict=True)))  # fmt: skip

    slope = (at(step).value(g.log_partition) - at(-step).value(g.log_partition)) / (2 * step)
    assert along(here) == pytest.approx(float(slope), rel=2e-7)
    bend = (along(at(step)) - along(at(-step))) / (2 * step)
    from blrgen.geometry.at_sizes import _form

    assert _form(g, here, moves, moves) == pytest.approx(bend, rel=2e-7)


@pytest.mark.parametrize("name", ["wishart", "inverse-wishart", "matrix-normal"])
def test_against_sums_over_the_density(name: str) -> None:
    """A, E[T], Var⟨X, T⟩, 𝓗 and ∇_μ𝓗 at d = 1 and d = 2."""
    found = list(comparisons(geometry(name)))
    assert {c.size for c in found} == {1, 2}
    assert max(c.gap for c in found) < 1e-11


@pytest.mark.parametrize("name", NAMES)
def test_fisher_is_positive_definite(name: str) -> None:
    g = geometry(name)
    for size in (1, 2):
        here = point_inside(g.family, sizes_at(g.family, size), 0)
        f = fisher_matrix(g, here)
        np.testing.assert_allclose(f, f.T, rtol=1e-9, atol=1e-10)
        assert np.linalg.eigvalsh(f)[0] > 0


@pytest.mark.sweep(6)
@pytest.mark.parametrize("size", [1, 2])
@pytest.mark.parametrize("name", NAMES)
def test_the_rule_moves_natural_parameters_as_it_should(name: str, size: int) -> None:
    """With the score of ℓ = −⟨η, T⟩, a full step ends at η; a half step half way."""
    d = derive(name)
    g = d.geometry
    here = point_inside(g.family, sizes_at(g.family, size), 0)
    aim = {x: here.values[x] + 0.2 * (point_inside(g.family, here.sizes, 1).values[x]
           - here.values[x]) for x in g.natural}  # fmt: skip
    here = here.with_({x: here.like(e, x) for x, e in g.working_of_natural.items()})
    from blrgen.algebra.directions import direction_symbol, directional

    probes = {p.symbol: p for p in d.expectation.probes}
    scores = {}
    for symbol, mean in zip(probes, g.mean, strict=True):
        total: Any = 0.0
        for y in g.natural:
            name_ = direction_symbol(y, "X_")
            total = total - here.with_({name_: aim[y]}).like(directional(mean, y, name_), symbol)
        scores[symbol] = total
    for rho in (1.0, 0.5):
        now = here.with_({**scores, sp.Symbol("rho", positive=True): rho})
        new = expanded(d.rule)
        after = Instance(here.sizes, {
            **{p.symbol: here.values[p.symbol] for p in g.family.fixed},
            **{x: now.like(new[x.name], x) for x in g.working},
        })  # fmt: skip
        for x in g.natural:
            found = after.like(g.natural_of_working[x], x)
            wanted = (1 - rho) * here.values[x] + rho * aim[x]
            np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-10)


def test_multivariate_gamma_against_scipy() -> None:
    a = sp.Symbol("a", positive=True)
    d = sp.Symbol("d", integer=True, positive=True)
    e = multigammaln(a, d)
    assert sp.diff(e, a) == multipolygamma(0, a, d)
    assert sp.diff(e, a, 2) == multipolygamma(1, a, d)
    for size in (1, 2, 5):
        for x in (2.6, 7.1):
            at = {a: sp.Float(x), d: sp.Integer(size)}
            assert float(evaluate(e, {k: v._to_mpmath(53) for k, v in at.items()})) == (
                pytest.approx(scipy.special.multigammaln(x, size), rel=1e-13)
            )
            slope = sum(scipy.special.digamma(x - j / 2) for j in range(size))
            assert float(sp.N(sp.diff(e, a).subs(at))) == pytest.approx(slope, rel=1e-12)
    assert parse("multigammaln(a, d)", {"a": a, "d": d}) == e
    assert parse("multipolygamma(1, a, 3)", {"a": a}) == multipolygamma(1, a, sp.Integer(3))


def test_json_is_read_by_sympy() -> None:
    """The log-partition of the page, at d = 2, is scipy's normalisation."""
    import json

    shown = json.loads(render_geometry(geometry("wishart"), "json"))
    names = {"eta1": sp.Rational(3, 2), "eta2": sp.Matrix([[-1, 0], [0, -2]]), "d": 2}
    value = sp.sympify(shown["log_partition"], locals=names)
    n, scale = 2 * 1.5 + 3, np.diag([0.5, 0.25])
    x = np.array([[1.0, 0.2], [0.2, 0.7]])
    law = scipy.stats.wishart(n, scale).logpdf(x)
    density = 1.5 * np.log(np.linalg.det(x)) + np.trace(np.diag([-1.0, -2.0]) @ x) - law
    assert float(sp.N(value.doit())) == pytest.approx(density, rel=1e-12)


def given(tmp_path: Path, name: str, log_partition: str) -> list[Any]:
    """The findings on a shipped file with that log_partition put in."""
    text = (FILES / f"{name}.toml").read_text()
    text = text.replace("\n[natural]", f'log_partition = "{log_partition}"\n\n[natural]', 1)
    path = tmp_path / "given.toml"
    path.write_text(text)
    return check(str(path))


RIGHT = "multigammaln(eta1 + (d+1)/2, d) - (eta1 + (d+1)/2)*logdet(-eta2)"


def test_a_right_given_form_is_identity(tmp_path: Path) -> None:
    found = {f.stage: f for f in given(tmp_path, "wishart", RIGHT)}
    assert found["log-partition"].text.startswith("identity")
    assert all(f.passed for f in found.values())


@pytest.mark.sweep(4)
@pytest.mark.parametrize(
    "wrong",
    [
        RIGHT.replace("multigammaln(eta1 + (d+1)/2, d)", "multigammaln(eta1 + d/2, d)"),
        RIGHT.replace("multigammaln(eta1 + (d+1)/2, d)", "loggamma(eta1 + (d+1)/2)"),
        RIGHT.replace("(eta1 + (d+1)/2)*logdet", "(eta1 + 1)*logdet"),
        RIGHT.replace("logdet(-eta2)", "logdet(-2*eta2)"),
        RIGHT + " + d*(d-1)/2*log(2)",  # every off-diagonal entry counted twice
    ],
    ids=["shifted", "scalar gamma", "right at d = 1 only", "factor", "doubled off-diagonals"],
)
def test_wrong_given_forms_are_caught(tmp_path: Path, wrong: str) -> None:
    found = next(f for f in given(tmp_path, "wishart", wrong) if f.stage == "log-partition")
    assert not found.passed
    assert "normalises with" in found.text


def test_a_domain_that_is_too_wide_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "wide.toml"
    path.write_text((FILES / "wishart.toml").read_text().replace('"(-1, oo)"', '"(-2, oo)"'))
    with pytest.raises(UserError, match="cannot be normalised"):
        geometry_of(read_family(str(path)))


HOUSE = """
name = "matrix-here"
variable = "X"
support = "R^(n,p)"
statistics = ["X", "transpose(X)*inv(U)*X"]
[natural]
e1 = "R^(n,p)"
e2 = "-SPD"
[fixed]
U = "SPD"
"""


def test_spd_alone_takes_the_size_that_fits(tmp_path: Path) -> None:
    """Natural coordinates only, sizes unsaid: the same A as the shipped file's."""
    path = tmp_path / "here.toml"
    path.write_text(HOUSE)
    mine, shipped = geometry_of(read_family(str(path))), geometry("matrix-normal")
    assert mine.family.natural[1].domain.size == ("p", "p")
    assert mine.family.fixed[0].domain.size == ("n", "n")
    names = dict(zip(mine.natural, shipped.natural, strict=True))
    assert mine.ring.tidy(mine.log_partition.xreplace(names) - shipped.log_partition) == 0


def test_sizes_that_do_not_fit_are_named(tmp_path: Path) -> None:
    path = tmp_path / "here.toml"
    path.write_text(HOUSE.replace("inv(U)*X", "U*transpose(X)"))
    with pytest.raises(UserError, match="do not fit"):
        read_family(str(path))
