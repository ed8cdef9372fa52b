"""Rules of vectors by their components, as numbers at several sizes and against F⁻¹ itself."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import mpmath
import numpy as np
import pytest
import sympy as sp

from blrgen.algebra.components import Component, total
from blrgen.api import derive
from blrgen.core import Derivation
from blrgen.geometry.sized import Sized, points_of
from blrgen.read.family import list_families, read_family
from blrgen.rule.expand import expanded
from blrgen.value.arithmetic import EXTENDED
from blrgen.value.instance import Instance

FAMILIES = [n for n in list_families() if read_family(n).components is not None]
RHO = 0.3


def instance(d: Derivation, size: int) -> tuple[Instance, Sized]:
    """Numbers for states and inputs; the geometry at the same place."""
    family, rng = d.geometry.family, Random(size)
    sizes = {s: size for s in family.components.free_symbols}
    point = points_of(family, sizes, 1)[0]
    names: dict[str, Any] = {**point, "rho": mpmath.mpf(RHO)}
    here = Instance(sizes, names, EXTENDED)
    for x in d.geometry.working:
        names[x.name] = here.value(d.geometry.working_of_natural[x])
    for q in d.rule.of("input"):
        count = here.whole(q.symbol.size) if isinstance(q.symbol, Component) else 0
        names[q.name] = [mpmath.mpf(rng.uniform(-1, 1)) for _ in range(count)] or mpmath.mpf(
            rng.uniform(-1, 1)
        )
    return Instance(sizes, names, EXTENDED), Sized(d.geometry, sizes, point)


@pytest.mark.sweep(6)
@pytest.mark.parametrize("size", [2, 5])
@pytest.mark.parametrize("name", FAMILIES)
def test_the_step_is_the_natural_one(name: str, size: int) -> None:
    """λ(ψ⁺) = λ − ρ(∇_μ E_q[ℓ] − ∇_μ𝓗)."""
    d = derive(name)
    here, sized = instance(d, size)
    after = {x: here.value(e) for x, e in expanded(d.rule).items()}
    there = Instance(here.sizes, {**here.values, **after}, EXTENDED)
    for lam, slope, pull in zip(
        d.geometry.natural, d.expectation.mean_gradient, d.geometry.entropy_gradient, strict=True
    ):
        size_of = getattr(lam, "size", sp.S.One)

        def entries(i: Instance, e: Any, size_of: Any = size_of) -> Any:
            return np.array([float(v) for v in i.vector(e, size_of)])

        chart = d.geometry.natural_of_working[lam]
        moved = entries(there, chart)
        step = entries(here, slope) - entries(here, d.geometry.to_working(pull))
        assert moved == pytest.approx(entries(here, chart) - RHO * step, rel=1e-12, abs=1e-12)
    assert sized.natural


@pytest.mark.sweep(6)
@pytest.mark.parametrize("size", [2, 5])
@pytest.mark.parametrize("name", FAMILIES)
def test_scores_go_through_the_inverse_fisher_matrix(name: str, size: int) -> None:
    d = derive(name)
    here, sized = instance(d, size)
    gradient = []
    for x, slope in zip(d.geometry.natural, d.expectation.mean_gradient, strict=True):
        gradient += [float(v) for v in here.vector(slope, getattr(x, "size", sp.S.One))]
    fisher = np.array([[float(v) for v in row] for row in sized.fisher])
    inputs = [here.values[q.name] for q in d.rule.of("input")]
    flat = np.array([float(v) for r in inputs for v in (r if isinstance(r, list) else [r])])
    if d.expectation.route == "score":
        assert fisher @ np.array(gradient) == pytest.approx(flat, rel=1e-11)
    elif d.expectation.route == "enumeration":
        assert gradient == pytest.approx(flat[:-1] - flat[-1])


def test_categorical_takes_differences_of_losses() -> None:
    d = derive("categorical")
    assert str(d.rule.expr("eta_next")) == "eta*(1 - rho) - l1*rho + l2*rho"


def test_isotropic_gaussian_asks_for_the_laplacian() -> None:
    d = derive("gaussian-isotropic")
    assert d.expectation.route == "identities"
    assert "mean of the diagonal" in d.rule["h"].meaning
    assert str(d.rule.expr("v_next")) == "v/(h*rho*v - rho + 1)"
    assert str(d.rule.expr("m_next")) == "-g*rho*v_next + m"


def test_one_conjugate_step_is_bayes_rule() -> None:
    """A Dirichlet prior and counts: ℓ = −Σ n log x − Σ(α₀ − 1) log x gives α = n + α₀."""
    d = derive("dirichlet")
    sizes = {s: 3 for s in d.geometry.family.components.free_symbols}
    alpha, target = [1.5, 0.7, 2.2], [4.0, 1.0, 2.5]
    sized = Sized(d.geometry, sizes, {"eta": [mpmath.mpf(a) for a in alpha]})
    weights = np.array([1 - t for t in target])  # ℓ = Σ (1 − t_k) log x_k
    fisher = np.array([[float(v) for v in row] for row in sized.fisher])
    r = [mpmath.mpf(float(v)) for v in fisher @ weights]
    names = {"alpha": [mpmath.mpf(a) for a in alpha], "r1": r, "rho": mpmath.mpf(1)}
    found = Instance(sizes, names, EXTENDED).value(expanded(d.rule)["alpha"])
    assert [float(v) for v in found] == pytest.approx(target, rel=1e-12)


def test_a_family_nobody_has_seen(tmp_path: Path) -> None:
    """Gamma components with a common rate: independent, one statistic shared."""
    file = tmp_path / "shared-rate.toml"
    file.write_text(
        'name = "shared-rate"\nvariable = "x"\nsupport = "(0, oo)^d"\n'
        'statistics = ["log(x)", "sum(x)"]\nbase_measure = "1/prod(x)"\n'
        '[natural]\na = "(0, oo)^d"\nb = "(-oo, 0)"\n'
    )
    d = derive(str(file))
    assert str(d.geometry.log_partition) == "-log(-b)*total(a) + total(loggamma(a))"
    _, sized = instance(d, 3)
    fisher = np.array([[float(v) for v in row] for row in sized.fisher])
    assert fisher == pytest.approx(fisher.T) and np.all(np.linalg.eigvalsh(fisher) > 0)


@pytest.mark.parametrize(
    ("flags", "loss", "should"),
    [
        ([], "dot(y, theta) + dot(theta, theta)/2", "v/(rho*v - rho + 1)"),
        ([], "sum(theta)**2", "v/(2*rho*v - rho + 1)"),
        (["delta"], "sum(cos(theta))", "d*v/(-d*rho + d - rho*v*total(cos(m)))"),
        (["delta", "hessian=squared-gradient"], "", "d*v/(-d*rho + d + rho*v*total(g**2))"),
    ],
)
def test_the_mean_curvature_of_a_loss(flags: list[str], loss: str, should: str) -> None:
    d = derive("gaussian-isotropic", flags, loss=loss)
    found = d.rule.expr("v_next") - sp.sympify(0)
    names = {x.name: x for x in found.free_symbols}
    here, _ = instance(derive("gaussian-isotropic"), 3)
    here = here.with_({"y": [mpmath.mpf(1)] * 3})
    size = {"total": lambda x: total(x, sp.Symbol("d", integer=True, positive=True))}
    known = {"m": d.geometry.working[0], **names, **size, "d": sp.Symbol("d", integer=True,
             positive=True)}  # fmt: skip
    assert here.value(found - sp.sympify(should, locals=known)) == pytest.approx(0, abs=1e-14)


def test_a_conjugate_loss_is_in_the_span_of_the_statistics() -> None:
    d = derive("dirichlet", loss="-dot(y, log(x))")
    assert str(d.rule.expr("alpha_next")) == "alpha*(1 - rho) + y*rho + rho"
    assert [q.name for q in d.rule.of("input", "data")] == ["y"]


def test_categorical_rule_runs() -> None:
    step = derive("categorical").compile("numpy")
    eta = np.zeros(3)
    opt = step(eta, rho=1.0)
    opt.step(np.array([1.0, 2.0, 3.0]), 0.5)
    assert eta == pytest.approx([-0.5, -1.5, -2.5])
