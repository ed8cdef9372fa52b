"""`--at` and `--mean` for vectors, matrices and joint variables."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
import scipy.special
import scipy.stats

from blrgen.algebra.ranks import T
from blrgen.errors import UserError
from blrgen.geometry import Geometry, geometry_of
from blrgen.read.family import read_family
from blrgen.show import render_geometry
from blrgen.show.geometry import numbers_at

POINTS: dict[str, dict[str, Any]] = {
    "wishart": {"V": [[2, 0.5], [0.5, 1]], "n": 5},
    "inverse-wishart": {"Psi": [[2, 0.5], [0.5, 1]], "nu": 5.5},
    "normal-wishart": {"m": [1, -2], "kappa": 3, "V": [[2, 0.5], [0.5, 1]], "n": 4},
    "normal-gamma": {"m": 1, "kappa": 3, "a": 2, "b": 0.5},
    "matrix-normal": {"M": [[1, 2], [0, -1], [3, 0]], "S": [[2, 0.5], [0.5, 1]],
                      "U": [[2, 0.5, 0], [0.5, 1, 0], [0, 0, 3]]},
    "gaussian-full": {"m": [1, -2, 0.5], "S": [[2, 0.5, 0], [0.5, 1, 0], [0, 0, 3]]},
    "wishart*gamma": {"V_1": [[2, 0.5], [0.5, 1]], "n_1": 5, "a_2": 2, "b_2": 3},
}  # fmt: skip


@cache
def geometry(name: str) -> Geometry:
    return geometry_of(read_family(name))


def in_natural(g: Geometry, point: dict[str, Any]) -> dict[str, Any]:
    """The same point by the names of the natural parameters."""
    from blrgen.geometry.array_place import array_place
    from blrgen.geometry.inversion import plain

    if g.ring.elementwise:
        chart = g.natural_of_working
        named = {p.symbol: point[p.name] for p in g.family.working}
        return {x.name: float(chart[x].subs(named)) for x in g.natural}
    here = array_place(g, point).precise()
    constants = {p.name: point[p.name] for p in g.family.fixed}
    return constants | {x.name: plain(here.value(x)) for x in g.natural}


@pytest.mark.sweep(6)
@pytest.mark.parametrize("name", POINTS)
def test_numbers_are_derivatives_of_one_another(name: str) -> None:
    """μ and F by differences of A and μ along the first, a middle and the last coordinate."""
    g = geometry(name)
    at, natural = numbers_at(g, POINTS[name]), in_natural(g, POINTS[name])
    step, names = 1e-5, at.get("coordinates") or [x.name for x in g.natural]
    fisher = np.array(at["fisher"])
    assert fisher.shape == (len(names), len(names))
    assert np.allclose(fisher, fisher.T, rtol=1e-13, atol=1e-13)
    assert np.linalg.eigvalsh(fisher)[0] > 0
    for k in sorted({0, len(names) // 2, len(names) - 1}):
        up, down = (numbers_at(g, moved(g, natural, names[k], s * step)) for s in (1, -1))
        slope = (up["log_partition"] - down["log_partition"]) / (2 * step)
        assert slope == pytest.approx(paired(at["mean"], g, names[k]), rel=1e-6, abs=1e-6)
        for j, other in enumerate(names):
            change = paired(up["mean"], g, other) - paired(down["mean"], g, other)
            assert fisher[j, k] == pytest.approx(change / (2 * step), rel=1e-5, abs=1e-5)


def entries(g: Geometry, coordinate: str) -> tuple[str, list[tuple[int, ...]]]:
    """The parameter of a coordinate, and the entries of it that move together."""
    base, _, place = coordinate.partition("[")
    if not place:
        return base, [()]
    index = tuple(int(i) - 1 for i in place.rstrip("]").split(","))
    x = next(x for x in g.natural if x.name == base)
    return base, sorted({index, index[::-1]} if T(x) == x else {index})


def moved(g: Geometry, natural: dict[str, Any], coordinate: str, step: float) -> dict[str, Any]:
    base, places = entries(g, coordinate)
    value = np.array(natural[base], dtype=float)
    for place in places:
        value[place] += step
    return {**natural, base: value.tolist()}


def paired(dual: list[Any], g: Geometry, coordinate: str) -> float:
    """⟨B, dual⟩ for the direction B of a coordinate."""
    base, places = entries(g, coordinate)
    k = next(i for i, x in enumerate(g.natural) if x.name == base)
    return float(sum(np.array(dual[k], dtype=float)[place] for place in places))


def test_against_scipy() -> None:
    at = numbers_at(geometry("wishart"), POINTS["wishart"])
    law = scipy.stats.wishart(5, [[2, 0.5], [0.5, 1]])
    assert at["entropy"] == pytest.approx(law.entropy(), rel=1e-13)
    assert np.allclose(at["mean"][1], law.mean(), rtol=1e-14)
    assert at["coordinates"] == ["eta1", "eta2[1,1]", "eta2[1,2]", "eta2[2,2]"]
    natural = numbers_at(geometry("wishart"), in_natural(geometry("wishart"), POINTS["wishart"]))
    assert natural["log_partition"] == pytest.approx(at["log_partition"], rel=1e-13)


@pytest.mark.parametrize(
    ("name", "at", "said"),
    [
        ("wishart", {"V": [[2, 0.5], [0.5, 1]], "n": 0.5}, "n = 0.5 is outside its domain"),
        ("wishart", {"V": [[2, 3], [3, 1]], "n": 5}, "symmetric and positive definite"),
        ("wishart", {"V": [[2, 3], [1, 1]], "n": 5}, "not symmetric"),
        ("wishart", {"V": [[2, 3, 1], [3, 1, 1]], "n": 5}, "2 rows and 3 columns"),
        ("wishart", {"V": 2, "n": 5}, "V is a matrix"),
        ("wishart", {"V": [[2]], "n": [5]}, "n is a number"),
        ("wishart", {"V": [[2]]}, "missing: n"),
        ("wishart", {"V": [[2]], "n": 5, "d": 3}, "does not fit"),
        ("wishart", {"V": [[2]], "n": 5, "m": 3}, "not a parameter: m"),
        ("wishart", {"eta1": 0, "eta2": [[1, 0], [0, -1]]}, "negative definite"),
        ("gaussian-full", {"m": [1, 2, 3], "S": [[1, 0], [0, 1]]}, "does not fit"),
        ("gaussian-full", {"m": [[1, 2]], "S": [[1, 0], [0, 1]]}, "m is a vector"),
    ],
)
def test_what_is_no_point_is_said(name: str, at: dict[str, Any], said: str) -> None:
    with pytest.raises(UserError, match=said):
        numbers_at(geometry(name), at)


def test_the_page_says_what_the_coordinates_are() -> None:
    page = render_geometry(geometry("wishart"), "text", at=POINTS["wishart"])
    assert "η₁, η₂[1,1], η₂[1,2], η₂[2,2]" in page


def test_the_member_with_a_mean(invoke: Callable[..., Any]) -> None:
    done = invoke("show", "wishart", "--mean", "mu1=0, mu2=[[2,0.5],[0.5,3]]", "--format", "json")
    found = json.loads(done.out)
    assert done.code == 0
    assert found["converged"]
    n, v = found["working"]["n"], np.array(found["working"]["V"])
    assert np.allclose(n * v, [[2, 0.5], [0.5, 3]], rtol=1e-14)
    scale = scipy.special.psi(n / 2) + scipy.special.psi((n - 1) / 2) + 2 * np.log(2)
    assert scale + np.linalg.slogdet(v)[1] == pytest.approx(0, abs=1e-13)
    done = invoke("show", "wishart", "--mean", "mu1=3,mu2=[[2,0.5],[0.5,3]]")
    assert done.code == 2
    assert "stays below 1.749" in done.err


def test_no_convergence_has_an_exit_code(
    invoke: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    from blrgen.geometry import one_equation

    monkeypatch.setattr(one_equation, "_STEPS", 2)
    monkeypatch.setattr("blrgen.geometry.array_newton._STEPS", 1)
    done = invoke("show", "wishart", "--mean", "mu1=0,mu2=[[2,0.5],[0.5,3]]")
    assert done.code == 3
    assert "NOT CONVERGED: not within 1 steps" in done.out
