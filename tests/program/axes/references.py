"""What programs over axes are held against: the same algorithms in plain NumPy.

One function an algorithm, written as its textbook has it: no blocks, no fusion, matrices
inverted, chains in log space.  Arguments are the given quantities by name, the answer has the
results by name.  `test_references.py` holds each against a definition that needs no algorithm:
all paths of a chain, the joint Gaussian of a state-space model, differences of a likelihood.
"""

from __future__ import annotations

import numpy as np
from scipy.special import digamma, expit, logsumexp

Arrays = dict[str, np.ndarray]


def adam(
    m: np.ndarray,
    u: np.ndarray,
    s: np.ndarray,
    g: np.ndarray,
    t: float,
    alpha: float,
    beta1: float,
    beta2: float,
    c: float,
) -> Arrays:
    """Adam: m ← m − α û/(√ŝ + c) with û = u/(1 − β₁ᵗ), ŝ = s/(1 − β₂ᵗ)."""
    u_next = beta1 * u + (1 - beta1) * g
    s_next = beta2 * s + (1 - beta2) * g**2
    root = np.sqrt(s_next / (1 - beta2**t))
    m_next = m - alpha * (u_next / (1 - beta1**t)) / (root + c)
    return {"m_next": m_next, "u_next": u_next, "s_next": s_next}


def rmsprop(
    m: np.ndarray, s: np.ndarray, g: np.ndarray, alpha: float, beta: float, c: float
) -> Arrays:
    """RMSprop: s ← (1 − β) s + β g², m ← m − α g/(√s + c)."""
    s_next = (1 - beta) * s + beta * g**2
    return {"m_next": m - alpha * g / (np.sqrt(s_next) + c), "s_next": s_next}


def momentum(m: np.ndarray, u: np.ndarray, g: np.ndarray, alpha: float, beta: float) -> Arrays:
    """Momentum: u ← β u + (1 − β) g, m ← m − α u."""
    u_next = beta * u + (1 - beta) * g
    return {"m_next": m - alpha * u_next, "u_next": u_next}


def mixture(x: np.ndarray, mu: np.ndarray, P: np.ndarray, lc: np.ndarray) -> Arrays:
    """E-step of a Gaussian mixture; P_k the inverse of the lower factor of Σ_k."""
    y = np.einsum("kij,nkj->nki", P, x[:, None, :] - mu)
    lp = lc - 0.5 * (y**2).sum(axis=2)
    lse = logsumexp(lp, axis=1)
    r = np.exp(lp - lse[:, None])
    return {
        "nk": r.sum(axis=0),
        "s1": np.einsum("nk,ni->ki", r, x),
        "s2": np.einsum("nk,ni,nj->kij", r, x, x),
        "L": lse.sum(),
    }


def mixture_parameters(nk: np.ndarray, s1: np.ndarray, s2: np.ndarray, reg: float) -> Arrays:
    """M-step of a Gaussian mixture: means, inverse factors of the covariances, constants."""
    d = s1.shape[1]
    mu = s1 / nk[:, None]
    outer = mu[:, :, None] * mu[:, None, :]
    covariance = s2 / nk[:, None, None] - outer + reg * np.eye(d)
    P = np.linalg.inv(np.linalg.cholesky(covariance))
    lc = np.log(nk / nk.sum()) - 0.5 * (d * np.log(2 * np.pi) + np.linalg.slogdet(covariance)[1])
    return {"mu": mu, "P": P, "lc": lc}


def line_mixture(x: np.ndarray, mu: np.ndarray, tau: np.ndarray, lc: np.ndarray) -> Arrays:
    """E-step of a mixture of Gaussians on the line; τ are precisions."""
    lp = lc - 0.5 * tau * (x[:, None] - mu) ** 2
    lse = logsumexp(lp, axis=1)
    r = np.exp(lp - lse[:, None])
    return {"nk": r.sum(axis=0), "s1": x @ r, "s2": (x * x) @ r, "L": lse.sum()}


def bernoulli_mixture(x: np.ndarray, W: np.ndarray, c: np.ndarray) -> Arrays:
    """E-step of a mixture of Bernoulli vectors with log odds W and constants c."""
    lp = c + x @ W.T
    lse = logsumexp(lp, axis=1)
    r = np.exp(lp - lse[:, None])
    return {"nk": r.sum(axis=0), "s1": r.T @ x, "L": lse.sum()}


def logistic(X: np.ndarray, y: np.ndarray, w: np.ndarray) -> Arrays:
    """Logistic loss over rows: value, gradient, sums of squared rows of the gradient."""
    z = X @ w
    e = expit(z) - y
    rows = X * e[:, None]
    f = (np.logaddexp(0, z) - y * z).sum()
    return {"f": f, "g": rows.sum(axis=0), "q": (rows**2).sum(axis=0)}


def logistic_hessian(X: np.ndarray, y: np.ndarray, w: np.ndarray) -> Arrays:
    """The same, and the Hessian Xᵀ diag(p (1 − p)) X."""
    p = expit(X @ w)
    return {**logistic(X, y, w), "H": X.T @ np.diag(p * (1 - p)) @ X}


def logistic_rows(X: np.ndarray, y: np.ndarray, w: np.ndarray, rows: np.ndarray) -> Arrays:
    """The same without Hessian for a minibatch: the rows with these numbers."""
    return logistic(X[rows], y[rows], w)


def effects(X: np.ndarray, y: np.ndarray, lab: np.ndarray, w: np.ndarray, u: np.ndarray) -> Arrays:
    """Logistic loss with an effect u of each row's label: value and both gradients."""
    z = X @ w + u[lab]
    e = expit(z) - y
    gu = np.zeros_like(u)
    np.add.at(gu, lab, e)
    return {"f": (np.logaddexp(0, z) - y * z).sum(), "gw": X.T @ e, "gu": gu}


def newton(g: np.ndarray, H: np.ndarray, w: np.ndarray) -> Arrays:
    """A step of Newton's method: w − H⁻¹ g."""
    return {"w_next": w - np.linalg.solve(H, g)}


def forward_backward(pi: np.ndarray, A: np.ndarray, B: np.ndarray) -> Arrays:
    """Log-likelihood, state probabilities and expected transitions of a chain, in log space."""
    T, K = B.shape
    la, lb = np.log(A), np.log(B)
    forward, backward = np.empty((T, K)), np.zeros((T, K))
    forward[0] = np.log(pi) + lb[0]
    for t in range(1, T):
        forward[t] = logsumexp(forward[t - 1][:, None] + la, axis=0) + lb[t]
    for t in range(T - 2, -1, -1):
        backward[t] = logsumexp(la + lb[t + 1] + backward[t + 1], axis=1)
    L = logsumexp(forward[-1])
    xi = np.zeros((K, K))
    for t in range(T - 1):
        xi += np.exp(forward[t][:, None] + la + lb[t + 1] + backward[t + 1] - L)
    return {"L": L, "ga": np.exp(forward + backward - L), "xi": xi}


def poisson_chain(x: np.ndarray, pi: np.ndarray, A: np.ndarray, rate: np.ndarray) -> Arrays:
    """The sums of an EM step of a chain with Poisson counts; Σ log x! is left out of L."""
    B = np.exp(x[:, None] * np.log(rate) - rate)
    found = forward_backward(pi, A, B)
    ga = found["ga"]
    return {"L": found["L"], "p0": ga[0], "xi": found["xi"], "n": ga.sum(axis=0), "sx": x @ ga}


def filtered(
    F: np.ndarray,
    H: np.ndarray,
    Q: np.ndarray,
    R: np.ndarray,
    y: np.ndarray,
    m0: np.ndarray,
    P0: np.ndarray,
) -> tuple[float, list[tuple[np.ndarray, ...]]]:
    """Log-likelihood, and at each t the mean and covariance given y before t and up to t."""
    L, steps = 0.0, []
    m, P = m0, P0
    for t in range(len(y)):
        ahead, Pa = (F @ m, F @ P @ F.T + Q) if t else (m0, P0)
        S = H @ Pa @ H.T + R
        v = y[t] - H @ ahead
        gain = Pa @ H.T @ np.linalg.inv(S)
        m, P = ahead + gain @ v, Pa - gain @ H @ Pa
        L -= 0.5 * (v @ np.linalg.inv(S) @ v + np.linalg.slogdet(2 * np.pi * S)[1])
        steps.append((ahead, Pa, m, P))
    return L, steps


def kalman(
    F: np.ndarray,
    H: np.ndarray,
    Q: np.ndarray,
    R: np.ndarray,
    y: np.ndarray,
    m0: np.ndarray,
    P0: np.ndarray,
) -> Arrays:
    """Kalman filter: means given y up to t, the last covariance, log-likelihood."""
    L, steps = filtered(F, H, Q, R, y, m0, P0)
    return {"m": np.array([s[2] for s in steps]), "P": steps[-1][3], "L": np.float64(L)}


def smoother(
    F: np.ndarray,
    H: np.ndarray,
    Q: np.ndarray,
    R: np.ndarray,
    y: np.ndarray,
    m0: np.ndarray,
    P0: np.ndarray,
) -> Arrays:
    """Rauch–Tung–Striebel smoother: means and covariances given all of y, log-likelihood."""
    L, steps = filtered(F, H, Q, R, y, m0, P0)
    ms, Ps = [steps[-1][2]], [steps[-1][3]]
    for t in range(len(y) - 2, -1, -1):
        ahead, Pa, m, P = *steps[t + 1][:2], *steps[t][2:]
        G = P @ F.T @ np.linalg.inv(Pa)
        ms.append(m + G @ (ms[-1] - ahead))
        Ps.append(P + G @ (Ps[-1] - Pa) @ G.T)
    return {"ms": np.array(ms[::-1]), "Ps": np.array(Ps[::-1]), "L": np.float64(L)}


def documents(
    ptr: np.ndarray,
    word: np.ndarray,
    count: np.ndarray,
    eb: np.ndarray,
    g0: np.ndarray,
    alpha: float,
    rounds: int,
    tol: float = 0.0,
) -> Arrays:
    """Topics of documents: γ ← α + θ Σ_w c_w β_w/(θ·β_w), θ = exp(ψ(γ) − ψ(Σγ)).

    So many rounds at most, for each document until the mean change of γ is below `tol`; then
    the expected counts of words under topics.
    """
    gam, ss = g0.copy(), np.zeros_like(eb)
    for d in range(len(ptr) - 1):
        words, c = word[ptr[d] : ptr[d + 1]], count[ptr[d] : ptr[d + 1]]
        beta = eb[words]
        for _ in range(rounds):
            before = gam[d].copy()
            theta = np.exp(digamma(before) - digamma(before.sum()))
            gam[d] = alpha + theta * ((c / (beta @ theta)) @ beta)
            if np.abs(gam[d] - before).mean() < tol:
                break
        theta = np.exp(digamma(gam[d]) - digamma(gam[d].sum()))
        np.add.at(ss, words, (c / (beta @ theta))[:, None] * beta * theta)
    return {"gam": gam, "ss": ss}


def factor(S: np.ndarray, W: np.ndarray, psi: np.ndarray, N: float) -> Arrays:
    """EM step of factor analysis from S = XᵀX of centred rows: loadings and variances."""
    sigma = W @ W.T + np.diag(psi)
    beta = W.T @ np.linalg.inv(sigma)  # E[z | x] = β x
    scatter = S @ beta.T
    zz = N * (np.eye(W.shape[1]) - beta @ W) + beta @ scatter
    W_next = scatter @ np.linalg.inv(zz)
    return {"W_next": W_next, "psi_next": (np.diag(S) - (W_next * scatter).sum(axis=1)) / N}
