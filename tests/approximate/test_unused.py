"""What an update does not use is not asked for: in the derivation, and by the class."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

from blrgen import derive

CASES = {
    # what, loss: the inputs that are left, and whether the loss is still probed at a draw
    "a constant of the loss": ("gaussian", [], "0.5*(theta - 1)**2 + y", [], False),
    "cancelled": ("gaussian", ["delta"], "y*theta - y*theta + theta**2", [], False),
    "of a variable of two values": ("bernoulli", [], "y*(x - x**2) + x", [], False),
    "a constant beside matrices": (
        "gaussian-full", ["rho=1"], "dot(y - X*theta, y - X*theta) + k", ["X", "y"], False,
    ),
    "the same slope everywhere": ("gaussian-diag", ["stochastic"], "y*theta", ["y"], False),
    "the same for a vector": ("gaussian-full", ["stochastic"], "dot(y, theta)", ["y"], False),
    "an estimate made of the draw": (
        "gaussian-diag", ["stochastic", "hessian=reparam"], "y*theta", ["y"], True,
    ),
    "an input at the draw": ("vogn", [], "y*theta", ["h", "y"], True),
    "used": ("gaussian-diag", ["stochastic"], "(y - x*theta)**2", ["x", "y"], True),
}  # fmt: skip


@pytest.mark.sweep(6)
@pytest.mark.parametrize("case", CASES)
def test_only_what_is_used_is_asked_for(case: str) -> None:
    what, flags, loss, inputs, drawn = CASES[case]
    d = derive(what, flags, loss=loss)
    assert [q.name for q in d.rule.of("input", "data")] == inputs
    assert bool(d.rule.of("draw")) == drawn == ("theta" in d.rule)
    for target in ("numpy", "numba"):
        cls = d.compile(target)
        assert hasattr(cls, "draw") == drawn
        taken = [x for x in inspect.signature(cls.step).parameters if x not in ("self", "rng")]
        assert taken == inputs


def test_a_step_without_a_draw_is_the_rule() -> None:
    """With ℓ = yθ the mean moves by −ρy/s⁺ wherever it is looked at."""
    params = np.zeros(2)
    opt = derive("gaussian-diag", ["stochastic"], loss="y*theta").compile("numpy")(params, rho=0.5)
    opt.step(np.array([1.0, -2.0]))
    np.testing.assert_allclose(params, -0.5 * np.array([1.0, -2.0]) / 0.5)


def test_what_only_an_unkept_posterior_was_written_in_is_not_asked_for() -> None:
    """N stands in the precision Ns alone, and the root of s divides the step: no posterior."""
    d = derive("gaussian-diag", ["delta", "ess", "square-root"])
    assert [q.name for q in d.rule.of("hyper")] == ["rho", "c"]
    cls = d.compile("numpy")
    assert "N" not in inspect.signature(cls).parameters
    kept = derive("gaussian-diag", ["stochastic", "ess", "square-root"])
    assert "N" in [q.name for q in kept.rule.of("hyper")]
