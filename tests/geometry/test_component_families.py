"""Families of vectors against scipy.stats, sums of the density, and numeric differentiation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
import scipy.special
import scipy.stats
import sympy as sp

from blrgen.algebra.binomial import COUNT, binomial_mean
from blrgen.algebra.components import Component, total
from blrgen.algebra.invert import solve_component
from blrgen.check import check
from blrgen.core import Support
from blrgen.errors import InternalError, UserError
from blrgen.geometry import geometry_of
from blrgen.geometry.component_newton import natural_of_mean
from blrgen.geometry.cubature import cubature
from blrgen.geometry.sized import PointSums, Sized, places
from blrgen.read.family import list_families, read_family
from blrgen.show import render_geometry
from blrgen.value.arithmetic import EXTENDED
from blrgen.value.instance import Instance

FAMILIES = [n for n in list_families() if read_family(n).components is not None]
K = sp.Symbol("K", integer=True, positive=True)


def at(name: str, **point: Any) -> dict[str, Any]:
    """What `show --at` prints."""
    geometry = geometry_of(read_family(name))
    return dict(json.loads(render_geometry(geometry, "json", at=point))["at"])


def close(a: Any, b: Any, tolerance: float = 1e-12) -> bool:
    return bool(np.allclose(np.array(a, float), np.array(b, float), rtol=tolerance, atol=tolerance))


@pytest.mark.parametrize("name", FAMILIES)
def test_every_number_agrees_with_the_density(name: str) -> None:
    """1e-10 at the sizes in `places`: A, μ, F, entropy."""
    geometry = geometry_of(read_family(name))
    for sizes, point in places(geometry.family):
        s, q = Sized(geometry, sizes, point), PointSums(geometry.family, sizes, point)
        assert close(s.log_partition, q.log_partition, 1e-11)
        assert close(s.mean, q.mean, 1e-11)
        assert close(s.fisher, q.covariance, 1e-11)
        assert close(s.entropy, q.entropy, 1e-11)


@pytest.mark.parametrize("name", FAMILIES)
def test_mean_and_fisher_are_derivatives(name: str) -> None:
    """μ = ∇A and F = ∂μ/∂λ by central differences in mpmath at K, d = 5."""
    geometry = geometry_of(read_family(name))
    sizes = {s: 5 for s in geometry.family.components.free_symbols}
    from blrgen.geometry.sized import points_of

    point = points_of(geometry.family, sizes, 2)[1]
    places_ = [
        (p.name, k) for p in geometry.family.natural
        for k in range(len(point[p.name]) if isinstance(point[p.name], list) else 1)
    ]  # fmt: skip
    with mpmath.workdps(40):
        step, middle = mpmath.mpf(10) ** -12, Sized(geometry, sizes, point)
        for j, (name_, k) in enumerate(places_):
            sides = []
            for sign in (1, -1):
                value = point[name_]
                if isinstance(value, list):
                    value = [v + sign * step * (i == k) for i, v in enumerate(value)]
                else:
                    value = value + sign * step
                sides.append(Sized(geometry, sizes, {**point, name_: value}))
            slope = (sides[0].log_partition - sides[1].log_partition) / (2 * step)
            assert abs(slope - middle.mean[j]) < 1e-18
            for i, (a, b) in enumerate(zip(sides[0].mean, sides[1].mean, strict=True)):
                assert abs((a - b) / (2 * step) - middle.fisher[i][j]) < 1e-18


@pytest.mark.parametrize("alpha", [[0.5, 2.0], [0.3, 4.0, 1.2], [1e-3, 30.0, 2.0, 0.7, 9.0]])
def test_dirichlet(alpha: list[float]) -> None:
    found, law = at("dirichlet", alpha=alpha), scipy.stats.dirichlet(alpha)
    assert close(found["entropy"], law.entropy(), 1e-10)
    psi = scipy.special.psi
    assert close(found["mean"], psi(alpha) - psi(sum(alpha)))
    fisher = np.diag(scipy.special.polygamma(1, alpha)) - scipy.special.polygamma(1, sum(alpha))
    assert close(found["fisher"], fisher)
    assert close(found["entropy_gradient"], 1 - np.array(alpha))


@pytest.mark.parametrize("eta", [[0.3], [0.3, -2.0, 0.1], [4.0, -7.0, 0.0, 2.5, 1.0]])
def test_categorical(eta: list[float]) -> None:
    found = at("categorical", eta=eta)
    p = scipy.special.softmax([*eta, 0.0])
    assert close(found["log_partition"], scipy.special.logsumexp([*eta, 0.0]))
    assert close(found["mean"], p[:-1])
    assert close(found["fisher"], np.diag(p[:-1]) - np.outer(p[:-1], p[:-1]))
    assert close(found["entropy"], scipy.stats.entropy(p))
    assert close(found["entropy_gradient"], -np.array(eta))


@pytest.mark.parametrize(("n", "eta"), [(1, [0.4]), (4, [0.3, 1.0]), (9, [-1.0, 2.0, 0.2])])
def test_multinomial(n: int, eta: list[float]) -> None:
    found, p = at("multinomial", n=n, eta=eta), scipy.special.softmax([*eta, 0.0])
    assert close(found["entropy"], scipy.stats.multinomial(n, p).entropy(), 1e-10)
    covariance = scipy.stats.multinomial(n, p).cov()
    assert close(found["fisher"], covariance[:-1, :-1])
    assert close(found["mean"], n * p[:-1])


@pytest.mark.parametrize("eta", [[0.4, 0.3], [1.0, -2.0, 0.5], [30.0, 10.0, -4.0, 2.0]])
def test_von_mises_fisher(eta: list[float]) -> None:
    found, kappa = at("von-mises-fisher", eta=eta), float(np.linalg.norm(eta))
    law = scipy.stats.vonmises_fisher(np.array(eta) / kappa, kappa)
    assert close(found["entropy"], law.entropy(), 1e-9)
    half = len(eta) / 2
    ratio = scipy.special.ive(half, kappa) / scipy.special.ive(half - 1, kappa)
    assert close(found["mean"], ratio * np.array(eta) / kappa, 1e-10)


@pytest.mark.parametrize("m", [[0.5], [1.0, -2.0, 0.25]])
def test_isotropic_gaussian(m: list[float]) -> None:
    found, v = at("gaussian-isotropic", m=m, v=0.7), 0.7
    d = len(m)
    assert close(found["entropy"], scipy.stats.multivariate_normal(m, v * np.eye(d)).entropy())
    assert close(found["mean"], [*m, sum(x * x for x in m) + d * v])
    assert close(found["entropy_gradient"], [*(-np.array(m) / v), 1 / (2 * v)])


@pytest.mark.parametrize("eta", [[1000.0, -1000.0], [800.0, 0.0, 0.0], [-1000.0, -900.0]])
def test_categorical_far_out(eta: list[float]) -> None:
    found = at("categorical", eta=eta)
    p = scipy.special.softmax([*eta, 0.0])
    assert close(found["log_partition"], scipy.special.logsumexp([*eta, 0.0]))
    assert close(found["mean"], p[:-1]) and np.all(np.isfinite(found["fisher"]))
    assert close(found["entropy"], 0) and close(found["entropy_gradient"], -np.array(eta))


def test_a_small_probability_keeps_its_digits() -> None:
    """F = μ(1 − μ) where μ is 1 to a hundred digits."""
    found = at("categorical", eta=[250.0])
    assert found["fisher"][0][0] == pytest.approx(float(mpmath.exp(-250)), rel=1e-12)


def test_von_mises_fisher_at_the_centre_and_far_out() -> None:
    centre = at("von-mises-fisher", eta=[0, 0, 0])
    assert close(centre["log_partition"], np.log(4 * np.pi)) and close(centre["mean"], [0, 0, 0])
    assert close(centre["fisher"], np.eye(3) / 3)
    far = at("von-mises-fisher", eta=[1000.0, 0, 0])  # coth κ − 1/κ along, μ/κ across
    assert close(far["mean"], [1 - 1e-3, 0, 0]) and close(far["fisher"][1][1], (1 - 1e-3) / 1000)


@pytest.mark.parametrize("scale", [1e-6, 1e-2, 1.0, 1e4, 1e10])
def test_dirichlet_is_inverted_by_newton(scale: float) -> None:
    geometry = geometry_of(read_family("dirichlet"))
    with mpmath.workdps(30):
        alpha = [mpmath.mpf(scale) * a for a in (1, 3, mpmath.mpf("0.2"))]
        s = Sized(geometry, {K: 3}, {"eta": alpha})
        found = natural_of_mean(geometry, {K: 3}, [s.mean], {})
        assert found.converged
        for a, b in zip(found.natural[0], alpha, strict=True):
            assert abs(a - b) < 1e-12 * b


@pytest.mark.parametrize("kappa", [1e-3, 1.0, 40.0, 500.0])
def test_von_mises_fisher_is_inverted_by_newton(kappa: float) -> None:
    geometry = geometry_of(read_family("von-mises-fisher"))
    d = sp.Symbol("d", integer=True, positive=True)
    with mpmath.workdps(30):
        eta = [kappa * mpmath.mpf(x) / 7 for x in (2, -3, 6)]
        s = Sized(geometry, {d: 3}, {"eta": eta})
        found = natural_of_mean(geometry, {d: 3}, [s.mean], {})
        assert found.converged
        assert max(abs(a - b) for a, b in zip(found.natural[0], eta, strict=True)) < 1e-12 * kappa


def test_means_that_do_not_exist_do_not_converge() -> None:
    """E log x_k cannot all be near zero on the simplex."""
    geometry = geometry_of(read_family("dirichlet"))
    found = natural_of_mean(geometry, {K: 2}, [[mpmath.mpf(-0.1), mpmath.mpf(-0.1)]], {})
    assert not found.converged


def test_closed_inverses() -> None:
    mu = Component("mu", K - 1)
    (found,) = geometry_of(read_family("categorical")).inverse_mean or ()
    assert found == sp.log(mu / (1 - total(mu, K - 1)))
    assert geometry_of(read_family("dirichlet")).inverse_mean is None


def test_equations_without_a_closed_form_are_refused() -> None:
    eta, mu = Component("eta", K), Component("mu", K)
    for equation in (sp.exp(eta) + eta - mu, eta * total(eta**2, K) - mu, total(eta, K) - 1):
        with pytest.raises(InternalError):
            solve_component(equation, eta)


def test_binomial_means_and_their_derivative() -> None:
    p = sp.Symbol("p", positive=True)
    n = sp.Symbol("n", integer=True, positive=True)
    node = binomial_mean(sp.loggamma(COUNT + 1), n, p)
    from blrgen.algebra.partial import partial

    slope = partial(node, p)
    assert node.free_symbols == {n, p}

    def value(e: Any, where: float) -> Any:
        return Instance({}, {"n": mpmath.mpf(6), "p": mpmath.mpf(where)}, EXTENDED).value(e)

    with mpmath.workdps(30):
        by_hand = sum(
            mpmath.binomial(6, j) * mpmath.mpf(0.3) ** j * mpmath.mpf(0.7) ** (6 - j)
            * mpmath.loggamma(j + 1) for j in range(7)
        )  # fmt: skip
        assert abs(value(node, 0.3) - by_hand) < 1e-14
        step, middle = mpmath.mpf(10) ** -8, mpmath.mpf(0.3)
        difference = (value(node, middle + step) - value(node, middle - step)) / (2 * step)
        assert abs(value(slope, 0.3) - difference) < 1e-12


@pytest.mark.parametrize(("kind", "sizes", "area"), [
    ("simplex", (2, 3, 4), lambda k: 1 / mpmath.factorial(k - 1)),
    ("sphere", (2, 3, 4), lambda d: 2 * mpmath.pi ** (d / 2) / mpmath.gamma(d / 2)),
    ("one-hot", (2, 5), lambda k: k),
])  # fmt: skip
def test_cubature_measures_the_support(kind: str, sizes: tuple[int, ...], area: Any) -> None:
    for size in sizes:
        c = cubature(Support(kind, (), sp.S.Zero, sp.S.One, ("K",), kind), size)
        assert close(sum(c.w), float(area(size)), 1e-11)
        if kind == "sphere":
            assert close(sum(x**2 for x in c.x), np.ones(len(c.w)))
        else:
            assert close(sum(c.x), np.ones(len(c.w)))


WRONG = {
    "dirichlet": 'log_partition = "sum(loggamma(eta)) - loggamma(sum(eta) + 1)"',
    "categorical": 'log_partition = "log(sum(exp(eta)))"',
    "von-mises-fisher": 'log_partition = "sqrt(dot(eta, eta))"',
    "gaussian-isotropic": 'log_partition = "-dot(lam1, lam1)/(4*lam2) - log(-lam2)/2"',
}
RIGHT = {
    "dirichlet": 'log_partition = "sum(loggamma(eta)) - loggamma(sum(eta))"',
    "categorical": 'log_partition = "log(1 + sum(exp(eta)))"',
    "gaussian-isotropic":
        'log_partition = "-dot(lam1, lam1)/(4*lam2) - d*log(-lam2)/2 + d*log(pi)/2"',
}  # fmt: skip


def given(name: str, line: str, tmp_path: Path) -> str:
    text = Path(read_family(name).path).read_text()
    file = tmp_path / f"{name}.toml"
    file.write_text(text.replace("[natural]", f"{line}\n[natural]"))
    return str(file)


@pytest.mark.parametrize("name", sorted(WRONG))
def test_a_wrong_log_partition_is_named(name: str, tmp_path: Path) -> None:
    path = given(name, WRONG[name], tmp_path)
    with pytest.raises(UserError, match="is wrong"):
        geometry_of(read_family(path))
    if name == "categorical":
        assert "log-partition" in [f.stage for f in check(path) if not f.passed]


@pytest.mark.parametrize("name", sorted(RIGHT))
def test_a_right_log_partition_is_verified(name: str, tmp_path: Path) -> None:
    g = geometry_of(read_family(given(name, RIGHT[name], tmp_path)))
    assert g.evidence["log_partition"].startswith("numeric: agrees")


def test_a_given_one_is_held_against_the_density(tmp_path: Path) -> None:
    """Where no rule applies: a Dirichlet tilted towards its middle, K = 2 … 4."""
    file = tmp_path / "tilted.toml"
    file.write_text(
        'name = "tilted"\nvariable = "x"\nsupport = "simplex"\nstatistics = ["dot(x, x)"]\n'
        'log_partition = "b/2"\n[natural]\nb = "(-oo, 0)"\n'
    )
    with pytest.raises(UserError, match="is wrong"):
        geometry_of(read_family(str(file)))
    file.write_text(file.read_text().replace('log_partition = "b/2"\n', ""))
    with pytest.raises(UserError, match="no closed form"):
        geometry_of(read_family(str(file)))


def test_domains_on_which_the_density_diverges_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "wide.toml"
    text = Path(read_family("dirichlet").path).read_text().replace("(0, oo)^K", "R^K")
    file.write_text(text)
    with pytest.raises(UserError, match="cannot be normalised"):
        geometry_of(read_family(str(file)))


@pytest.mark.parametrize(
    ("point", "why"),
    [
        ({"eta": [0.5, -2.0]}, "outside its domain"), ({"eta": 3}, "is a vector"),
        ({"et": [1.0]}, "missing: eta"), ({"eta": [1.0], "alpha": [2.0]}, "mixed"),
        ({"eta": [1.0, 2.0], "K": 3}, "2 components, not 3"),
    ],
)  # fmt: skip
def test_points_that_are_refused(point: dict[str, Any], why: str) -> None:
    with pytest.raises(UserError, match=why):
        at("dirichlet", **point)


@pytest.mark.parametrize("name", FAMILIES)
def test_json_expressions_are_read_by_sympy(name: str) -> None:
    """With `total` a sum of arrays, at a point: mean and log-partition are those of --at."""
    geometry = geometry_of(read_family(name))
    data = json.loads(render_geometry(geometry, "json"))
    point: dict[str, Any] = {
        p.name: [0.7, 1.3, 2.1] if isinstance(p.symbol, Component) else -0.6
        for p in geometry.family.natural
    } | {p.name: 4 for p in geometry.family.fixed}
    numbers = at(name, **point)
    size = {"categorical": 4, "multinomial": 4}.get(name, 3)
    known = {n: sp.Symbol(n) for n in (*point, "K", "d")} | {"total": sp.Function("total")}
    values = {n: np.array(v) if isinstance(v, list) else v for n, v in point.items()}
    values |= {"K": size, "d": size}
    mean = []
    for text in data["mean"]:
        e = sp.sympify(text, locals=known)
        f = sp.lambdify(list(known.values())[:-1], e, [{"total": np.sum}, "scipy", "numpy"])
        mean += np.atleast_1d(f(*(values[n] for n in known if n != "total"))).tolist()
    assert close(mean, numbers["mean"], 1e-10)


STRANGERS = {
    "simplex, α − 1": ("simplex", '["log(x)"]', 'eta = "(-1, oo)^K"', ""),
    "one coin for all": ("{0, 1}^d", '["sum(x)"]', 'eta = "(-oo, oo)"', ""),
    "scores": ("one-hot", '["dot(w, x)"]', 'eta = "(-oo, oo)"', '[fixed]\nw = "R^K"'),
    "corners at zero": ("R^d", '["sum(abs(x))"]', 'eta = "(-oo, 0)"', ""),
    "one shape, many rates": (
        "(0, oo)^d", '["x", "sum(log(x))"]', 'b = "(-oo, 0)^d"\na = "(-1, oo)"', "",
    ),
    "many rates, no shape": ("(0, oo)^d", '["x"]', 'eta = "(-oo, 0)^d"', ""),
    "a base of components": (
        "(0, oo)^d", '["x"]\nbase_measure = "prod(x)"', 'eta = "(-oo, 0)^d"', "",
    ),
    "a base of squares": (
        "R^d", '["x"]\nbase_measure = "exp(-dot(x, x)/2)"', 'eta = "R^d"', "",
    ),
    "known size": ("counts summing to 3 in R^3", '["head(x)"]', 'eta = "R^2"', ""),
}  # fmt: skip


@pytest.mark.sweep(10)
@pytest.mark.parametrize("case", STRANGERS)
def test_families_nobody_has_seen(case: str, tmp_path: Path) -> None:
    support, statistics, natural, more = STRANGERS[case]
    base = 'base_measure = "1/prod(factorial(x))"\n' if "counts" in support else ""
    file = tmp_path / "seen.toml"
    file.write_text(
        f'name = "seen"\nvariable = "x"\nsupport = "{support}"\nstatistics = {statistics}\n'
        f"{base}[natural]\n{natural}\n{more}\n"
    )
    findings = check(str(file))
    assert [f.text for f in findings if f.status == "refuted"] == []
    levels = {f.stage: f.level for f in findings}
    for stage in ("normalised", "mean", "covariance", "convexity", "entropy", "entropy gradient"):
        assert levels[stage] == "numeric"


def test_a_quadrature_that_does_not_settle_refutes_nothing(tmp_path: Path) -> None:
    """A density with a corner away from zero."""
    file = tmp_path / "corner.toml"
    file.write_text(
        'name = "corner"\nvariable = "x"\nsupport = "R^d"\nstatistics = ["sum(abs(x - 1))"]\n'
        'log_partition = "d*log(2) - d*log(-eta)"\n[natural]\neta = "(-oo, 0)"\n'
    )
    findings = check(str(file))
    assert [f.stage for f in findings if f.status == "refuted"] == []
