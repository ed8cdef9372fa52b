"""log p(y | u) of models whose predictor is u, by hand and by SciPy: rows by nodes."""

import numpy as np
from scipy import stats
from scipy.special import expit, gammaln


def complementary(y):
    """p = 1 − exp(−exp u)."""
    return lambda u: np.where(y[:, None] > 0, np.log(-np.expm1(-np.exp(u))), -np.exp(u))


def exponential(y):
    return lambda u: u - np.exp(u) * y[:, None]


def softplus_poisson(y):
    def level(u):
        rate = np.logaddexp(0, u)
        return y[:, None] * np.log(rate) - rate - gammaln(y + 1)[:, None]

    return level


def beta(y):
    return lambda u: stats.beta.logpdf(y[:, None], 5 * expit(u), 5 * expit(-u))


def binomial(y):
    return lambda u: stats.binom.logpmf(y[:, None], 5, expit(u))


def sine(y):
    return lambda u: stats.norm.logpdf(y[:, None], np.sin(u), np.sqrt(0.5))


def hyperbolic(y):
    return lambda u: stats.norm.logpdf(y[:, None], np.tanh(u), np.sqrt(0.5))


def negative_binomial(y):
    return lambda u: y[:, None] * -np.logaddexp(0, u) + 3 * -np.logaddexp(0, -u) + (
        gammaln(y + 3) - gammaln(3) - gammaln(y + 1))[:, None]  # fmt: skip


def geometric(y):
    return lambda u: -np.logaddexp(0, -u) - y[:, None] * np.logaddexp(0, u)


def inverse_gamma(y):
    return lambda u: 2 * u - 3 * np.log(y)[:, None] - np.exp(u) / y[:, None]


def truncated_poisson(y):
    def level(u):
        rate = np.exp(u)
        return y[:, None] * u - rate - gammaln(y + 1)[:, None] - np.log(-np.expm1(-rate))

    return level


def log_normal(y):
    return lambda u: stats.norm.logpdf(np.log(y)[:, None], np.exp(u / 4)) - np.log(y)[:, None]
