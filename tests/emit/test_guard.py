"""A step out of the domain is refused and undone; first values out of it are refused too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from blrgen.api import derive
from blrgen.emit.compile import compile_class
from blrgen.validate.derivation import verify_derivation

EXPONENTIAL = """
name = "exponential"
title = "Exponential"
variable = "x"
support = "(0, oo)"
statistics = ["x"]
[natural]
eta = "(-oo, 0)"
[working]
r = { domain = "(0, oo)", natural = "-eta" }
"""
PARETO = """
name = "pareto"
title = "Pareto"
variable = "x"
support = "(1, oo)"
statistics = ["log(x)"]
[natural]
eta = "(-oo, -1)"
"""


def built(text: str, folder: Path, target: str, *flags: str) -> Any:
    path = folder / "f.toml"
    path.write_text(text)
    return compile_class(derive(str(path), flags).source(target))


@pytest.mark.parametrize("target", ["numpy", "numba"])
@pytest.mark.parametrize(
    ("text", "start", "bad"),
    [(EXPONENTIAL, [1.0, 2.0], [-40.0, 0.0]), (PARETO, [-2.0, -3.0], [-90.0, 0.5])],
)
def test_a_step_out_of_the_domain_changes_nothing(
    target: str, text: str, start: list[float], bad: list[float], tmp_path: Path
) -> None:
    params = np.array(start)
    opt = built(text, tmp_path, target)(params, rho=0.5)
    for inputs in (np.array(bad), np.array([np.nan, 0.5]), np.array([np.inf, 0.5])):
        with (
            np.errstate(all="ignore"),
            pytest.raises(ValueError, match="nothing has been changed"),
        ):
            opt.step(inputs)
        assert opt.t == 0
        np.testing.assert_array_equal(params, start)
    opt.step(np.array([0.5, 0.5]))
    assert opt.t == 1
    assert not np.array_equal(params, start)


@pytest.mark.parametrize(("text", "outside"), [(EXPONENTIAL, 0.0), (PARETO, -1.0)])
def test_first_values_out_of_the_domain(text: str, outside: float, tmp_path: Path) -> None:
    cls = built(text, tmp_path, "numpy")
    for value in (outside, np.nan, -outside + 1 if outside else -2.0):
        with pytest.raises(ValueError, match="outside the domain"):
            cls(np.array([value, value]))


@pytest.mark.parametrize("flag", ["backtracking", "retraction"])
def test_what_keeps_a_step_inside(flag: str, tmp_path: Path) -> None:
    """The inputs that are refused without it are taken with it, far out and in float32 too."""
    cls = built(EXPONENTIAL, tmp_path, "numba", flag)
    for dtype in (np.float32, np.float64):
        params = np.array([1.0, 1e-3, 30.0], dtype=dtype)
        opt = cls(params, rho=1.0)
        rng = np.random.default_rng(3)
        for _ in range(60):
            opt.step((rng.standard_normal(3) * 10.0 ** rng.integers(-3, 3, 3)).astype(dtype))
            assert np.all(params > 0)
            params[:] = np.clip(params, 1e-6, 1e6)  # so that the next step is of some size


def test_the_guard_is_part_of_what_is_proved(tmp_path: Path) -> None:
    path = tmp_path / "f.toml"
    path.write_text(EXPONENTIAL)
    report = verify_derivation(derive(str(path)))
    assert report.proved
    assert "_outside" in str(report)


@pytest.mark.parametrize("target", ["numpy", "numba"])
def test_a_number_beside_an_array_is_tried_again_from_what_it_was(target: str) -> None:
    """The variance of all coordinates leaves its domain at ρ and ρ/2, not at ρ/4."""
    made = compile_class(derive("gaussian-isotropic", ["backtracking"]).source(target))
    m, g, rho = np.array([1.0, -2.0]), np.array([0.5, 1.5]), 0.9
    opt = made(m.copy(), rho=rho)
    opt.v = 1.0
    held = opt.m[0] if isinstance(opt.m, list) else opt.m
    opt.step(g, -3.0)
    step = rho / 4
    v = 1 / (1 - 3 * step - step)
    np.testing.assert_allclose(opt.v, v, rtol=1e-12)
    np.testing.assert_allclose(held, m - step * v * g, rtol=1e-12)
    with pytest.raises(ValueError, match="v"):
        opt.v = -1.0
        opt.load_state_dict(opt.state_dict())
