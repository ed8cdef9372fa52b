"""Every family in families/ that scipy.stats has, against it: log densities, entropy, moments.

The table is by family; a family whose name scipy knows and that is missing from it fails.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
import scipy.special
import scipy.stats
import sympy as sp
from numeric import spd

from blrgen.geometry import geometry_of
from blrgen.geometry.points import interior_points
from blrgen.read.family import list_families, read_family
from blrgen.value.instance import Instance

st = scipy.stats
Law = Any

# Scalars: natural, working parameters and constants by name → the law.
SCALAR: dict[str, Callable[[dict[str, float]], Law]] = {
    "bernoulli": lambda p: st.bernoulli(scipy.special.expit(p["eta"])),
    "bernoulli-sign": lambda p: st.rv_discrete(
        values=([-1, 1], [scipy.special.expit(-2 * p["lam"]), scipy.special.expit(2 * p["lam"])])
    ),
    "beta": lambda p: st.beta(p["a"], p["b"]),
    "binomial": lambda p: st.binom(int(p["n"]), p["p"]),
    "chi": lambda p: st.chi(p["k"]),
    "chi-square": lambda p: st.chi2(p["k"]),
    "exponential": lambda p: st.expon(scale=1 / p["rate"]),
    "gamma": lambda p: st.gamma(p["eta1"], scale=-1 / p["eta2"]),
    "gaussian": lambda p: st.norm(p["m"], p["v"] ** 0.5),
    "gaussian-diag": lambda p: st.norm(p["m"], p["s"] ** -0.5),
    "gaussian-fixed": lambda p: st.norm(p["m"], 1),
    "generalized-inverse-gaussian": lambda p: st.geninvgauss(
        p["p"], (p["a"] * p["b"]) ** 0.5, scale=(p["b"] / p["a"]) ** 0.5
    ),
    "geometric": lambda p: st.geom(p["p"], loc=-1),
    "inverse-gamma": lambda p: st.invgamma(p["a"], scale=p["b"]),
    "inverse-gaussian": lambda p: st.invgauss(p["m"] / p["s"], scale=p["s"]),
    "laplace": lambda p: st.laplace(p["c"], p["b"]),
    "log-normal": lambda p: st.lognorm(p["v"] ** 0.5, scale=np.exp(p["m"])),
    "negative-binomial": lambda p: st.nbinom(p["r"], p["p"]),
    "normal-known-mean": lambda p: st.norm(p["m"], p["v"] ** 0.5),
    "normal-known-variance": lambda p: st.norm(p["m"], p["v"] ** 0.5),
    "pareto": lambda p: st.pareto(p["a"], scale=p["m"]),
    "poisson": lambda p: st.poisson(p["rate"]),
    "rayleigh": lambda p: st.rayleigh(scale=p["sigma"]),
    "von-mises": lambda p: st.vonmises(
        np.hypot(p["eta1"], p["eta2"]), loc=np.arctan2(p["eta2"], p["eta1"])
    ),
    "weibull": lambda p: st.weibull_min(p["k"], scale=p["scale"]),
}  # fmt: skip
# Vectors: sizes, a point, the law, and draws as lists of rows.
VECTOR: dict[str, tuple[dict[str, Any], Callable[[dict[str, Any]], Law]]] = {
    "categorical": (
        {"eta": [0.3, -1.2]}, lambda p: st.multinomial(1, scipy.special.softmax([*p["eta"], 0])),
    ),
    "dirichlet": ({"eta": [0.7, 2.0, 3.5]}, lambda p: st.dirichlet(p["eta"])),
    "gaussian-isotropic": (
        {"lam1": [0.4, -1.0, 2.0], "lam2": -0.7},
        lambda p: st.multivariate_normal(
            -np.array(p["lam1"]) / (2 * p["lam2"]), -np.eye(3) / (2 * p["lam2"])
        ),
    ),
    "multinomial": (
        {"n": 4, "eta": [0.3, -1.2]},
        lambda p: st.multinomial(4, scipy.special.softmax([*p["eta"], 0])),
    ),
    "von-mises-fisher": (
        {"eta": [0.8, -0.6, 1.1]},
        lambda p: st.vonmises_fisher(
            np.array(p["eta"]) / np.linalg.norm(p["eta"]), np.linalg.norm(p["eta"])
        ),
    ),
}  # fmt: skip


def _matrices(name: str, rng: np.random.Generator) -> tuple[dict[str, Any], Law]:
    """Working parameters and constants at 3 × 3 (2 × 3), and the law."""
    s, m = spd(rng, 3), rng.normal(size=(3, 1))
    if name == "gaussian-full":
        return {"m": m, "S": s}, st.multivariate_normal(m[:, 0], np.linalg.inv(s))
    if name == "wishart":
        return {"V": s, "n": 4.7}, st.wishart(4.7, s)
    if name == "inverse-wishart":
        return {"Psi": s, "nu": 4.7}, st.invwishart(4.7, s)
    across, centre = spd(rng, 2), rng.normal(size=(2, 3))
    return {"U": across, "S": s, "M": centre}, st.matrix_normal(centre, across, np.linalg.inv(s))


MATRIX = ("gaussian-full", "wishart", "inverse-wishart", "matrix-normal")
# scipy has x and σ² where the family has x and τ = 1/σ²: compared as a density of τ, below.
JOINT = ("normal-gamma",)
ENTROPY_ELSEWHERE = {"inverse-wishart"}  # scipy's is that of another measure for d > 1


@cache
def geometry(name: str) -> Any:
    return geometry_of(read_family(name))


def test_no_family_that_scipy_has_is_left_out() -> None:
    known = {n.lower().replace("_", "") for n in dir(st) if hasattr(getattr(st, n), "rvs")}
    missing = []
    for name in list_families():
        if name in (*SCALAR, *VECTOR, *MATRIX, *JOINT):
            continue
        plain = name.replace("-", "")
        for long, short in (("inverse", "inv"), ("negative", "n"), ("generalized", "gen"),
                            ("square", "2"), ("gaussian", "norm"), ("normal", "norm")):  # fmt: skip
            plain = plain.replace(long, short)
        names = {plain, name.replace("-", ""), re.sub(r"(al|ial|ential|etric)$", "", plain)}
        if names & known:
            missing.append(name)
    assert missing == []
    assert {"gamma", "wishart", "vonmisesfisher", "binom"} <= known


def numbers(g: Any, point: dict[Any, Any]) -> dict[str, float]:
    found = {str(x): float(v) for x, v in point.items()}
    for x, e in g.working_of_natural.items():
        found[str(x)] = float(sp.N(sp.sympify(e).subs(point)))
    return found


@pytest.mark.sweep(6)
@pytest.mark.parametrize("name", sorted(SCALAR))
def test_scalars(name: str) -> None:
    g = geometry(name)
    family, x = g.family, g.family.variable
    for point in interior_points(family, 2):
        values = numbers(g, point)
        law = SCALAR[name](values)
        whole = hasattr(law, "logpmf")
        log = law.logpmf if whole else law.logpdf
        exponent = sp.Add(
            sp.expand_log(sp.log(family.base_measure), force=True),
            *[p.symbol * t for p, t in zip(family.natural, family.statistics, strict=True)],
        )
        shift = sp.N(g.log_partition.subs(point), 20)
        draws = np.unique(law.rvs(size=4, random_state=np.random.default_rng(1)))
        for draw in draws.tolist():
            place = sp.Integer(int(draw)) if whole else sp.Float(draw, 17)
            mine = float(sp.N(exponent.subs(point).subs(x, place), 17) - shift)
            assert mine == pytest.approx(float(log(draw)), rel=1e-10, abs=1e-10)
        entropy = float(sp.N(g.entropy.subs(point), 15))
        assert entropy == pytest.approx(float(law.entropy()), rel=1e-7, abs=1e-9)
        if x in family.statistics:
            i = family.statistics.index(x)
            mean, variance = (float(sp.N(e.subs(point))) for e in (g.mean[i], g.fisher[i][i]))
            assert mean == pytest.approx(float(law.mean()), rel=1e-8, abs=1e-10)
            assert variance == pytest.approx(float(law.var()), rel=1e-8)


@pytest.mark.parametrize("name", sorted(VECTOR))
def test_vectors(name: str) -> None:
    g = geometry(name)
    point, make = VECTOR[name]
    law, family = make(point), g.family
    draws = np.atleast_2d(law.rvs(3, random_state=np.random.default_rng(2)))
    (size,) = sorted(family.components.free_symbols, key=str)
    here = Instance({size: draws.shape[1]}, point)
    log = law.logpmf if hasattr(law, "logpmf") else law.logpdf
    a = float(here.value(g.log_partition))
    for row in draws:
        place = Instance({size: len(row)}, {**point, family.variable.name: row.tolist()})
        total = float(place.value(sp.log(family.base_measure)))
        for p, t in zip(family.natural, family.statistics, strict=True):
            lam, values = (np.array(v, float) for v in (point[p.name], place.value(t)))
            total += float(np.sum(lam * np.atleast_1d(values)[: lam.size]))
        assert total - a == pytest.approx(float(log(row)), rel=1e-10, abs=1e-10)
    assert float(here.value(g.entropy)) == pytest.approx(float(law.entropy()), rel=1e-8)


@pytest.mark.parametrize("name", MATRIX)
def test_matrices(name: str) -> None:
    g, rng = geometry(name), np.random.default_rng(3)
    values, law = _matrices(name, rng)
    shape = {"n": 2, "p": 3} if name == "matrix-normal" else {"d": 3}
    sizes = {sp.Symbol(k, integer=True, positive=True): v for k, v in shape.items()}
    table = {p.symbol: values[p.name] for p in (*g.family.working, *g.family.fixed)}
    here = Instance(sizes, table)
    here = here.with_({x: here.value(e) for x, e in g.natural_of_working.items()})
    for _ in range(2):
        draw = np.asarray(law.rvs(random_state=rng))
        placed = here.with_({g.family.variable: draw[:, None] if draw.ndim == 1 else draw})
        total = sum(
            np.sum(placed.value(x) * placed.value(t))
            for x, t in zip(g.natural, g.family.statistics, strict=True)
        )
        assert total - here.value(g.log_partition) == pytest.approx(law.logpdf(draw), rel=1e-10)
    if name not in ENTROPY_ELSEWHERE:
        assert here.value(g.entropy) == pytest.approx(law.entropy(), rel=1e-10)
    if name != "matrix-normal":
        i = g.family.statistics.index(g.family.variable) if name != "inverse-wishart" else None
        if i is not None:
            mean = law.mean() if callable(law.mean) else law.mean
            np.testing.assert_allclose(np.squeeze(here.value(g.mean[i])), mean, rtol=1e-10)


def test_normal_gamma() -> None:
    """p(x, τ) = p(x, σ²) σ⁴ at σ² = 1/τ."""
    g = geometry("normal-gamma")
    m, kappa, a, b = 0.4, 1.7, 2.3, 0.8
    working = dict(zip(("m", "kappa", "a", "b"), (m, kappa, a, b), strict=True))
    natural = {x: e.subs({w: working[w.name] for w in g.working})
               for x, e in g.natural_of_working.items()}  # fmt: skip
    law = st.normal_inverse_gamma(mu=m, lmbda=kappa, a=a, b=b)
    for x, tau in ((0.1, 0.7), (-2.0, 3.0)):
        place = dict(zip(g.family.variables, (x, tau), strict=True))
        total = sum(v * t.subs(place) for v, t in zip(natural.values(), g.family.statistics,
                                                      strict=True))  # fmt: skip
        mine = float(sp.N(total - g.log_partition.subs(natural)))
        assert mine == pytest.approx(float(law.logpdf(x, 1 / tau)) - 2 * np.log(tau), rel=1e-10)
