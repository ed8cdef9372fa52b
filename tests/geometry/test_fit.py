"""Maximum likelihood from data, against scipy's optimisers and by hand."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.stats

import blrgen

GAMMA = """
name = "mine"
variable = "x"
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
name = "mine"
variable = "k"
support = "integers >= 0"
statistics = ["k"]
base_measure = "1/factorial(k)"
[natural]
eta = "(-oo, oo)"
"""
PARETO = """
name = "mine"
variable = "x"
support = "[x0, oo)"
statistics = ["log(x)"]
[natural]
eta = "(-oo, -1)"
[fixed]
x0 = "(0, oo)"
"""


@pytest.fixture
def file(tmp_path: Path) -> Any:
    def write(body: str) -> str:
        path = tmp_path / "mine.toml"
        path.write_text(body)
        return str(path)

    return write


def test_gamma_against_scipy(file: Any) -> None:
    x = np.random.default_rng(0).gamma(3.0, 2.0, 300)
    found = blrgen.fit(file(GAMMA), x)
    shape, _, scale = scipy.stats.gamma.fit(x, floc=0)
    assert found.converged
    assert found.working["a"] == pytest.approx(shape, rel=1e-9)
    assert found.working["b"] == pytest.approx(1 / scale, rel=1e-9)
    best = scipy.stats.gamma.logpdf(x, found.working["a"], scale=1 / found.working["b"]).sum()
    assert found.log_likelihood == pytest.approx(best, rel=1e-12)


def test_data_that_hardly_vary(file: Any) -> None:
    """Relative spread 10⁻⁷: log of the mean and mean of the logs agree to fourteen digits."""
    x = 1e9 * (1 + 1e-7 * np.array([-1.0, 0.0, 1.0]))
    found = blrgen.fit(file(GAMMA), x)
    assert found.converged
    assert found.working["a"] == pytest.approx(1.5e14, rel=1e-6)


def test_poisson_and_gaussian(file: Any) -> None:
    found = blrgen.fit(file(POISSON), [0, 3, 1, 2])
    assert found.natural["eta"] == pytest.approx(math.log(1.5), rel=1e-14)
    assert found.log_likelihood == pytest.approx(
        scipy.stats.poisson.logpmf([0, 3, 1, 2], 1.5).sum(), rel=1e-13
    )
    found = blrgen.fit("gaussian", [1.0, 2.0, 4.0])
    assert found.working == pytest.approx({"m": 7 / 3, "v": 14 / 9}, rel=1e-14)


def test_known_constants(file: Any) -> None:
    x = [2.0, 3.0, 5.0]
    found = blrgen.fit(file(PARETO), x, x0=2.0)
    slope = 3 / sum(math.log(v / 2) for v in x)
    assert found.natural["eta"] == pytest.approx(-1 - slope, rel=1e-13)


@pytest.mark.parametrize(
    ("body", "data", "fixed", "said"),
    [
        (GAMMA, [], {}, "no data"),
        (GAMMA, [1.0, math.nan], {}, "observation 1 is nan"),
        (GAMMA, [1.0, math.inf], {}, "observation 1 is inf"),
        (GAMMA, [1.0, 2.0, 0.0], {}, "observation 2 is 0"),
        (GAMMA, [2.0, 2.0], {}, "no maximum"),
        (GAMMA, [2.0], {}, "no maximum"),
        (GAMMA, ["a"], {}, "no numbers"),
        (GAMMA, [[1.0, 2.0]], {}, "2 dimensions"),
        (POISSON, [1, 2.5], {}, "observation 1 is 2.5"),
        (POISSON, [0, 0], {}, "no maximum"),
        (PARETO, [1.0, 3.0], {"x0": 2.0}, "observation 0 is 1"),
        (PARETO, [2.0, 3.0], {}, "missing constants"),
    ],
)
def test_bad_data(file: Any, body: str, data: Any, fixed: Any, said: str) -> None:
    with pytest.raises(blrgen.UserError, match=said):
        blrgen.fit(file(body), data, **fixed)
