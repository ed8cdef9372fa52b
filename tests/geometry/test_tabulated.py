"""The tables that claims are held against, on densities whose numbers are known."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import mpmath
import pytest
import sympy as sp

from blrgen.errors import UserError
from blrgen.geometry.tabulated import DPS, Measure
from blrgen.read.family import read_family

pytestmark = pytest.mark.core

HEAD = 'name = "mine"\nvariable = "x"\n'
Known = Callable[..., Any]


def measured(folder: Path, body: str, *values: str) -> Any:
    path = folder / "mine.toml"
    path.write_text(HEAD + body)
    family = read_family(path)
    point = {p.symbol: sp.Rational(v) for p, v in zip(family.natural, values, strict=True)}
    return Measure(family).table(point)


CASES: dict[str, tuple[str, tuple[str, ...], Known]] = {
    "gamma, singular at 0": (
        'support = "(0, oo)"\nstatistics = ["log(x)", "x"]\nbase_measure = "1/x"\n'
        '[natural]\na = "(0, oo)"\nb = "(-oo, 0)"',
        ("1/40", "-3"),
        lambda: mpmath.loggamma(mpmath.mpf(1) / 40) - mpmath.log(3) / 40,
    ),
    "gamma, concentrated": (
        'support = "(0, oo)"\nstatistics = ["log(x)", "x"]\nbase_measure = "1/x"\n'
        '[natural]\na = "(0, oo)"\nb = "(-oo, 0)"',
        ("40000", "-2"),
        lambda: mpmath.loggamma(40000) - 40000 * mpmath.log(2),
    ),
    "beta, singular at both ends": (
        'support = "(0, 1)"\nstatistics = ["log(x)", "log(1-x)"]\nbase_measure = "1/(x*(1-x))"\n'
        '[natural]\na = "(0, oo)"\nb = "(0, oo)"',
        ("1/20", "1/40"),
        lambda: mpmath.log(mpmath.beta(mpmath.mpf(1) / 20, mpmath.mpf(1) / 40)),
    ),
    "a corner away from 0": (
        'support = "(-oo, oo)"\nstatistics = ["abs(x - 3/2)"]\n[natural]\na = "(-oo, 0)"',
        ("-1/3",),
        lambda: mpmath.log(6),
    ),
    "two peaks": (
        'support = "(-oo, oo)"\nstatistics = ["x**2", "x**4"]\n'
        '[natural]\na = "(-oo, oo)"\nb = "(-oo, 0)"',
        ("6", "-1"),
        lambda: mpmath.log(mpmath.quad(lambda x: mpmath.exp(6 * x**2 - x**4), [-9, -2, 0, 2, 9])),
    ),
    "a power tail": (
        'support = "integers >= 1"\nstatistics = ["log(x)"]\n[natural]\na = "(-oo, -1)"',
        ("-5/3",),
        lambda: mpmath.log(mpmath.zeta(mpmath.mpf(5) / 3)),
    ),
    "a long sum": (
        'support = "integers >= 0"\nstatistics = ["x"]\nbase_measure = "1/factorial(x)"\n'
        '[natural]\na = "(-oo, oo)"',
        ("9",),
        lambda: mpmath.exp(9),
    ),
}


@pytest.mark.sweep(6)
@pytest.mark.long
@pytest.mark.parametrize("name", CASES)
def test_the_mass(tmp_path: Path, name: str) -> None:
    body, values, known = CASES[name]
    with mpmath.workdps(DPS):
        found, should = measured(tmp_path, body, *values).log_mass, known()
        assert abs(found - should) < mpmath.mpf(10) ** -14 * (1 + abs(should))


@pytest.mark.parametrize(
    ("body", "values"),
    [
        ('support = "(0, oo)"\nstatistics = ["log(x)"]\n[natural]\na = "(-oo, oo)"', ("-1",)),
        ('support = "(-oo, oo)"\nstatistics = ["x"]\n[natural]\na = "(-oo, oo)"', ("1/3",)),
        ('support = "(0, 1)"\nstatistics = ["log(x)"]\n[natural]\na = "(-oo, oo)"', ("-2",)),
        ('support = "integers >= 1"\nstatistics = ["log(x)"]\n[natural]\na = "(-oo, 0)"', ("-1",)),
        ('support = "integers >= 1"\nstatistics = ["x"]\n[natural]\na = "(-oo, oo)"', ("1/9",)),
    ],
)
def test_a_mass_that_is_infinite_is_refused(
    tmp_path: Path, body: str, values: tuple[str, ...]
) -> None:
    with pytest.raises(UserError, match="cannot be normalised"):
        measured(tmp_path, body, *values)


def test_a_negative_base_measure_is_refused(tmp_path: Path) -> None:
    body = (
        'support = "(0, oo)"\nstatistics = ["x"]\nbase_measure = "1 - x"\n[natural]\na = "(-oo, 0)"'
    )
    with pytest.raises(UserError, match="base measure"):
        measured(tmp_path, body, "-1")


def test_moments(tmp_path: Path) -> None:
    body, _, _ = CASES["gamma, singular at 0"]
    table = measured(tmp_path, body, "5/4", "-2")
    with mpmath.workdps(DPS):
        a, b = mpmath.mpf(5) / 4, mpmath.mpf(2)
        should = [
            (table.means[0], mpmath.digamma(a) - mpmath.log(b)),
            (table.means[1], a / b),
            (table.covariances[0][0], mpmath.polygamma(1, a)),
            (table.covariances[0][1], 1 / b),
            (table.covariances[1][1], a / b**2),
            (table.entropy, a - mpmath.log(b) + mpmath.loggamma(a) + (1 - a) * mpmath.digamma(a)),
        ]
        for found, known in should:
            assert abs(found - known) < mpmath.mpf(10) ** -14
