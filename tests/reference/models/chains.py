"""Chains by hand: one large Gaussian of all numbers, or all paths of labels."""

from itertools import product

import numpy as np
from scipy.special import logsumexp
from scipy.stats import multivariate_normal


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
