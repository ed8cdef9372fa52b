"""bayespy, hmmlearn, scikit-learn, gensim and SciPy on the rest of the models that ship."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, stats
from scipy.special import betaln, gammaln, psi

from tests.peers.models.public import Run

Array = NDArray[np.float64]


def normal(x: Array, v0: float, v: float) -> Run:
    """Evidence of a mean under N(0, v0): one normal in N dimensions."""
    law = stats.multivariate_normal(np.zeros(len(x)), v * np.eye(len(x)) + v0)
    return Run((float(law.logpdf(x)),), {})


def covariance(x: Array) -> Run:
    """Evidence under inverse-Wishart(I, d): Student's t one after the other."""
    d = x.shape[1]
    Psi, nu, total = np.eye(d), float(d), 0.0
    for row in x:
        df = nu - d + 1
        total += float(stats.multivariate_t(np.zeros(d), Psi / df, df=df).logpdf(row))
        Psi, nu = Psi + np.outer(row, row), nu + 1
    mean = stats.invwishart(nu, Psi).mean()
    return Run((total,), {"Psi": mean * (nu - d - 1)})


def ridge(X: Array, y: Array, alpha: float, tau: float) -> Run:
    """scikit-learn's coefficients, SciPy's evidence."""
    from sklearn.linear_model import Ridge

    law = stats.multivariate_normal(np.zeros(len(y)), X @ X.T / alpha + np.eye(len(y)) / tau)
    model = Ridge(alpha / tau, fit_intercept=False, tol=1e-14).fit(X, y)
    return Run((float(law.logpdf(y)),), {"m": model.coef_})


def ascended(Q: Any, first: Any, others: Sequence[Any], steps: int) -> tuple[float, ...]:
    """bayespy's bounds with the first block at its maximum, before each step and after the last."""
    trace = []
    for _ in range(steps):
        first.update()
        trace.append(float(np.sum(Q.compute_lowerbound())))
        for node in others:
            node.update()
    first.update()
    return (*trace, float(np.sum(Q.compute_lowerbound())))


def relevance(X: Array, y: Array, start: dict[str, Array], steps: int) -> Run:
    """bayespy: one precision a coefficient."""
    from bayespy.inference import VB
    from bayespy.nodes import Gamma, GaussianARD, SumMultiply

    alpha, tau = Gamma(0.01, 0.0001, plates=(X.shape[1],)), Gamma(0.01, 0.0001)
    w = GaussianARD(0, alpha, shape=(X.shape[1],))
    seen = GaussianARD(SumMultiply("i,i", w, X), tau, plates=(len(y),))
    seen.observe(y)
    alpha.initialize_from_parameters(start["a"], start["b"])
    tau.initialize_from_parameters(2.0, 3.0)
    trace = ascended(VB(seen, w, tau, alpha), w, [tau, alpha], steps)
    return Run(trace, {"m": np.array(w.get_moments()[0])})


def mixed(x: Array, start: dict[str, Array], steps: int, kind: str, total: int = 0) -> Run:
    """bayespy: mixtures of Poissons, exponentials, multinomials."""
    from bayespy.inference import VB
    from bayespy.nodes import Categorical, Dirichlet, Gamma, Mixture, Multinomial, Poisson

    K = len(start["pi"])
    pi = Dirichlet(np.ones(K))
    z = Categorical(pi, plates=(len(x),))
    if kind == "multinomial":
        own = Dirichlet(np.ones(x.shape[1]), plates=(K,))
        seen = Mixture(z, Multinomial, total, own)
        own.initialize_from_parameters(start["phi"])
    else:
        own = Gamma(1.0, 1.0, plates=(K,))
        seen = Mixture(z, Poisson, own) if kind == "poisson" else Mixture(z, Gamma, 1, own)
        own.initialize_from_parameters(start["a"], start["b"])
    seen.observe(x.astype(int) if kind != "exponential" else x)
    pi.initialize_from_parameters(start["pi"])
    trace = ascended(VB(seen, z, own, pi), z, [own, pi], steps)
    return Run(trace, {"pi": np.array(pi.phi[0]), "z": np.array(z.get_moments()[0])})


def normal_gammas(x: Array, start: dict[str, Array], steps: int) -> Run:
    """bayespy: clouds of independent columns, or of one column along a chain."""
    from bayespy.inference import VB
    from bayespy.nodes import (
        Categorical,
        CategoricalMarkovChain,
        Dirichlet,
        Gaussian,
        GaussianGamma,
        Mixture,
    )

    K, chain = len(start["pi"]), "P" in start
    pi = Dirichlet(np.ones(K))
    P = Dirichlet(np.ones(K), plates=(K,)) if chain else None
    own = (K,) if chain else (x.shape[1], K)
    z = (
        CategoricalMarkovChain(pi, P, states=len(x))
        if chain
        else Categorical(pi, plates=(len(x), 1))
    )
    both = GaussianGamma(np.zeros(1), np.eye(1), 1.0, 1.0, plates=own)
    seen = Mixture(z, Gaussian, both, np.eye(1))
    seen.observe(x[..., None])
    pi.initialize_from_parameters(start["pi"])
    if P is not None:
        P.initialize_from_parameters(start["P"])
    kappa = start["kappa"][..., None, None]
    first = GaussianGamma(start["m"][..., None], kappa, start["a"], start["b"])
    first.initialize_from_prior()
    both.phi, both.u, both.g = first.phi, first.u, first.g
    others = [both, pi] if P is None else [both, P, pi]
    trace = ascended(VB(seen, z, *others), z, others, steps)
    return Run(trace, {"pi": np.array(pi.phi[0]), "a": np.array(both.phi[3])})


def tied(x: Array, start: dict[str, Array], steps: int) -> Run:
    """bayespy: clouds with one precision."""
    from bayespy.inference import VB
    from bayespy.nodes import Categorical, Dirichlet, Gaussian, Mixture, Wishart

    K = len(start["pi"])
    pi = Dirichlet(np.ones(K))
    z = Categorical(pi, plates=(len(x),))
    mu, L = Gaussian(np.zeros(2), np.eye(2), plates=(K,)), Wishart(2.0, np.eye(2))
    seen = Mixture(z, Gaussian, mu, L)
    seen.observe(x)
    mu.initialize_from_parameters(start["m"], start["S"])
    L.initialize_from_parameters(float(start["n"]), np.linalg.inv(start["V"]))
    pi.initialize_from_parameters(start["pi"])
    trace = ascended(VB(seen, z, L, mu, pi), z, [L, mu, pi], steps)
    return Run(trace, {"pi": np.array(pi.phi[0]), "m": np.array(mu.get_moments()[0])})


def factors(x: Array, start: dict[str, Array], steps: int) -> Run:
    """bayespy: factor analysis with a precision for each factor."""
    from bayespy.inference import VB
    from bayespy.nodes import Add, Gamma, GaussianARD, SumMultiply

    (N, d), q = x.shape, start["W"].shape[1]
    alpha = Gamma(0.001, 0.001, plates=(q,))
    tau = Gamma(0.001, 0.001, plates=(d, 1))
    W = GaussianARD(0, alpha, shape=(q,), plates=(d, 1))
    mu = GaussianARD(0, 0.001, plates=(d, 1))
    h = GaussianARD(0, 1, shape=(q,), plates=(1, N))
    seen = GaussianARD(Add(SumMultiply("i,i", W, h), mu), tau)
    seen.observe(x.T)
    W.initialize_from_parameters(start["W"][:, None], 10.0)
    mu.initialize_from_parameters(np.zeros((d, 1)), 1.0)
    tau.initialize_from_parameters(np.full((d, 1), 2.0), np.full((d, 1), 1.5))
    alpha.initialize_from_parameters(np.full(q, 2.0), np.full(q, 1.0))
    trace = ascended(VB(seen, h, mu, W, tau, alpha), h, [mu, W, tau, alpha], steps)
    return Run(trace, {
        "W": np.array(W.get_moments()[0])[:, 0], "h": np.array(h.get_moments()[0])[0],
        "alpha": -np.array(alpha.phi[0]),
    })  # fmt: skip


def markov(x: Array, start: dict[str, Array], steps: int, kind: str) -> Run:
    """bayespy: a hidden Markov chain with priors."""
    from bayespy.inference import VB
    from bayespy.nodes import (
        Categorical,
        CategoricalMarkovChain,
        Dirichlet,
        Gamma,
        Mixture,
        Poisson,
    )

    K = len(start["pi"])
    pi, P = Dirichlet(np.ones(K)), Dirichlet(np.ones(K), plates=(K,))
    z = CategoricalMarkovChain(pi, P, states=len(x))
    if kind == "poisson":
        own: Any = Gamma(1.0, 1.0, plates=(K,))
        seen = Mixture(z, Poisson, own)
        own.initialize_from_parameters(start["a"], start["b"])
    else:
        own = Dirichlet(np.ones(start["B"].shape[1]), plates=(K,))
        seen = Mixture(z, Categorical, own)
        own.initialize_from_parameters(start["B"])
    seen.observe(x.astype(int))
    pi.initialize_from_parameters(start["pi"])
    P.initialize_from_parameters(start["P"])
    trace = ascended(VB(seen, z, own, P, pi), z, [own, P, pi], steps)
    return Run(trace, {"pi": np.array(pi.phi[0]), "P": np.array(P.phi[0])})


def components(x: Array, q: int) -> Run:
    """Likelihood at scikit-learn's principal components, its variances divided by N, not N − 1."""
    from sklearn.decomposition import PCA

    N = len(x)
    found = PCA(q).fit(x)
    law = stats.multivariate_normal(found.mean_, found.get_covariance() * (N - 1) / N)
    s = np.asarray(found.noise_variance_ * (N - 1) / N)
    return Run((float(law.logpdf(x).sum()),), {"s": s})


def gammas(x: Array, start: dict[str, Array]) -> Run:
    """The likelihood of a mixture of gammas at SciPy's optimum."""

    def lost(at: Array) -> float:
        w = at[:2] - np.logaddexp(*at[:2])
        laws = stats.gamma(np.exp(at[2:4]), scale=np.exp(-at[4:]))
        return -float(np.logaddexp.reduce(w + laws.logpdf(x[:, None]), axis=1).sum())

    first = np.concatenate([np.log(start[k]) for k in ("pi", "a", "b")])
    best = optimize.minimize(lost, first, method="BFGS", options={"gtol": 1e-9})
    return Run((-float(best.fun),), {"a": np.exp(best.x[2:4]), "b": np.exp(best.x[4:])})


def hurdle(x: Array) -> Run:
    """Evidence of the zeros, and the likelihood of the others at SciPy's optimum."""
    up = x[x > 0]
    zeros = betaln(1 + len(up), 1 + len(x) - len(up))

    def lost(rate: float) -> float:
        return -float((stats.poisson(rate).logpmf(up) - np.log(-np.expm1(-rate))).sum())

    best = optimize.minimize_scalar(lost, (0.5, 3.0), tol=1e-14)
    return Run((float(zeros - best.fun),), {"rate": np.asarray(best.x)})


def inflated(x: Array, e: Array) -> Run:
    """The best mean-field bound of a zero-inflated Poisson, by BFGS over its four numbers."""

    def bound(at: Array) -> float:
        a, b, c, d = np.exp(at)  # r: beta(a, b); rate: gamma(c, rate d)
        up, down = psi(a) - psi(a + b), psi(b) - psi(a + b)
        log_rate, rate = psi(c) - np.log(d), c / d
        full = up + x * (log_rate + np.log(e)) - e * rate - gammaln(x + 1)
        rows = np.where(x == 0, np.logaddexp(full, down), full).sum()
        r = betaln(a, b) - (a - 1) * up - (b - 1) * down
        own = c - np.log(d) + gammaln(c) + (1 - c) * psi(c)
        return float(rows + r + own - rate)

    best = optimize.minimize(lambda at: -bound(at), np.zeros(4), options={"gtol": 1e-8})
    a, b, c, d = np.exp(best.x)
    found = {"r.a": a, "r.b": b, "rate.a": c, "rate.b": d}
    return Run((-float(best.fun),), {k: np.asarray(v) for k, v in found.items()})


def heavy_tails(X: Array, y: Array, nu: float) -> Run:
    """The best mean-field bound of a regression with Student's errors, one coefficient, by BFGS."""
    x, N = X[:, 0], len(y)

    def entropy(a: Any, b: Any) -> Any:
        return a - np.log(b) + gammaln(a) + (1 - a) * psi(a)

    def bound(at: Array) -> float:
        m, (V, a, b) = at[0], np.exp(at[1:4])
        c, d = np.exp(at[4 : 4 + N]), np.exp(at[4 + N :])
        tau, log_tau, u, log_u = a / b, psi(a) - np.log(b), c / d, psi(c) - np.log(d)
        off = (y - m * x) ** 2 + V * x**2
        rows = 0.5 * (log_tau + log_u - np.log(2 * np.pi) - tau * u * off)
        prior = 0.5 * nu * np.log(0.5 * nu) - gammaln(0.5 * nu) + (0.5 * nu - 1) * log_u
        w = -0.5 * (m * m + V) - 0.5 * np.log(2 * np.pi) + 0.5 * np.log(2 * np.pi * np.e * V)
        each = rows + prior - 0.5 * nu * u + entropy(c, d)
        return float(each.sum() + w - tau + entropy(a, b))

    best = optimize.minimize(lambda at: -bound(at), np.zeros(4 + 2 * N),
                             options={"gtol": 1e-7, "maxiter": 5000})  # fmt: skip
    return Run((-float(best.fun),), {"m": best.x[:1]})


def documents(w: Array, c: Array, L: Array, V: int) -> Array:
    """Counts, a row a document."""
    table = np.zeros((len(L), V))
    ends = np.cumsum(L).astype(int)
    for row, first, end in zip(table, [0, *ends[:-1]], ends, strict=True):
        np.add.at(row, w[first:end].astype(int), c[first:end])
    return table


def held_out(topics: Array, words: Array, alpha: float) -> float:
    """Log p a word of documents that were not fitted: the document part, topics at their means."""
    beta = topics / topics.sum(1, keepdims=True)
    total = 0.0
    for row in words:
        gamma = np.full(len(beta), alpha + row.sum() / len(beta))
        for _ in range(2000):
            own = np.exp(psi(gamma) - psi(gamma.sum()))
            share = own[:, None] * beta
            new = alpha + (share / share.sum(0)) @ row
            if np.abs(new - gamma).max() < 1e-10:
                break
            gamma = new
        own = psi(gamma) - psi(gamma.sum())
        total += float(row @ np.log(np.exp(own) @ beta))
        total += float(gammaln(alpha * len(beta)) - len(beta) * gammaln(alpha))
        total += float(gammaln(gamma).sum() - gammaln(gamma.sum()))
        total += float(((alpha - gamma) * own).sum())
    return total / float(words.sum())


def sklearn_topics(words: Array, new: Array, alpha: float, eta: float, start: Array) -> Run:
    """scikit-learn's topics, in batches of all documents, and what they say of new ones."""
    from sklearn.decomposition import LatentDirichletAllocation

    lda = LatentDirichletAllocation(
        len(start), doc_topic_prior=alpha, topic_word_prior=eta, mean_change_tol=1e-8,
        max_doc_update_iter=2000, random_state=0,
    )  # fmt: skip
    lda._init_latent_vars(words.shape[1], dtype=np.float64)
    lda.components_ = start.copy()
    lda.exp_dirichlet_component_ = np.exp(psi(start) - psi(start.sum(1, keepdims=True)))
    for _ in range(100):
        lda._em_step(words, total_samples=len(words), batch_update=True)
    return Run((), {"level": np.asarray(held_out(lda.components_, new, alpha))})


def gensim_topics(words: Array, new: Array, alpha: float, eta: float, start: Array) -> Run:
    """gensim's topics, in batches of all documents, and what they say of new ones."""
    from gensim.models import LdaModel

    corpus = [[(int(v), int(row[v])) for v in np.flatnonzero(row)] for row in words]
    K, V = start.shape
    lda = LdaModel(
        None, K, id2word={v: str(v) for v in range(V)}, alpha=[alpha] * K, eta=eta,
        iterations=2000, gamma_threshold=1e-8, dtype=np.float64, random_state=1,
    )  # fmt: skip
    lda.state.sstats = start - eta
    lda.expElogbeta = np.exp(psi(start) - psi(start.sum(1, keepdims=True)))
    lda.update(corpus, passes=100, update_every=0, chunksize=len(corpus), eval_every=0)
    return Run((), {"level": np.asarray(held_out(lda.state.get_lambda(), new, alpha))})
