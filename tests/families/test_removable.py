"""Removable singularities inside the domain: A, μ, F and an emitted step at and near them.

Files as a stranger writes them, with A derived or given in a form that is 0/0 at a point.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
import sympy as sp
from mass import mass_of

import blrgen
from blrgen.emit import emit
from blrgen.emit.compile import compile_class
from blrgen.geometry import geometry_of
from blrgen.read.family import read_family
from blrgen.value.digits import evaluate_at

# support, statistic, base measure, given A
ODD = {
    "continuous Bernoulli": ("(0, 1)", "x", "1", ""),
    "the same, given": ("(0, 1)", "x", "1", "log((exp(eta) - 1)/eta)"),
    "sinh(η)/η": ("(-1, 1)", "x", "1", "log(2*sinh(eta)/eta)"),
    "discrete uniform": ("integers 0..4", "x", "1", ""),
    "(1 − cosh η)/η²": ("(-1, 1)", "x", "1 - abs(x)", "log(2*(cosh(eta) - 1)/eta**2)"),
    "ramp": ("(0, 1)", "x", "x", "log((exp(eta)*(eta - 1) + 1)/eta**2)"),
    "circle": ("(-pi, pi)", "cos(x)", "1", ""),
}
NEAR = ["0", "1e-300", "-1e-300", "1e-8", "-1e-8", "1e-4", "-1e-4", "2"]
BY_NUMBER = {"(1 − cosh η)/η²", "ramp"}  # A is a number for every η; the emitted step shows them


@pytest.mark.sweep(6)
@pytest.mark.parametrize("case", sorted(ODD))
def test_everything_is_right_there(case: str, tmp_path: Path) -> None:
    support, statistic, h, given = ODD[case]
    path = tmp_path / "mine.toml"
    path.write_text(
        f'name = "mine"\nvariable = "x"\nsupport = "{support}"\nstatistics = ["{statistic}"]\n'
        f'base_measure = "{h}"\n' + (f'log_partition = "{given}"\n' if given else "")
        + '[natural]\neta = "(-oo, oo)"\n'
    )  # fmt: skip
    g = geometry_of(read_family(str(path)))
    (eta,) = g.natural
    made = compile_class(emit(blrgen.derive(str(path)), "numpy"))
    states = np.array([float(x) for x in NEAR])
    opt = made(states, rho=0.5)
    opt.step(*[np.full(len(NEAR), 0.25) for _ in range(len(_inputs(path)))])
    for text, after in zip(NEAR, states.tolist(), strict=True):
        point = {eta: sp.Rational(text)}
        mass = mass_of(g.family, point)
        (mu,), ((variance,),) = mass.mean, mass.covariance
        if case not in BY_NUMBER:
            assert _close(g.log_partition, point, mass.log_mass)
            assert _close(g.mean[0], point, mu)
            assert _close(g.fisher[0][0], point, variance)
        x = mpmath.mpf(text)
        wanted = x - (x + mpmath.mpf("0.25") / variance) / 2
        assert abs(after - wanted) < 1e-12 * max(1, abs(wanted)), text


def _inputs(path: Path) -> tuple[Any, ...]:
    found = blrgen.derive(str(path)).rule.of("input")
    assert [q.name for q in found] == ["r1"], "the score: the step by hand below is for it"
    return found


def _close(e: Any, point: dict[Any, Any], wanted: Any) -> bool:
    value, _ = evaluate_at(e, point, 15)
    return bool(abs(value - wanted) < 1e-12)
