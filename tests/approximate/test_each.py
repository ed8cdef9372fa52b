"""Each approximation: what it rewrites, and what it refuses with which reason."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import sympy as sp

from blrgen.algebra.ranks import T
from blrgen.algebra.words import normal
from blrgen.api import derive
from blrgen.approximate.tools.base import parse_request, registry
from blrgen.approximate.tools.rewrite import substitute
from blrgen.core import Derivation
from blrgen.decide.equal import equal
from blrgen.errors import NotApplicable, UserError
from blrgen.rule.expand import domains_of

pytestmark = pytest.mark.core

P = dict(positive=True)
NAMES = {
    n: sp.Symbol(n, **P)
    for n in ("rho", "alpha", "beta", "beta1", "beta2", "gamma", "delta", "N", "c", "tau", "h0",
              "s", "s_next", "s_prev", "h_next", "v", "v_next", "clip")
} | {n: sp.Symbol(n, real=True) for n in ("m", "m_prev", "g", "h", "u", "u_next", "eps", "theta",
                                          "lam", "lam0", "mu", "h_hat", "lam_prev", "g_q", "h_q",
                                          "z", "w", "pi")}  # fmt: skip
NAMES["t"] = sp.Symbol("t", integer=True, positive=True)


def says(d: Derivation, name: str, text: str) -> bool:
    """The assignment `name` is this formula (proved, not compared as text)."""
    expr = d.rule.expr(name)
    own = {s.name: s for s in expr.free_symbols}
    wanted = sp.sympify(text, locals={**NAMES, **own})
    return equal(expr, wanted, domains_of(d.rule)).proved


def diag(*flags: str) -> Derivation:
    return derive("gaussian-diag", flags)


def place(d: Derivation, name: str) -> str:
    return d.rule[name].text


REWRITES: dict[str, Callable[[], bool]] = {
    "delta": lambda: place(diag("delta"), "g") == "∇ℓ(m)" and place(diag(), "g") == "𝔼_q[∇ℓ]",
    "stochastic": lambda: place(diag("stochastic"), "g") == "ĝ(θ)"
    and says(diag("stochastic"), "theta", "m + eps/sqrt(s)")
    and place(diag("delta", "stochastic"), "g") == "ĝ(m)",
    "hessian": lambda: says(diag("hessian=squared-gradient"), "s_next", "(1-rho)*s + rho*g**2")
    and says(diag("hessian=gauss-newton"), "s_next", "(1-rho)*s + rho*(h+delta)")
    and says(diag("hessian=reparam"), "h_hat", "sqrt(s)*eps*g")
    and says(diag("hessian=exact"), "s_next", "(1-rho)*s + rho*h"),
    "square-root": lambda: says(diag("square-root"), "m_next", "m - rho*g/(sqrt(s_next)+c)"),
    "separate-rates": lambda: says(diag("separate-rates"), "m_next", "m - alpha*g/s_next")
    and says(diag("separate-rates"), "s_next", "(1-beta)*s + beta*h"),
    "slow-scale": lambda: "s_prev" not in diag("momentum", "slow-scale").rule,
    "momentum": lambda: says(
        diag("momentum"), "m_next", "m - rho*(1-beta1)*g/s_next + beta1*s_prev/s_next*(m-m_prev)"
    )
    and says(
        diag("momentum"), "s_next", "s - rho*(1-beta1)*(s-h) + beta1*(s-s_prev)"
    )
    and says(derive("gaussian-fixed", ["momentum"]), "u_next", "gamma*u + g"),
    "bias-correction": lambda: says(
        diag("hessian=squared-gradient", "square-root", "bias-correction"),
        "m_next", "m - rho*g/(sqrt(s_next/(1-(1-rho)**t))+c)",
    ),
    "fixed-scale": lambda: says(diag("fixed-scale"), "m_next", "m - rho*g")
    and "s" not in diag("fixed-scale").rule,
    "rho": lambda: says(diag("rho=1"), "s_next", "h") and "rho" not in diag("rho=1").rule,
    "retraction": lambda: says(
        diag("retraction"), "s_next", "(s + (s + rho*(h-s))**2/s)/2"
    ) and says(diag("retraction"), "m_next", "m - rho*g/s"),
    "precision": lambda: says(diag("precision=old"), "m_next", "m - rho*g/s")
    and says(diag("retraction", "precision=new"), "m_next", "m - rho*g/s_next"),
    "prior": lambda: says(diag("prior=total"), "m_next", "m - rho*(g + delta*m)/s_next")
    and says(diag("prior=total"), "s_next", "(1-rho)*s + rho*(h+delta)")
    and says(diag("prior=apart"), "s_next", "(1-rho)*s + rho*h")
    and says(diag("prior=apart"), "m_next", "m - rho*(g + delta*m)/(s_next+delta)"),
    "ess": lambda: says(diag("stochastic", "ess"), "theta", "m + eps/sqrt(N*s)")
    and says(derive("gaussian", ["ess", "stochastic"]), "theta", "m + eps*sqrt(v/N)"),
    "clip": lambda: says(diag("clip"), "m_next", "m - rho*Max(-c, Min(c, g/s_next))"),
    "rescale": lambda: says(diag("separate-rates", "rescale"), "m_next", "m - alpha*h0*g/s_next")
    and diag("separate-rates", "rescale").rule["s"].init == NAMES["h0"],
    "start": lambda: diag("start").rule["s"].init == NAMES["h0"],
    "rename": lambda: says(diag("rename=s:q"), "m_next", "m - rho*g/q_next"),
    "coordinates": lambda: says(derive("gaussian", ["coordinates=working"]), "v_next",
                                "v - rho*(v**2*h - v)")
    and says(diag("coordinates=working"), "m_next", "m - rho*g/s"),
    "relax": lambda: says(
        derive("bernoulli-sign", ["relax"]), "lam_next",
        "(1-rho)*lam - rho*g*(1-theta**2)/(tau*(1-mu**2))",
    ) and says(derive("bernoulli-sign", ["relax"]), "theta", "tanh((lam+eps)/tau)"),
    "spike": lambda: says(diag("spike"), "m_next", "m - rho*(g + g_q)/s_next")
    and says(diag("spike"), "s_next", "s + rho*(h + h_q)")
    and says(diag("spike", "delta", "stochastic"), "theta", "z*m"),
    "responsibility": lambda: says(
        diag("spike", "delta", "responsibility"), "s_next", "(1-rho)*s + rho*h"
    ) and says(diag("spike", "delta", "responsibility"), "m_next", "m - rho*g/s_next"),
    "inverted": lambda: says(derive("dropout", ["inverted"]), "w_next", "w - alpha*z*g/pi")
    and says(derive("dropout", ["inverted"]), "theta", "z*w/pi"),
    "fixed-weights": lambda: "pi_next" not in {
        a.name for a in derive("mixture:gaussian-diag", ["delta", "fixed-weights"]).rule.assignments
    },
    "straight-through": lambda: says(
        derive("bernoulli-sign", ["relax", "straight-through"]), "lam_next", "(1-rho)*lam - rho*g"
    ),
    "no-shrinkage": lambda: says(
        derive("bernoulli-sign", ["relax", "straight-through", "no-shrinkage"]), "lam_next",
        "lam - alpha*g",
    ),
    "tau": lambda: says(
        derive("bernoulli-sign", ["relax", "straight-through", "tau=0"]), "theta", "sign(lam+eps)"
    ) and says(derive("bernoulli-sign", ["relax", "tau=1/2"]), "theta", "tanh(2*(lam+eps))"),
    "stale-mean": lambda: says(derive("bernoulli-sign", ["relax", "stale-mean"]), "mu",
                               "tanh(lam_prev)"),
    "fixed-point": lambda: diag("delta", "fixed-point").rule.until == "fixed point",
    "route": lambda: [q.name for q in diag("route=score").rule.of("input")] == ["r1", "r2"]
    and [q.name for q in diag("route=identities").rule.of("input")] == ["g", "h"],
    "backtracking": lambda: says(diag("backtracking"), "s_next", "(1-rho_in)*s + rho_in*h")
    and diag("backtracking").rule.expr("way").has(NAMES["h"]),
}  # fmt: skip

REFUSALS: dict[str, tuple[str, list[str], str]] = {
    "delta": ("gaussian-diag", ["delta", "delta"], "no expectation under q is left"),
    "stochastic": ("bernoulli-sign", ["stochastic"], "expected losses, not for gradients"),
    "hessian": ("gaussian-diag", ["delta", "hessian=reparam"], "delta method has removed the draw"),
    "square-root": ("gaussian-full", ["square-root"], "coordinate by coordinate"),
    "separate-rates": ("gaussian-diag", ["rho=1", "separate-rates"], "already separate, or fixed"),
    "slow-scale": ("gaussian-fixed", ["slow-scale"], "no scale"),
    "momentum": ("gaussian-diag", ["retraction", "momentum"], "the old s divides the mean step"),
    "bias-correction": ("gaussian-diag", ["bias-correction"], "no state is a moving average"),
    "fixed-scale": ("gaussian-fixed", ["fixed-scale"], "no scale"),
    "rho": ("gaussian-diag", ["separate-rates", "rho=1"], "replaced by other step sizes"),
    "retraction": ("gaussian", ["retraction"], "not affine in v"),
    "precision": ("gaussian-diag", ["precision=new"], "already divides"),
    "prior": ("gaussian", ["prior=total"], "is no average"),
    "ess": ("bernoulli-sign", ["ess"], "does not probe gradients"),
    "clip": ("gaussian-full", ["clip"], "mixes them"),
    "rescale": ("gaussian-diag", ["rescale"], "no step size of its own"),
    "start": ("gaussian-diag", ["square-root", "start"], "starts at zero"),
    "rename": ("gaussian-diag", ["rename=s:eps"], "is taken, or kept"),
    "coordinates": ("gaussian-diag", ["rho=1", "coordinates=working"], "rewritten already"),
    "relax": ("gaussian-diag", ["relax"], "two values"),
    "straight-through": ("gaussian-diag", ["straight-through"], "not relaxed"),
    "no-shrinkage": ("gaussian-diag", ["no-shrinkage"], "does not shrink it"),
    "tau": ("bernoulli-sign", ["relax", "tau=0"], "has no limit"),
    "stale-mean": ("gaussian-diag", ["stale-mean"], "no mean parameter"),
    "fixed-point": ("gaussian-diag", ["stochastic", "fixed-point"], "no fixed point"),
    "route": ("gaussian-diag", ["delta", "route=score"], "rewritten already"),
    "spike": ("gaussian-diag", ["delta", "spike"], "rewritten already"),
    "responsibility": ("gaussian-diag", ["responsibility"], "no component of a mixture"),
    "fixed-weights": ("gaussian-diag", ["fixed-weights"], "is no mixture"),
    "inverted": ("gaussian-diag", ["spike", "delta", "inverted"], "no mask is drawn"),
    "backtracking": ("gaussian-diag", ["square-root", "backtracking"], "no straight line"),
}  # fmt: skip


def test_the_registry_is_complete() -> None:
    """Every module says what it is, rewrites, requires; every one is tested here."""
    assert set(registry()) == set(REWRITES) == set(REFUSALS)
    for flag, a in registry().items():
        assert (a.flag, bool(a.summary), bool(a.rewrites), bool(a.requires)) == (
            flag, True, True, True,
        )  # fmt: skip
        assert a.citation or flag in ("rename", "start"), flag


@pytest.mark.parametrize("flag", sorted(REWRITES))
def test_rewrites(flag: str) -> None:
    assert REWRITES[flag]()


@pytest.mark.parametrize("flag", sorted(REFUSALS))
def test_refuses_with_a_reason(flag: str) -> None:
    family, flags, reason = REFUSALS[flag]
    with pytest.raises(NotApplicable) as refused:
        derive(family, flags)
    assert f"--{flag}" in refused.value.what
    assert reason in refused.value.why
    assert "after: blrgen derive" in str(refused.value)


@pytest.mark.parametrize("flag", sorted(REWRITES))
def test_every_acted_approximation_is_a_line(flag: str) -> None:
    """The step names the flag and gives a reason, in words a reader knows (no raw names)."""
    family = {"relax": "bernoulli-sign", "tau": "bernoulli-sign"}.get(flag, "gaussian-diag")
    flags = {
        "tau": ["relax", "tau=1/2"], "precision": ["precision=old"], "prior": ["prior=apart"],
        "hessian": ["hessian=squared-gradient"], "rho": ["rho=1"], "rename": ["rename=s:q"],
        "coordinates": ["coordinates=working"], "rescale": ["separate-rates", "rescale"],
        "clip": ["separate-rates", "clip"], "fixed-point": ["delta", "fixed-point"],
        "bias-correction": ["square-root", "bias-correction"], "route": ["route=score"],
        "responsibility": ["spike", "delta", "responsibility"],
        "inverted": ["spike", "delta", "stochastic", "inverted"],
    }.get(flag, [flag])  # fmt: skip
    if flag == "fixed-weights":
        family = "mixture:gaussian-diag"
    if flag in ("straight-through", "no-shrinkage", "stale-mean"):
        family = "bernoulli-sign"
        flags = ["relax", "straight-through", flag] if flag == "no-shrinkage" else ["relax", flag]
    d = derive(family, flags)
    lines = [s for s in d.steps if s.approximation.split("=")[0] == flag]
    assert lines
    for line in lines:
        assert line.because
        for raw in ("alpha", "beta", "delta", "rho", "gamma", "lambda"):
            assert raw not in line.because.replace("--", " "), line.because


@pytest.mark.parametrize(
    ("text", "reason"),
    [("rho=2", "0 < ρ ≤ 1"), ("rho=0", "0 < ρ"), ("tau=-1", "temperature"), ("hessian=x", "known"),
     ("nonsense", "did you mean|known"), ("delta=1", "no value"), ("hessian", "needs a value"),
     ("rename=q:x", "no state"), ("rename=s:lambda", "not a name|taken"),
     ("rename=s:", "not a name"),
     ("rename=s:a b", "not a name"), ("rho=1/0", "."), ("rho=x", "."), ("tau=", ".")],
)  # fmt: skip
def test_bad_values(text: str, reason: str) -> None:
    with pytest.raises(UserError, match=reason):
        derive("bernoulli-sign" if text.startswith("tau") else "gaussian-diag",
               ["relax", text] if text.startswith("tau") else [text])  # fmt: skip


def test_requests_as_text() -> None:
    assert parse_request("--hessian=reparam") == ("hessian", "reparam")
    assert parse_request(" delta ") == ("delta", None)


def test_draws_follow_a_change_of_state() -> None:
    """θ ~ N(m, precision⁻¹) with the precision as the rule now keeps it."""
    d = derive("gaussian-full", ["stochastic", "prior=apart", "rename=m:q"])
    assert d.rule["theta"].distribution.startswith("N(q, (S + delta")


def test_the_place_of_a_probe_follows_later_approximations() -> None:
    d = diag("hessian=gauss-newton", "delta")
    assert "at the mean m" in d.rule["h"].meaning
    assert "expectation" not in d.rule["h"].meaning


def test_the_mean_is_called_what_the_rule_calls_it() -> None:
    assert place(diag("delta", "rename=m:q"), "g") == "∇ℓ(q)"
    assert place(diag("rename=m:q", "delta"), "g") == "∇ℓ(q)"
    assert "at the mean q" in diag("rename=m:q", "delta").rule["g"].meaning
    assert derive("gaussian", ["delta"]).rule["h"].meaning.startswith("the second derivative")


@pytest.mark.parametrize("flags", [["delta"], ["delta", "rho=1/2"], ["delta", "rho=1"]])
@pytest.mark.parametrize("family", ["gaussian", "gaussian-diag"])
def test_the_fixed_point_is_solved_for(family: str, flags: list[str]) -> None:
    """∇ℓ(m) = 0 and 1/v = ∇²ℓ(m), or s = ∇²ℓ(m), whatever the step size."""
    d = derive(family, [*flags, "fixed-point"])
    first, second = d.steps[-1].equations
    h = d.rule["h"].symbol
    assert (first.lhs, first.rhs) == (d.rule["g"].symbol, 0)
    assert sp.cancel(second.rhs - (h if family == "gaussian-diag" else 1 / h)) == 0


def test_meanings_follow_a_change_of_state() -> None:
    d = derive("ivon")
    assert "precision" not in d.rule["h"].meaning
    assert "per example" in d.rule["h"].meaning
    assert "per example" in d.rule["delta"].meaning
    assert derive("vprop").rule["s"].meaning == "curvature of the loss alone, per example"


@pytest.mark.parametrize("recipe", ["adam", "ivon", "vadam", "momentum"])
def test_states_stand_in_one_order(recipe: str) -> None:
    """What moves θ, its average, then the scale: classes update the first in place."""
    names = [q.name for q in derive(recipe).rule.of("state")]
    assert names[:2] == ["m", "u"]


def test_momentum_then_a_prior_weighs_it_right() -> None:
    """With momentum on the scale, δ enters with the weight of the curvature, ρ(1 − β₁)."""
    d = diag("momentum", "prior=total")
    assert says(d, "s_next", "s - rho*(1-beta1)*(s - h - delta) + beta1*(s - s_prev)")
    d = diag("momentum", "prior=apart")
    assert says(d, "s_prev_next", "s")


@pytest.mark.parametrize("before", [["rename=S:P"], ["prior=apart"], ["ess"]])
def test_the_reparameterised_hessian_follows_a_change_of_state(before: list[str]) -> None:
    """Ĥ = ½(P(θ − m)gᵀ + transpose), P the precision as the rule now keeps it."""
    d = derive("gaussian-full", ["stochastic", *before, "hessian=reparam"])
    precision = dict(d.rule.posterior)["precision"]
    theta, m, g = (d.rule[n].symbol for n in ("theta", "m", "g"))
    outer = precision * (theta - m) * T(g)
    assert normal(d.rule.expr("H_hat") - (outer + T(outer)) / 2) == 0


def test_numbers_of_any_kind(capsys: Any) -> None:
    """A rational given as a decimal is that rational."""
    assert says(diag("rho=0.25"), "s_next", "3*s/4 + h/4")
    assert capsys.readouterr().out == ""


def test_corrections_keep_their_own_rate_when_the_means_is_written_anew() -> None:
    first = ["square-root", "hessian=squared-gradient", "slow-scale", "bias-correction"]
    early = derive("gaussian-diag", ["delta", "stochastic", *first, "momentum", "separate-rates"])
    assert early.prove("adam").proved
    with pytest.raises(NotApplicable, match="plain average"):
        derive("gaussian-diag", ["square-root", "bias-correction", "momentum"])


def test_clipping_waits_until_an_average_carries_the_last_step() -> None:
    with pytest.raises(NotApplicable, match="only the gradient is clipped"):
        derive("gaussian-diag", ["momentum", "clip"])
    rule = derive("gaussian-diag", ["momentum", "slow-scale", "clip"]).rule
    assert rule.expr("m_next").has(rule["c"].symbol)


def test_only_a_natural_parameter_is_shrunk_by_the_entropy() -> None:
    with pytest.raises(NotApplicable, match="entropy does not shrink"):
        derive("gaussian-diag", ["prior=total", "no-shrinkage"])


def test_symbols_are_replaced_all_at_once() -> None:
    """m ↔ s, which one after the other would make the same symbol of."""
    d = diag("delta")
    m, s = d.rule["m"].symbol, d.rule["s"].symbol
    swapped = substitute(d, {m: s, s: m})
    for a in d.rule.assignments:
        assert swapped.rule.expr(a.name) == a.expr.xreplace({m: s, s: m})
    assert dict(swapped.rule.posterior)["mean"] == s
