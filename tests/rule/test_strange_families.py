"""Odd families from their file alone: the rule that is derived against the density itself.

λ⁺ = (1−ρ)λ − ρF⁻¹Cov_q(T, ℓ + log h), with F and the covariance by summation over points of
the support: nothing of the engine enters the right-hand side.
"""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numeric import value

import blrgen
from blrgen.check import check
from blrgen.emit import emit
from blrgen.validate.derivation import verify_derivation

Array = Any
LINE = np.linspace(-14, 14, 1401)
HALF = np.exp(np.linspace(-22, 4.2, 1801))
COUNTS = np.arange(0.0, 400.0)
# name: support(s), variable(s), statistics, base measure, {natural: domain}, {natural: value},
# grids, log h by hand
CASES: dict[str, tuple[Any, ...]] = {
    "powers of two": ("{1, 2, 4, 8}", "x", ["x"], "1", {"a": "(-oo, oo)"}, [0.3],
                      [[1, 2, 4, 8]], lambda x: 0 * x),
    "sign of three levels": ("{-1, 0, 1}", "x", ["x"], "1", {"a": "(-oo, oo)"}, [-0.8],
                             [[-1, 0, 1]], lambda x: 0 * x),
    "logarithm on four points": ("{1, 2, 4, 8}", "x", ["log(x)"], "1/x", {"a": "(-oo, oo)"}, [0.7],
                                 [[1, 2, 4, 8]], lambda x: -np.log(x)),
    "die": ("{1, 2, 3, 4, 5, 6}", "x", ["x", "x**2"], "1", {"a": "(-oo, oo)", "b": "(-oo, oo)"},
            [0.4, -0.1], [[1, 2, 3, 4, 5, 6]], lambda x: 0 * x),
    "spins": (["{-1, 1}", "{-1, 1}"], ["x", "y"], ["x", "y", "x*y"], "1",
              {"a": "(-oo, oo)", "b": "(-oo, oo)", "J": "(-oo, oo)"}, [0.3, -0.2, 0.5],
              [[-1, 1], [-1, 1]], lambda x, y: 0 * x),
    "plane": (["(-oo, oo)", "(-oo, oo)"], ["x", "y"], ["x", "y", "x**2", "y**2", "x*y"], "1",
              {"a1": "(-oo, oo)", "a2": "(-oo, oo)", "b1": "(-oo, 0)", "b2": "(-oo, 0)",
               "c": "(-2*sqrt(b1*b2), 2*sqrt(b1*b2))"}, [0.3, -0.5, -0.6, -0.9, 0.4],
              [LINE[::10], LINE[::10]], lambda x, y: 0 * x),
    "switched normal": (["(-oo, oo)", "{0, 1}"], ["x", "z"], ["x", "x**2", "z", "x*z"], "1",
                        {"a": "(-oo, oo)", "b": "(-oo, 0)", "c": "(-oo, oo)", "e": "(-oo, oo)"},
                        [0.3, -0.7, 0.2, 0.5], [LINE[::10], [0, 1]], lambda x, z: 0 * x),
    "exponential and rate": (["(0, oo)", "(0, oo)"], ["x", "y"], ["x*y", "log(y)", "y"], "1",
                             {"a": "(-oo, 0)", "b": "(0, oo)", "c": "(-oo, 0)"}, [-0.8, 3.0, -0.9],
                             None, None),
    "logarithmic base": ("integers >= 0", "x", ["x"], "(x + 1)/factorial(x)", {"a": "(-oo, oo)"},
                         [0.6], None, None),
}  # fmt: skip


def made(name: str, tmp_path: Path) -> str:
    support, variable, statistics, base, natural, *_ = CASES[name]
    path = tmp_path / "strange.toml"

    def text(v: Any) -> str:
        return "[" + ", ".join(f'"{s}"' for s in v) + "]" if isinstance(v, list) else f'"{v}"'

    rows = [f"variable = {text(variable)}", f"support = {text(support)}",
            f"statistics = {text(statistics)}", f'base_measure = "{base}"', "[natural]",
            *(f'{k} = "{d}"' for k, d in natural.items())]  # fmt: skip
    path.write_text('name = "strange"\n' + "\n".join(rows) + "\n")
    return str(path)


def loss(*place: Array) -> Array:
    return 0.3 * place[0] ** 2 - 0.7 * place[-1] + np.cos(place[0])


def summed(name: str) -> tuple[Array, Array, Array, Array]:
    """q, the rows of T, log h and ℓ at the points of the support."""
    _, variable, statistics, _, _, lam, grids, log_h = CASES[name]
    names = variable if isinstance(variable, list) else [variable]
    place = np.array(list(itertools.product(*grids)), dtype=float).T
    scope = {"log": np.log, **dict(zip(names, place, strict=True))}
    rows = np.array([eval(t, {}, scope) for t in statistics])
    weight = np.exp(np.dot(lam, rows) + log_h(*place))
    return weight / weight.sum(), rows, log_h(*place), loss(*place)


@pytest.mark.sweep(6)
@pytest.mark.parametrize("name", [n for n, c in CASES.items() if c[6] is not None])
def test_the_rule_is_that_of_the_density(name: str, tmp_path: Path) -> None:
    d = blrgen.derive(made(name, tmp_path))
    q, t, log_h, ell = summed(name)
    lam = np.array(CASES[name][5])
    centred = t - (t @ q)[:, None]
    fisher = (centred * q) @ centred.T
    target = ell + log_h
    should = 0.7 * lam - 0.3 * np.linalg.solve(fisher, (centred * q) @ (target - target @ q))
    env = dict(zip((p.name for p in d.family.natural), lam, strict=True)) | {"rho": 0.3}
    weighed = target if d.expectation.folded else ell
    for i, p in enumerate(d.expectation.probes):
        score = p.name.startswith("r")
        env[p.name] = (centred[i] * q) @ weighed if score else loss(float(p.at))
    for a in d.rule.assignments:
        env[a.name] = value(a.expr, env)
    mine = [env[f"{p.name}_next"] for p in d.family.natural]
    assert mine == pytest.approx(should, rel=1e-7, abs=1e-9)


@pytest.mark.parametrize("name", ["plane", "logarithm on four points"])
def test_the_code_is_that_rule(name: str, tmp_path: Path) -> None:
    report = verify_derivation(blrgen.derive(made(name, tmp_path)))
    assert report.proved, report


@pytest.mark.parametrize(("at", "should"), [(800.0, 399.375), (-800.0, -400.5), (40.0, 19.375)])
def test_a_candidate_that_is_sure_still_moves(at: float, should: float, tmp_path: Path) -> None:
    """F underflows at 800: the weights of the slopes do not; ℓ = 1, 2, 5, 10 on the points."""
    space: dict[str, Any] = {}
    exec(emit(blrgen.derive(made("powers of two", tmp_path)), "numpy"), space)
    state = np.array([at])
    losses = [np.array([float(i * i + 1)]) for i in range(4)]
    with np.errstate(over="ignore", under="ignore"):
        space["StrangeRule"](state, rho=0.5).step(*losses)
    assert state == pytest.approx(should, rel=1e-14)


@pytest.mark.sweep(6)
@pytest.mark.parametrize("name", ["exponential and rate", "logarithmic base", "spins"])
def test_they_pass_their_check(name: str, tmp_path: Path) -> None:
    only = ["minimality", "normalised", "mean", "covariance", "entropy", "entropy_gradient", "rule"]
    found = check(made(name, tmp_path), only=[n.replace("_", " ") for n in only])
    assert all(f.passed for f in found), found
    assert sum(f.level == "not checked" for f in found) == 0, found


MATRICES = {
    "weight that depends on X": (
        'support = "SPD"\nstatistics = ["logdet(X)"]\nbase_measure = "exp(-trace(X))"\n'
        '[natural]\neta = "(-1, oo)"\n'
    ),
    "rectangle of normals": (
        'support = "R^(n,d)"\nstatistics = ["X"]\nbase_measure = "exp(-trace(transpose(X)*X)/2)"\n'
        '[natural]\neta = "R^(n,d)"\n'
    ),
}


@pytest.mark.parametrize("name", MATRICES)
def test_base_measures_of_matrices(name: str, tmp_path: Path) -> None:
    """E_q[log h] from ∂ of log ∫ h¹⁺ˢ exp⟨λ, T⟩."""
    path = tmp_path / "strange.toml"
    path.write_text('name = "strange"\nvariable = "X"\n' + MATRICES[name])
    found = check(str(path), only=["normalised", "entropy", "entropy gradient"])
    assert all(f.passed and f.level != "not checked" for f in found), found
    assert any("h depends on the variable" in f.text for f in found)


def test_constants_may_bound_one_another(tmp_path: Path) -> None:
    path = tmp_path / "strange.toml"
    path.write_text(
        'name = "strange"\nvariable = "x"\nsupport = "(low, high)"\nstatistics = ["x"]\n'
        '[natural]\neta = "(-oo, oo)"\n[fixed]\nlow = "(-oo, oo)"\nhigh = "(low, oo)"\n'
    )
    g = blrgen.derive(str(path)).geometry
    at = {"low": -0.3, "high": 1.1, "eta": 0.8}
    x = np.linspace(-0.3, 1.1, 20001)
    should = np.log(np.trapezoid(np.exp(0.8 * x), x))
    assert float(g.log_partition.subs({s: at[s.name] for s in g.log_partition.free_symbols})) == (
        pytest.approx(should, rel=1e-8)
    )
