"""What `posterior` says is held to the exact posterior; where there is none, the class says why.

Every recipe and some other roads are trained on a small logistic problem by the words of
their inputs (`tests/logistic.py`).  The factor that is looked for is large: √N = 20 where a
sum was taken for a mean, 200 after a square root.
"""

from __future__ import annotations

import json
from typing import Any

import logistic
import numpy as np
import pytest

from blrgen import derive
from blrgen.api import approximate
from blrgen.read.recipe import read_recipes
from blrgen.show.derivation import FORMATS, render
from tests.shipped import derived

RATES = {"rho": 0.02, "alpha": 0.02, "beta": 0.002, "beta1": 0.9, "beta2": 0.998, "h0": 0.2}
GAUSSIAN = [
    name
    for name, recipe in read_recipes().items()
    if recipe.family.startswith("gaussian") and not recipe.loss
]


def made(d: Any, start: float = 0.0, **more: float) -> Any:
    """The class at a start, with what its hyperparameters say of the rows and the prior."""
    rule = d.rule
    given = {q.name: RATES[q.name] for q in rule.of("hyper") if q.name in RATES}
    given |= {"N": float(logistic.ROWS)} if "N" in rule else {}
    if "delta" in rule:
        each = "per example" in rule["delta"].meaning
        given["delta"] = logistic.PRIOR / (logistic.ROWS if each else 1)
    cls = d.compile("numpy")
    return cls(np.full(1, start), **{**given, **more})


@pytest.mark.sweep(8)
@pytest.mark.parametrize("name", GAUSSIAN)
def test_the_spread_is_the_posteriors(name: str) -> None:
    """Trained by what the inputs say, and with as many rows as the note on the spread asks for."""
    d = derived(name)
    if d.rule.unkept:
        assert not hasattr(made(d), "posterior")
        return
    minibatch = any("minibatch" in q.meaning for q in d.rule.of("input"))
    one, narrow = ("one row in a minibatch" in d.rule.bounded, "too narrow" in d.rule.bounded)
    batch, more = (1, {"alpha": 0.001}) if one else (40, {"alpha": 0.5} if narrow else {})
    if ("coordinates", "working") in d.approximations:
        more = {"rho": 0.01}
    opt = made(d, start=1.0, **more)
    steps = (15000 if one else 4000) if minibatch else 1000
    mean, deviation = logistic.train(d, opt, steps, batch)
    wanted, spread = logistic.exact()
    factor = np.sqrt(batch / logistic.ROWS) if narrow else 1
    assert abs(mean - wanted) < (0.35 if minibatch else 0.1) * spread
    assert deviation == pytest.approx(factor * spread, rel=0.12 if minibatch else 0.04)


@pytest.mark.parametrize("name", ["ogn", "vogn", "ogn-batch", "vogn-batch"])
def test_gauss_newton_finds_map_and_laplace(name: str) -> None:
    """From far away, all rows a step: without draws the mean is the MAP, the spread Laplace's."""
    d = derived(name)
    delta = ("delta", None) in d.approximations
    mean, deviation = logistic.train(d, made(d, start=4.0, rho=0.05), 1500, logistic.ROWS)
    at, spread = logistic.laplace()
    assert mean == pytest.approx(at, abs=1e-9 if delta else 0.15 * spread)
    assert deviation == pytest.approx(spread, rel=0.05)


def test_sums_and_means_agree() -> None:
    """vogn on N times the means, with the prior's δm, is vogn-batch on the means."""
    sums, means = (derived(name) for name in ("vogn", "vogn-batch"))
    rng = np.random.default_rng(1)
    one, other = made(sums, rho=0.1), made(means, rho=0.1)
    one.s[0][:] = logistic.ROWS * (other.s[0] + other.delta)
    for _ in range(20):
        eps, g, h = rng.standard_normal((3, 1))
        theta, again = one.draw(eps=eps), other.draw(eps=eps)
        np.testing.assert_allclose(theta, again, rtol=1e-12)
        there = logistic.PRIOR * other.params
        one.step(logistic.ROWS * g + there, logistic.ROWS * h * h)
        other.step(g, h * h)
        for a, b in zip(one.posterior(), other.posterior(), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12)


ROADS = {
    # road: a word of the reason; empty where there is a posterior
    "adam": "the root of s divides the mean step",
    "rmsprop": "the root of s divides the mean step",
    "gaussian-diag --delta --square-root": "the root of s divides the mean step",
    "gaussian-diag --square-root": "the root of s divides the mean step",
    "sgd": "is given and not learned",
    "gaussian-diag --delta --fixed-scale": "is given and not learned",
    "gaussian-diag --delta --hessian squared-gradient": "the square of the whole gradient",
    "ste": "the entropy's pull is left out",
    "vadam": "",
    "gaussian-diag --stochastic --square-root": "",
    "gaussian-diag --delta --stochastic --hessian squared-gradient": "",
    "gaussian-fixed": "",
    "bayesbinn": "",
}


def of(road: str) -> Any:
    """The derivation of a road as one types it."""
    what, *flags = road.split(" --")
    return derive(what, [flag.replace(" ", "=") for flag in flags])


@pytest.mark.sweep(6)
@pytest.mark.parametrize(("road", "why"), ROADS.items())
@pytest.mark.parametrize("target", ["numpy", "numba"])
def test_no_posterior_where_none_is_kept(road: str, why: str, target: str) -> None:
    d = of(road)
    source = d.source(target)
    notes = json.loads(render(d, "json")).get("notes", [])
    opt = d.compile(target)(np.zeros(3))
    assert [hasattr(opt, "posterior"), hasattr(opt, "sample")] == [not why] * 2
    if not why:
        assert "There is no posterior" not in source and not any("no posterior" in x for x in notes)
        return
    assert any(note.startswith("no posterior") and why in note for note in notes)
    said = " ".join(source.split())
    assert "There is no posterior: " in said and why in said
    for format in FORMATS:
        assert "o posterior: " in render(d, format), format
    for name in ("posterior", "sample"):
        with pytest.raises(AttributeError, match=f"has no {name}: .*{why}"):
            getattr(opt, name)
    with pytest.raises(AttributeError, match="has no attribute 'other'"):
        opt.other  # noqa: B018


def test_what_is_no_posterior_can_still_be_rewritten() -> None:
    """A finished derivation takes further approximations, and then tells of itself anew."""
    d = approximate(derive("gaussian-diag", ["delta"]), "hessian", "squared-gradient")
    assert d.rule.unkept and d.rule["s"].meaning.startswith("scale")
    d = derive("gaussian-diag", ["stochastic", "hessian=gauss-newton"])
    assert "with the prior's δm in it" in d.rule["g"].meaning
    assert "curvature alone" in d.rule["delta"].meaning
    d = approximate(approximate(d, "ess"), "prior", "apart")
    assert d.rule["g"].meaning == derive("vogn-batch").rule["g"].meaning
    assert d.rule["delta"].meaning == derive("vogn-batch").rule["delta"].meaning
    d, adam = derive("gaussian-diag"), derive("adam")
    for flag, option in adam.approximations:
        d = approximate(d, flag, option)
    assert d.rule == adam.rule
