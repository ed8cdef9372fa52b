"""The rule of a mixture: of any family, with one component that of the family."""

from __future__ import annotations

import pytest

from blrgen.api import derive
from blrgen.core import Loss
from blrgen.errors import NotApplicable, UserError
from blrgen.read.family import list_families, read_family
from blrgen.rule.assemble import exact_derivation
from blrgen.show import render
from blrgen.validate.mixture.one import one_component
from blrgen.validate.mixture.weights import weights_proof

GAUSSIANS = ("gaussian", "gaussian-diag", "gaussian-fixed", "gaussian-full", "gaussian-isotropic")


def test_it_reads_as_the_ensemble_of_newton_methods() -> None:
    d = derive("mixture:gaussian-full", ["delta"])
    assert str(d.rule.expr("S_next")) == "rho*(H + H_q) + S"
    assert str(d.rule.expr("m_next")) == "-rho*S_next**(-1)*(g + g_q) + m"
    assert [q.name for q in d.rule.of("input")] == ["g", "H", "l"]
    assert [q.name for q in d.rule.of("known")] == ["g_q", "H_q", "l_q", "w_sum"]
    page = render(d, "text")
    assert "S⁺ = S + ρ(∇²ℓ(m) + ∇²log q(m))" in page
    assert "m⁺ = m − ρ(S⁺)⁻¹(∇ℓ(m) + ∇log q(m))" in page


def test_the_retraction_divides_by_the_old_precision() -> None:
    d = derive("mixture:gaussian-full", ["delta", "retraction", "fixed-weights"])
    assert str(d.rule.expr("m_next")) == "-rho*S**(-1)*(g + g_q) + m"
    assert [q.name for q in d.rule.of("input")] == ["g", "H"]


@pytest.mark.sweep(6)
@pytest.mark.parametrize("flags", [["delta"], ["delta", "retraction"], [], ["retraction"]])
@pytest.mark.parametrize("family", GAUSSIANS)
def test_one_component_is_the_rule_of_the_family(family: str, flags: list[str]) -> None:
    try:
        d = derive(f"mixture:{family}", flags)
    except NotApplicable:
        with pytest.raises(NotApplicable):
            derive(family, flags)
        return
    _, verdict = one_component(d)
    assert {p.level for _, p in verdict.proofs} == {"identity"}


def test_one_component_has_a_name() -> None:
    assert one_component(derive("mixture:gaussian-full", ["delta"]))[0] == "online-newton"
    assert one_component(derive("mixture:gaussian-full", ["delta", "rho=1"]))[0] == "newton"
    assert one_component(derive("mixture:gaussian-full", ["retraction"]))[0] == "iblr"


def test_the_weights_move_as_the_law_of_z() -> None:
    assert weights_proof(derive("mixture:gaussian-full", ["delta"])).level == "identity"


@pytest.mark.sweep(16)
@pytest.mark.parametrize("family", sorted(list_families()))
def test_every_family_is_a_component(family: str) -> None:
    """Or is refused with the reason for which it has no rule of its own."""
    try:
        alone = exact_derivation(read_family(family), Loss(), current=True)
    except UserError:
        with pytest.raises(UserError):
            derive(f"mixture:{family}")
        return
    d = derive(f"mixture:{family}")
    asked = len(alone.rule.of("input"))
    assert len(d.rule.of("input")) == asked + 1  # and the loss itself, for the weights
    assert len(d.rule.of("known")) == asked + 2


@pytest.mark.parametrize(
    ("flags", "why"),
    [
        (["stochastic"], "each component would draw for itself"),
        (["delta", "square-root"], "no average of squares"),
        (["delta", "bias-correction"], "no average that starts at zero"),
        (["delta", "prior=total"], "a prior belongs to ℓ"),
        (["delta", "backtracking"], "halved steps together"),
        (["fixed-weights", "fixed-weights"], "held already"),
    ],
)
def test_what_needs_one_location_is_refused(flags: list[str], why: str) -> None:
    with pytest.raises(NotApplicable, match=why):
        derive("mixture:gaussian-diag", flags)


def test_fixed_weights_are_for_mixtures() -> None:
    with pytest.raises(NotApplicable, match="is no mixture"):
        derive("gaussian-full", ["fixed-weights"])


def test_an_unknown_component_is_said() -> None:
    with pytest.raises(UserError, match="no family called 'gausian'"):
        derive("mixture:gausian")
