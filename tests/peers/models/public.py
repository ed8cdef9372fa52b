"""The public implementations of models, stepped from a given start.

Every function gives `trace`, the objective before each step and after the last, and the
parameters at the end, in the conventions of the family files: `gaussian` by variance,
`gaussian-full` by precision.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Run:
    """What a package did: its objective before every step and after the last, and the end."""

    trace: tuple[float, ...]
    end: dict[str, Array]


def gaussian_mixture(x: Array, start: dict[str, Array], steps: int, kind: str) -> Run:
    """scikit-learn's EM; its bound is the mean log-likelihood before the M-step."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.mixture import GaussianMixture

    model = GaussianMixture(
        len(start["pi"]), covariance_type=kind, tol=0.0, reg_covar=0.0, max_iter=1,
        warm_start=True, weights_init=start["pi"], means_init=start["mu"],
        precisions_init=start["precision"],
    )  # fmt: skip
    trace = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for _ in range(steps):
            model.fit(x)
            trace.append(len(x) * float(model.lower_bound_))
    trace.append(len(x) * float(model.score(x)))
    return Run(
        tuple(trace),
        {"pi": model.weights_, "mu": model.means_, "precision": model.precisions_},
    )


def bayesian_mixture(
    x: Array, start: dict[str, Array], prior: dict[str, float | Array], steps: int
) -> Run:
    """scikit-learn's mean field with full covariances and a Dirichlet prior.

    Its bound drops constants: the trace holds differences to its first value.  `start` is what
    a first M-step of these responsibilities gives, so that both begin with one E-step.
    """
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.mixture import BayesianGaussianMixture

    model = BayesianGaussianMixture(
        n_components=len(start["alpha"]), covariance_type="full", tol=0.0, reg_covar=0.0,
        max_iter=1,
        warm_start=True, weight_concentration_prior_type="dirichlet_distribution",
        weight_concentration_prior=float(prior["alpha"]), mean_prior=prior["m"],
        mean_precision_prior=float(prior["kappa"]), covariance_prior=prior["V"],
        degrees_of_freedom_prior=float(prior["n"]),
    )  # fmt: skip
    model.weight_concentration_ = start["alpha"].copy()
    model.mean_precision_ = start["kappa"].copy()
    model.means_ = start["m"].copy()
    model.degrees_of_freedom_ = start["n"].copy()
    model.covariances_ = start["V"] / start["n"][:, None, None]
    model.precisions_cholesky_ = np.stack(
        [np.linalg.cholesky(np.linalg.inv(c)).copy() for c in model.covariances_]
    )
    model.converged_, model.lower_bound_ = False, -np.inf
    trace = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for _ in range(steps):
            model.fit(x)
            trace.append(float(model.lower_bound_))
    n = model.degrees_of_freedom_
    return Run(
        tuple(trace),
        {
            "alpha": model.weight_concentration_,
            "kappa": model.mean_precision_,
            "m": model.means_,
            "n": n,
            "V": model.covariances_ * n[:, None, None],
        },
    )


def markov(
    x: Array, start: dict[str, Array], steps: int, emission: str, lengths: list[int] | None = None
) -> Run:
    """hmmlearn's Baum-Welch; its history is the log-likelihood before each step."""
    from hmmlearn import hmm

    K = len(start["pi"])
    keywords: dict[str, object] = {"n_iter": steps, "tol": -np.inf, "init_params": ""}
    if emission == "poisson":
        model = hmm.PoissonHMM(K, lambdas_prior=0.0, lambdas_weight=0.0, **keywords)
        model.lambdas_ = start["rate"][:, None].copy()
        rows = x[:, None].astype(int)
    elif emission == "gaussian":
        model = hmm.GaussianHMM(
            K, "diag", covars_prior=0.0, covars_weight=1.0, means_weight=0.0, **keywords
        )
        model.means_ = start["mu"][:, None].copy()
        model.covars_ = start["v"][:, None].copy()
        rows = x[:, None]
    else:
        model = hmm.CategoricalHMM(K, **keywords)
        model.emissionprob_ = start["B"].copy()
        model.n_features = start["B"].shape[1]
        rows = x[:, None].astype(int)
    model.startprob_, model.transmat_ = start["pi"].copy(), start["P"].copy()
    model.fit(rows, lengths)
    last = float(model.score(rows, lengths))
    trace = (*map(float, list(model.monitor_.history)[-steps:]), last)
    end = {"pi": model.startprob_, "P": model.transmat_}
    if emission == "poisson":
        end["rate"] = model.lambdas_[:, 0]
    elif emission == "gaussian":
        end |= {"mu": model.means_[:, 0], "v": np.asarray(model.covars_).reshape(K)}
    else:
        end["B"] = model.emissionprob_
    end["path"] = model.predict(rows, lengths).astype(float)
    end["z"] = model.predict_proba(rows, lengths)
    return Run(trace, end)


def state_space(y: Array, p: dict[str, Array]) -> Run:
    """pykalman's filter and smoother with everything known; rows with a NaN are left out."""
    from pykalman import KalmanFilter

    model = KalmanFilter(
        transition_matrices=p["F"], observation_matrices=p["H"], transition_covariance=p["Q"],
        observation_covariance=p["R"], initial_state_mean=p["m0"],
        initial_state_covariance=p["P0"], transition_offsets=p.get("c"),
    )  # fmt: skip
    rows = np.ma.masked_invalid(y)
    rows[np.isnan(y).any(axis=1)] = np.ma.masked
    mean, covariance = model.smooth(rows)
    filtered, narrow = model.filter(rows)
    return Run(
        (float(model.loglikelihood(rows)),),
        {"mean": mean, "covariance": covariance, "last": filtered[-1], "first": mean[:, 0],
         "second": mean[:, 1], "lagged": np.concatenate([mean[:1, 1], mean[:, 0]]),
         "pairs": neighbours(p, narrow, covariance)},
    )  # fmt: skip


def neighbours(p: dict[str, Array], narrow: Array, smooth: Array) -> Array:
    """Cov(x_t, x_(t+1)) from filtered and smoothed covariances, by pykalman's own product."""
    from pykalman.standard import _smooth_pair

    ahead = [p["F"] @ V @ p["F"].T + p["Q"] for V in narrow[:-1]]
    gains = [V @ p["F"].T @ np.linalg.pinv(W) for V, W in zip(narrow, ahead, strict=False)]
    return np.swapaxes(_smooth_pair(smooth, np.array(gains))[1:], 1, 2)


def state_space_em(y: Array, p: dict[str, Array], steps: int) -> Run:
    """pykalman's EM of all matrices, its log-likelihood before each step and after the last."""
    from pykalman import KalmanFilter

    model = KalmanFilter(
        transition_matrices=p["F"], observation_matrices=p["H"], transition_covariance=p["Q"],
        observation_covariance=p["R"], initial_state_mean=p["m0"],
        initial_state_covariance=p["P0"],
    )  # fmt: skip
    rows = np.ma.masked_invalid(y)
    rows[np.isnan(y).any(axis=1)] = np.ma.masked
    names = {
        "F": "transition_matrices", "H": "observation_matrices", "Q": "transition_covariance",
        "R": "observation_covariance", "m1": "initial_state_mean",
        "S1": "initial_state_covariance",
    }  # fmt: skip
    trace = [float(model.loglikelihood(rows))]
    for _ in range(steps):
        model.em(rows, n_iter=1, em_vars=list(names.values()))
        trace.append(float(model.loglikelihood(rows)))
    return Run(tuple(trace), {k: np.asarray(getattr(model, x)) for k, x in names.items()})


def one_at_a_time(y: Array, p: dict[str, Array], every: bool = False) -> Run:
    """filterpy's log evidence of all observations (`every`: after each one), filtered means."""
    from filterpy.kalman import KalmanFilter

    d, k = len(p["m0"]), y.shape[1]
    model = KalmanFilter(dim_x=d, dim_z=k)
    model.x, model.P = p["m0"][:, None].copy(), p["P0"].copy()
    model.F, model.H, model.Q, model.R = p["F"], p["H"], p["Q"], p["R"]
    trace, means = [0.0], []
    for t, row in enumerate(y):
        if t:
            model.predict()
        model.update(row[:, None])
        trace.append(trace[-1] + float(model.log_likelihood))
        means.append(model.x[:, 0].copy())
    end = {"mean": np.array(means), "last": means[-1]}
    return Run(tuple(trace) if every else (trace[-1],), end)


def factor_analysis(x: Array, q: int) -> float:
    """scikit-learn's optimum: the log-likelihood of all rows."""
    from sklearn.decomposition import FactorAnalysis

    model = FactorAnalysis(q, tol=0.0, max_iter=20000, svd_method="lapack")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return len(x) * float(model.fit(x).score(x))


def bernoulli_vmp(x: Array, start: dict[str, Array], prior: dict[str, float], steps: int) -> Run:
    """bayespy's coordinate ascent for a mixture of products of Bernoullis.

    z, then theta, then pi; its bound is complete.  The trace is taken with z at its maximum,
    before each step and after the last.
    """
    from bayespy.inference import VB
    from bayespy.nodes import Bernoulli, Beta, Categorical, Dirichlet, Mixture

    (N, D), K = x.shape, len(start["pi"])
    pi = Dirichlet(np.full(K, prior["alpha"]))
    z = Categorical(pi, plates=(N, 1))
    theta = Beta([prior["a"], prior["b"]], plates=(D, K))
    seen = Mixture(z, Bernoulli, theta)
    seen.observe(x.astype(bool))
    ab = np.stack([start["a"].T, start["b"].T], axis=-1)
    theta.initialize_from_parameters(ab)
    pi.initialize_from_parameters(start["pi"])
    Q = VB(seen, z, theta, pi)
    trace = []
    for _ in range(steps):
        z.update()
        trace.append(float(np.sum(Q.compute_lowerbound())))
        theta.update()
        pi.update()
    z.update()
    trace.append(float(np.sum(Q.compute_lowerbound())))
    ab = np.array(theta.phi[0])
    return Run(
        tuple(trace),
        {
            "pi": np.array(pi.phi[0]),
            "a": ab[..., 0].T,
            "b": ab[..., 1].T,
            "z": np.array(z.get_moments()[0])[:, 0],
        },
    )


def wishart_mixture_vmp(
    x: Array, start: dict[str, Array], prior: dict[str, float | Array], steps: int
) -> Run:
    """bayespy's coordinate ascent for Gaussians with means and precisions apart.

    z, then the precisions, then the means, then the weights.
    """
    from bayespy.inference import VB
    from bayespy.nodes import Categorical, Dirichlet, Gaussian, Mixture, Wishart

    N, K = len(x), len(start["pi"])
    pi = Dirichlet(np.full(K, prior["alpha"]))
    z = Categorical(pi, plates=(N,))
    mu = Gaussian(prior["m"], prior["S"], plates=(K,))
    # a Wishart's second argument is there the inverse scale
    L = Wishart(float(prior["n"]), np.linalg.inv(np.asarray(prior["V"])), plates=(K,))
    seen = Mixture(z, Gaussian, mu, L)
    seen.observe(x)
    mu.initialize_from_parameters(start["m"], start["S"])
    L.initialize_from_parameters(start["n"], np.linalg.inv(start["V"]))
    pi.initialize_from_parameters(start["pi"])
    Q = VB(seen, z, mu, L, pi)
    trace = []
    for _ in range(steps):
        z.update()
        trace.append(float(np.sum(Q.compute_lowerbound())))
        L.update()
        mu.update()
        pi.update()
    z.update()
    trace.append(float(np.sum(Q.compute_lowerbound())))
    return Run(tuple(trace), {"pi": np.array(pi.phi[0]), "mean": np.array(mu.get_moments()[0])})


def regression_vmp(
    X: Array, y: Array, start: dict[str, Array], p: dict[str, float], steps: int
) -> Run:
    """bayespy's coordinate ascent: weights N(0, I/s), one noise precision gamma(a, b).

    The noise first, then the weights; the trace is taken with the noise at its maximum.
    """
    from bayespy.inference import VB
    from bayespy.nodes import Gamma, Gaussian, GaussianARD, SumMultiply

    d = X.shape[1]
    w = Gaussian(np.zeros(d), p["s"] * np.eye(d))
    tau = Gamma(p["a"], p["b"])
    seen = GaussianARD(SumMultiply("i,i", w, X), tau, plates=(len(y),))
    seen.observe(y)
    w.initialize_from_parameters(start["m"], start["S"])
    Q = VB(seen, tau, w)
    trace = []
    for _ in range(steps):
        tau.update()
        trace.append(float(np.sum(Q.compute_lowerbound())))
        w.update()
    tau.update()
    trace.append(float(np.sum(Q.compute_lowerbound())))
    return Run(tuple(trace), {"m": np.array(w.get_moments()[0])})
