"""What SciPy's laws, SciPy's optimiser and scikit-learn's topics say of more models."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from scipy.special import gammaln, psi

from tests.peers.models.public import Run
from tests.reference.models import gaussian_bound

Array = NDArray[np.float64]


def tosses(x: Array) -> Run:
    """Evidence under beta(1, 1): a beta-binomial, without its coefficient."""
    n, k = len(x), int(x.sum())
    several = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    return Run((float(stats.betabinom(n, 1, 1).logpmf(k) - several),), {})


def counts(x: Array, e: Array) -> Run:
    """Evidence under gamma(1, 1): negative binomials one after the other."""
    a, b, total = 1.0, 1.0, 0.0
    for count, exposure in zip(x, e, strict=True):
        total += float(stats.nbinom(a, b / (b + exposure)).logpmf(count))
        a, b = a + count, b + exposure
    return Run((total,), {})


def outcomes(x: Array) -> Run:
    """Evidence under a flat Dirichlet: one row after the other."""
    alpha, total = np.ones(x.shape[1]), 0.0
    for row in x:
        total += float(stats.dirichlet_multinomial(alpha, int(row.sum())).logpmf(row.astype(int)))
        alpha = alpha + row
    return Run((total,), {})


def normals(x: Array) -> Run:
    """Evidence under normal-gamma(0, 1, 1, 1): Student's t in N dimensions."""
    shape = np.eye(len(x)) + np.ones((len(x), len(x)))
    return Run((float(stats.multivariate_t(np.zeros(len(x)), shape, df=2).logpdf(x)),), {})


def vectors(x: Array) -> Run:
    """Evidence under normal-Wishart(0, 1, I, d): Student's t one after the other."""
    d = x.shape[1]
    m, kappa, W, nu, total = np.zeros(d), 1.0, np.eye(d), float(d), 0.0
    for row in x:
        df = nu - d + 1
        law = stats.multivariate_t(m, np.linalg.inv(W) * (kappa + 1) / (kappa * df), df=df)
        total += float(law.logpdf(row))
        off = row - m
        W = np.linalg.inv(np.linalg.inv(W) + kappa / (kappa + 1) * np.outer(off, off))
        m, kappa, nu = m + off / (kappa + 1), kappa + 1, nu + 1
    return Run((total,), {})


def optimum(X: Array, level: Callable[[Array], Array], precision: Array) -> Run:
    """The best Gaussian by BFGS over a quadrature of its own."""
    value, m, V = gaussian_bound.optimum(X, level, np.zeros(len(precision)), precision)
    return Run((float(value),), {"m": m, "S": np.linalg.inv(V), "v": np.diag(V)})


def topics(words: Array, start: Array, alpha: float, eta: float, steps: int) -> Run:
    """scikit-learn's online updates, each of all documents, whose shares are at rest."""
    from sklearn.decomposition import LatentDirichletAllocation

    K, V = start.shape
    lda = LatentDirichletAllocation(
        K, doc_topic_prior=alpha, topic_word_prior=eta, learning_method="online",
        learning_decay=0.7, learning_offset=1.0, mean_change_tol=1e-14, max_doc_update_iter=5000,
        random_state=0,
    )  # fmt: skip
    lda._init_latent_vars(V, dtype=np.float64)
    lda.components_ = start.copy()
    lda.exp_dirichlet_component_ = np.exp(psi(start) - psi(start.sum(1, keepdims=True)))
    for _ in range(steps):
        lda._em_step(words, total_samples=len(words), batch_update=False)
    return Run((), {"phi": lda.components_})
