"""The Python door: the same as the command line, and an object that shows itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import blrgen

pytestmark = pytest.mark.core

ADAM = [
    "delta", "stochastic", "hessian=squared-gradient", "square-root", "separate-rates",
    "slow-scale", "momentum", "bias-correction",
]  # fmt: skip


@pytest.mark.long
def test_a_family_and_its_approximations() -> None:
    d = blrgen.derive("gaussian-diag", ADAM)
    assert next(s.approximation for s in d.steps if s.approximation) == "delta"
    assert {q.name for q in d.rule.of("hyper")} == {"alpha", "beta1", "beta2", "c"}
    verdict = d.prove("adam")
    assert verdict.proved
    assert str(d.identify()).splitlines()[-1].strip().startswith("adam (identity)")


def test_a_ready_class() -> None:
    kind = blrgen.derive("adam").compile("numpy")
    params, truth = np.zeros(3), np.array([1.0, -2.0, 3.0])
    opt = kind(params, alpha=0.1)
    for _ in range(500):
        opt.step(params - truth)
    assert np.abs(params - truth).max() < 1e-2


def test_it_displays_as_mathematics() -> None:
    d = blrgen.derive("newton")
    assert "$$" in d._repr_markdown_()
    assert "(S⁺)⁻¹" in str(d)


def test_approximations_after_a_recipe_are_appended() -> None:
    d = blrgen.derive("von", ["delta", "rho=1"])
    assert d.approximations == (("delta", None), ("rho", "1"))
    assert d.prove("newton").proved


@pytest.mark.parametrize(
    ("what", "said", "wanted"),
    [
        ("gausian-diag", [], "did you mean 'gaussian-diag'"),
        ("gaussian-diag", ["dleta"], "did you mean 'delta'"),
        ("gaussian-diag", ["hessian=gaus-newton"], "did you mean 'gauss-newton'"),
        ("gaussian-diag", ["hessian"], "needs a value"),
        ("gaussian-diag", ["delta=1"], "takes no value"),
        ("gaussian-fixed", ["square-root"], "no scale that is learned"),
        ("bernoulli-sign", ["delta"], "--relax"),
    ],
)
def test_mistakes_are_explained(what: str, said: list[str], wanted: str) -> None:
    with pytest.raises(blrgen.UserError) as caught:
        blrgen.derive(what, said)
    assert wanted in str(caught.value)


TAKEN = """
name = "taken"
title = "Gaussian whose parameters have names that rules use"
variable = "x"
support = "R^d"
statistics = ["x", "x**2"]
[natural]
l1 = { domain = "R^d", working = "alpha*beta" }
l2 = { domain = "(-oo, 0)^d", working = "-beta/2" }
[working]
alpha = "R^d"
beta = "(0, oo)^d"
"""


def test_a_familys_own_names_are_never_merged_with_a_rules(tmp_path: Path) -> None:
    path = tmp_path / "taken.toml"
    path.write_text(TAKEN)
    with pytest.raises(blrgen.UserError, match="the name alpha is taken"):
        blrgen.derive(str(path), ["delta", "separate-rates"])
    renamed = ["rename=alpha:m", "rename=beta:s", *ADAM]
    assert blrgen.derive(str(path), renamed).prove("adam").proved


@pytest.mark.long
def test_a_concrete_loss_does_not_undo_an_approximation() -> None:
    """Gauss–Newton puts per-example squares for the Hessian, whatever the loss is."""
    d = blrgen.derive("vogn", loss="log(1+exp(-y*theta))")
    assert "h" in d.rule
    assert d.rule.expr("s_next").has(d.rule["h"].symbol)
    assert not d.rule.expr("s_next").has(d.rule["y"].symbol)
    exact = blrgen.derive("gaussian-diag", ["stochastic"], loss="log(1+exp(-y*theta))")
    assert "h" not in exact.rule


def test_a_family_is_its_geometry() -> None:
    g = blrgen.family("gaussian")
    assert g.metric_in_charts.working[0][0] == 1 / g.working[1]
    assert "Kullback–Leibler" in str(g)
    assert g._repr_html_().startswith("<h1>") and "<math>" in g._repr_html_()
    assert g._repr_latex_().startswith("$\\displaystyle") and r"\mathcal{H}" in g._repr_latex_()
    assert "$$" in g._repr_markdown_()
    with pytest.raises(blrgen.UserError):
        blrgen.family("gausian")
