"""Emitted rules of vectors whose components meet in sums: against fifty digits, by symbols."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import mpmath
import numpy as np
import pytest
from mpmath import mp

from blrgen.api import derive
from blrgen.emit import emit
from blrgen.emit.compile import compile_class
from blrgen.rule.expand import expanded
from blrgen.validate.emitted import verify_emitted
from blrgen.validate.mutate import judge, mutants
from blrgen.validate.symbolic.number import CannotRun
from blrgen.value.arithmetic import EXTENDED
from blrgen.value.instance import Instance
from tests.emit.targets import TARGETS, class_of

RHO = 0.1


def made(name: str, target: str) -> Any:
    return class_of(partial(emit, derive(name)), target)


def solved(metric: list[list[Any]], right: Any) -> list[Any]:
    """F⁻¹r by elimination, at mpmath's precision."""
    return list(mpmath.lu_solve(mpmath.matrix(metric), mpmath.matrix(list(right))))


def by_size(metric: list[list[Any]], right: list[Any]) -> list[Any]:
    """|F⁻¹| |r|, for a metric D − c 1 1ᵀ: its inverse has no negative entry."""
    return solved(metric, [abs(x) for x in right])


def dirichlet_metric(alpha: Any) -> list[list[Any]]:
    a = [mpmath.mpf(float(x)) for x in alpha]
    shared = mpmath.psi(1, mpmath.fsum(a))
    return [
        [(mpmath.psi(1, x) if i == j else 0) - shared for j in range(len(a))]
        for i, x in enumerate(a)
    ]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("size", [2, 3, 50])
def test_dirichlet_steps_by_the_inverse_metric(size: int, target: str) -> None:
    """Within the rounding of the input: the loss's covariances are multiplied by F⁻¹."""
    rng = np.random.default_rng(size)
    cls = made("dirichlet", target)
    ranges = [(-6, 10), (-1, 1), (-6, -6), (10, 10), (4, 4)][: 1 if size > 9 else None]
    for low, high in ranges:
        alpha = 10 ** rng.uniform(low, high, size)
        with mp.workdps(60):
            metric = dirichlet_metric(alpha)
            move = [mpmath.mpf(float(x)) / 3 for x in alpha * rng.uniform(-1, 1, size)]
            exact = [mpmath.fdot(row, move) for row in metric]
            r1 = np.array([float(x) for x in exact])
            inverse = solved(metric, r1)
            wanted = [(1 - RHO) * mpmath.mpf(x) - RHO * y + RHO
                      for x, y in zip(map(float, alpha), inverse, strict=True)]  # fmt: skip
            # what a rounding of r1 moves the answer by: |F⁻¹| |r1|
            shaken = by_size(metric, exact)
        after = alpha.copy()
        cls(after, rho=RHO).step(r1)
        for found, should, spread in zip(after, wanted, shaken, strict=True):
            allowed = 8 * 2.3e-16 * (abs(should) + RHO * spread)
            assert abs(found - should) <= allowed


def sphere_metric(eta: Any) -> list[list[Any]]:
    """F = T I + ηηᵀ (S − T)/κ²: T = R/κ across η and S = R′ along it; I/d without direction."""
    d, e = len(eta), [mpmath.mpf(float(x)) for x in eta]
    kappa = mpmath.sqrt(mpmath.fdot(e, e))
    if kappa == 0:
        return [[mpmath.mpf(i == j) / d for j in range(d)] for i in range(d)]
    nu = mpmath.mpf(d) / 2 - 1
    ratio = mpmath.besseli(nu + 1, kappa) / mpmath.besseli(nu, kappa)
    across, along = ratio / kappa, 1 - ratio**2 - (d - 1) * ratio / kappa
    bend = (along - across) / kappa**2
    return [[(across if i == j else 0) + bend * e[i] * e[j] for j in range(d)] for i in range(d)]


@pytest.mark.sweep(6)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("size", [2, 3, 50])
def test_von_mises_fisher_steps_by_the_inverse_metric(size: int, target: str) -> None:
    rng = np.random.default_rng(size)
    cls = made("von-mises-fisher", target)
    for kappa in (0.0, 1e-9, 0.3, 6.0, 1000.0)[:: 2 if size > 9 else 1]:
        eta = rng.standard_normal(size)
        eta *= kappa / np.linalg.norm(eta)
        r1 = rng.standard_normal(size) / (1 + kappa)
        with mp.workdps(80):
            exact = [mpmath.mpf(float(x)) for x in r1]
            inverse = solved(sphere_metric(eta), exact)
            wanted = [(1 - RHO) * mpmath.mpf(float(x)) - RHO * y
                      for x, y in zip(eta, inverse, strict=True)]  # fmt: skip
        after = eta.copy()
        cls(after, rho=RHO).step(r1)
        largest = max(map(abs, wanted))
        for found, should in zip(after, wanted, strict=True):
            assert abs(found - should) <= 2e-14 * largest


def counts(trials: int, classes: int) -> list[tuple[int, ...]]:
    if classes == 1:
        return [(trials,)]
    return [(k, *rest) for k in range(trials + 1) for rest in counts(trials - k, classes - 1)]


def multinomial_step(eta: Any, r1: Any, trials: int) -> list[Any]:
    """(1 − ρ)η − ρF⁻¹(r + Cov(T, log h)), every count written down."""
    logits = [mpmath.mpf(float(x)) for x in eta] + [mpmath.mpf(0)]
    mass = mpmath.fsum(mpmath.exp(x) for x in logits)
    p = [mpmath.exp(x) / mass for x in logits]
    table = []
    for x in counts(trials, len(p)):
        h = mpmath.factorial(trials) / mpmath.fprod(map(mpmath.factorial, x))
        table.append((x, h * mpmath.fprod(q**k for q, k in zip(p, x, strict=True)), mpmath.log(h)))
    size = range(len(eta))
    mean = [trials * q for q in p]
    log_h = mpmath.fsum(w * g for _, w, g in table)
    metric = [[mpmath.fsum(w * (x[i] - mean[i]) * (x[j] - mean[j]) for x, w, _ in table)
               for j in size] for i in size]  # fmt: skip
    pull = [mpmath.fsum(w * (x[i] - mean[i]) * (g - log_h) for x, w, g in table) for i in size]
    right = [mpmath.mpf(float(a)) + b for a, b in zip(r1, pull, strict=True)]
    rho = mpmath.mpf(RHO)
    return [(1 - rho) * logits[i] - rho * y for i, y in enumerate(solved(metric, right))]


@pytest.mark.sweep(6)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("size", "trials"), [(1, 1), (1, 7), (2, 4), (3, 3)])
def test_multinomial_steps_by_the_inverse_metric(size: int, trials: int, target: str) -> None:
    rng = np.random.default_rng(size + trials)
    eta, r1 = rng.standard_normal(size) * 2, rng.standard_normal(size) / 9
    with mp.workdps(40):
        wanted = multinomial_step(eta, r1, trials)
    after = eta.copy()
    made("multinomial", target)(after, rho=RHO, n=trials).step(r1)
    np.testing.assert_allclose(after, [float(x) for x in wanted], rtol=1e-13, atol=1e-13)


def test_many_classes_and_large_logits() -> None:
    rng = np.random.default_rng(5)
    for scale, dtype in ((1, np.float64), (300, np.float64), (40, np.float32)):
        eta = (scale * rng.uniform(-1, 1, 49)).astype(dtype)
        results = []
        for target in ("numpy", "loops"):
            after = eta.copy()
            made("multinomial", target)(after, rho=RHO, n=1000).step(np.zeros_like(eta))
            results.append(after)
            assert after.dtype == dtype and np.isfinite(after).all()
        np.testing.assert_allclose(*results, rtol=1e-13 if dtype == np.float64 else 1e-5)


@pytest.mark.parametrize("target", TARGETS)
def test_what_is_not_finite_is_undone(target: str) -> None:
    """The score of a class of probability e^−1000 is 0, and F⁻¹ infinite there."""
    opt = made("multinomial", target)(eta := np.array([-1000.0, 1.0]), n=3)
    with pytest.raises(ValueError, match="nothing has been changed"):
        opt.step(np.zeros(2))
    assert eta.tolist() == [-1000.0, 1.0]


@pytest.mark.parametrize("target", TARGETS)
def test_float32_stays_float32(target: str) -> None:
    alpha, r1 = np.array([0.5, 2.0, 7.0]), np.array([0.02, -0.01, 0.03])
    cls = made("dirichlet", target)
    small = alpha.astype(np.float32)
    cls(small, rho=RHO).step(r1.astype(np.float32))
    cls(alpha, rho=RHO).step(r1)
    assert small.dtype == np.float32
    np.testing.assert_allclose(small, alpha, rtol=3e-6)


def test_each_array_is_one_vector() -> None:
    cls = made("dirichlet", "numpy")
    rows = np.array([[1.0, 2.0, 3.0], [0.5, 0.5, 4.0]])
    loss = np.array([[0.1, 0.0, -0.1], [0.02, 0.03, 0.0]])
    alone = [row.copy() for row in rows]
    for vector, r1 in zip(alone, loss, strict=True):
        cls(vector, rho=RHO).step(r1)
    cls(list(rows), rho=RHO).step(list(loss))
    np.testing.assert_array_equal(rows, alone)
    with pytest.raises(ValueError, match=r"shape \(2, 3\) is no vector"):
        cls(rows)
    with pytest.raises(ValueError, match="outside the domain"):
        cls(np.array([1.0, -1.0]))


@pytest.mark.parametrize("target", TARGETS)
def test_a_step_outside_is_undone(target: str) -> None:
    opt = made("dirichlet", target)(alpha := np.array([1.0, 2.0]), rho=1.0)
    with pytest.raises(ValueError, match="leaves the domain of alpha"):
        opt.step(np.array([5.0, 5.0]))
    assert alpha.tolist() == [1.0, 2.0] and opt.t == 0


@pytest.mark.sweep(6)
@pytest.mark.parametrize("target", ["numpy", "numba"])
@pytest.mark.parametrize("name", ["dirichlet", "von-mises-fisher", "multinomial"])
def test_the_source_is_the_rule_and_a_mistake_is_refuted(name: str, target: str) -> None:
    d = derive(name)
    source = emit(d, target)
    verdict = verify_emitted(source, d.rule)
    assert verdict.proved, verdict

    def wrong(text: str) -> Any:
        return verify_emitted(text, d.rule, locate=False, briefly=True)

    found = mutants(source, lambda f: f in ("_step", "_added"))
    outcomes = judge(found[:24], wrong, (CannotRun,))
    assert sum(o.fate == "refuted" for o in outcomes) >= 8
    assert not [o.mutant for o in outcomes if o.fate == "survived"]


ODD = {
    "shared-rate": """
support = "(0, oo)^d"
statistics = ["log(x)", "sum(x)"]
base_measure = "1/prod(x)"
natural = { a = "(0, oo)^d", b = "(-oo, 0)" }
""",
    "sharper": """
support = "simplex"
statistics = ["log(x)"]
base_measure = "prod(x)**2"
natural = { eta = "(-3, oo)^K" }
""",
    "weighted": """
support = "simplex"
statistics = ["log(x)"]
base_measure = "prod(x**(w - 1))"
natural = { eta = "(0, oo)^K" }
fixed = { w = "(0, oo)^K" }
""",
    "globe": """
support = "sphere in R^3"
statistics = ["x"]
natural = { eta = "R^3" }
""",
    "one-rate": """
support = "(0, oo)^d"
statistics = ["sum(x)"]
natural = { lam = "(-oo, 0)" }
""",
    "seven": """
support = "counts summing to 7"
statistics = ["head(x)"]
base_measure = "1/prod(factorial(x))"
natural = { eta = "R^(K-1)" }
""",
}


def odd(folder: Path, name: str) -> Any:
    file = folder / f"{name}.toml"
    file.write_text(f'name = "{name}"\nvariable = "x"\n{ODD[name]}', encoding="utf-8")
    return derive(str(file))


@pytest.mark.sweep(6)
@pytest.mark.parametrize("name", sorted(ODD))
def test_families_nobody_has_seen_are_emitted(name: str, tmp_path: Path) -> None:
    """The sources are the rule, and compute it in doubles at several sizes."""
    d = odd(tmp_path, name)
    for target in ("numpy", "numba"):
        source = emit(d, target)
        assert verify_emitted(source, d.rule).proved
        for size in (3,) if name == "globe" else (2, 3, 50):
            _agrees(d, compile_class(source), size)


def _agrees(d: Any, cls: Any, size: int) -> None:
    rng, sizes = Random(size), {s: size for s in d.family.components.free_symbols}
    names: dict[str, Any] = {"rho": mpmath.mpf(RHO)}
    for q in (*d.rule.of("state", "input"), *(q for q in d.rule.of("hyper") if q.name != "rho")):
        sign = -1 if q.domain == "(-oo, 0)" else 1
        low = 0.0 if q.kind == "input" else 0.5
        count = Instance(sizes, {}).whole(q.symbol.size) if q.rank == "elementwise" else 0
        values = [mpmath.mpf(sign * rng.uniform(low, 1.5) / (9 if low == 0 else 1))
                  for _ in range(max(count, 1))]  # fmt: skip
        names[q.name] = values if count else values[0]
    with mp.workdps(40):
        wanted = {x: Instance(sizes, names, EXTENDED).value(e) for x, e in expanded(d.rule).items()}
    main, *others = [q.name for q in d.rule.of("state")]

    def given(name: str) -> Any:
        v = names[name]
        return np.array([float(x) for x in v]) if isinstance(v, list) else float(v)

    params = np.atleast_1d(given(main))
    asked = {q.name: given(q.name) for q in d.rule.of("hyper")}
    asked |= {"d": size} if all(q.rank == "scalar" for q in d.rule.of("state")) else {}
    opt = cls(params, **asked)
    for x in others:
        setattr(opt, x, given(x))
    inputs = {q.name: given(q.name) for q in d.rule.of("input")}
    if params.size == 1:
        inputs = {x: np.atleast_1d(v) for x, v in inputs.items()}
    opt.step(**inputs)
    np.testing.assert_allclose(
        params, np.atleast_1d(np.array(wanted[main], dtype=float)), rtol=1e-11
    )
    for x in others:
        assert getattr(opt, x) == pytest.approx(float(wanted[x]), rel=1e-11)
