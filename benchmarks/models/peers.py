"""A step of public packages, on the same data and at the same start where they take one."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

warnings.filterwarnings("ignore")
Step = Callable[[], object]


def mixture(x: Any, K: int) -> Step:
    """One E- and M-step of scikit-learn's mixture."""
    from sklearn.mixture import GaussianMixture

    g = GaussianMixture(K, max_iter=3, tol=0, init_params="random_from_data", random_state=0)
    g.fit(x)

    def step() -> None:
        _, log_weights = g._e_step(x)
        g._m_step(x, log_weights)

    return step


def bernoulli(x: Any, K: int) -> Step:
    """One sweep of bayespy."""
    from bayespy.nodes import Bernoulli, Beta, Categorical, Dirichlet, Mixture

    weights = Dirichlet(np.ones(K))
    p = Beta([0.5, 0.5], plates=(x.shape[1], K))
    labels = Categorical(weights, plates=(len(x), 1))
    node = Mixture(labels, Bernoulli, p)
    node.observe(x.astype(int))
    p.initialize_from_random()

    def step() -> None:
        for one in (p, weights, labels):
            one.update()

    return step


def chain(x: Any, pi: Any, A: Any, rate: Any) -> Step:
    """One step of Baum–Welch in hmmlearn, by its scaled passes."""
    from hmmlearn.hmm import PoissonHMM

    rows = x.astype(int)[:, None]
    m = PoissonHMM(len(pi), init_params="", n_iter=1, tol=-np.inf, implementation="scaling",
                   lambdas_prior=0.0, lambdas_weight=0.0)  # fmt: skip

    def step() -> None:
        m.startprob_, m.transmat_, m.lambdas_ = pi, A, rate[:, None]
        m.fit(rows)

    return step


def filtered(F: Any, H: Any, Q: Any, R: Any, y: Any, m0: Any, P0: Any) -> Step:
    """filterpy, observation by observation."""
    from filterpy.kalman import KalmanFilter

    def step() -> None:
        k = KalmanFilter(len(F), len(H))
        k.x, k.F, k.H, k.Q, k.R, k.P = m0[:, None], F, H, Q, R, P0
        for row in y:
            k.update(row)
            k.predict()

    return step


def smoothed(F: Any, H: Any, Q: Any, R: Any, y: Any, m0: Any, P0: Any) -> Step:
    """pykalman's filter and smoother."""
    from pykalman import KalmanFilter

    k = KalmanFilter(F, H, Q, R, initial_state_mean=m0, initial_state_covariance=P0)
    return lambda: k.smooth(y)


def topics(counts: Any, K: int, batch: int, rounds: int) -> Step:
    """A pass of scikit-learn's online variational inference."""
    from sklearn.decomposition import LatentDirichletAllocation

    m = LatentDirichletAllocation(
        K, doc_topic_prior=0.1, topic_word_prior=0.05, learning_method="online",
        batch_size=batch, max_iter=1, max_doc_update_iter=rounds, mean_change_tol=0.0,
        total_samples=counts.shape[0], random_state=0,
    )  # fmt: skip

    def step() -> None:
        for first in range(0, counts.shape[0], batch):
            m.partial_fit(counts[first : first + batch])

    return step


def factors(x: Any, q: int, steps: int = 5) -> Step:
    """Steps of scikit-learn's factor analysis; how many is the caller's to divide by."""
    from sklearn.decomposition import FactorAnalysis

    return lambda: FactorAnalysis(q, max_iter=steps, tol=0.0, svd_method="lapack").fit(x)
