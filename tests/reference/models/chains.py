"""Chains by hand: one large Gaussian of all numbers, or all paths of labels."""

from itertools import product

import numpy as np
from scipy.special import digamma, gammaln, logsumexp
from scipy.stats import gamma, multivariate_normal


class Joint:
    """Numbers added one after the other, each an affine function of earlier ones plus noise."""

    def __init__(self):
        self.mean, self.cov = np.zeros(0), np.zeros((0, 0))

    def add(self, weights, noise, level=None):
        """New numbers: Σ weights[i] @ (numbers at i) + level + noise; where they are."""
        noise = np.atleast_2d(noise)
        d, n = len(noise), len(self.mean)
        whole = np.zeros((d, n))
        for places, w in weights:
            whole[:, places] += np.reshape(w, (d, -1))
        level = np.zeros(d) if level is None else np.reshape(level, d)
        cross = whole @ self.cov
        self.mean = np.concatenate([self.mean, whole @ self.mean + level])
        self.cov = np.block([[self.cov, cross.T], [cross, cross @ whole.T + noise]])
        return list(range(n, n + d))

    def given(self, places, values):
        """(log density of the values, mean, covariance) of all numbers given some."""
        values = np.asarray(values, dtype=float)
        own = self.cov[np.ix_(places, places)]
        value = multivariate_normal(self.mean[places], own).logpdf(values)
        gain = np.linalg.solve(own, self.cov[places]).T
        mean = self.mean + gain @ (values - self.mean[places])
        return value, mean, self.cov - gain @ self.cov[places]


def seen(joint, y, looks):
    """The numbers given those of y that are there; `looks` are weights and noise of each."""
    places = [joint.add(w, v) for w, v in looks]
    there = [t for t in range(len(y)) if not np.isnan(np.atleast_1d(y[t])).any()]
    at = [i for t in there for i in places[t]]
    return joint.given(at, np.concatenate([np.atleast_1d(y[t]) for t in there]))


def autoregression(y, a, b, q, r):
    """(evidence, means, variances, lag-one covariances): x_t = a x_(t-1) + b x_(t-2) + noise."""
    joint, x = Joint(), []
    for t in range(len(y)):
        earlier = [(i, w) for i, w in zip(x[:-3:-1], (a, b), strict=False)]
        x.append(joint.add(earlier, q if t else 1.0))
    value, mean, cov = seen(joint, y, [([(i, 1.0)], r) for i in x])
    at = np.array(x)[:, 0]
    return value, mean[at], cov[at, at], cov[at[:-1], at[1:]]


def trend(y, v, vl, vb, s1=2.0, s2=1.0):
    """(evidence, and of level and slope: means, variances, lag-one covariances)."""
    joint, level, slope = Joint(), [], []
    for t in range(len(y)):
        before = [(level[-1], 1.0), (slope[-1], 1.0)] if t else []
        level.append(joint.add(before, vl if t else s1))
        slope.append(joint.add([(slope[-1], 1.0)] if t else [], vb if t else s2))
    value, mean, cov = seen(joint, y, [([(i, 1.0)], v) for i in level])
    known = []
    for x in (level, slope):
        at = np.array(x)[:, 0]
        known.append((mean[at], cov[at, at], cov[at[:-1], at[1:]]))
    return value, *known


def paths(own, pi, P):
    """(evidence, E[z], E[z_t z_(t+1)], the best path): `own` are log p(x_t | z_t); P may move."""
    T, K = own.shape
    every = np.array([*product(range(K), repeat=T)])
    with np.errstate(divide="ignore"):
        moves = np.log(P)
        joint = np.log(pi)[every[:, 0]] + own[np.arange(T), every].sum(1)
    for t in range(1, T):
        step = moves if moves.ndim == 2 else moves[t]
        joint = joint + step[every[:, t - 1], every[:, t]]
    value = logsumexp(joint)
    weight, one = np.exp(joint - value), np.eye(K)[every]
    pairs = np.einsum("p,pti,ptj->tij", weight, one[:, :-1], one[:, 1:])
    return value, np.einsum("p,pti->ti", weight, one), pairs, every[joint.argmax()]


def _looks(x, own, mean, square, v):
    """E log N(x; a + b, v) at every value of b, a of some mean and mean square."""
    far = x[:, None] - own
    found = -np.log(2 * np.pi * v) / 2 - (far**2 - 2 * far * mean + square) / (2 * v)
    return np.where(np.isnan(found), 0.0, found)


def two_chains(x, z, first, second, v):
    """Two chains of labels whose levels add up, by mean field: the second's block comes first.

    `first` and `second` are (start, transitions, levels), `z` the marginals of the first; yields
    the ELBO and the marginals of both.
    """
    (pi, P, mu), (rho, Q, nu) = first, second
    pairs = z[:-1, :, None] * z[1:, None, :]
    entropy = -(z * np.log(z)).sum()
    while True:
        mean, square = (z @ mu)[:, None], (z @ mu**2)[:, None]
        value, s, _, _ = paths(_looks(x, nu, mean, square, v), rho, Q)
        value += z[0] @ np.log(pi) + (pairs * np.log(P)).sum() + entropy
        yield value, {"z": {"p": z}, "s": {"p": s}}
        own = _looks(x, mu, (s @ nu)[:, None], (s @ nu**2)[:, None], v)
        whole, z, pairs, _ = paths(own, pi, P)
        entropy = whole - (own * z).sum() - z[0] @ np.log(pi) - (pairs * np.log(P)).sum()


def level_and_precision(y, q, rest, shape, rate):
    """A random walk (steps of variance q) and a gamma precision by mean field, the level first.

    Yields the ELBO, and q of both.
    """
    T, a, b = len(y), shape, rate
    there = ~np.isnan(y)
    full = np.where(there, y, 0.0)
    while True:
        tau, log_tau = a / b, digamma(a) - np.log(b)
        J = np.diag(there * tau) + np.diag(np.r_[1.0, np.full(T - 1, 1 / q)])
        J += np.diag(np.r_[np.full(T - 1, 1 / q), 0.0])
        J -= np.diag(np.full(T - 1, 1 / q), 1) + np.diag(np.full(T - 1, 1 / q), -1)
        V = np.linalg.inv(J)
        m = V @ (tau * full)
        value = m @ J @ m / 2 - np.linalg.slogdet(J)[1] / 2 - (T - 1) / 2 * np.log(q)
        value += there.sum() / 2 * (log_tau - np.log(2 * np.pi)) - tau * (full**2).sum() / 2
        value += rest[0] * np.log(rest[1]) - gammaln(rest[0]) + (rest[0] - 1) * log_tau
        value += -rest[1] * tau + gamma(a, scale=1 / b).entropy()
        yield value, {"x": {"m": m, "v": np.diag(V)}, "tau": {"a": a, "b": b}}
        a = rest[0] + there.sum() / 2
        b = rest[1] + (there * ((full - m) ** 2 + np.diag(V))).sum() / 2


def state_space_em(y, p):
    """(log p(y), the matrices) before each step of EM; all latents are one large Gaussian."""
    p = dict(p)
    T, d = len(y), len(p["m1"])
    there = [t for t in range(T) if not np.isnan(y[t]).any()]
    while True:
        joint, x = Joint(), []
        for t in range(T):
            x.append(joint.add([(x[-1], p["F"])], p["Q"]) if t else
                     joint.add([], p["S1"], p["m1"]))  # fmt: skip
        value, mean, cov = seen(joint, y, [([(i, p["H"])], p["R"]) for i in x])
        yield value, dict(p)
        m = mean[: T * d].reshape(T, d)
        square = cov + np.outer(mean, mean)
        E = [[square[np.ix_(x[s], x[t])] for t in range(T)] for s in range(T)]
        old, new = sum(E[t][t] for t in range(T - 1)), sum(E[t][t] for t in range(1, T))
        cross = sum(E[t][t - 1] for t in range(1, T))
        F = cross @ np.linalg.inv(old)
        looks = sum(np.outer(y[t], m[t]) for t in there)
        H = looks @ np.linalg.inv(sum(E[t][t] for t in there))
        R = (sum(np.outer(y[t], y[t]) for t in there) - H @ looks.T) / len(there)
        p = {"F": F, "H": H, "Q": (new - F @ cross.T) / (T - 1), "R": R, "m1": m[0],
             "S1": cov[np.ix_(x[0], x[0])]}  # fmt: skip
        p |= {k: (p[k] + p[k].T) / 2 for k in ("Q", "R", "S1")}
