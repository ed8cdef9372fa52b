"""Conjugate Bayes: a loss in the span of the statistics moves λ by its coefficients, exactly."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy as sp
from numeric import value

from blrgen.api import derive
from blrgen.core import Derivation
from blrgen.errors import NotApplicable
from blrgen.rule.expand import expanded

HEAD = 'name = "candidate"\ntitle = "Candidate"\nvariable = "{x}"\nsupport = "{support}"\n'
GAMMA = (
    HEAD.format(x="rate", support="(0, oo)")
    + 'statistics = ["log(rate)", "rate"]\nbase_measure = "1/rate"\n'
    '[natural]\neta1 = "(0, oo)"\neta2 = "(-oo, 0)"\n'
    '[working]\na = { domain = "(0, oo)", natural = "eta1" }\n'
    'b = { domain = "(0, oo)", natural = "-eta2" }\n'
)
BETA = (
    HEAD.format(x="p", support="(0, 1)")
    + 'statistics = ["log(p)", "log(1-p)"]\nbase_measure = "1/(p*(1-p))"\n'
    '[natural]\na = "(0, oo)"\nb = "(0, oo)"\n'
)
INVERSE_GAMMA = (
    HEAD.format(x="v", support="(0, oo)") + 'statistics = ["log(v)", "1/v"]\nbase_measure = "1/v"\n'
    '[natural]\ne1 = "(-oo, 0)"\ne2 = "(-oo, 0)"\n'
    '[working]\na = { domain = "(0, oo)", natural = "-e1" }\n'
    'b = { domain = "(0, oo)", natural = "-e2" }\n'
)
# the same density without a base measure: T absorbs h
PLAIN_GAMMA = GAMMA.replace('base_measure = "1/rate"\n', "")
PLAIN_GAMMA = PLAIN_GAMMA.replace('eta1 = "(0, oo)"', 'eta1 = "(-1, oo)"')
PLAIN_GAMMA = PLAIN_GAMMA.replace('natural = "eta1"', 'natural = "eta1 + 1"')
SHIPPED = "gaussian"
PAIRS: dict[str, tuple[str, str, str, dict[str, str]]] = {
    # candidate, −log likelihood, −log prior in the candidate's own form, posterior
    "gamma and Poisson": (
        GAMMA, "rate*n - y*log(rate)", "b0*rate - (a0-1)*log(rate)", {"a": "a0+y", "b": "b0+n"},
    ),
    "gamma and exponential": (
        GAMMA, "rate*y - log(rate)", "b0*rate - (a0-1)*log(rate)", {"a": "a0+1", "b": "b0+y"},
    ),
    "plain gamma and Poisson": (
        PLAIN_GAMMA, "rate*n - y*log(rate)", "b0*rate - (a0-1)*log(rate)",
        {"a": "a0+y", "b": "b0+n"},
    ),
    "beta and binomial": (
        BETA, "-(y*log(p) + (n-y)*log(1-p))", "-(a0-1)*log(p) - (b0-1)*log(1-p)",
        {"a": "a0+y", "b": "b0+n-y"},
    ),
    "beta and geometric": (
        BETA, "-(log(p) + y*log(1-p))", "-(a0-1)*log(p) - (b0-1)*log(1-p)",
        {"a": "a0+1", "b": "b0+y"},
    ),
    "inverse gamma and variance": (
        INVERSE_GAMMA, "log(v)/2 + (y-m0)**2/(2*v)", "(a0+1)*log(v) + b0/v",
        {"a": "a0+1/2", "b": "b0+(y-m0)**2/2"},
    ),
    "normal and normal": (
        SHIPPED, "(y-theta)**2/(2*w)", "(theta-m0)**2/(2*v0)",
        {"v": "1/(1/v0+1/w)", "m": "(m0/v0+y/w)/(1/v0+1/w)"},
    ),
}  # fmt: skip


def made(text: str, folder: Path, flags: list[str], loss: str) -> Derivation:
    if "\n" not in text:
        return derive(text, flags, loss=loss)
    path = folder / "candidate.toml"
    path.write_text(text)
    return derive(str(path), flags, loss=loss)


def same(x: Any, text: str) -> bool:
    names = {s.name: s for s in x.free_symbols}
    wanted = sp.sympify(text, locals={**names, **{n: names.get(n, sp.Symbol(n)) for n in "ab"}})
    plain = {s: sp.Symbol(s.name) for s in (x - wanted).free_symbols}
    return bool(sp.cancel(sp.together((x - wanted).xreplace(plain))) == 0)


@pytest.mark.parametrize("pair", PAIRS)
def test_one_step_is_bayes_rule(pair: str, tmp_path: Path) -> None:
    """With ρ = 1 the posterior, whatever the state before: not an input is left."""
    text, likelihood, prior, posterior = PAIRS[pair]
    d = made(text, tmp_path, ["rho=1"], f"{likelihood} + {prior}")
    assert not d.rule.of("input")
    for name, wanted in posterior.items():
        assert same(expanded(d.rule)[name], wanted), (name, expanded(d.rule)[name])


@pytest.mark.parametrize("pair", PAIRS)
def test_the_posterior_so_far_as_the_prior(pair: str, tmp_path: Path) -> None:
    """One observation after the other: a ← a + …, by the same increments."""
    text, likelihood, _, posterior = PAIRS[pair]
    d = made(text, tmp_path, ["prior=current", "rho=1"], likelihood)
    own = {"a0": "a", "b0": "b"}
    if pair.startswith("normal"):
        own = {"m0": "m", "v0": "v"}
    for name, wanted in posterior.items():
        here = wanted
        for old, new in own.items():
            here = here.replace(old, f"({new})") if old in posterior_names(pair) else here
        assert same(expanded(d.rule)[name], here), (name, expanded(d.rule)[name])


def posterior_names(pair: str) -> set[str]:
    """The prior's own constants (m0 is data where the candidate is a variance)."""
    return {"m0", "v0"} if pair.startswith("normal") else {"a0", "b0"}


@pytest.mark.parametrize("pair", ["gamma and Poisson", "beta and binomial"])
def test_damped_steps_end_at_the_same_place(pair: str, tmp_path: Path) -> None:
    text, likelihood, prior, posterior = PAIRS[pair]
    d = made(text, tmp_path, [], f"{likelihood} + {prior}")
    env: dict[str, float] = {"a0": 2.5, "b0": 1.5, "y": 3.0, "n": 7.0, "rho": 0.4, "a": 1.0,
                             "b": 1.0}  # fmt: skip
    for _ in range(80):
        env |= {k: float(value(x, env)) for k, x in expanded(d.rule).items()}
    for name, wanted in posterior.items():
        assert env[name] == pytest.approx(float(sp.sympify(wanted).subs(env)), rel=1e-12)


def test_what_is_not_conjugate_leaves_an_input_for_the_rest_alone(tmp_path: Path) -> None:
    """ℓ = 3 rate + log(1 + rate): 3 enters exactly, log(1 + rate) through its expectation."""
    d = made(GAMMA, tmp_path, [], "3*rate + log(1+rate)")
    assert all("log(rate + 1)" in q.meaning for q in d.rule.of("input"))
    zero = {q.name: 0.0 for q in d.rule.of("input")}
    after = {k: value(x, {"a": 2.0, "b": 1.0, "rho": 0.1, **zero})
             for k, x in expanded(d.rule).items()}  # fmt: skip
    assert after["b"] == pytest.approx(0.9 * 1 + 0.1 * 3)
    assert after["a"] == pytest.approx(0.9 * 2 + 0.1)


@pytest.mark.parametrize(
    ("loss", "expected"),
    [
        ("rate**2", lambda a, b: a * (a + 1) / b**2),
        ("k*exp(-rate)", lambda a, b: 0.7 * (b / (b + 1)) ** a),
        ("rate*log(rate)", None), ("log(rate)**2 + rate", None), ("rate**3 - 2*rate", None),
    ],
)  # fmt: skip
def test_closed_expectations(loss: str, expected: Any, tmp_path: Path) -> None:
    """∇_μE by the closed form = F⁻¹ Cov[ℓ, T], by quadrature of the gamma density."""
    import scipy.stats

    d = made(GAMMA, tmp_path, ["route=moments"], loss)
    assert not d.rule.of("input")
    a, b, k = 2.3, 1.4, 0.7
    t = np.linspace(-60, 8, 40001)
    x = np.exp(t)
    w = scipy.stats.gamma.pdf(x, a, scale=1 / b) * x * (t[1] - t[0])
    f = sp.lambdify(sp.symbols("rate k"), sp.sympify(loss), "numpy")(x, k)
    if expected is not None:
        assert np.sum(w * f) == pytest.approx(expected(a, b), rel=1e-9)
    stats = np.array([np.log(x), x])
    centred = stats - (stats @ w)[:, None]
    wanted = np.linalg.solve((centred * w) @ centred.T, (centred * w) @ f)
    mine = [value(g, {"a": a, "b": b, "k": k}) for g in d.expectation.mean_gradient]
    np.testing.assert_allclose(mine, wanted, rtol=1e-7)


@pytest.mark.parametrize("loss", ["1/rate", "rate**(-k)"])
def test_an_expectation_that_is_infinite_somewhere_has_no_closed_form(
    loss: str, tmp_path: Path
) -> None:
    """E[1/x] of a gamma is infinite for shapes up to 1: not to be used for all of them."""
    with pytest.raises(NotApplicable, match="not found in closed form"):
        made(GAMMA, tmp_path, ["route=moments"], loss)


MATRICES = {
    "wishart and a normal precision": (
        'name = "wish"\ntitle = "W"\nvariable = "X"\nsupport = "SPD"\n'
        'statistics = ["logdet(X)", "X"]\n'
        '[natural]\neta = "(-1, oo)"\nLam = "-SPD"\n',
        "0.5*dot(y, X*y) - 0.5*logdet(X)", {"eta": (1, 2)},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MATRICES)
def test_matrix_conjugacy(name: str, tmp_path: Path) -> None:
    text, loss, increments = MATRICES[name]
    d = made(text, tmp_path, ["prior=current", "rho=1"], loss)
    assert not d.rule.of("input")
    for state, (top, bottom) in increments.items():
        move = d.rule.expr(f"{state}_next") - d.rule[state].symbol
        assert move == sp.Rational(top, bottom)
    last = d.rule.of("state")[-1]
    y = np.array([[0.3], [-1.2]])
    now = -np.array([[2.0, 0.4], [0.4, 1.0]])
    after = value(d.rule.expr(f"{last.name}_next"), {last.name: now, "y": y})
    np.testing.assert_allclose(after, now - y @ y.T / 2)
