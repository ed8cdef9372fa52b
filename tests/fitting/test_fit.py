"""Mixtures fitted to a loss: what is exact, bounds, other families, and what is refused."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from blrgen.api import derive
from blrgen.cli.main import main
from blrgen.errors import UserError
from blrgen.fitting.gaussian import Gaussians
from blrgen.fitting.loss import target
from blrgen.fitting.nodes import coefficients, log_densities, log_sum, nodes
from blrgen.fitting.run import Run, candidate_of
from blrgen.fitting.start import first_state

FULL = "gaussian-full"


def fit(
    family: str, loss: str, count: int, steps: int, flags: tuple[str, ...] = (), seed: int = 0
) -> Any:
    d = derive(f"mixture:{family}", flags)
    t = target(loss, d.geometry.family, {})
    candidate = candidate_of(d, t, seed)
    return Run(d, candidate).to_rest(first_state(d, candidate, t, count, seed), steps, None)


@pytest.mark.core
@pytest.mark.parametrize("flags", [(), ("retraction",)])
def test_a_gaussian_is_found_exactly(flags: tuple[str, ...]) -> None:
    found = fit(FULL, "(theta1 - 1)**2 + theta2**2/2 + theta1*theta2/2", 1, 60, flags)
    precision = np.array([[2.0, 0.5], [0.5, 1.0]])
    np.testing.assert_allclose(found.state["S"][0], precision, atol=1e-3)
    np.testing.assert_allclose(found.state["m"][0], np.linalg.solve(precision, [2, 0]), atol=1e-3)
    # ℓ at its minimum is −b·S⁻¹b/2 + 1 with b = (2, 0)
    least = 1 - np.array([2, 0]) @ np.linalg.solve(precision, [2, 0]) / 2
    exact = math.log(2 * math.pi) - math.log(np.linalg.det(precision)) / 2 - least
    assert abs(found.objective - exact) < 1e-6


@pytest.mark.sweep(6)
@pytest.mark.parametrize(
    ("family", "loss", "mass"),
    [
        ("gaussian", "-log(exp(-(theta-2)**2/2) + exp(-(theta+2)**2/2))", math.sqrt(8 * math.pi)),
        ("gamma", "-log(x*exp(-x) + x**9*exp(-3*x)/100)", 1 + math.gamma(10) / 3**10 / 100),
        ("beta", "-6*log(x) - log(1-x)", math.gamma(7) * math.gamma(2) / math.gamma(9)),
        ("poisson", "loggamma(x+1) - log(2**x*exp(-2) + 20**x*exp(-20))", 2.0),
        ("exponential", "3*x", 1 / 3),
        ("bernoulli", "3*x", 1 + math.exp(-3)),
        ("normal-known-variance", "x**2/2", math.sqrt(2 * math.pi)),
    ],
)  # fmt: skip
def test_the_objective_reaches_the_log_mass_from_below(family: str, loss: str, mass: float) -> None:
    """Each target is, or nearly is, a mixture of two of the family's members."""
    found = fit(family, loss, 2, 40)
    assert math.log(mass) - 0.003 < found.objective <= math.log(mass) + 1e-7
    assert all(b >= a - 1e-9 for a, b in zip(found.trace, found.trace[1:], strict=False))


def test_a_corner_is_integrated_with_its_error_looked_at() -> None:
    """One Gaussian for exp(−|θ|): the best variance solves E[∇²ℓ] = 1/v, v = π/2."""
    found = fit("gaussian", "abs(theta)", 1, 40)
    np.testing.assert_allclose(found.state["v"], [math.pi / 2], rtol=1e-3)
    best = math.log(math.pi) / 2 + math.log(math.pi) / 2 + 0.5 - 1  # −E|θ| + entropy
    assert abs(found.objective - best) < 1e-5


def test_the_step_is_refined_until_two_rules_agree() -> None:
    d = derive("mixture:gaussian")
    smooth, corner = (target(x, d.geometry.family, {}) for x in ("theta**2/2", "abs(theta)"))
    state = {"m": np.array([0.1]), "v": np.array([1.0]), "pi": np.array([1.0])}
    levels = []
    for t in (smooth, corner):
        g = Gaussians(d, t)
        g.expected(state)
        levels.append(g.level[0])
    assert levels[1] > levels[0] + 2


def test_beyond_two_dimensions_draws_are_the_same_in_every_step() -> None:
    loss = "theta1**2/2 + theta2**2 + theta3**2/2"
    one, other = (fit(FULL, loss, 1, 15, ("retraction",)) for _ in range(2))
    assert one.trace == other.trace
    assert abs(one.objective - (1.5 * math.log(2 * math.pi) - math.log(2) / 2)) < 0.02
    assert "draws" in {n["kind"] for n in one.notes}


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main(["fit", *words])
    said = capsys.readouterr()
    return code, said.out, said.err


def test_the_answer_is_that_of_fit(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    words = ("--family", "mixture:gaussian-full", "--components", "2", "--steps", "2", "--json",
             "--loss", "theta1**2 + theta2**2/2")  # fmt: skip
    code, out, _ = run(capsys, *words)
    found = json.loads(out)
    assert code == 0 and found["schema"] == "blrgen.fit/1"
    assert found["steps"] == 2 and len(found["trace"]) == 3
    theta = found["posterior"]["theta"]
    assert np.shape(theta["m"]) == (2, 2) and np.shape(theta["S"]) == (2, 2, 2)
    assert sum(theta["pi"]) == pytest.approx(1)
    start = tmp_path / "start.json"
    start.write_text(json.dumps({"theta": {"m": theta["m"]}}))
    code, out, _ = run(capsys, *words, "--start", str(start))
    again = json.loads(out)
    assert code == 0 and again["posterior"]["theta"]["m"] != theta["m"]
    start.write_text(json.dumps({"theta": {"m": [[0, 0]], "S": [[[1, 2], [2, 1]]]}}))
    code, _, err = run(capsys, "--family", "mixture:gaussian-full", "--steps", "1", "--loss",
                       "theta1**2 + theta2**2", "--start", str(start))  # fmt: skip
    assert code == 2 and "S is not positive definite" in err


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--family", "gaussian-full", "--loss", "theta1"], "--family mixture:gaussian-full"),
        (["--family", "mixture:gaussian-full"], "is fitted to a loss"),
        (["--family", "mixture:gaussian-full", "--loss", "3"], "names no component of theta"),
        (["--family", "mixture:gaussian-full", "--loss", "theta1 + q"], "q"),
        (["--family", "mixture:gaussian", "--loss", "theta", "--components", "0"], "from 1 on"),
        (["--family", "mixture:wishart", "--loss", "3"], "names no component|not fitted"),
        ([], "fit what"),
        (["a.model", "--vmp", "--components", "3"], "--components is for mixtures"),
    ],
)  # fmt: skip
def test_mistakes_are_said(capsys: pytest.CaptureFixture[str], words: list[str], why: str) -> None:
    import re

    code, out, err = run(capsys, *words)
    assert code == 2 and not out and "Traceback" not in err and "this is a bug" not in err
    assert re.search(why, err)


def test_the_loss_is_read_by_the_safe_reader() -> None:
    with pytest.raises(UserError):
        target("__import__('os')", derive("mixture:gaussian").geometry.family, {})


def test_components_that_overlap_get_steps_past_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tails of a Laplace variable by four Gaussians: far quicker, and still from below."""
    quick = fit("gaussian", "abs(theta)", 4, 60)
    monkeypatch.setattr("blrgen.fitting.run.LARGEST", 1.0)
    slow = fit("gaussian", "abs(theta)", 4, 60)
    exact = math.log(2)
    assert slow.objective < quick.objective < exact + 1e-7
    assert exact - quick.objective < (exact - slow.objective) / 2


@pytest.mark.parametrize("d", [1, 2])
@pytest.mark.parametrize("narrow", [1.0, 1e9])
def test_log_q_at_nodes_is_that_at_points(d: int, narrow: float) -> None:
    """By products of z, or point by point where these would cancel."""
    rng = np.random.default_rng(d)
    rule, m = nodes(d, 0), rng.standard_normal((3, d))
    factors = np.tril(rng.standard_normal((3, d, d)) / 3) + np.eye(d)
    factors[1] *= narrow
    parts = (m, factors, np.log([0.2, 0.3, 0.5]))
    back = np.linalg.inv(factors[0]).T
    assert (coefficients(m[0], back, parts) is None) == (narrow > 1)
    points = m[0] + rule.z.T @ back.T
    plain = np.logaddexp.reduce(log_densities(points, parts), 0)
    np.testing.assert_allclose(log_sum(rule, m[0], back, parts), plain, rtol=1e-12, atol=1e-10)
