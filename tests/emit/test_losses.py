"""A loss written as a formula: its emitted derivatives are right and finite far out."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

import blrgen
from blrgen.validate.emitted import verify_emitted

mpmath.mp.dps = 40
FAR = np.array([-800.0, -30.0, -5.0, 0.3, 5.0, 30.0, 800.0])
LOSSES = {
    "log(1+exp(-theta))": lambda x: mpmath.log(1 + mpmath.exp(-x)),
    "log(1+exp(3*theta)) + 0.5*theta**2": lambda x: mpmath.log(1 + mpmath.exp(3 * x)) + x**2 / 2,
    "log(cosh(theta))": lambda x: mpmath.log(mpmath.cosh(x)),
    "log(exp(theta)+exp(-theta))": lambda x: mpmath.log(2 * mpmath.cosh(x)),
    "1/(1+exp(-theta))": lambda x: 1 / (1 + mpmath.exp(-x)),
    "tanh(theta)**2": lambda x: mpmath.tanh(x) ** 2,
    "sqrt(1+theta**2)": lambda x: mpmath.sqrt(1 + x**2),
}


@pytest.mark.sweep(6)
@pytest.mark.parametrize("target", ["numpy", "numba"])
@pytest.mark.parametrize("loss", LOSSES)
def test_one_step_is_right_and_finite_everywhere(loss: str, target: str) -> None:
    d = blrgen.derive("gaussian-diag", ["delta"], loss=loss)
    m = FAR.copy()
    opt = d.compile(target)(m, rho=0.5)
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        opt.step()
    for k, x in enumerate(FAR):
        with mpmath.workdps(800):  # differences of a flat loss far out need their digits
            slope, curve = (mpmath.diff(LOSSES[loss], mpmath.mpf(float(x)), n) for n in (1, 2))
        precision = mpmath.mpf("0.5") + curve / 2
        assert abs(opt.s[0][k] - precision) <= 1e-14 * max(1, abs(precision))
        assert abs(m[k] - (x - slope / 2 / precision)) <= 1e-13 * max(1, abs(x))


@pytest.mark.parametrize("loss", LOSSES)
def test_the_stable_form_is_proved(loss: str) -> None:
    d = blrgen.derive("gaussian-diag", ["delta"], loss=loss)
    verdict = verify_emitted(d.source("numpy"), d.rule)
    assert verdict.level != "refuted"
    assert verdict["m"].proved, verdict["m"]


def test_a_number_alone_is_that_multiple_of_the_identity() -> None:
    """∇²θᵀθ = 2I: with ρ = 1 nothing stands beside it, and the mean is 0 at once."""
    d = blrgen.derive("gaussian-full", ["rho=1"], loss="dot(theta,theta)")
    m = np.ones(3)
    opt = d.compile("numpy")(m)
    opt.step()
    np.testing.assert_array_equal(opt.S, 2 * np.eye(3))
    np.testing.assert_array_equal(m, np.zeros(3))
