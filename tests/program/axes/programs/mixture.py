"""E-step of a mixture of Gaussians with full covariances, and the sums of its M-step.

P_k is the inverse of the lower factor of Σ_k, so that the quadratic form is |P (x − μ)|²;
lc_k = log π_k − ½ log |2π Σ_k|.

    log p(x_n, k) = lc_k − ½ |P_k (x_n − μ_k)|²       r_nk = p(k | x_n)
    n_k = Σ_n r_nk       s1_k = Σ_n r_nk x_n       s2_k = Σ_n r_nk x_n x_nᵀ
    L = Σ_n log Σ_k p(x_n, k)
"""

from blrgen.program.axes.text import program

PROGRAM = program(
    letters="n:N, k:K, i,j:d",
    given="x[N,d], mu[K,d], P[K,d,d] lower, lc[K]",
    body="""
        dx[n,k,i] = x[n,i] - mu[k,i]
        y[n,k,i] = sum(j, P[k,i,j] * dx[n,k,j])
        lp[n,k] = lc[k] - sum(i, y[n,k,i]**2) / 2
        lse[n] = lse(k, lp[n,k])
        r[n,k] = exp(lp[n,k] - lse[n])
        nk[k] = sum(n, r[n,k])
        s1[k,i] = sum(n, r[n,k] * x[n,i])
        s2[k,i,j]: sym = sum(n, r[n,k] * x[n,i] * x[n,j])
        L = sum(n, lse[n])
    """,
    outs="nk, s1, s2, L",
)
