"""Logistic-normal bounds by a product of Gauss–Hermite rules and a general optimiser.

log p(y | u) = y·u − (Σ y) log Σ exp(u) (+ log n!/Π y!), u ~ N(m, V), prior N(0, I).
"""

import numpy as np
from numpy.polynomial.hermite_e import hermegauss
from scipy.optimize import minimize
from scipy.special import gammaln, logsumexp

COUNT = 18


def cube(size):
    z, w = hermegauss(COUNT)
    points = np.stack(np.meshgrid(*[z] * size, indexing="ij"), -1).reshape(-1, size)
    weights = np.prod(np.stack(np.meshgrid(*[w / w.sum()] * size, indexing="ij"), -1), -1)
    return points, weights.ravel()


def away(m, V):
    """KL(N(m, V) ‖ N(0, I))."""
    return (np.trace(V) + m @ m - len(m) - np.linalg.slogdet(V)[1]) / 2


def likelihood(y, m, V, rule):
    z, w = rule
    u = m + z @ np.linalg.cholesky(V).T
    several = gammaln(y.sum() + 1) - gammaln(y + 1).sum()
    return y @ m - y.sum() * (w @ logsumexp(u, axis=1)) + several


def optimum(bound, size):
    found = minimize(lambda v: -bound(v), np.zeros(size), method="BFGS", options={"gtol": 1e-9})
    found = minimize(lambda v: -bound(v), found.x, method="BFGS", options={"gtol": 1e-10})
    return -found.fun, found.x


def together(y):
    """(objective, m, V): one Gaussian over all."""
    size = len(y)
    low, rule = np.tril_indices(size), cube(size)

    def apart(v):
        L = np.zeros((size, size))
        L[low] = v[size:]
        L[np.diag_indices(size)] = np.exp(np.diag(L))
        return v[:size], L @ L.T

    def bound(v):
        m, V = apart(v)
        return likelihood(y, m, V, rule) - away(m, V)

    value, v = optimum(bound, size + len(low[0]))
    return (value, *apart(v))


def by_itself(y):
    """(objective, m, v): a Gaussian for each."""
    size, rule = len(y), cube(len(y))

    def bound(v):
        V = np.diag(np.exp(v[size:]))
        return likelihood(y, v[:size], V, rule) - away(v[:size], V)

    value, v = optimum(bound, 2 * size)
    return value, v[:size], np.exp(v[size:])


def regression(X, y, classes):
    """(objective, m, v) of one coefficient a class, apart: y are labels, u_k = w_k x."""
    rule = cube(classes)
    one = np.eye(classes)[y]

    def bound(v):
        m, s = v[:classes], np.exp(v[classes:])
        total = -away(m, np.diag(s))
        for x, row in zip(X, one, strict=True):
            total += likelihood(row, m * x, np.diag(s * x * x + 1e-300), rule)
        return total

    value, v = optimum(bound, 2 * classes)
    return value, v[:classes], np.exp(v[classes:])
