"""Dropout: masks are drawn as said, resumed exactly, and the rule is a component's."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from blrgen.api import derive
from blrgen.errors import NotApplicable
from blrgen.validate.changes import prove_changes

TARGETS = ("numpy", "numba")


@pytest.fixture(scope="module", params=TARGETS)
def kind(request: pytest.FixtureRequest) -> type:
    return derive("dropout").compile(request.param)


def test_a_mask_is_one_with_probability_pi(kind: type) -> None:
    opt = kind(np.ones(200_000), pi=0.3)
    theta = opt.draw(np.random.default_rng(5))
    assert set(np.unique(theta)) == {0.0, 1.0}
    assert abs(theta.mean() - 0.3) < 5 * np.sqrt(0.3 * 0.7 / theta.size)


def test_every_weight_is_kept_where_pi_is_one(kind: type) -> None:
    m = np.linspace(-2, 2, 7)
    opt = kind(m.copy(), pi=1.0, alpha=0.5)
    assert np.array_equal(opt.draw(np.random.default_rng(0)), m)
    opt.step(np.ones(7))
    np.testing.assert_allclose(opt.params, m - 0.5)


def test_a_mask_that_is_given_is_used_also_where_a_weight_is_zero(kind: type) -> None:
    m, z = np.array([0.0, 0.0, 3.0, 3.0]), np.array([1.0, 0.0, 1.0, 0.0])
    opt = kind(m, alpha=0.1, pi=0.5)
    assert np.array_equal(opt.draw(z=z), z * m)
    opt.step(np.ones(4))
    np.testing.assert_allclose(m, [-0.2, 0.0, 2.8, 3.0])


def test_what_is_saved_between_draw_and_step_resumes_exactly(kind: type) -> None:
    one, rng = kind(np.linspace(-1, 1, 9), pi=0.4), np.random.default_rng(3)
    one.draw(rng)
    other = kind(np.zeros(9))
    other.load_state_dict(copy.deepcopy(one.state_dict()))
    for opt in (one, other):
        opt.step(np.arange(9.0))
    assert np.array_equal(one.params, other.params)


def test_no_posterior_is_shown(kind: type) -> None:
    with pytest.raises(AttributeError, match="each component is put to its mean"):
        kind(np.ones(2)).posterior()


def test_pi_stays_in_its_range(kind: type) -> None:
    with pytest.raises(ValueError, match="pi"):
        kind(np.ones(2), pi=0.0)
    with pytest.raises(ValueError, match="pi"):
        kind(np.ones(2), pi=1.1)


def test_the_draw_is_a_quantity_of_the_rule() -> None:
    z = derive("dropout").rule["z"]
    assert (z.kind, z.distribution) == ("draw", "Bernoulli(pi)")


@pytest.mark.parametrize(
    ("family", "flags", "why"),
    [
        ("gaussian-full", ["spike"], "in or out by itself"),
        ("gamma", ["spike"], "no single parameter"),
        ("gaussian-diag", ["spike", "stochastic"], "from both components"),
        ("gaussian-diag", ["spike", "responsibility"], "around its mean only"),
        ("gaussian-diag", ["spike", "delta", "stochastic", "stochastic"], "drawn already"),
        ("gaussian-diag", ["spike", "delta", "stochastic", "delta"], "no expectation"),
    ],
)
def test_refusals(family: str, flags: list[str], why: str) -> None:
    with pytest.raises(NotApplicable, match=why):
        derive(family, flags)


def test_the_inverted_state_is_an_exact_change_of_the_masks_mean() -> None:
    """w = π m, said of the rule before and proved of the one after."""
    d = derive("inverted-dropout")
    (change,) = d.facts.changes
    assert [q.name for q in change.before.quantities if q.kind == "state"] == ["m"]
    assert [q.name for q in change.after.quantities if q.kind == "state"] == ["w"]
    assert {p.level for p in prove_changes(d)} == {"identity"}
