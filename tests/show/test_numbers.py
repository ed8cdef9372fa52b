"""Numbers at a point: truths computed apart, limits, domains, working parameters."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mpmath
import pytest

from blrgen.errors import UserError
from blrgen.geometry import geometry_of
from blrgen.read.family import read_family
from blrgen.show.geometry import numbers_at

pytestmark = pytest.mark.core

mp = mpmath.mp
TRUNCATED = """
support = "(0, 1)"
statistics = ["x"]
[natural]
eta = "(-oo, oo)"
"""
WIGGLE = """
support = "(0, 1)"
statistics = ["x"]
base_measure = "exp(sin(5*x))"
[natural]
eta = "(-oo, oo)"
"""
GAMMA = """
support = "(0, oo)"
statistics = ["log(x)", "x"]
base_measure = "1/x"
[natural]
eta1 = "(0, oo)"
eta2 = "(-oo, 0)"
[working]
a = { domain = "(0, oo)", natural = "eta1" }
b = { domain = "(0, oo)", natural = "-eta2" }
"""
POISSON = """
support = "integers >= 0"
statistics = ["x"]
base_measure = "1/factorial(x)"
[natural]
eta = "(-oo, oo)"
"""
PARETO = """
support = "[x0, oo)"
statistics = ["log(x)"]
[natural]
eta = "(-oo, -1)"
[fixed]
x0 = "(0, oo)"
"""
EDGES = """
support = "(0, 1)"
statistics = ["x", "x**2"]
[natural]
eta1 = "[0, oo)"
eta2 = "(-oo, -eta1)"
"""


def geometry(body: str, folder: Path) -> Any:
    path = folder / "mine.toml"
    path.write_text(f'name = "mine"\nvariable = "x"\n{body}')
    return geometry_of(read_family(path))


@pytest.mark.parametrize("eta", [0.0, 1e-12, -1e-12, 1e-5, 1000.0, -1000.0])
def test_at_and_near_a_removable_singularity(eta: float, tmp_path: Path) -> None:
    """A = log((e^η − 1)/η): value and derivatives where the quotient is 0/0."""
    found = numbers_at(geometry(TRUNCATED, tmp_path), {"eta": eta})
    with mpmath.workdps(150):
        e = mp.mpf(eta)
        at = [
            mp.log((mp.expm1(e) / e) if e else mp.mpf(1)),
            1 / (1 - mp.exp(-e)) - 1 / e if e else mp.mpf(1) / 2,
            1 / e**2 - mp.exp(-e) / mp.expm1(-e) ** 2 if e else mp.mpf(1) / 12,
        ]
        assert abs(found["log_partition"] - at[0]) <= 2 * found["error"]
        assert abs(found["mean"][0] - at[1]) <= 2.0**-52 * abs(at[1])
        assert abs(found["fisher"][0][0] - at[2]) <= 2.0**-52 * abs(at[2])
        assert abs(found["entropy"] - (at[0] - e * at[1])) <= 2 * found["error"]
    assert found["entropy_gradient"] == [-eta]
    assert 0 < found["error"] <= 1e-15 * max(1, abs(found["log_partition"]), abs(eta))


@pytest.mark.parametrize("eta", [-1.0, 1000.0])
def test_without_a_closed_form(eta: float, tmp_path: Path) -> None:
    found = numbers_at(geometry(WIGGLE, tmp_path), {"eta": eta})
    with mpmath.workdps(30):
        ends = [0, 0.5, 1] if eta < 10 else [0, 0.9, 0.99, 1]

        def integral(f: Any) -> Any:
            return mp.quad(lambda x: f(x) * mp.exp(eta * (x - 1) + mp.sin(5 * x)), ends)

        total = integral(lambda x: 1)
        mean = integral(lambda x: x) / total
        log_h = integral(lambda x: mp.sin(5 * x)) / total
        fisher = integral(lambda x: (x - mean) ** 2) / total
        mixed = integral(lambda x: (x - mean) * mp.sin(5 * x)) / total
        a = mp.log(total) + eta
        truth = {"log_partition": a, "entropy": a - eta * mean - log_h}
        for key, value in truth.items():
            assert abs(found[key] - value) <= 2 * found["error"]
        assert abs(found["mean"][0] - mean) <= 1e-15
        assert abs(found["fisher"][0][0] - fisher) <= 1e-15 * fisher
        assert abs(found["entropy_gradient"][0] + eta + mixed / fisher) <= 2 * found["error"]
    assert found["error"] < 1e-12


def test_working_parameters_in_their_place(tmp_path: Path) -> None:
    g = geometry(GAMMA, tmp_path)
    assert numbers_at(g, {"a": 3.0, "b": 0.5}) == numbers_at(g, {"eta1": 3.0, "eta2": -0.5})
    with pytest.raises(UserError, match="mixed"):
        numbers_at(g, {"a": 3.0, "eta2": -0.5})
    with pytest.raises(UserError, match="missing: b"):
        numbers_at(g, {"a": 3.0})
    with pytest.raises(UserError, match="outside its domain"):
        numbers_at(g, {"a": 3.0, "b": -0.5})


def test_constants_belong_to_the_point(tmp_path: Path) -> None:
    g = geometry(PARETO, tmp_path)
    found = numbers_at(g, {"eta": -3.0, "x0": 2.0})
    assert found["log_partition"] == pytest.approx(float(mp.log(mp.mpf(1) / 8)), rel=1e-15)
    for at, said in (
        ({"eta": -3.0}, "missing: x0"),
        ({"eta": -3.0, "x0": 0.0}, "x0 = 0 is outside"),
        ({"eta": -1.0, "x0": 2.0}, "eta = -1 is outside"),
        ({"eta": float("nan"), "x0": 2.0}, "no finite number"),
    ):
        with pytest.raises(UserError, match=said):
            numbers_at(g, at)


def test_ends_open_and_closed_and_moving(tmp_path: Path) -> None:
    g = geometry(EDGES, tmp_path)
    assert numbers_at(g, {"eta1": 0.0, "eta2": -1.0})["error"] < 1e-14
    for at in ({"eta1": -1e-300, "eta2": -1.0}, {"eta1": 2.0, "eta2": -2.0}):
        with pytest.raises(UserError, match="outside its domain"):
            numbers_at(g, at)


def test_a_number_beyond_doubles_is_said(tmp_path: Path) -> None:
    g = geometry(POISSON, tmp_path)
    assert numbers_at(g, {"eta": -1000.0})["mean"] == [0.0]
    with pytest.raises(UserError, match="beyond double precision"):
        numbers_at(g, {"eta": 1000.0})
