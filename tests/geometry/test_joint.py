"""Densities of several variables: integrated one after the other, summed as they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.stats
import sympy as sp

from blrgen.api import derive
from blrgen.check import check
from blrgen.errors import UserError
from blrgen.geometry import Geometry, geometry_of
from blrgen.geometry.at_sizes import comparisons
from blrgen.geometry.points_at_sizes import sizes_at
from blrgen.read.family import read_family
from blrgen.show import render_geometry
from blrgen.value.instance import Instance

STAGE = ("log-partition",)
PLANE = """
name = "plane"
title = "Two correlated normals, every entry of the quadratic by itself"
variable = ["x", "y"]
support = ["(-oo, oo)", "(-oo, oo)"]
statistics = ["x", "y", "x**2", "y**2", "x*y"]
{given}
[natural]
a1 = "(-oo, oo)"
a2 = "(-oo, oo)"
b1 = "(-oo, 0)"
b2 = "(-oo, 0)"
c = "(-2*sqrt(b1*b2), 2*sqrt(b1*b2))"
"""
PACKED = "log(2*pi) - log(4*b1*b2 - c**2)/2 + (c*a1*a2 - b2*a1**2 - b1*a2**2)/(4*b1*b2 - c**2)"
INVERSE = """
name = "normal-inverse-gamma"
variable = ["x", "v"]
support = ["(-oo, oo)", "(0, oo)"]
statistics = ["x/v", "x**2/v", "1/v", "log(v)"]
[natural]
e1 = "(-oo, oo)"
e2 = "(-oo, 0)"
e3 = "(-oo, e1**2/(4*e2))"
e4 = "(-oo, -3/2)"
"""
COUNTS = """
name = "gamma-poisson"
title = "A rate and a count given the rate"
variable = ["r", "k"]
support = ["(0, oo)", "integers >= 0"]
statistics = ["log(r)", "r", "k"]
base_measure = "r**k/factorial(k)"
[natural]
e1 = "(-1, oo)"
e2 = "(-oo, -exp(e3))"
e3 = "(-oo, oo)"
"""
ORDERED = COUNTS.replace(
    """e1 = "(-1, oo)"
e2 = "(-oo, -exp(e3))"
e3 = "(-oo, oo)"
""",
    """e3 = "(-oo, oo)"
e1 = "(-1, oo)"
e2 = "(-oo, -exp(e3))"
""",
).replace('["log(r)", "r", "k"]', '["k", "log(r)", "r"]')


def made(tmp_path: Path, text: str) -> str:
    path = tmp_path / "joint.toml"
    path.write_text(text)
    return str(path)


def number(g: Geometry, e: Any, values: dict[str, float]) -> float:
    names = {p.name: p.symbol for p in (*g.family.natural, *g.family.working)}
    return float(Instance({}, {names[k]: v for k, v in values.items()}).value(e))


def test_normal_gamma_against_scipy() -> None:
    """log q(x, τ) = log N(x | m, 1/(κτ)) + log Gamma(τ | a, b)."""
    g = geometry_of(read_family("normal-gamma"))
    m, kappa, a, b = 0.4, 1.7, 2.3, 0.9
    here = Instance({}, {p.symbol: {"m": m, "kappa": kappa, "a": a, "b": b}[p.name]
                         for p in g.family.working})  # fmt: skip
    here = here.with_({x: here.value(e) for x, e in g.natural_of_working.items()})
    x, tau = g.family.variables
    for place in ((0.3, 1.1), (-2.0, 0.2)):
        there = here.with_({x: place[0], tau: place[1]})
        mine = sum(there.value(p * t) for p, t in zip(g.natural, g.family.statistics, strict=True))
        theirs = scipy.stats.norm(m, 1 / np.sqrt(kappa * place[1])).logpdf(place[0])
        theirs += scipy.stats.gamma(a, scale=1 / b).logpdf(place[1])
        assert float(mine - here.value(g.log_partition)) == pytest.approx(theirs, rel=1e-12)


def test_normal_wishart_against_scipy() -> None:
    g = geometry_of(read_family("normal-wishart"))
    rng, d = np.random.default_rng(2), 3
    a = rng.normal(size=(d, d))
    values = {"m": rng.normal(size=(d, 1)), "kappa": 1.4, "V": a @ a.T + np.eye(d), "n": 4.6}
    here = Instance(sizes_at(g.family, d), {p.symbol: values[p.name] for p in g.family.working})
    here = here.with_({x: here.value(e) for x, e in g.natural_of_working.items()})
    x, precision = g.family.variables
    place, at = rng.normal(size=(d, 1)), scipy.stats.wishart(6, np.eye(d)).rvs(random_state=1)
    there = here.with_({x: place, precision: at})
    mine = sum(np.sum(there.value(p) * there.value(t))
               for p, t in zip(g.natural, g.family.statistics, strict=True))  # fmt: skip
    theirs = scipy.stats.multivariate_normal(values["m"][:, 0], np.linalg.inv(1.4 * at)).logpdf(
        place[:, 0]
    )
    theirs += scipy.stats.wishart(4.6, values["V"]).logpdf(at)
    assert float(mine - here.value(g.log_partition)) == pytest.approx(theirs, rel=1e-11)


@pytest.mark.sweep(6)
@pytest.mark.parametrize("text", [PLANE.format(given=""), INVERSE, ORDERED],
                         ids=["plane", "normal-inverse-gamma", "gamma-poisson"])  # fmt: skip
def test_files_nobody_has_seen(tmp_path: Path, text: str) -> None:
    """A derived by sequential integration; everything against sums over the joint density."""
    g = geometry_of(read_family(made(tmp_path, text)))
    assert g.evidence["log_partition"] == "derived: sequential integration"
    found = list(comparisons(g))
    assert {c.stage for c in found} == {
        "normalised", "mean", "covariance", "entropy", "entropy gradient",
    }  # fmt: skip
    assert max(c.gap for c in found) < 1e-10


def test_the_shipped_ones_pass_their_check() -> None:
    found = check("normal-gamma")
    assert all(f.passed for f in found)
    assert {f.stage for f in found if f.level == "not checked"} <= {
        "inverse mean", "sampling", "double precision", "claims",
    }  # fmt: skip


def test_a_packed_symmetric_matrix_is_checked(tmp_path: Path) -> None:
    right = made(tmp_path, PLANE.format(given=f'log_partition = "{PACKED}"'))
    assert next(f for f in check(right, only=STAGE) if f.stage in STAGE).passed
    doubled = PACKED.replace("c**2", "(2*c)**2").replace("c*a1*a2", "2*c*a1*a2")
    wrong = made(tmp_path, PLANE.format(given=f'log_partition = "{doubled}"'))
    found = next(f for f in check(wrong, only=STAGE) if f.stage in STAGE)
    assert not found.passed
    assert "normalises with" in found.text


def test_a_domain_that_forgets_the_other_variable_is_refused(tmp_path: Path) -> None:
    text = INVERSE.replace('"(-oo, e1**2/(4*e2))"', '"(-oo, 1)"')
    with pytest.raises(UserError, match="cannot be normalised"):
        geometry_of(read_family(made(tmp_path, text)))


def test_the_rule_of_a_joint_candidate(tmp_path: Path) -> None:
    """The score of ℓ = −⟨η, T⟩ is −Fη: one full step ends at η."""
    d = derive("normal-gamma")
    g = d.geometry
    start = {"m": 0.3, "kappa": 1.2, "a": 2.1, "b": 0.8}
    aim = {"m": -0.2, "kappa": 2.0, "a": 3.0, "b": 1.1}
    names = {p.name: p.symbol for p in g.family.working}

    def natural(values: dict[str, float]) -> dict[Any, float]:
        here = Instance({}, {names[k]: v for k, v in values.items()})
        return {x: float(here.value(e)) for x, e in g.natural_of_working.items()}

    here = Instance({}, {**{names[k]: v for k, v in start.items()}, **natural(start)})
    eta = natural(aim)
    scores = {
        p.symbol: -sum(float(here.value(f)) * eta[y]
                       for f, y in zip(row, g.natural, strict=True))
        for p, row in zip(d.expectation.probes, g.fisher, strict=True)
    }  # fmt: skip
    now = here.with_({**scores, sp.Symbol("rho", positive=True): 1.0})
    for assignment in d.rule.assignments:
        q = d.rule[assignment.name.removesuffix("_next")]
        value = now.value(assignment.expr)
        if assignment.name.endswith("_next"):
            like = g.ring.symbol_like(q.symbol, assignment.name)
            now = now.with_({like: value, sp.Symbol(assignment.name, real=True): value})
            assert float(value) == pytest.approx(aim[q.name], rel=1e-8)
        else:
            now = now.with_({q.symbol: value})


def test_page_and_json() -> None:
    import json

    shown = json.loads(render_geometry(geometry_of(read_family("normal-gamma")), "json"))
    assert shown["variable"] == ["x", "tau"]
    assert shown["support"] == "(-oo, oo) × (0, oo)"
    assert len(shown["fisher"]) == 4


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (('support = ["(-oo, oo)", "(0, oo)"]', 'support = ["(-oo, oo)"]'), "do not match"),
        (('["x", "v"]', '["x", "x"]'), "cannot be called"),
        (('"log(v)"]', '"log(v)", "2"]'), "does not depend on"),
        (('"(0, oo)"]', '"simplex"]'), "among several"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, change: tuple[str, str], match: str) -> None:
    assert change[0] in INVERSE
    with pytest.raises(UserError, match=match):
        read_family(made(tmp_path, INVERSE.replace(*change)))
