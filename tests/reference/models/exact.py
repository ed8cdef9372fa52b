"""Log evidences by hand: conjugate models, and a chain as one large Gaussian."""

import numpy as np
from scipy.special import betaln, gammaln, multigammaln
from scipy.stats import multivariate_normal


def beta_bernoulli(x, a=1.0, b=1.0):
    """log ∫ Π p^x (1 − p)^(1 − x) beta(p; a, b) dp."""
    return betaln(a + x.sum(), b + len(x) - x.sum()) - betaln(a, b)


def dirichlet_multinomial(x, n, alpha):
    """The same of counts in rows of n trials."""
    ways = (gammaln(n + 1) - gammaln(x + 1).sum(1)).sum()
    after = alpha + x.sum(0)
    return ways + _log_beta(after) - _log_beta(alpha)


def _log_beta(a):
    return gammaln(a).sum() - gammaln(a.sum())


def normal_gamma(x, m0=0.0, kappa0=1.0, a0=1.0, b0=1.0):
    """(evidence, kappa, a, b) of numbers with unknown mean and precision."""
    n, mean = len(x), x.mean()
    kappa, a = kappa0 + n, a0 + n / 2
    b = b0 + ((x - mean) ** 2).sum() / 2 + kappa0 * n * (mean - m0) ** 2 / (2 * kappa)
    value = gammaln(a) - gammaln(a0) + a0 * np.log(b0) - a * np.log(b)
    return value + np.log(kappa0 / kappa) / 2 - n / 2 * np.log(2 * np.pi), kappa, a, b


def normal_wishart(x, V0, nu0, m0=0.0, kappa0=1.0):
    """The same of vectors, from scatter matrices."""
    n, d = x.shape
    mean = x.mean(0)
    centred = x - mean
    far = np.outer(mean - m0, mean - m0)
    inverse = np.linalg.inv(V0) + centred.T @ centred + kappa0 * n / (kappa0 + n) * far
    value = multigammaln((nu0 + n) / 2, d) - multigammaln(nu0 / 2, d) - n * d / 2 * np.log(np.pi)
    value += -nu0 / 2 * np.linalg.slogdet(V0)[1] - (nu0 + n) / 2 * np.linalg.slogdet(inverse)[1]
    return value + d / 2 * np.log(kappa0 / (kappa0 + n))


def state_space(y, u, F, B, H, Q, R, m1, S1):
    """(evidence, means, covariances, lag-one covariances) from the joint of all states."""
    T, p = len(y), len(m1)
    mean, single = [m1], [S1]
    for t in range(1, T):
        mean.append(F @ mean[-1] + B @ u[t])
        single.append(F @ single[-1] @ F.T + Q)
    joint = np.zeros((T, p, T, p))
    for s in range(T):
        block = single[s]
        for t in range(s, T):
            joint[t, :, s, :], joint[s, :, t, :] = block, block.T
            block = F @ block
    joint = joint.reshape(T * p, T * p)
    seen = [t for t in range(T) if not np.isnan(y[t]).any()]
    look = np.kron(np.eye(T)[seen], H)
    S = look @ joint @ look.T + np.kron(np.eye(len(seen)), R)
    where = look @ np.concatenate(mean)
    data = y[seen].ravel()
    gain = joint @ look.T @ np.linalg.inv(S)
    m = np.concatenate(mean) + gain @ (data - where)
    V = (joint - gain @ look @ joint).reshape(T, p, T, p)
    own = np.stack([V[t, :, t, :] for t in range(T)])
    lag = np.stack([V[t, :, t + 1, :] for t in range(T - 1)])
    return multivariate_normal(where, S).logpdf(data), m.reshape(T, p), own, lag
