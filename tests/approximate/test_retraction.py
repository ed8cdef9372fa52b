"""Positive-definite steps: Christoffel symbols from the metric, and what they keep positive."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.linalg
import sympy as sp
from numeric import spd, symmetric, value

from blrgen.algebra.ranks import symmat
from blrgen.api import derive
from blrgen.approximate.retraction import christoffel_of
from blrgen.errors import NotApplicable
from blrgen.geometry.geometry import geometry_of
from blrgen.read.family import find_family, read_family
from blrgen.rule.expand import expanded


def test_christoffel_symbols_are_the_metrics() -> None:
    """Γ = −1/s in the precision, −1/v in the variance, −X S⁻¹ X in matrices."""
    for name in ("gaussian-diag", "gaussian"):
        g = geometry_of(read_family(find_family(name)))
        gamma, x = christoffel_of(g, g.working[1])
        assert sp.cancel(gamma + x**2 / g.working[1]) == 0
    g = geometry_of(read_family(find_family("gaussian-full")))
    gamma, x = christoffel_of(g, symmat("S"))
    assert gamma == -x * symmat("S") ** -1 * x


@pytest.mark.parametrize("d", [1, 2, 3, 4])
def test_the_geodesic_to_second_order(d: int) -> None:
    """S(t) = S^½ exp(t S^−½ X S^−½) S^½ is the geodesic of ½tr(S⁻¹dS S⁻¹dS); S″(0) = −Γ(X, X)."""
    rng = np.random.default_rng(d)
    s, x = spd(rng, d), symmetric(rng, d)
    root = scipy.linalg.sqrtm(s).real
    inside = np.linalg.inv(root) @ x @ np.linalg.inv(root)

    def geodesic(t: float) -> np.ndarray:
        return np.asarray(root @ scipy.linalg.expm(t * inside) @ root)

    g = geometry_of(read_family(find_family("gaussian-full")))
    gamma, direction = christoffel_of(g, symmat("S"))
    mine = value(gamma, {"S": s, str(direction): x})
    e = 1e-3
    second = (geodesic(e) - 2 * geodesic(0) + geodesic(-e)) / e**2
    np.testing.assert_allclose(-mine, second, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("flags", [[], ["prior=apart"], ["stochastic", "ess", "prior=apart"]])
@pytest.mark.parametrize("d", [1, 3])
def test_the_precision_stays_positive_definite(flags: list[str], d: int) -> None:
    """For any curvature, however negative; also where the state is the precision without δ."""
    derivation = derive("gaussian-full", [*flags, "retraction"])
    posterior = dict(derivation.rule.posterior)
    rule = expanded(derivation.rule)
    rng = np.random.default_rng(3)
    env = {"S": spd(rng, d), "rho": 0.9, "delta": 0.2, "N": 3.0, "d": float(d)}
    env |= {"m": np.zeros((d, 1)), "g": np.zeros((d, 1)), "theta": np.zeros((d, 1))}
    for _ in range(25):
        env["H"] = 20 * symmetric(rng, d)
        before = value(posterior["precision"], env)
        env["S"] = (lambda s: (s + s.T) / 2)(value(rule["S"], env))
        after = value(posterior["precision"], env)
        least = np.linalg.eigvalsh(np.atleast_2d(after))[0]
        assert least >= 0.4999 * np.linalg.eigvalsh(np.atleast_2d(before))[0] > 0


def test_the_variance_stays_positive() -> None:
    """In (m, v): v⁺ = v + ρX + ½ρ²X²/v with X = v − v²h, which has no real zero."""
    rule = expanded(derive("gaussian", ["coordinates=working", "retraction"]).rule)
    for h in (-50.0, 0.3, 40.0, 1e4):
        v, rho = 0.7, 0.9
        x = v - v**2 * h
        new = value(rule["v"], {"v": v, "h": h, "rho": rho})
        assert math.isclose(new, v + rho * x + rho**2 * x**2 / (2 * v), rel_tol=1e-10)
        assert new >= v / 2


@pytest.mark.parametrize("family", ["gaussian", "gaussian-diag", "gaussian-full"])
def test_refused_where_the_scale_is_fixed(family: str) -> None:
    with pytest.raises(NotApplicable, match="its scale has been fixed"):
        derive(family, ["fixed-scale", "retraction"])


@pytest.mark.parametrize(("family", "name"), [("gamma", "a"), ("wishart", "V")])
def test_refused_where_a_block_has_another_name(family: str, name: str) -> None:
    with pytest.raises(NotApplicable, match=f"{name} has another name"):
        derive(family, [f"rename={name}:q", "retraction"])


def test_made_where_a_block_gets_another_name_later() -> None:
    d = derive("gamma", ["retraction", "rename=a:q"])
    assert d.rule["q"].kind == "state"
    assert "a" not in d.rule


def test_refused_where_the_step_is_not_straight_in_these_coordinates() -> None:
    with pytest.raises(NotApplicable) as refused:
        derive("gaussian", ["retraction"])
    assert "not affine in v" in refused.value.why
    assert refused.value.how == "--coordinates working first"


def test_blocks_of_a_metric_that_couples(tmp_path: object) -> None:
    """In (λ₁, s) the metric has mixed entries: s keeps to its own block, and the line says so."""
    from pathlib import Path

    path = Path(str(tmp_path)) / "f.toml"
    path.write_text("""
name = "mixed"
title = "Gaussian in b = s m and s"
variable = "theta"
support = "(-oo, oo)"
statistics = ["theta", "theta**2"]
[natural]
lam1 = { domain = "(-oo, oo)", working = "b" }
lam2 = { domain = "(-oo, 0)", working = "-s/2" }
[working]
b = "(-oo, oo)"
s = "(0, oo)"
""")
    d = derive(str(path), ["retraction"])
    assert "couples b and s" in d.steps[-1].because
    rule = expanded(d.rule)
    inputs = [q.name for q in d.rule.of("input")]
    for k in range(40):
        env = {"b": 0.7, "s": 1.3, "rho": 0.9} | {n: (-3.0) ** (k % 7 - 2 * i) * (k - 20)
                                                  for i, n in enumerate(inputs)}  # fmt: skip
        assert value(rule["s"], env) > 0
