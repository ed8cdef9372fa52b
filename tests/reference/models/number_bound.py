"""Bounds with a gamma or a beta q, by sums over a fine grid and a simplex search."""

import numpy as np
from scipy import stats
from scipy.optimize import minimize
from scipy.special import digamma, gammaln


def mean_of(f, law):
    """E[f] under a law of SciPy, on a fine grid of log x, or of log x/(1 − x) below 1."""
    low, high = law.ppf(1e-15), law.isf(1e-15)
    below_one = law.support()[1] == 1
    ends = [np.log(x) - (np.log1p(-x) if below_one else 0) for x in (low, high)]
    t = np.linspace(*ends, 6001)
    x = 1 / (1 + np.exp(-t)) if below_one else np.exp(t)
    p = law.pdf(x) * x * (1 - x if below_one else 1)
    return (f(x) * p).sum() / p.sum()


def best(bound, start):
    """(value, parameters): positive ones are moved as logarithms."""
    found = minimize(lambda v: -bound(*np.exp(v)), np.log(start), method="Nelder-Mead",
                     options={"xatol": 1e-9, "fatol": 1e-13, "maxiter": 6000})  # fmt: skip
    found = minimize(lambda v: -bound(*np.exp(v)), found.x, method="Nelder-Mead",
                     options={"xatol": 1e-9, "fatol": 1e-13, "maxiter": 6000})  # fmt: skip
    return -found.fun, np.exp(found.x)


def gamma_shape(x):
    """a ~ gamma(2, 1), b ~ gamma(1, 1), x ~ gamma(a, b); q(b) is at its maximum given q(a)."""
    n = len(x)

    def value(shape, rate):
        law = stats.gamma(shape, scale=1 / rate)
        mean, log_mean = shape / rate, digamma(shape) - np.log(rate)
        A, B = 1 + n * mean, 1 + x.sum()
        total = log_mean - mean - n * mean_of(gammaln, law) + (mean - 1) * np.log(x).sum()
        return total + law.entropy() + gammaln(A) - A * np.log(B)

    return best(value, (4.0, 2.0))


def beta_rate(y):
    """p ~ beta(2, 3), y ~ poisson(1 + 5 p²)."""

    def value(a, b):
        law = stats.beta(a, b)
        total = mean_of(lambda p: stats.beta(2, 3).logpdf(p), law) + law.entropy()
        rates = mean_of(lambda p: y.sum() * np.log1p(5 * p * p) - len(y) * (1 + 5 * p * p), law)
        return total + rates - gammaln(y + 1).sum()

    return best(value, (2.0, 3.0))
