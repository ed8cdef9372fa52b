"""E-step of a mixture of Gaussians on the line; τ_k are precisions.

log p(x_n, k) = lc_k − ½ τ_k (x_n − μ_k)²       r_nk = p(k | x_n)
n_k = Σ_n r_nk       s1_k = Σ_n r_nk x_n       s2_k = Σ_n r_nk x_n²
"""

from blrgen.program.axes.text import program

PROGRAM = program(
    letters="n:N, k:K",
    given="x[N], mu[K], tau[K], lc[K]",
    body="""
        lp[n,k] = lc[k] - tau[k] * (x[n] - mu[k])**2 / 2
        lse[n] = lse(k, lp[n,k])
        r[n,k] = exp(lp[n,k] - lse[n])
        nk[k] = sum(n, r[n,k])
        s1[k] = sum(n, r[n,k] * x[n])
        s2[k] = sum(n, r[n,k] * x[n]**2)
        L = sum(n, lse[n])
    """,
    outs="nk, s1, s2, L",
)
