"""The metric in every chart: transported both ways, and from the density itself."""

from __future__ import annotations

from typing import Any

import mpmath
import pytest
import sympy as sp

from blrgen.algebra.nodes import has_nodes
from blrgen.algebra.partial import partial
from blrgen.geometry.geometry import Geometry, geometry_of
from blrgen.geometry.integrate import exponent_of
from blrgen.geometry.points import interior_points
from blrgen.geometry.tabulated import Measure
from blrgen.read.family import list_families, read_family
from blrgen.show import render_geometry
from blrgen.value.evaluate import evaluate
from tests.shipped import shipped

SCALAR = [
    n for n in list_families()
    if read_family(n).elementwise and len(getattr(read_family(n), "variables", None) or (1,)) == 1
]  # fmt: skip


def matrix(table: Any, point: dict[Any, Any]) -> sp.Matrix:
    return sp.Matrix([[sp.N(sp.sympify(e).subs(point), 25) for e in row] for row in table])


def close(a: sp.Matrix, b: sp.Matrix, tolerance: float = 1e-15) -> bool:
    size = max([1, *map(abs, b)])
    return all(abs(x) <= tolerance * size for x in a - b)


def places(g: Geometry) -> tuple[dict[Any, Any], dict[Any, Any]]:
    """A natural point, and the same point with the working names too."""
    point = interior_points(g.family, 2)[1]
    both = {**point, **{w: sp.N(g.working_of_natural[w].subs(point), 30) for w in g.working}}
    return point, both


@pytest.mark.sweep(12)
@pytest.mark.parametrize("name", SCALAR)
def test_the_metric_is_transported_both_ways(name: str) -> None:
    """F_ψ = JᵀFJ, F = J⁻ᵀF_ψJ⁻¹, F_μ = F⁻¹, each positive definite."""
    g = shipped(name)
    if has_nodes(g.log_partition):
        pytest.skip("no closed form")
    charts = g.metric_in_charts
    assert {p.claim for p in charts.proofs if not p.proved} == set()
    point, both = places(g)
    f, working = matrix(charts.natural, point), matrix(charts.working, both)
    j = matrix(charts.jacobian, both)
    assert close(j.T * f * j, working)
    back = j.inv()
    assert close(back.T * working * back, f)
    assert f.is_positive_definite
    assert working.is_positive_definite
    if charts.mean is not None:
        assert close(matrix(charts.mean, point), f.inv(), 1e-14)
    if charts.inverse_working is not None:
        assert close(matrix(charts.inverse_working, both), working.inv(), 1e-14)


@pytest.mark.sweep(12)
@pytest.mark.parametrize("name", SCALAR)
def test_the_working_metric_from_the_density(name: str) -> None:
    """F_ψ = −E_q[∇∇ log q] with log q in working parameters, by quadrature."""
    g = shipped(name)
    f = g.family
    if not f.working or has_nodes(g.log_partition):
        pytest.skip("no working parameters")
    point, both = places(g)
    log_q = exponent_of(f, g.ring) - g.log_partition
    there = log_q.xreplace(g.natural_of_working)
    with mpmath.workdps(20):
        table = Measure(f).table(point)
        for a, left in enumerate(g.working):
            for b, right in enumerate(g.working):
                curvature = partial(partial(there, left), right).subs(both)
                mean = table.mean([evaluate(curvature, {f.variable: x}) for x in table.x])
                wanted = sp.N(g.metric_in_charts.working[a][b].subs(both), 25)
                assert abs(wanted + sp.Float(mean, 20)) < 1e-10 * max(1, abs(wanted))


@pytest.mark.sweep(12)
@pytest.mark.parametrize("name", SCALAR)
def test_the_natural_gradient_is_the_same_in_every_chart(name: str) -> None:
    """∇_μ f = F⁻¹∇_λ f = J F_ψ⁻¹∇_ψ f: proved for every f, and tried on one."""
    g = shipped(name)
    charts = g.metric_in_charts
    proof = charts.natural_gradient
    if proof is None or has_nodes(g.log_partition):
        pytest.skip("its inverse metric has no short form")
    assert proof.level != "refuted"
    point, both = places(g)
    f = sp.Add(*[sp.sin(x) + x * y for x in g.natural for y in g.natural])
    one = matrix(charts.natural, point).inv() * matrix([[partial(f, x)] for x in g.natural], point)
    moved = f.xreplace(g.natural_of_working)
    slope = matrix([[partial(moved, w)] for w in g.working], both)
    other = matrix(charts.jacobian, both) * matrix(charts.inverse_working, both) * slope
    assert close(one, other, 1e-13)


def test_the_known_metrics() -> None:
    """diag(1/v, 1/(2v²)) for N(m, v)."""
    g = shipped("gaussian")
    v = g.working[1]
    assert g.metric_in_charts.working == ((1 / v, 0), (0, 1 / (2 * v**2)))


def test_a_metric_of_many_exponentials_is_left_unexpanded_and_quick(tmp_path):
    """Three points with two statistics: greatest common divisors of its entries take for ever."""
    path = tmp_path / "levels.toml"
    path.write_text(
        'name = "levels"\nvariable = "x"\nsupport = "{0, 1, 2}"\nstatistics = ["x", "x**2"]\n'
        'base_measure = "binomial(2, x)"\n[natural]\neta1 = "(-oo, oo)"\neta2 = "(-oo, oo)"\n'
    )
    text = render_geometry(geometry_of(read_family(str(path))))
    assert max(map(len, text.splitlines())) < 120
    assert len(text.splitlines()) < 200
