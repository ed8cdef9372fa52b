"""A family's geometry in every format; the JSON read back and compared with the density."""

from __future__ import annotations

import json

import mpmath
import pytest
import sympy as sp

from blrgen.errors import UserError
from blrgen.read.family import list_families
from blrgen.show import render_geometry
from blrgen.text.table import width
from tests.shipped import shipped

FAMILIES = sorted(list_families())
KEYS = [
    "schema", "name", "variable", "support", "statistics", "base_measure", "natural", "working",
    "natural_of_working", "log_partition", "mean", "fisher", "entropy", "entropy_gradient",
    "inverse_mean", "evidence", "working_of_natural", "fisher_working", "fisher_mean",
    "divergence", "conjugate", "maximum_likelihood", "sampler",
]  # fmt: skip


@pytest.mark.sweep(16)
@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_in_every_format(family, faults):
    geometry = shipped(family)
    text = render_geometry(geometry, "text", columns=80)
    assert [line for line in text.splitlines() if width(line) > 80] == []
    assert faults(render_geometry(geometry, "latex")) == []
    assert "$$" in render_geometry(geometry, "markdown")
    assert "<math>" in render_geometry(geometry, "html")
    shown = json.loads(render_geometry(geometry, "json"))
    assert list(shown) == KEYS
    assert len(shown["statistics"]) == len(shown["natural"]) == len(shown["mean"])


def test_what_is_shown_agrees_with_the_density():
    """The JSON of N(m, v), read by SymPy alone, against quadrature of exp⟨λ, T⟩."""
    shown = json.loads(render_geometry(shipped("gaussian"), "json"))
    names = {p["name"]: sp.Symbol(p["name"]) for p in shown["natural"]}
    at = {"lam1": mpmath.mpf("0.3"), "lam2": mpmath.mpf(-2)}
    point = {names[n]: v for n, v in at.items()}

    def read(text: str) -> mpmath.mpf:
        return mpmath.mpf(sp.sympify(text, locals=names).subs(point).evalf(30))

    def weight(x: mpmath.mpf) -> mpmath.mpf:
        return mpmath.exp(at["lam1"] * x + at["lam2"] * x**2)

    line = [-mpmath.inf, 0, mpmath.inf]
    total = mpmath.quad(weight, line)
    moment = [mpmath.quad(lambda x, k=k: x**k * weight(x), line) / total for k in range(5)]
    assert abs(read(shown["log_partition"]) - mpmath.log(total)) < 1e-10
    assert abs(read(shown["mean"][1]) - moment[2]) < 1e-10
    assert abs(read(shown["fisher"][0][1]) - (moment[3] - moment[1] * moment[2])) < 1e-10
    assert abs(read(shown["fisher"][1][1]) - (moment[4] - moment[2] ** 2)) < 1e-10
    entropy = mpmath.log(total) - at["lam1"] * moment[1] - at["lam2"] * moment[2]
    assert abs(read(shown["entropy"]) - entropy) < 1e-10


def test_numbers_at_a_point_are_those_of_the_expressions():
    geometry = shipped("gaussian")
    shown = json.loads(render_geometry(geometry, "json", at={"lam1": 0.25, "lam2": -2.0}))
    names = {p["name"]: sp.Symbol(p["name"]) for p in shown["natural"]}
    point = {names["lam1"]: sp.Rational(1, 4), names["lam2"]: -2}
    for key in ("log_partition", "entropy"):
        value = float(sp.sympify(shown[key], locals=names).subs(point))
        assert abs(shown["at"][key] - value) <= 4 * shown["at"]["error"]
    text = render_geometry(geometry, "text", at={"lam1": 0.25, "lam2": -2.0})
    assert "At lam1 = 0.25, lam2 = -2" in text
    assert "0.0625" in text


@pytest.mark.parametrize(
    ("family", "at", "said"),
    [
        ("gaussian", {"lam1": 1.0, "lam2": 1.0}, "outside its domain"),
        ("gaussian", {"lam1": 1.0, "lam2": 0.0}, "outside its domain"),
        ("gaussian", {"lam1": 1.0}, "missing: lam2"),
        ("gaussian", {"lam1": 1.0, "lam2": -1.0, "eta": 1.0}, "not a parameter: eta"),
        ("gaussian-full", {"lam1": 1.0, "lam2": -1.0}, "lam1 is a vector"),
    ],
)
def test_points_that_cannot_be_used(family, at, said):
    with pytest.raises(UserError, match=said):
        render_geometry(shipped(family), "json", at=at)


def test_the_fisher_form_of_a_matrix_family(meaning):
    """At d = 2 it is the second derivative of A along the direction."""
    shown = json.loads(render_geometry(shipped("gaussian-full"), "json"))
    point = {"lam1": sp.Matrix([1, -2]), "lam2": sp.Matrix([[-2, 1], [1, -3]])}
    move = {"X1": sp.Matrix([3, 1]), "X2": sp.Matrix([[1, 2], [2, -1]])}
    form = sp.sympify(shown["fisher"], locals={**point, **move, "d": 2})
    e = sp.Symbol("e")
    along = {n: point[n] + e * move[f"X{k}"] for k, n in enumerate(("lam1", "lam2"), 1)}
    potential = sp.sympify(shown["log_partition"], locals={**along, "d": 2}).doit()
    assert sp.nsimplify(sp.diff(potential, e, 2).subs(e, 0) - form.doit()) == 0
