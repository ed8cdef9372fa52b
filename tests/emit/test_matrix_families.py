"""Emitted classes of matrix families: against the rule and against a natural gradient by hand."""

from __future__ import annotations

import math
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pytest
from mpmath import mp
from scipy.special import multigammaln, polygamma

from blrgen.api import derive
from blrgen.decide.matrices import difference, numeric_model, size_at
from blrgen.emit.compile import compile_class
from blrgen.validate.emitted import verify_emitted
from blrgen.validate.reference import next_states

SIZES = (1, 2, 3, 10)


def spd(rng: np.random.Generator, size: int) -> Any:
    A = rng.standard_normal((size, size))
    return A @ A.T / size + np.eye(size)


def symmetric(rng: np.random.Generator, size: int) -> Any:
    A = rng.standard_normal((size, size))
    return A + A.T


def psi(order: int, x: float, d: int) -> float:
    return float(sum(polygamma(order, x - j / 2) for j in range(d)))


def natural_step(lam: list[Any], scores: list[Any], rho: float, partition: Any) -> list[Any]:
    """λ − ρ(F⁻¹r + λ) with F = ∇²A by differences; symmetric matrices by their upper entries."""
    start = flat(lam)

    def value(x: Any) -> float:
        return float(partition(*unflat(x, lam)))

    count, h = len(start), 1e-4
    F = np.empty((count, count))
    for i in range(count):
        for j in range(i, count):
            e, f = h * np.eye(count)[i], h * np.eye(count)[j]
            corners = value(start + e + f) - value(start + e - f) - value(start - e + f)
            F[i, j] = F[j, i] = (corners + value(start - e - f)) / (4 * h * h)
    slopes = flat(scores, twice=True)
    return unflat(start - rho * (np.linalg.solve(F, slopes) + start), lam)


def flat(parts: list[Any], *, twice: bool = False) -> Any:
    """Numbers, vectors and the upper entries of matrices; `twice` for what pairs with these."""
    out: list[float] = []
    for p in parts:
        p = np.asarray(p)
        if p.ndim < 2:
            out += list(np.atleast_1d(p))
            continue
        rows, columns = np.triu_indices(len(p))
        entries = p[rows, columns] * np.where(twice & (rows != columns), 2.0, 1.0)
        out += list(entries)
    return np.array(out)


def unflat(x: Any, like: list[Any]) -> list[Any]:
    out, at = [], 0
    for p in like:
        p = np.asarray(p)
        if p.ndim < 2:
            out.append(x[at] if p.ndim == 0 else x[at : at + p.size])
            at += max(p.size, 1)
            continue
        count = len(p) * (len(p) + 1) // 2
        made = np.zeros(p.shape)
        made[np.triu_indices(len(p))] = x[at : at + count]
        out.append(made + np.triu(made, 1).T)
        at += count
    return out


def wishart_partition(eta1: float, eta2: Any) -> float:
    d = len(eta2)
    a = eta1 + (d + 1) / 2
    return float(multigammaln(a, d) - a * np.linalg.slogdet(-eta2)[1])


def inverse_wishart_partition(eta1: float, eta2: Any) -> float:
    d = len(eta2)
    a = -eta1 - (d + 1) / 2
    return float(multigammaln(a, d) - a * np.linalg.slogdet(-eta2)[1])


def normal_wishart_partition(eta1: Any, eta2: float, eta3: float, eta4: Any) -> float:
    d = len(eta4)
    a = eta3 + d / 2
    scale = np.outer(eta1, eta1) / (4 * eta2) - eta4
    gaussian = d / 2 * math.log(math.pi / -eta2)
    return float(gaussian + multigammaln(a, d) - a * np.linalg.slogdet(scale)[1])


@pytest.mark.parametrize("d", SIZES)
def test_wishart(d: int) -> None:
    """Against the rule in closed form (all sizes) and F⁻¹ by numerical differences (small)."""
    rng = np.random.default_rng(d)
    V, n, rho = spd(rng, d), d + 1.5, 0.2
    r1, r2 = 0.1 * rng.standard_normal(), 0.1 * symmetric(rng, d)
    opt = compile_class(derive("wishart").source("numpy"))(V.copy(), rho=rho)
    opt.n = n
    opt.step(r1, r2)
    V_inv = np.linalg.inv(V)
    if d <= 3:
        lam = [(n - d - 1) / 2, -V_inv / 2]
        eta1, eta2 = natural_step(lam, [r1, r2], rho, wishart_partition)
        np.testing.assert_allclose(opt.n, 2 * eta1 + d + 1, rtol=1e-5)
        np.testing.assert_allclose(opt.params, np.linalg.inv(-2 * eta2), rtol=1e-4)
    # F⁻¹ (r₁, r₂) by hand: μ₁ = log|V| + ψ_d(n/2) + …, μ₂ = n V
    det = 2 * d - n * psi(1, n / 2, d)
    trace = np.trace(V_inv @ r2)
    g1 = (trace - n * r1) / det
    g2 = V_inv @ r2 @ V_inv / (2 * n) + (r1 - trace / n) / det * V_inv
    eta1 = (1 - rho) * (n - d - 1) / 2 - rho * g1
    eta2 = -(1 - rho) * V_inv / 2 - rho * g2
    np.testing.assert_allclose(opt.n, 2 * eta1 + d + 1, rtol=1e-12)
    np.testing.assert_allclose(opt.params, np.linalg.inv(-2 * eta2), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("d", SIZES[:3])
def test_inverse_wishart(d: int) -> None:
    rng = np.random.default_rng(d)
    Psi, nu, rho = spd(rng, d), d + 2.5, 0.1
    r1, r2 = 0.1 * rng.standard_normal(), 0.1 * symmetric(rng, d)
    opt = compile_class(derive("inverse-wishart").source("numba"))(Psi.copy(), rho=rho)
    opt.nu = nu
    opt.step(r1, r2)
    lam = [-(nu + d + 1) / 2, -Psi / 2]
    eta1, eta2 = natural_step(lam, [r1, r2], rho, inverse_wishart_partition)
    np.testing.assert_allclose(opt.nu, -2 * eta1 - d - 1, rtol=1e-5)
    np.testing.assert_allclose(opt.params, -2 * eta2, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("d", SIZES[:3])
def test_normal_wishart(d: int) -> None:
    rng = np.random.default_rng(d)
    m, kappa, V, n, rho = rng.standard_normal(d), 1.3, spd(rng, d), d + 1.5, 0.1
    r1, r2, r3, r4 = (
        0.1 * x for x in (rng.standard_normal(d), rng.standard_normal(), 0.3, symmetric(rng, d))
    )
    opt = compile_class(derive("normal-wishart").source("numpy"))(m.copy(), rho=rho)
    opt.kappa, opt.V, opt.n = kappa, V.copy(), n
    opt.step(r1, r2, r3, r4)
    V_inv = np.linalg.inv(V)
    lam = [kappa * m, -kappa / 2, (n - d) / 2, -V_inv / 2 - kappa * np.outer(m, m) / 2]
    eta = natural_step(lam, [r1, r2, r3, r4], rho, normal_wishart_partition)
    new = -2 * eta[1]
    np.testing.assert_allclose(opt.kappa, new, rtol=1e-5)
    np.testing.assert_allclose(opt.params, eta[0] / new, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(opt.n, 2 * eta[2] + d, rtol=1e-5)
    scale = -2 * eta[3] - np.outer(eta[0], eta[0]) / new
    np.testing.assert_allclose(opt.V, np.linalg.inv(scale), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(("n", "p"), [(1, 1), (2, 3), (4, 2)])
def test_matrix_normal(n: int, p: int) -> None:
    rng = np.random.default_rng(n)
    M, S, U, rho = rng.standard_normal((n, p)), spd(rng, p), spd(rng, n), 0.1
    r1, r2 = 0.1 * rng.standard_normal((n, p)), 0.1 * symmetric(rng, p)
    opt = compile_class(derive("matrix-normal").source("numpy"))(M.copy(), rho=rho, U=U)
    opt.S = S.copy()
    opt.step(r1, r2)
    U_inv = np.linalg.inv(U)

    def partition(eta1: Any, eta2: Any) -> float:
        eta1 = eta1.reshape(n, p)
        quadratic = np.trace(eta1.T @ U @ eta1 @ np.linalg.inv(eta2))
        return float(-quadratic / 4 - n / 2 * np.linalg.slogdet(-eta2)[1])

    lam = [(U_inv @ M @ S).reshape(-1), -S / 2]
    eta1, eta2 = natural_step(lam, [r1.reshape(-1), r2], rho, partition)
    np.testing.assert_allclose(opt.S, -2 * eta2, rtol=1e-4, atol=1e-5)
    new = U @ eta1.reshape(n, p) @ np.linalg.inv(-2 * eta2)
    np.testing.assert_allclose(opt.params, new, rtol=1e-4, atol=1e-5)


def test_the_posterior_of_a_precision() -> None:
    """Gaussian data with known mean: the rule with ℓ's exact scores reaches W(V*, n*).

    ℓ(X) = ½ tr(SX) − ½N log|X| is −⟨c, T⟩, whose scores are F c: n* = N + d + 1, V* = S⁻¹.
    """
    d, N = 3, 7.0
    S = spd(np.random.default_rng(4), d) * N
    opt = compile_class(derive("wishart").source("numpy"))(np.eye(d), rho=0.5)
    for _ in range(80):
        V, n = opt.params, opt.n
        c1, c2 = -N / 2, S / 2
        r1 = psi(1, n / 2, d) * c1 + 2 * np.trace(V @ c2)  # F of (log|X|, X)
        r2 = 2 * c1 * V + 2 * n * V @ c2 @ V
        opt.step(float(r1), (r2 + r2.T) / 2)
    np.testing.assert_allclose(opt.n, N + d + 1, rtol=1e-10)
    np.testing.assert_allclose(opt.params, np.linalg.inv(S), rtol=1e-9)


NAMES = ("gaussian-full", "wishart", "inverse-wishart", "normal-wishart", "matrix-normal")


@pytest.mark.parametrize("name", NAMES)
def test_against_the_rule_at_random_points(name: str) -> None:
    """The emitted step against the rule's own expressions, evaluated with forty digits."""
    d = derive(name)
    cls = compile_class(d.source("numpy"))
    for size in SIZES:
        given = random_point(d.rule, size)
        opt = placed(cls, d.rule, given, np.float64)
        opt.step(*[given[q.name] for q in d.rule.of("input")])
        for state, wanted in evaluated(d.rule, given, size).items():
            found = np.asarray(held(opt, d.rule, state))
            np.testing.assert_allclose(
                found, wanted.reshape(found.shape), rtol=1e-9, atol=1e-9, err_msg=f"{state} {size}"
            )


@pytest.mark.sweep(6)
@pytest.mark.parametrize("name", NAMES)
def test_float32_stays_float32(name: str) -> None:
    d = derive(name)
    cls = compile_class(d.source("numba"))
    given = random_point(d.rule, 3)
    double, single = (placed(cls, d.rule, given, kind) for kind in (np.float64, np.float32))
    for opt, kind in ((double, np.float64), (single, np.float32)):
        opt.step(*[cast(given[q.name], kind) for q in d.rule.of("input")])
    for q in d.rule.of("state"):
        a, b = held(double, d.rule, q.name), held(single, d.rule, q.name)
        assert isinstance(b, float) or b.dtype == np.float32
        np.testing.assert_allclose(b, a, rtol=2e-3, atol=2e-4)


def cast(x: Any, kind: Any) -> Any:
    return x.astype(kind) if isinstance(x, np.ndarray) else x


def random_point(rule: Any, size: int) -> dict[str, Any]:
    """Values inside the domains; what the caller gives is small enough for a step to stay."""
    rng = np.random.default_rng(size)
    point: dict[str, Any] = {}
    for q in rule.of("state", "hyper", "input"):
        shape = tuple(size_at(n, size) for n in getattr(q.symbol, "shape", ()) if n != 1)
        small = 0.05 / size if q.kind == "input" else 1.0
        if q.rank == "symmetric":
            made = symmetric(rng, shape[0]) if q.kind == "input" else spd(rng, shape[0])
            point[q.name] = small * made
        elif shape:
            point[q.name] = small * rng.standard_normal(shape)
        elif q.kind == "hyper":
            point[q.name] = 0.1
        else:
            point[q.name] = small if q.kind == "input" else size + 2 + rng.random()
    return point


def placed(cls: Any, rule: Any, given: dict[str, Any], kind: Any) -> Any:
    """A class whose states and constants are those of a point."""
    point = {k: cast(v, kind) for k, v in given.items()}
    first = main_of(rule)
    constants = {q.name: point[q.name] for q in rule.of("hyper")}
    opt = cls(point[first].copy(), **constants)
    for q in rule.of("state"):
        if q.name != first:
            setattr(opt, q.name, cast(point[q.name], kind))
    return opt


def main_of(rule: Any) -> str:
    return next(q.name for q in rule.of("state") if q.rank != "scalar")


def held(opt: Any, rule: Any, state: str) -> Any:
    return opt.params if state == main_of(rule) else getattr(opt, state)


def evaluated(rule: Any, given: dict[str, Any], size: int) -> dict[str, Any]:
    """State → next value, by the rule's expressions."""
    point = {q.symbol: fractions(given[q.name]) for q in rule.quantities if q.name in given}
    found = {}
    with mp.workdps(40):
        model = numeric_model(size, {}, Random(0), point)
        for state, e in next_states(rule).items():
            rows = np.array(difference(model, e, e)[0], dtype=float)
            found[state] = rows
    return found


def fractions(x: Any) -> Any:
    if isinstance(x, np.ndarray):
        rows = x.reshape(len(x), -1)
        return tuple(tuple(Fraction(float(v)) for v in row) for row in rows)
    return Fraction(x)


@pytest.mark.parametrize("name", ["wishart", "normal-wishart"])
def test_a_changed_file_is_refuted(name: str) -> None:
    d = derive(name)
    source = d.source("numpy")
    if name == "wishart":
        assert verify_emitted(source, d.rule).proved
    body = source.index("def _step")
    end = source.index("def _", body + 5)
    changes = [("np.outer(", "2 * np.outer(")]
    if name == "wishart":
        changes = [("np.trace(", "2 * np.trace("), ("rho_over_n *", "rho *")]
    for before, after in changes:
        start = body if before in source[body:end] else 0
        changed = source[:start] + source[start:].replace(before, after, 1)
        assert changed != source
        verdict = verify_emitted(changed, d.rule, locate=False, briefly=True)
        assert verdict.level == "refuted", (before, after)


@pytest.mark.sweep(4)
@pytest.mark.parametrize("name", NAMES[1:])
def test_a_step_out_of_the_domain_changes_nothing(name: str) -> None:
    d = derive(name)
    given = random_point(d.rule, 3)
    opt = placed(compile_class(d.source("numpy")), d.rule, given, np.float64)
    inputs = {q.name: given[q.name] for q in d.rule.of("input")}
    before = {q.name: np.copy(held(opt, d.rule, q.name)) for q in d.rule.of("state")}
    refused = 0
    for q in d.rule.of("input"):
        for factor in (1e6, -1e6, np.nan, np.inf):
            bad = inputs | {q.name: factor * inputs[q.name]}
            try:
                with np.errstate(all="ignore"):
                    opt.step(*bad.values())
            except ValueError as error:
                assert "nothing has been changed" in str(error) or "symmetric" in str(error)
                refused += 1
                assert opt.t == 0
                for s, value in before.items():
                    np.testing.assert_array_equal(held(opt, d.rule, s), value)
            else:  # a large step may stay inside; NaN never does
                assert np.isfinite(factor)
                opt = placed(compile_class(d.source("numpy")), d.rule, given, np.float64)
    assert refused >= 2 * len(inputs)
    opt.step(*inputs.values())
    assert opt.t == 1


def test_first_values_out_of_the_domain() -> None:
    cls = compile_class(derive("wishart").source("numpy"))
    for bad in (-np.eye(2), np.array([[1.0, 2.0], [2.0, 1.0]]), np.full((2, 2), np.nan)):
        with pytest.raises(ValueError, match="positive definite"):
            cls(bad)
    with pytest.raises(ValueError, match="not symmetric"):
        cls(np.array([[1.0, 0.5], [0.0, 1.0]]))
    with pytest.raises(ValueError, match="must be a matrix"):
        cls(np.ones(3))
    opt = cls(np.eye(4))
    assert opt.n == 4
    opt.n = 3.0
    with pytest.raises(ValueError, match="n leaves its domain: 3 is not in"):
        opt.step(0.1, np.eye(4))
    constant = compile_class(derive("matrix-normal").source("numpy"))
    with pytest.raises(ValueError, match="U is not positive definite"):
        constant(np.zeros((2, 3)), U=-np.eye(2))


@pytest.mark.parametrize("name", NAMES)
def test_resuming(name: str) -> None:
    d = derive(name)
    cls = compile_class(d.source("numpy"))
    given = random_point(d.rule, 3)
    inputs = [given[q.name] for q in d.rule.of("input")]
    one, two = (placed(cls, d.rule, given, np.float64) for _ in range(2))
    one.step(*inputs)
    two.load_state_dict(one.state_dict())
    for opt in (one, two):
        opt.step(*inputs)
    for q in d.rule.of("state"):
        np.testing.assert_array_equal(held(one, d.rule, q.name), held(two, d.rule, q.name))
