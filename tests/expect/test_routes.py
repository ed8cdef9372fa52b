"""∇_μ E_q[ℓ] by whatever route a family has, against quadrature of the density itself.

F ∇_μ E_q[f] must be Cov_q[f, T], with f = ℓ, or ℓ + log h where the inputs hold both; the
inputs, F and the covariances are all sums or integrals of the declared density, in NumPy.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy as sp
from quadrature import Density, density_of

from blrgen.core import Family
from blrgen.errors import InternalError
from blrgen.expect import Expectation, expectation_of
from blrgen.expect.expectation import NoRoute
from blrgen.geometry.geometry import Geometry, geometry_of
from blrgen.geometry.verify import interior_points
from blrgen.read.family import find_family, list_families, read_family
from blrgen.value.evaluate import evaluate

pytestmark = pytest.mark.core

LOSSES: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "bent": (
        lambda x: np.tanh(x - 0.5) + 0.2 * np.sqrt(1 + x**2),
        lambda x: 1 - np.tanh(x - 0.5) ** 2 + 0.2 * x / np.sqrt(1 + x**2),
    ),
    "bump": (lambda x: 1 / (1 + x**2), lambda x: -2 * x / (1 + x**2) ** 2),
}
# name: support, statistics, base measure, natural domains, further tables
ODD = {
    "root": ("(0, oo)", ["sqrt(x)", "x"], "1", ["(-oo, oo)", "(-oo, 0)"], ""),
    "gumbel": ("(-oo, oo)", ["exp(-x)"], "exp(-x)", ["(-oo, 0)"], ""),
    "logistic tail": (
        "(-oo, oo)", ["log(1+exp(-x))"], "exp(-x)/(1+exp(-x))", ["(-oo, 0)"], ""),
    "power": ("(0, 1)", ["log(x)"], "1", ["(-1, oo)"], ""),
    "heavy": ("(0, oo)", ["log(1+x**2)"], "1", ["(-oo, -1)"], ""),
    "two-sided": ("(-oo, oo)", ["abs(x - c0)"], "1", ["(-oo, 0)"],
                  '[fixed]\nc0 = "(-oo, oo)"\n'),
    "weibull": ("(0, oo)", ["x**k"], "x**(k-1)", ["(-oo, 0)"], '[fixed]\nk = "(0, oo)"\n'),
    "quartic": ("(-oo, oo)", ["x", "x**4"], "1", ["(-oo, oo)", "(-oo, 0)"], ""),
    "no h": ("(0, oo)", ["x"], "1/(1+x)", ["(-oo, 0)"], ""),
    "gamma": ("(0, oo)", ["log(x)", "x"], "1/x", ["(0, oo)", "(-oo, 0)"], ""),
    "shape and mean": ("(0, oo)", ["log(x)", "x"], "1/x", ["(0, oo)", "(-oo, 0)"],
                       '[working]\na = { domain = "(0, oo)", natural = "e1" }\n'
                       'mean = { domain = "(0, oo)", natural = "-e1/e2" }\n'),
    "log-normal": ("(0, oo)", ["log(x)", "log(x)**2"], "1/x", ["(-oo, oo)", "(-oo, 0)"],
                   '[working]\nm = { domain = "(-oo, oo)", natural = "-e1/(2*e2)" }\n'
                   'v = { domain = "(0, oo)", natural = "-1/(2*e2)" }\n'),
    "inverse gaussian": ("(0, oo)", ["x", "1/x"], "x**(-3/2)", ["(-oo, 0)", "(-oo, 0)"], ""),
    "gaussian, natural": ("(-oo, oo)", ["x", "x**2"], "1", ["(-oo, oo)", "(-oo, 0)"], ""),
    "beta": ("(0, 1)", ["log(x)", "log(1-x)"], "1/(x*(1-x))", ["(0, oo)", "(0, oo)"], ""),
    "poisson": ("integers >= 0", ["x"], "1/factorial(x)", ["(-oo, oo)"], ""),
    "geometric": ("integers >= 0", ["x"], "1", ["(-oo, 0)"], ""),
    "from one": ("integers >= 1", ["x"], "1/x", ["(-oo, 0)"], ""),
    "negative binomial": ("integers >= 0", ["x"], "gamma(x+r)/factorial(x)", ["(-oo, 0)"],
                          '[fixed]\nr = "(0, oo)"\n'),
    "four": ("(0, 1)", ["x", "x**2", "x**3", "log(x)"], "1",
             ["(-oo, oo)", "(-oo, oo)", "(-oo, oo)", "(-1, oo)"], ""),
    "von mises": ("(-pi, pi)", ["cos(x)", "sin(x)"], "1", ["(-oo, oo)", "(-oo, oo)"], ""),
    "counted twice": ("integers >= 0", ["x", "log(factorial(x))"], "1",
                      ["(-oo, oo)", "(-oo, 0)"], ""),
}  # fmt: skip
FOUND = {  # parameters with an identity, of all
    "root": (1, 2), "gumbel": (1, 1), "logistic tail": (1, 1), "power": (1, 1), "heavy": (0, 1),
    "two-sided": (1, 1), "weibull": (1, 1), "gamma": (1, 2), "shape and mean": (1, 2),
    "log-normal": (2, 2), "inverse gaussian": (1, 2), "gaussian, natural": (2, 2),
    "beta": (0, 2), "poisson": (1, 1), "geometric": (1, 1), "from one": (0, 1),
    "negative binomial": (1, 1), "quartic": (1, 2),
}  # fmt: skip


def text_of(name: str) -> str:
    support, statistics, base, domains, more = ODD[name]
    quoted = ", ".join(f'"{s}"' for s in statistics)
    natural = "\n".join(f'e{i + 1} = "{d}"' for i, d in enumerate(domains))
    return (
        f'name = "odd"\ntitle = "{name}"\nvariable = "x"\nsupport = "{support}"\n'
        f'statistics = [{quoted}]\nbase_measure = "{base}"\n[natural]\n{natural}\n{more}'
    )


@cache
def odd(name: str) -> Geometry:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "odd.toml"
        path.write_text(text_of(name))
        return geometry_of(read_family(str(path)))


def is_scalar(family: Family) -> bool:
    several = len(getattr(family, "variables", ()) or (family.variable,)) > 1
    return (
        family.elementwise
        and not several
        and family.support.kind in ("interval", "integers", "finite")
    )


SHIPPED = [n for n in list_families() if is_scalar(read_family(find_family(n)))]


def inputs_of(e: Expectation, q: Density, loss: Any, slope: Any, means: list[float]) -> Any:
    """The numbers that a caller would supply."""
    extra, extra_slope = (q.log_h, q.log_h_slope) if e.folded else ((lambda x: 0), (lambda x: 0))
    found: dict[str, float] = {}
    for p in e.probes:
        if p.at == "score":
            i = [t for t in q.family.statistics].index(p.weight)
            found[p.name] = q.mean(
                lambda x, i=i: (loss(x) + extra(x)) * (q.statistics[i](x) - means[i])
            )
        elif p.at == "weighted" and p.order == 0:
            w = q.function(p.weight)
            found[p.name] = q.mean(
                lambda x, w=w: np.where(  # no weight on a step out of the support
                    w(x) == 0, 0, w(x) * (loss(x + 1) + extra(x + 1) - loss(x) - extra(x))
                )
            )
        elif p.at == "weighted":
            w = q.function(p.weight)
            found[p.name] = q.mean(lambda x, w=w: w(x) * (slope(x) + extra_slope(x)))
        elif p.at == "q" and p.order == 1:
            found[p.name] = q.mean(slope)
        elif p.at == "q":
            found[p.name] = q.mean(lambda x: (slope(x + 1e-5) - slope(x - 1e-5)) / 2e-5)
        else:
            found[p.name] = float(loss(float(sp.sympify(p.at))))
    return found


def check(
    g: Geometry, e: Expectation, loss: Any, slope: Any, tolerance: float, points: int = 2
) -> None:
    for point in interior_points(g.family, points):
        gaps = gaps_at(g, e, loss, slope, point)
        assert gaps.max() < tolerance, (point, gaps)


def gaps_at(g: Geometry, e: Expectation, loss: Any, slope: Any, point: Any) -> Any:
    """|F ∇_μ E[f] − Cov[f, T]|, relative to the standard deviations."""
    q = density_of(g.family, {k: float(v) for k, v in point.items()})
    means = [q.mean(t) for t in q.statistics]
    inputs = inputs_of(e, q, loss, slope, means)
    extra = q.log_h if e.folded else (lambda x: 0 * x)
    mean_f = q.mean(lambda x: loss(x) + extra(x))

    def f(x: Any) -> Any:
        return loss(x) + extra(x) - mean_f

    centred = [(lambda x, t=t, m=m: t(x) - m) for t, m in zip(q.statistics, means, strict=True)]
    wanted = [q.mean(lambda x, c=c: f(x) * c(x)) for c in centred]
    fisher = [[q.mean(lambda x, a=a, b=b: a(x) * b(x)) for b in centred] for a in centred]
    values = {**point, **{p.symbol: sp.Float(inputs[p.name], 17) for p in e.probes}}
    values |= {x: v.subs(point) for x, v in g.working_of_natural.items()}
    at = {k: evaluate(sp.sympify(v), {}) for k, v in values.items()}
    for letter, entry in e.metric:
        at[letter] = evaluate(entry, at)
    mine = [float(evaluate(sp.sympify(x), at)) for x in e.mean_gradient]
    scale = math.sqrt(q.mean(lambda x: f(x) ** 2)) + 1e-3
    sizes = [math.sqrt(fisher[i][i]) * scale for i in range(len(means))]
    return np.abs(np.array(fisher) @ mine - wanted) / sizes


SLOW = ("quartic", "four", "root", "no h", "from one", "counted twice")  # by quadrature
ALL = [(n, k) for n in ODD for k in LOSSES if k == "bent" or n not in SLOW]


@pytest.mark.sweep(6)
@pytest.mark.parametrize(("name", "loss"), ALL)
def test_of_odd_families(name: str, loss: str) -> None:
    g = odd(name)
    check(g, expectation_of(g), *LOSSES[loss], 2e-6, 1 if name in SLOW else 2)


@pytest.mark.sweep(6)
@pytest.mark.parametrize("name", SHIPPED)
def test_of_every_shipped_family(name: str) -> None:
    """A family whose file is added is tested here without a word."""
    g = geometry_of(read_family(find_family(name)))
    heavy = name in ("inverse-gamma", "pareto")  # tails that have no mean at these points
    check(g, expectation_of(g), *LOSSES["bump" if heavy else "bent"], 2e-6)


@pytest.mark.sweep(6)
@pytest.mark.parametrize("name", FOUND)
def test_how_many_identities_are_found(name: str) -> None:
    e = expectation_of(odd(name))
    identities, all_of_them = FOUND[name]
    assert (len(e.operators) or len(e.identities), len(odd(name).natural)) == (
        identities, all_of_them,
    )  # fmt: skip
    assert sum(p.at == "score" for p in e.probes) == all_of_them - identities


@pytest.mark.parametrize("name", ["gamma", "log-normal", "poisson", "root"])
def test_the_score_when_asked_for(name: str) -> None:
    g = odd(name)
    e = expectation_of(g, route="score")
    assert {p.at for p in e.probes} == {"score"}
    check(g, e, *LOSSES["bent"], 2e-6)


def test_implicit_derivatives_are_those_of_a_draw() -> None:
    """E[ℓ′ ∂x/∂λ_i], ∂x/∂λ_i = −(∂F/∂λ_i)/q by differences of scipy's distribution function."""
    import scipy.stats

    g = odd("gamma")
    e = expectation_of(g, route="implicit")
    assert "distribution function" in e.probes[0].meaning
    loss, slope = LOSSES["bent"]
    a, b, h = 2.3, 1.4, 1e-5
    q = density_of(g.family, {s: v for s, v in zip(g.natural, (a, -b), strict=True)})

    def cdf(x: Any, a: float, b: float) -> Any:
        return scipy.stats.gamma.cdf(x, a, scale=1 / b)

    def weight(x: Any, i: int) -> Any:
        up, down = ((a + h, b), (a - h, b)) if i == 0 else ((a, b - h), (a, b + h))
        return -(cdf(x, *up) - cdf(x, *down)) / (2 * h) / scipy.stats.gamma.pdf(x, a, scale=1 / b)

    inputs = [q.mean(lambda x, i=i: slope(x) * weight(x, i)) for i in range(2)]
    at = {g.natural[0]: sp.Float(a), g.natural[1]: sp.Float(-b)}
    at |= {p.symbol: sp.Float(v) for p, v in zip(e.probes, inputs, strict=True)}
    mine = [float(evaluate(x, {k: evaluate(v, {}) for k, v in at.items()}))
            for x in e.mean_gradient]  # fmt: skip
    means = [q.mean(t) for t in q.statistics]
    fisher = [[q.mean(lambda x, s=s, t=t: s(x) * t(x)) - m * n
               for t, n in zip(q.statistics, means, strict=True)]
              for s, m in zip(q.statistics, means, strict=True)]  # fmt: skip
    wanted = [q.mean(lambda x, t=t: loss(x) * t(x)) - q.mean(loss) * m
              for t, m in zip(q.statistics, means, strict=True)]  # fmt: skip
    np.testing.assert_allclose(np.array(fisher) @ mine, wanted, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(
    ("name", "route", "why"),
    [
        ("poisson", "implicit", "real variable"), ("gamma", "enumeration", "finite"),
        ("beta", "identities", "no first-order"), ("gamma", "moments", "abstract"),
    ],
)  # fmt: skip
def test_routes_that_a_family_does_not_have(name: str, route: str, why: str) -> None:
    with pytest.raises((NoRoute, InternalError), match=why):
        expectation_of(odd(name), route=route)
