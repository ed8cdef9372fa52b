"""What is measured: data, a step of ours, the same arithmetic by a kernel, a package's step."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmarks.axes.kernels import (
    bernoulli_mixture,
    chain,
    factor,
    mixture,
    mixture_parameters,
    states,
)
from benchmarks.axes.kernels import topics as topics_by_hand
from benchmarks.models import peers
from benchmarks.models.emitted import model_class
from tests.program.axes import problems

Step = Callable[[], object]
GOAL = 1.10  # our time ÷ the kernel's


@dataclass(frozen=True)
class Case:
    """One line: makers of the three steps, how many steps a package's call makes, the goal."""

    title: str
    ours: Callable[[], Step]
    kernel: Callable[[], Step] | None
    peer: tuple[str, Callable[[], Step]] | None = None
    steps: int = 1
    goal: float = GOAL
    threads: tuple[int, ...] = (1,)
    extra: dict[str, Any] = field(default_factory=dict)


def gaussian(N: int, d: int, K: int) -> Case:
    """EM of a mixture with full covariances."""
    p = problems.mixture(N, d, K)
    x, mu = p["x"], p["mu"]

    def ours() -> Step:
        start = {"mu": mu, "pi": np.full(K, 1 / K), "S": np.broadcast_to(np.eye(d), (K, d, d))}
        return model_class("gaussian-mixture-full-em", "em")(x=x, K=K, start=start).step

    def kernel() -> Step:
        nk, s1, s2, L = np.empty(K), np.empty((K, d)), np.empty((K, d, d)), np.empty(())
        new_mu, P, lc = np.empty((K, d)), np.empty((K, d, d)), np.empty(K)

        def step() -> None:
            mixture.mixture_threads(x, mu, p["P"], p["lc"], nk, s1, s2, L)
            mixture_parameters.mixture_parameters(nk, s1, s2, 1e-6, new_mu, P, lc)

        return step

    peer = ("scikit-learn", lambda: peers.mixture(x, K))
    return Case(f"Gaussian mixture EM, N={N} d={d} K={K}", ours, kernel, peer, threads=(1, 2))


def bernoulli(N: int, d: int, K: int) -> Case:
    """VMP of a mixture of Bernoullis."""
    p = problems.bernoulli_mixture(N, d, K)
    x = p["x"]

    def ours() -> Step:
        return model_class("bernoulli-mixture", "vmp")(x=x, K=K).step

    def kernel() -> Step:
        from scipy.special import digamma

        nk, s1, L = np.empty(K), np.empty((K, d)), np.empty(())
        alpha, a, b = np.full(K, 3.0), 1 + np.arange(K * d).reshape(K, d) / 9, np.full((K, d), 2.0)

        def step() -> None:
            both = digamma(a + b)
            yes, no = digamma(a) - both, digamma(b) - both
            c = digamma(alpha) - digamma(alpha.sum()) + no.sum(1)
            bernoulli_mixture.bernoulli_mixture_threads(x, yes - no, c, nk, s1, L)

        return step

    peer = ("bayespy", lambda: peers.bernoulli(x, K))
    return Case(f"Bernoulli mixture VMP, N={N} d={d} K={K}", ours, kernel, peer, threads=(1, 2))


def poisson(T: int, K: int) -> Case:
    """Baum–Welch with Poisson counts."""
    p = problems.poisson_chain(T, K)

    def ours() -> Step:
        start = {"pi": p["pi"], "P": p["A"], "rate": p["rate"]}
        return model_class("hmm-poisson-em", "em")(x=p["x"], K=K, start=start).step

    def kernel() -> Step:
        outs = np.empty(()), np.empty(K), np.empty((K, K)), np.empty(K), np.empty(K)
        return lambda: chain.poisson_chain(*p.values(), *outs)

    peer = ("hmmlearn", lambda: peers.chain(**p))
    return Case(f"Baum–Welch, Poisson, T={T} K={K}", ours, kernel, peer)


def linear(T: int, n: int, m: int, smooth: bool) -> Case:
    """The Kalman filter, or filter and smoother, of known matrices."""
    p = problems.kalman(T, n, m)

    def ours() -> Step:
        known = {x: p[x] for x in ("F", "H", "Q", "R", "y")}
        made = model_class("state-space", "conjugate")(
            **known, m1=p["m0"], S1=p["P0"], B=np.zeros((n, 1)), u=np.zeros((T, 1))
        )
        return (lambda: made.posterior("x")) if smooth else made.objective

    def kernel() -> Step:
        if smooth:
            outs = np.empty((T, n)), np.empty((T, n, n)), np.empty(())
            return lambda: states.smoother(*p.values(), *outs)
        filtered = np.empty((T, n)), np.empty((n, n)), np.empty(())
        return lambda: states.kalman(*p.values(), *filtered)

    make = peers.smoothed if smooth else peers.filtered
    peer = ("pykalman" if smooth else "filterpy", lambda: make(**p))
    word = "Kalman filter and smoother" if smooth else "Kalman filter"
    return Case(f"{word}, T={T} n={n} m={m}", ours, kernel, peer)


def topics(D: int, V: int, K: int, batch: int = 500, rounds: int = 20) -> Case:
    """A pass of SVI over documents, with as many rounds of a document for everybody."""
    import scipy.sparse

    p = problems.documents(D, V, K, 150)
    ptr, word, count = (p[x] for x in ("ptr", "word", "count"))

    def ours() -> Step:
        made = model_class("lda", "svi", inner=rounds)(
            w=word, c=count, L=np.diff(ptr), alpha=np.full(K, 0.1), eta=np.full(V, 0.05)
        )

        def step() -> None:
            for first in range(0, D, batch):
                made.step(np.arange(first, first + batch))

        return step

    def kernel() -> Step:
        lam, eb, ss = np.random.default_rng(0).gamma(100, 0.01, (V, K)), *np.empty((2, V, K))
        g0, gam = np.ones((D, K)), np.empty((D, K))
        known = lam, eb, g0, gam, ss

        def one_pass() -> None:
            for first in range(0, D, batch):
                topics_by_hand.step(
                    ptr, word, count, first, first + batch, rounds, 0.1, 0.05, 0.2, *known
                )

        return one_pass

    rows = scipy.sparse.csr_matrix((count, word, ptr), (D, V))
    peer = ("scikit-learn", lambda: peers.topics(rows, K, batch, rounds))
    return Case(f"LDA, a pass of SVI, D={D} V={V} K={K}", ours, kernel, peer)


def factors(N: int, d: int, q: int) -> Case:
    """EM of factor analysis; the kernel works on the scatter matrix alone."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(N, q)) @ rng.normal(size=(q, d)) + rng.normal(size=(N, d))
    x -= x.mean(0)

    def ours() -> Step:
        return model_class("factor-analysis-em", "em")(x=x, q=q).step

    def kernel() -> Step:
        W, psi, scatter = rng.normal(size=(d, q)), np.ones(d), x.T @ x
        outs = np.empty((d, q)), np.empty(d)
        return lambda: factor.factor(scatter, W, psi, float(N), *outs)

    peer = ("scikit-learn", lambda: peers.factors(x, q))
    return Case(f"factor analysis EM, N={N} d={d} q={q}", ours, kernel, peer, steps=5)


def cases() -> Iterator[Case]:
    """All lines."""
    yield gaussian(100_000, 8, 8)
    yield bernoulli(20_000, 16, 8)
    yield poisson(100_000, 3)
    yield poisson(100_000, 8)
    yield poisson(1_000, 4)
    yield linear(2_000, 4, 2, False)
    yield linear(2_000, 4, 2, True)
    yield topics(2_000, 5_000, 20)
    yield factors(20_000, 50, 5)
