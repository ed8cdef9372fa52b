"""μ → λ for matrices and joint variables, against means computed from known parameters."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest

from blrgen.errors import UserError
from blrgen.geometry import Geometry, geometry_of
from blrgen.geometry.array_values import array, numbers
from blrgen.geometry.inversion import Inversion, plain
from blrgen.read.family import read_family
from blrgen.read.sizes import size_symbols
from blrgen.show.geometry import numbers_at
from blrgen.value.arithmetic import REALS
from blrgen.value.instance import Instance

NATURAL_ONLY = {
    "inverse-wishart": """
variable = "X"
support = "SPD"
statistics = ["logdet(X)", "inv(X)"]
[natural]
eta1 = "(-oo, -d)"
eta2 = "-SPD"
""",
    "normal-wishart": """
variable = ["x", "L"]
support = ["R^d", "SPD"]
statistics = ["L*x", "dot(x, L*x)", "logdet(L)", "L"]
[natural]
eta1 = "R^d"
eta2 = "(-oo, 0)"
eta3 = "(-1/2, oo)"
eta4 = "-SPD + outer(eta1, eta1)/(4*eta2)"
""",
}


@cache
def geometry(name: str) -> Geometry:
    return geometry_of(read_family(name))


def spd(d: int, seed: int = 0) -> Any:
    a = np.random.default_rng(seed).normal(size=(d, d))
    return a @ a.T + 0.1 * np.eye(d)


def means(g: Geometry, d: int, working: dict[str, Any]) -> tuple[list[Any], list[Any]]:
    """(μ, λ) with eighty digits at working parameters."""
    with mpmath.workdps(80):
        at = Instance({s: d for s in size_symbols(g.family)}, {
            p.symbol: numbers(array(working[p.name], p.symbol, p.name, "test"))
            for p in (*g.family.working, *g.family.fixed)
        }, REALS)  # fmt: skip
        mean = [at.like(m, x) for m, x in zip(g.mean_in_working, g.natural, strict=True)]
        return mean, [at.like(g.natural_of_working[x], x) for x in g.natural]


def off(found: Inversion, natural: list[Any]) -> float:
    """The largest error of a parameter against its largest entry."""
    assert found.converged, found.reason
    return max(
        float(np.abs(np.ravel(a - b)).max() / np.abs(np.ravel(b)).max())
        for a, b in zip(found.natural, natural, strict=True)
    )


RANGES = [(1, 1e-6), (1, 1e12), (2, 1 + 1e-6), (2, 2.3), (7, 10.0), (7, 1e12)]


@pytest.mark.sweep(6)
@pytest.mark.parametrize(("d", "n"), [*RANGES, (50, 49 + 1e-6)])
def test_wishart(d: int, n: float) -> None:
    mean, natural = means(geometry("wishart"), d, {"V": spd(d) * 1e-5, "n": n})
    assert off(geometry("wishart").natural_of_mean(mean), natural) < 1e-20


@pytest.mark.parametrize(("d", "nu"), RANGES)
def test_inverse_wishart(d: int, nu: float) -> None:
    mean, natural = means(geometry("inverse-wishart"), d, {"Psi": spd(d) * 1e7, "nu": nu})
    assert off(geometry("inverse-wishart").natural_of_mean(mean), natural) < 1e-20


@pytest.mark.parametrize(("d", "n"), RANGES)
def test_normal_wishart(d: int, n: float) -> None:
    g = geometry("normal-wishart")
    point = {"m": list(range(1, d + 1)), "kappa": 1e-3 * n, "V": spd(d), "n": n + 1e-3}
    mean, natural = means(g, d, point)
    assert off(g.natural_of_mean(mean), natural) < 1e-20


@pytest.mark.parametrize("a", [1e-6, 0.3, 7.0, 1e6, 1e14])
@pytest.mark.parametrize(("kappa", "b"), [(1e-5, 1e4), (3.0, 1e-7)])
def test_normal_gamma(a: float, kappa: float, b: float) -> None:
    g = geometry("normal-gamma")
    mean, natural = means(g, 1, {"m": -3.5, "kappa": kappa, "a": a, "b": b})
    assert off(g.natural_of_mean(mean), natural) < 1e-20


@pytest.mark.parametrize("like", NATURAL_ONLY)
@pytest.mark.parametrize(("d", "n"), [(1, 1e3), (2, 5.0)])
def test_without_working_parameters(like: str, d: int, n: float, tmp_path: Path) -> None:
    """One equation, or Newton's steps on vectors and matrices together."""
    path = tmp_path / "mine.toml"
    path.write_text(f'name = "mine"\ntitle = "Mine"\n{NATURAL_ONLY[like]}')
    mine = geometry_of(read_family(path))
    assert mine.inverse_mean is None
    point = {"m": [1] * d, "kappa": 3, "V": spd(d), "Psi": 1e4 * spd(d), "n": n, "nu": n + d}
    mean, natural = means(geometry(like), d, point)
    assert off(mine.natural_of_mean(mean), natural) < 1e-20


@pytest.mark.parametrize(
    ("name", "mean", "why"),
    [
        ("wishart", [0.0, np.eye(2)], "no member reaches it"),
        ("wishart", [0.1, np.eye(2)], "stays below 0.0"),
        ("wishart", [-1.0, [[1, 2], [2, 1]]], "would not be in SPD"),
        ("inverse-wishart", [-0.1, np.eye(2)], "stays above 0.0"),
        ("normal-wishart", [[1, 0], 0.5, -1.0, np.eye(2)], "kappa"),
        ("normal-gamma", [1.0, 0.9, 0.0, 1.0], "kappa"),
        ("dirichlet", [[-0.1, -0.2, -0.15]], "convex hull"),
        ("categorical", [[0.2, 0.9]], "no real number"),
        ("von-mises-fisher", [[0.6, 0.8]], "convex hull"),
        ("gaussian-isotropic", [[0, 0], -2], "would not be in"),
        ("bernoulli", [1.0], "no member reaches it"),
        ("normal-gamma", [1.0, 2.0, 0.5, 1.0], "stays below"),
        ("gaussian-full", [[1, 0], [[1, 0], [0, 1]]], "no member|has no value|SPD"),
    ],
)
def test_what_no_member_has_is_said(name: str, mean: Any, why: str) -> None:
    with pytest.raises(UserError, match="no member of") as said:
        geometry(name).natural_of_mean(mean)
    assert why.split("|")[0] in str(said.value) or any(w in str(said.value) for w in why.split("|"))


@pytest.mark.parametrize(
    ("mean", "said"),
    [
        ([0.0, [[1, 2], [1, 1]]], "not symmetric"),
        ([0.0, [[1, 2, 3], [1, 1, 3]]], "2 rows and 3 columns"),
        ([[0.0], np.eye(2)], "mu1 is a number"),
        ([0.0, 1.0], "mu2 is a matrix"),
        ([0.0, [[float("nan")]]], "no finite number"),
        ([0.0], "2 mean parameters"),
    ],
)
def test_what_cannot_be_asked(mean: Any, said: str) -> None:
    with pytest.raises(UserError, match=said):
        geometry("wishart").natural_of_mean(mean)


def test_products_factor_by_factor() -> None:
    g = geometry_of(read_family("wishart*gamma"))
    wishart, natural = means(geometry("wishart"), 2, {"V": spd(2), "n": 4})
    gamma, more = means(geometry("gamma"), 1, {"a": 0.3, "b": 2})
    found = g.natural_of_mean([*wishart, *gamma])
    assert off(found, [*natural, *more]) < 1e-15
    assert np.shape(plain(found.natural[1])) == (2, 2)
    with pytest.raises(UserError, match="no member of 'gamma"):
        g.natural_of_mean([*wishart, 1.0, 1.0])


JOINT_WITHOUT_CLOSED_FORM = """
name = "mine"
variable = ["x", "y"]
support = ["(-oo, oo)", "(0, oo)"]
statistics = ["x*y", "x**2", "y", "y**3"]
[natural]
a = "(-oo, oo)"
b = "(-oo, 0)"
c = "(-oo, oo)"
e = "(-oo, 0)"
"""


def test_several_variables_without_a_closed_form(tmp_path: Path) -> None:
    """By sums over the joint density; F = ∂μ/∂λ by differences."""
    path = tmp_path / "mine.toml"
    path.write_text(JOINT_WITHOUT_CLOSED_FORM)
    g = geometry_of(read_family(path))
    point = {"a": 0.7, "b": -1.3, "c": 0.4, "e": -0.6}
    at = numbers_at(g, point)
    found = g.natural_of_mean(at["mean"])
    assert found.converged
    assert found.values == pytest.approx(tuple(point.values()), rel=1e-9)
    step = 1e-4
    sides = [numbers_at(g, {**point, "c": 0.4 + s})["mean"] for s in (step, -step)]
    slope = (np.array(sides[0]) - np.array(sides[1])) / (2 * step)
    assert np.allclose(slope, np.array(at["fisher"])[:, 2], rtol=1e-6)
