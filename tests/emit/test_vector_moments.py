"""Mean and standard deviation of vectors in emitted classes: against sums and draws."""

from __future__ import annotations

import itertools
from functools import partial
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
from mpmath import mp

from blrgen.api import derive
from blrgen.emit import emit
from tests.emit.targets import TARGETS, class_of


def made(what: str, target: str) -> Any:
    return class_of(partial(emit, derive(what)), target)


def family(folder: Path, name: str, text: str) -> str:
    path = folder / f"{name}.toml"
    path.write_text(f'name = "{name}"\nvariable = "x"\n{text}', encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("size", [2, 3, 40])
def test_dirichlet(size: int, target: str) -> None:
    """α/α₀ and √(α(α₀ − α)/(α₀²(α₀ + 1))); a component alone is beta."""
    rng = np.random.default_rng(size)
    for low, high in ((-3, 3), (-9, -9), (6, 6)):
        alpha = 10 ** rng.uniform(low, high, size)
        mean, deviation = made("dirichlet", target)(alpha).posterior()
        with mp.workdps(40):
            a = [mpmath.mpf(float(x)) for x in alpha]
            whole = mpmath.fsum(a)
            should = [float(x / whole) for x in a]
            spread = [float(mpmath.sqrt(x * (whole - x) / (whole + 1)) / whole) for x in a]
        np.testing.assert_allclose(mean, should, rtol=1e-15)
        np.testing.assert_allclose(deviation, spread, rtol=1e-11)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("name", "n"), [("categorical", 1), ("multinomial", 4)])
def test_counts_have_the_last_class_too(name: str, n: int, target: str) -> None:
    """Every count written down; far out, where a class has probability e^−1000, too."""
    more = {"n": n} if name == "multinomial" else {}
    for eta in (np.array([0.3, -2.0]), np.array([-1000.0, 3.0]), np.array([400.0, -400.0])):
        mean, deviation = made(name, target)(eta, **more).posterior()
        with mp.workdps(900):
            e = [mpmath.exp(mpmath.mpf(float(x))) for x in (*eta, 0.0)]
            p = [x / mpmath.fsum(e) for x in e]
            first, second = [mpmath.mpf(0)] * 3, [mpmath.mpf(0)] * 3
            for x in itertools.product(range(n + 1), repeat=3):
                if sum(x) != n:
                    continue
                ways = mpmath.factorial(n) / mpmath.fprod(map(mpmath.factorial, x))
                w = ways * mpmath.fprod(q**k for q, k in zip(p, x, strict=True))
                first = [s + w * k for s, k in zip(first, x, strict=True)]
                second = [s + w * k * k for s, k in zip(second, x, strict=True)]
            spread = [mpmath.sqrt(s - m**2) for s, m in zip(second, first, strict=True)]
        np.testing.assert_allclose(mean, [float(m) for m in first], rtol=1e-12)
        # 1 − p is a difference: what is left of it is right to the rounding of 1
        np.testing.assert_allclose(deviation, [float(s) for s in spread], rtol=1e-12, atol=5e-8)


@pytest.mark.parametrize("target", TARGETS)
def test_the_sphere(target: str) -> None:
    """In R³ the component along η has the density ∝ exp(κu) on (−1, 1): L(κ) = coth κ − 1/κ."""
    for kappa in (0.0, 1e-6, 0.7, 30.0):
        eta = np.array([0.0, kappa, 0.0])
        mean, deviation = made("von-mises-fisher", target)(eta).posterior()
        with mp.workdps(60):
            k = mpmath.mpf(kappa)
            along = mpmath.coth(k) - 1 / k if kappa else mpmath.mpf(0)
            square = 1 - 2 * along / k if kappa else mpmath.mpf(1) / 3
            wanted = [mpmath.sqrt((1 - square) / 2), mpmath.sqrt(square - along**2)]
        np.testing.assert_allclose(mean, [0, float(along), 0], rtol=1e-13, atol=1e-300)
        np.testing.assert_allclose(deviation, [float(wanted[i]) for i in (0, 1, 0)], rtol=1e-12)


UNSEEN = {
    "shared-rate": (
        'support = "(0, oo)^d"\nstatistics = ["log(x)", "sum(x)"]\nbase_measure = "1/prod(x)"\n'
        'natural = { a = "(0, oo)^d", b = "(-oo, 0)" }\n'
    ),
    "sharper": (
        'support = "simplex"\nstatistics = ["log(x)"]\nbase_measure = "prod(x)**2"\n'
        'natural = { eta = "(-3, oo)^K" }\n'
    ),
    "weighted": (
        'support = "simplex"\nstatistics = ["log(x)"]\nbase_measure = "prod(x**(w - 1))"\n'
        'natural = { eta = "(0, oo)^K" }\nfixed = { w = "(0, oo)^K" }\n'
    ),
    "seven": (
        'support = "counts summing to 7"\nstatistics = ["head(x)"]\n'
        'base_measure = "1/prod(factorial(x))"\nnatural = { eta = "R^(K-1)" }\n'
    ),
}


@pytest.mark.sweep(6)
@pytest.mark.parametrize("name", sorted(UNSEEN))
def test_families_nobody_has_seen_agree_with_their_draws(name: str, tmp_path: Path) -> None:
    """Within five standard errors; both targets agree."""
    rng, results = np.random.default_rng(8), []
    more = {"w": np.array([0.5, 2.0, 1.0])} if name == "weighted" else {}
    for target in ("numpy", "loops"):
        cls = made(family(tmp_path, name, UNSEEN[name]), target)
        opt = cls(np.array([0.4, 1.2, 2.5]), **more)
        results.append(opt.posterior())
    np.testing.assert_allclose(*results, rtol=1e-12)
    mean, deviation = results[0]
    draws = opt.sample(rng, 40_000)
    assert draws.shape[-1] == mean.size
    error = draws.std(axis=0) / 200
    assert (np.abs(draws.mean(axis=0) - mean) < 5 * error).all()
    np.testing.assert_allclose(draws.std(axis=0), deviation, rtol=0.05)


@pytest.mark.parametrize("target", TARGETS)
def test_several_vectors_and_single_precision(target: str) -> None:
    cls = made("multinomial", target)
    rows = [np.array([1.0, 2.0], np.float32), np.array([0.0], np.float32)]
    means, deviations = cls(rows, n=1).posterior()
    assert [m.size for m in means] == [3, 2]
    assert {x.dtype for x in (*means, *deviations)} == {np.dtype(np.float32)}
    np.testing.assert_allclose(means[1], 0.5)
    np.testing.assert_allclose(deviations[1], 0.5)


def test_a_step_moves_them() -> None:
    opt = made("dirichlet", "numpy")(np.array([1.0, 2.0, 3.0]), rho=0.5)
    before, _ = opt.posterior()
    opt.step(np.array([0.2, 0.0, -0.1]))
    after, _ = opt.posterior()
    np.testing.assert_allclose(after, opt.params / opt.params.sum(), rtol=1e-15)
    assert not np.allclose(before, after)


@pytest.mark.parametrize("target", TARGETS)
def test_independent_components(target: str, tmp_path: Path) -> None:
    """Gammas of rate 1: mean and variance are both the power; arrays have any shape."""
    text = (
        'support = "(0, oo)^d"\nstatistics = ["log(x)"]\nbase_measure = "exp(-sum(x))/prod(x)"\n'
        'natural = { a = "(0, oo)^d" }\n'
    )
    a = np.array([[0.5, 2.0], [7.0, 1e-3]])
    mean, deviation = made(family(tmp_path, "powers", text), target)(a).posterior()
    np.testing.assert_allclose(mean, a, rtol=1e-15)
    np.testing.assert_allclose(deviation, np.sqrt(a), rtol=1e-15)


def test_each_array_of_an_elementwise_rule_is_a_vector() -> None:
    """Categorical steps need no sums, its probabilities do."""
    rows = [np.zeros(1), np.zeros(3)]
    means, _ = made("categorical", "numba")(rows).posterior()
    assert [m.tolist() for m in means] == [[0.5] * 2, [0.25] * 4]


def test_none_without_a_closed_form(tmp_path: Path) -> None:
    """The mean of one of several components that share a rate is no derivative of A."""
    text = 'support = "(0, oo)^d"\nstatistics = ["sum(x)"]\nnatural = { lam = "(-oo, 0)" }\n'
    assert not hasattr(made(family(tmp_path, "one-rate", text), "numpy"), "posterior")
