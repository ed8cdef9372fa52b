"""The rules of integration on families nobody ships: A, μ, F and 𝓗 of the density itself."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import mpmath
import pytest
import sympy as sp

from blrgen.algebra.nodes import has_nodes
from blrgen.errors import UserError
from blrgen.geometry.geometry import Geometry, geometry_of
from blrgen.geometry.points import interior_points
from blrgen.geometry.tabulated import Measure
from blrgen.read.family import read_family
from blrgen.value.digits import evaluate_at

P, N, R, M1 = "(0, oo)", "(-oo, 0)", "(-oo, oo)", "(-1, oo)"
# support, statistics, base measure, domains of e1, e2, …, constants
ODD: dict[str, tuple[str, list[str], str, list[str], str]] = {
    "maxwell": ("[0, oo)", ["x**2"], "x**2", [N], ""),
    "generalized gamma": (P, ["log(x)", "x**p"], "1", [M1, N], 'p = "(0, oo)"'),
    "fréchet": (P, ["x**(-a)"], "x**(-a - 1)", [N], 'a = "(0, oo)"'),
    "inverse chi": (P, ["log(x)", "x**(-2)"], "1", ["(-oo, -1)", N], ""),
    "power function": ("(0, 1)", ["log(x)"], "1", [M1], ""),
    "continuous Bernoulli": ("(0, 1)", ["x"], "1", [R], ""),
    "tilted uniform": ("[-2, 3]", ["x"], "1", [R], ""),
    "truncated Pareto": ("(1, 5)", ["log(x)"], "1", [R], ""),
    "shifted exponential": ("(-3, oo)", ["x"], "1", [N], ""),
    "shifted gamma": ("(m, oo)", ["log(x - m)", "x"], "1", [M1, N], 'm = "(-oo, oo)"'),
    "asymmetric Laplace": (R, ["abs(x)", "x"], "1", [N, "(e1, -e1)"], ""),
    "generalized normal": (R, ["abs(x - m)**p"], "1", [N], 'm = "(-oo, oo)"\np = "(0, oo)"'),
    "beta on (-1, 1)": ("(-1, 1)", ["log(1 + x)", "log(1 - x)"], "1/(1 - x**2)", [P, P], ""),
    "Kumaraswamy": ("(0, 1)", ["log(1 - x**a)"], "x**(a - 1)", [M1], 'a = "(0, oo)"'),
    "beta prime": (P, ["log(x)", "log(1 + x)"], "1", [M1, "(-oo, -e1 - 1)"], ""),
    "Lomax": (P, ["log(1 + x/s)"], "1", ["(-oo, -1)"], 's = "(0, oo)"'),
    "Student": (R, ["log(1 + x**2/3)"], "1", ["(-oo, -1/2)"], ""),
    "log gamma": (R, ["x", "exp(x)"], "1", [P, N], ""),
    "Gumbel": (R, ["exp(-x/b)"], "exp(-x/b)", [N], 'b = "(0, oo)"'),
    "logistic": (R, ["x", "log(1 + exp(x))"], "1", [P, "(-oo, -e1)"], ""),
    "hyperbolic secant": (R, ["x"], "1/cosh(x)", ["(-1, 1)"], ""),
    "quartic": (R, ["x**4"], "1", [N], ""),
    "one wave": ("(-pi, pi)", ["cos(x - m)"], "1", [P], 'm = "(-pi, pi)"'),
    "Lindley": (P, ["x"], "1 + x", [N], ""),
    "from one": ("integers >= 1", ["x"], "1", [N], ""),
    "logarithmic": ("integers >= 1", ["x"], "1/x", [N], ""),
    "Poisson without zero": ("integers >= 1", ["x"], "1/factorial(x)", [R], ""),
    "Bessel": ("integers >= 0", ["x"], "1/factorial(x)**2", [R], ""),
    "binomial beyond n": ("integers >= 0", ["x"], "binomial(n, x)", [R], 'n = "(0, oo)"'),
    "truncated geometric": ("{0, 1, ..., n}", ["x"], "1", [R], 'n = "integers >= 1"'),
}


def text(name: str) -> str:
    support, statistics, base, domains, constants = ODD[name]
    quoted = ", ".join(f'"{s}"' for s in statistics)
    natural = "\n".join(f'e{i + 1} = "{d}"' for i, d in enumerate(domains))
    fixed = f"[fixed]\n{constants}\n" if constants else ""
    return (
        f'name = "odd"\nvariable = "x"\nsupport = "{support}"\nstatistics = [{quoted}]\n'
        f'base_measure = "{base}"\n[natural]\n{natural}\n{fixed}'
    )


def read(content: str) -> Geometry:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "odd.toml"
        path.write_text(content)
        return geometry_of(read_family(str(path)))


@cache
def odd(name: str) -> Geometry:
    return read(text(name))


@pytest.mark.sweep(6)
@pytest.mark.parametrize("name", ODD)
def test_against_the_density(name: str) -> None:
    g = odd(name)
    assert not has_nodes(g.log_partition)
    (point,) = interior_points(g.family, 1)
    table = Measure(g.family).table(point)
    pairs = [
        (g.log_partition, table.log_mass),
        (g.entropy, table.entropy),
        *zip(g.mean, table.means, strict=True),
        *((e, v) for row in zip(g.fisher, table.covariances, strict=True)
          for e, v in zip(*row, strict=True)),
    ]  # fmt: skip
    for mine, wanted in pairs:
        value, _ = evaluate_at(mine, point, 15)
        assert abs(value - wanted) < 1e-10 * max(1, abs(wanted)), (mine, point)


@pytest.mark.parametrize("eta", [-1000, 1000])
def test_far_out_all_is_finite(eta: int) -> None:
    """A = η + log((1 − e⁻ᶯ)/η), and its like at −η."""
    g = odd("continuous Bernoulli")
    point = {g.natural[0]: sp.Integer(eta)}
    a, _ = evaluate_at(g.log_partition, point, 15)
    mu, _ = evaluate_at(g.mean[0], point, 15)
    f, _ = evaluate_at(g.fisher[0][0], point, 15)
    assert a == pytest.approx(max(eta, 0) - float(mpmath.log(1000)), rel=1e-14)
    assert mu == pytest.approx(0.999 if eta > 0 else 0.001, rel=1e-14)
    assert f == pytest.approx(1e-6, rel=1e-14)


@pytest.mark.parametrize("eta", ["0", "1e-40", "1e-12", "-1e-6", "0.01"])
def test_at_and_near_a_removable_singularity(eta: str) -> None:
    """log((eᶯ − 1)/η) = η/2 + η²/24 − η⁴/2880 + …"""
    g, x = odd("continuous Bernoulli"), sp.Rational(eta)
    point = {g.natural[0]: x}
    wanted = [x / 2 + x**2 / 24 - x**4 / 2880, sp.S.Half + x / 12 - x**3 / 720,
              sp.Rational(1, 12) - x**2 / 240]  # fmt: skip
    for e, value in zip((g.log_partition, g.mean[0], g.fisher[0][0]), wanted, strict=True):
        found, _ = evaluate_at(e, point, 15)
        assert abs(found - float(value)) <= 1e-10 * max(abs(float(value)), 1e-300)


REFUSED = {
    "a rate of the wrong sign": ((P, ["x"], "1", [P], ""), "cannot be normalised"),
    "a rate of any sign": ((P, ["x"], "1", [R], ""), "cannot be normalised"),
    "a shape too small": ((P, ["log(x)", "x"], "1/x", [R, N], ""), "cannot be normalised"),
    "a line too long": ((R, ["x"], "1", [N], ""), "cannot be normalised"),
    "a sum that diverges": (("integers >= 0", ["x"], "1", [R], ""), "cannot be normalised"),
    "a negative measure": ((R, ["x", "x**2"], "x", [R, N], ""), "is negative"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_no_density_is_refused(case: str, monkeypatch: Any) -> None:
    declared, words = REFUSED[case]
    monkeypatch.setitem(ODD, case, declared)
    with pytest.raises(UserError, match=words):
        read(text(case))


@pytest.mark.parametrize(
    ("support", "statistic", "domain"),
    [("(-oo, oo)", "abs(x)**3", "(-oo, 0)"), ("(-oo, oo)", "abs(x - 2)", "(-oo, 0)"),
     ("(3, oo)", "log(x)", "(-oo, -1)"), ("(-oo, oo)", "v*abs(x)**3", "(-oo, 0)")],
)  # fmt: skip
def test_reasons_name_letters_that_a_reader_knows(
    support: str, statistic: str, domain: str, tmp_path: Path
) -> None:
    """No `_u` of the engine's, and no letter that means two things."""
    fixed = '[fixed]\nv = "(0, oo)"\n' if "v*" in statistic else ""
    path = tmp_path / "mine.toml"
    path.write_text(
        f'name = "mine"\nvariable = "x"\nsupport = "{support}"\nstatistics = ["{statistic}"]\n'
        f'{fixed}[natural]\neta = "{domain}"\n'
    )
    reason = geometry_of(read_family(str(path))).integral.because
    assert not re.search(r"\b_|d_", reason), reason
    letters = re.findall(r"\b(\w+) = ", reason)
    assert len(letters) == len(set(letters)), reason
    assert not fixed or "v" not in letters


def test_a_power_inside_a_logarithm_is_substituted(tmp_path: Path) -> None:
    """Opened, log(1 − x³) hides x³: ∫ 3x²(1 − x³)^{η−1} = 1/η all the same."""
    file = tmp_path / "hidden.toml"
    file.write_text(
        'name = "hidden"\nvariable = "x"\nsupport = "(0, 1)"\nstatistics = ["log(1-x**3)"]\n'
        'base_measure = "3*x**2/(1-x**3)"\n[natural]\neta = "(0, oo)"\n'
    )
    geometry = geometry_of(read_family(str(file)))
    (eta,) = geometry.natural
    assert sp.expand(sp.expand_log(geometry.log_partition) + sp.log(eta)) == 0
