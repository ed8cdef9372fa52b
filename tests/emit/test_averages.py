"""Expectations without a closed form: emitted quadrature against quadrature of the density."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy as sp

import blrgen
from blrgen.emit import averages
from blrgen.emit.support import alone
from blrgen.emit.uses import collecting
from blrgen.geometry.numbers.nodes import Covariance, mean_node
from blrgen.program.averages import expectation
from blrgen.program.expectations import with_covariances
from blrgen.read.family import read_family

HEAD = 'name = "odd"\ntitle = "Odd"\nvariable = "x"\n'
FAMILIES = {
    "line": """
support = "(-oo, oo)"
statistics = ["x", "x**4"]
[natural]
eta1 = "(-oo, oo)"
eta2 = "(-oo, 0)"
""",
    "half-line": """
support = "(0, oo)"
statistics = ["log(x)", "x + x**2"]
base_measure = "1/(x*(1 + x))"
[natural]
eta1 = "(0, oo)"
eta2 = "(-oo, 0)"
""",
    "interval": """
support = "(-1, 2)"
statistics = ["log(2 - x)", "exp(x)"]
[natural]
eta1 = "(-1, oo)"
eta2 = "(-oo, oo)"
""",
    "kink": """
support = "(-oo, oo)"
statistics = ["abs(x - 1)", "x**2"]
[natural]
eta1 = "(-oo, oo)"
eta2 = "(-oo, 0)"
""",
    "integers": """
support = "integers >= 0"
statistics = ["x", "log(factorial(x))"]
[natural]
eta1 = "(-oo, oo)"
eta2 = "(-oo, 0)"
""",
}
POINTS = {
    "line": [(0.5, -1.0), (100.0, -0.001), (0.0, -1e8), (-300.0, -2.0)],
    "half-line": [(0.7, -1.3), (40.0, -1e-4)],
    "interval": [(0.3, 1.0), (-0.3, -2.0), (500.0, 3.0)],
    "kink": [(-0.5, -1.0), (3.0, -0.2), (-40.0, -3.0)],
    "integers": [(0.4, -0.8), (7.0, -1.2), (9.0, -1.5), (-3.0, -0.1)],
}


def family(kind: str, tmp_path: Path) -> Any:
    path = tmp_path / "odd.toml"
    path.write_text(HEAD + FAMILIES[kind])
    return read_family(str(path))


def emitted(f: Any, integrands: tuple[Any, ...], target: str = "numpy") -> Any:
    e = expectation("expectation_1", f, integrands, "E")
    with collecting() as uses:
        texts = averages.texts((e,), target)
    made: dict[str, Any] = {}
    exec("\n\n".join([alone(target, uses), *texts]).replace("cache=True, ", ""), made)
    return made["_expectation_1"]


def wanted(f: Any, point: tuple[float, ...], *functions: Any) -> list[float]:
    """E[g] of several g by Gauss–Legendre panels over where the density is, or by summation."""
    x = f.variable
    exponent = sp.log(f.base_measure) + sum(p * t for p, t in zip(point, f.statistics, strict=True))
    log_w = sp.lambdify(x, log_gammas(exponent), ["scipy", "numpy"])
    s = f.support
    if s.kind == "integers":
        z, step = np.arange(4000.0), np.ones(4000)
    else:
        low, high = float(s.lower), float(s.upper)
        grid = np.concatenate([-np.logspace(3, -20, 3000), [0, 1], np.logspace(-20, 3, 3000)])
        if np.isfinite(low) and np.isfinite(high):
            grid = low + (high - low) / (1 + np.exp(-np.linspace(-36, 36, 4000)))
        grid = np.unique(np.append(grid[(grid > low) & (grid < high)], 1.0))
        nodes, weights = np.polynomial.legendre.leggauss(16)
        half = np.diff(grid) / 2
        z = (grid[:-1] + half)[:, None] + half[:, None] * nodes
        step = half[:, None] * weights
        z, step = z.ravel(), step.ravel()
    with np.errstate(all="ignore"):
        level = log_w(z)
        w = step * np.exp(level - np.max(level))
        z, w = z[w > 0], w[w > 0]
        values = [sp.lambdify(x, log_gammas(g), ["scipy", "numpy"])(z) for g in functions]
        return [float(np.sum(w * value) / np.sum(w)) for value in values]


def log_gammas(e: Any) -> Any:
    """Factorials as logarithms, which do not overflow."""
    e = e.replace(sp.factorial, lambda k: sp.exp(sp.loggamma(k + 1)))
    return sp.expand_log(e, force=True)


@pytest.mark.sweep(4)
@pytest.mark.parametrize("kind", FAMILIES)
def test_means_and_covariances(kind: str, tmp_path: Path) -> None:
    f = family(kind, tmp_path)
    t1, t2 = f.statistics
    arguments = [np.array(p) for p in zip(*POINTS[kind], strict=True)]
    for integrand in (t1, t2):
        run = emitted(f, (integrand,))
        found, halved = run(*arguments), run(*arguments, every=2)
        single = run(*[a.astype(np.float32) for a in arguments])
        assert single.dtype == np.float32
        for i, point in enumerate(POINTS[kind]):
            exact, size = wanted(f, point, integrand, sp.Abs(integrand))
            assert abs(found[i] - exact) <= 1e-12 * size
            assert abs(halved[i] - found[i]) <= 1e-6 * size
            assert abs(single[i] - exact) <= 1e-3 * size
    variances, covariances = (emitted(f, pair)(*arguments) for pair in ((t1, t1), (t1, t2)))
    for i, point in enumerate(POINTS[kind]):
        a, b = wanted(f, point, t1, t2)
        squares = ((t1 - a) ** 2, (t1 - a) * (t2 - b), (t2 - b) ** 2)
        variance, joint, other = wanted(f, point, *squares)
        assert variances[i] == pytest.approx(variance, rel=1e-10)
        assert abs(covariances[i] - joint) <= 1e-10 * np.sqrt(variance * other)


def test_a_tiny_shape_neither_overflows_nor_loses_its_mass(tmp_path: Path) -> None:
    """Gamma with shape 1e-6: E[log x] = ψ(a), the density reaching down to 10^-(10^7)."""
    path = tmp_path / "odd.toml"
    path.write_text(
        HEAD + FAMILIES["half-line"].replace("x + x**2", "x").replace("/(x*(1 + x))", "/x")
    )
    f = read_family(str(path))
    run = emitted(f, (f.statistics[0],))
    found = run(np.array([1e-6]), np.array([-1.0]))[0]
    assert found == pytest.approx(-1000000.5772140199, rel=1e-12)


def test_compiled_and_plain_agree(tmp_path: Path) -> None:
    f = family("integers", tmp_path)
    x = f.variable
    plain, compiled = (emitted(f, (x,), t) for t in ("numpy", "numba"))
    for point in POINTS["integers"]:
        value = compiled(*point)
        assert value == pytest.approx(plain(*[np.array([p]) for p in point])[0], rel=1e-13)
    assert isinstance(compiled(np.float32(0.5), np.float32(-1)), float)
    assert all("float64" not in str(s) for s in compiled.nopython_signatures[-1:])


def test_second_moments_less_products_of_means_become_covariances(tmp_path: Path) -> None:
    f = family("line", tmp_path)
    x = f.variable
    e = {k: mean_node(f, x**k) for k in (1, 2, 4, 5, 8)}
    c = sp.Symbol("c")
    variance = with_covariances(e[2] - e[1] ** 2)
    assert isinstance(variance, Covariance)
    determinant = with_covariances(
        c / sp.expand((e[2] - e[1] ** 2) * (e[8] - e[4] ** 2) - (e[5] - e[1] * e[4]) ** 2)
    )
    assert not determinant.has(e[2])
    assert len(determinant.atoms(Covariance)) == 3


@pytest.mark.sweep(4)
@pytest.mark.parametrize("kind", ["line", "integers"])
def test_a_family_without_a_closed_form_is_generated_run_and_proved(
    kind: str, tmp_path: Path
) -> None:
    from blrgen.validate.emitted import verify_emitted

    path = tmp_path / "odd.toml"
    path.write_text(HEAD + FAMILIES[kind])
    d = blrgen.derive(str(path))
    source = d.source("numpy")
    assert "_expectation_1" in source
    assert verify_emitted(source, d.rule).proved
    rule = d.compile("numpy")
    params = np.array([0.3, -0.2])
    opt = rule(params)
    names = [q.name for q in d.rule.of("input")]
    opt.step(*[np.array([0.1, -0.2]) for _ in names])
    assert np.isfinite(params).all()
    assert not np.array_equal(params, [0.3, -0.2])


def tail(tmp_path: Path, support: str, statistic: str, base: str = "1") -> Any:
    path = tmp_path / "tail.toml"
    path.write_text(
        f'name = "z"\nvariable = "k"\nsupport = "{support}"\nstatistics = ["{statistic}"]\n'
        f'base_measure = "{base}"\n[natural]\neta = "(-oo, 0)"\n'
    )
    return read_family(str(path))


@pytest.mark.parametrize("target", ["numpy", "numba"])
def test_heavy_tails(tmp_path: Path, target: str) -> None:
    """E[log k] = −ζ'(s)/ζ(s) and its variance where k has the weight k^−s."""
    mp = pytest.importorskip("mpmath")
    f = tail(tmp_path, "integers >= 1", "log(k)")
    t = f.statistics[0]
    mean, variance = emitted(f, (t,), target), emitted(f, (t, t), target)
    for s in (3.0, 1.5, 1.05):
        point = np.array([-s]) if target == "numpy" else -s
        a, b, c = (mp.zeta(mp.mpf(s), derivative=k) for k in range(3))
        assert np.ravel(mean(point))[0] == pytest.approx(float(-b / a), rel=1e-12)
        wanted = float(c / a - (b / a) ** 2)
        assert np.ravel(variance(point))[0] == pytest.approx(wanted, rel=2e-12)
    single = np.array([-1.5], np.float32) if target == "numpy" else np.float32(-1.5)
    a, b = (float(mp.zeta(1.5, derivative=k)) for k in range(2))
    assert np.ravel(mean(single))[0] == pytest.approx(-b / a, rel=1e-5)


@pytest.mark.parametrize("natural", [-0.1, -1e-3, -1e-6])
def test_one_sided_laws(tmp_path: Path, natural: float) -> None:
    f = tail(tmp_path, "integers >= 0", "k")
    k = f.variable
    point = np.array([natural])
    wanted = 1 / np.expm1(-natural)
    assert emitted(f, (k,))(point)[0] == pytest.approx(wanted, rel=1e-13)
    assert emitted(f, (k, k))(point)[0] == pytest.approx(wanted * (1 + wanted), rel=1e-12)


def test_heavy_tails_on_both_sides(tmp_path: Path) -> None:
    """Weight 1/(1 + k²): its sum is π coth π, that of its square (π coth π + π²/sinh² π)/2."""
    f = tail(tmp_path, "integers", "log(1 + k**2)")
    x = np.pi
    total = x / np.tanh(x)
    square = (x / np.tanh(x) + x**2 / np.sinh(x) ** 2) / 2
    found = emitted(f, (1 / (1 + f.variable**2),))(np.array([-1.0]))[0]
    assert found == pytest.approx(square / total, rel=1e-12)


def test_a_peak_away_from_the_first_integer(tmp_path: Path) -> None:
    f = tail(tmp_path, "integers >= 1", "log(1 + (k - 5000)**2)", "1/k")
    k = np.arange(1, 4_000_001.0)
    w = (1 + (k - 5000) ** 2) ** -2.0 / k
    found = emitted(f, (1 / f.variable,))(np.array([-2.0]))[0]
    assert found == pytest.approx(np.sum(w / k) / np.sum(w), rel=1e-11)


def test_no_number_where_the_type_ends_before_the_tail(tmp_path: Path) -> None:
    f = tail(tmp_path, "integers >= 1", "log(k)")
    assert np.isnan(emitted(f, f.statistics)(np.array([-1.001]))).all()


def test_no_number_for_irregular_terms(tmp_path: Path) -> None:
    f = tail(tmp_path, "integers >= 1", "log(k)", "2 + cos(3*k)")
    assert np.isnan(emitted(f, f.statistics)(np.array([-2.0]))).all()


def test_a_step_without_an_average_says_so(tmp_path: Path) -> None:
    tail(tmp_path, "integers >= 1", "log(k)")
    text = (tmp_path / "tail.toml").read_text().replace("(-oo, 0)", "(-oo, -1)")
    (tmp_path / "tail.toml").write_text(text)
    rule = blrgen.derive(str(tmp_path / "tail.toml")).compile("numpy")
    params = np.array([-1.001, -3.0])
    with pytest.raises(ValueError, match="average without a closed form could not be computed"):
        rule(params, rho=0.01).step(np.array([0.1, 0.1]))
    assert params.tolist() == [-1.001, -3.0]
