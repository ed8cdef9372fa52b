"""A flag without effect is refused, hints have been tried, inputs say what they sum."""

from __future__ import annotations

import pytest

from blrgen import derive
from blrgen.algebra.components import varies
from blrgen.approximate.tools.base import parse_request
from blrgen.approximate.tools.hints import with_tried_hint
from blrgen.emit import emit
from blrgen.errors import NotApplicable, UserError

IDLE = {
    # road: the flag that would change nothing or is not true
    "gaussian-fixed --coordinates working": "would change nothing",
    "natural-gradient --coordinates natural": "in working coordinates already",
    "vogn-batch --hessian gauss-newton": "something else stands for the Hessian",
    "adam --hessian exact": "there is no Hessian",
    "ogn --hessian exact": "something else stands for the Hessian",
    "bayesbinn-stale --bias-correction": "no state became a moving average",
    "gaussian-diag --delta --momentum --bias-correction": "no state became a moving average",
    "bernoulli --relax": "other parameters than the natural one",
}
HINTS = {
    # road: what is proposed, empty where what was proposed does not work either
    "bernoulli-sign --tau 1": "--relax introduces one",
    "gaussian-diag --tau 1": "",
    "bernoulli-sign --straight-through": "--relax first",
    "gaussian-diag --straight-through": "",
    "gaussian-diag --rho 1 --route score": "--route score first",
    "gaussian-diag --delta --route score": "",
    "gaussian-diag --delta --hessian reparam": "drop --delta, or use --hessian squared-gradient",
    "gaussian-diag --retraction --prior total": "put --prior before --retraction",
    "poisson --square-root": "a candidate with a scale, such as gaussian-diag",
    "poisson --rho 1 --separate-rates": "",
}


def words(road: str) -> tuple[str, list[str]]:
    what, *flags = road.split(" --")
    return what, [flag.replace(" ", "=") for flag in flags]


@pytest.mark.parametrize(("road", "why"), IDLE.items())
def test_a_flag_without_effect_is_refused(road: str, why: str) -> None:
    what, flags = words(road)
    with pytest.raises(NotApplicable) as refused:
        derive(what, flags)
    assert why in refused.value.why
    derive(what, flags[:-1])  # without it, it goes


@pytest.mark.parametrize("flag", ["hessian=exact", "coordinates=natural", "route=identities"])
def test_what_the_rule_does_may_be_said(flag: str) -> None:
    assert derive("gaussian-diag", [flag]).rule == derive("gaussian-diag").rule


@pytest.mark.parametrize(("road", "how"), HINTS.items())
def test_hints_have_been_tried(road: str, how: str) -> None:
    what, flags = words(road)
    with pytest.raises(NotApplicable) as refused:
        derive(what, flags)
    assert refused.value.how == how
    assert ("instead: " in str(refused.value)) == bool(how)


def test_a_hint_that_fails_is_not_printed() -> None:
    """Alternatives are tried one by one; words that name no flag stand as they are."""

    def nothing(what: str, road: object) -> object:
        raise UserError("no")

    road = tuple(map(parse_request, ["delta", "hessian=reparam"]))
    for how, kept in (("drop --delta, or use --hessian exact", ""), ("a smaller step", None)):
        refused = NotApplicable("x", how=how)
        with_tried_hint(refused, "gaussian-diag", road, nothing)
        assert refused.how == (how if kept is None else kept)


def test_noise_that_nothing_draws_is_refused() -> None:
    with pytest.raises(UserError, match="would change nothing"):
        emit(derive("adam"), noise="hash")
    emit(derive("vogn"), noise="hash")


SAID = {
    # road: what its g and h say
    "vogn": ("the sum over all N rows", "with the prior's δm in it", "without the prior's δ,"),
    "ogn": ("the sum over all N rows", "with the prior's δm in it", "without the prior's δ,"),
    "vogn-batch": ("the mean over the rows of a minibatch", "without the prior's δm,", "δ,"),
    "ivon": ("the mean over the rows of a minibatch, not times N", "without the prior's δm,", ""),
    "adam": ("the sum or the mean over rows, as only c tells them apart", "with the prior's", ""),
    "sgd": ("the sum or the mean over rows, with a step size", "with the prior's in it", ""),
    "newton": ("the sum over all rows", "with the prior's in it", "with the prior's in it"),
    "gaussian-diag --ess": ("the mean over all rows", "divided by N in it", "divided by N in it"),
    "gaussian --prior current": ("the sum over all rows", "without a prior", "without a prior"),
    "bayesbinn": ("the sum over all N rows", "whose λ₀ the update adds", ""),
    "gaussian-diag --rename m:w --prior total": ("the sum over all rows", "prior's δw,", "δ,"),
}


@pytest.mark.parametrize(("road", "said"), SAID.items())
def test_inputs_say_what_is_in_them(road: str, said: tuple[str, str, str]) -> None:
    what, flags = words(road)
    d = derive(what, flags)
    g, *others = d.rule.of("input")
    assert said[0] in g.meaning and said[1] in g.meaning
    assert all(said[0] in q.meaning and said[2] in q.meaning for q in others)
    docstring = " ".join(d.source("numpy").split('"""')[1].split())
    assert all(q.meaning in docstring for q in (g, *others))
    assert derive("vogn").rule["delta"].meaning.endswith("adds it to the curvature alone")


def test_a_loss_put_into_a_sum_over_components_stays_under_the_sum():
    """v⁺ = v/(1 − ρ + ρv Σ_k m_k²/d) for ℓ = ½Σθ²: the gradient stands squared in a sum."""
    abstract = derive("gaussian-isotropic", ("hessian=squared-gradient",)).rule
    concrete = derive(
        "gaussian-isotropic", ("hessian=squared-gradient",), loss="sum(theta**2)/2"
    ).rule
    g, m = abstract["g"].symbol, abstract["m"].symbol
    assert concrete.expr("v_next") == abstract.expr("v_next").xreplace({g: m})
    assert concrete.expr("v_next").has(m) and not varies(concrete.expr("v_next"))
