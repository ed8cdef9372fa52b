"""E-step of a mixture of Bernoulli vectors; W_k are log odds.

log p(x_n, k) = c_k + W_k·x_n       r_nk = p(k | x_n)
n_k = Σ_n r_nk       s1_k = Σ_n r_nk x_n
"""

from blrgen.program.axes.text import program

PROGRAM = program(
    letters="n:N, k:K, j:d",
    given="x[N,d], W[K,d], c[K]",
    body="""
        lp[n,k] = c[k] + sum(j, W[k,j] * x[n,j])
        lse[n] = lse(k, lp[n,k])
        r[n,k] = exp(lp[n,k] - lse[n])
        nk[k] = sum(n, r[n,k])
        s1[k,j] = sum(n, r[n,k] * x[n,j])
        L = sum(n, lse[n])
    """,
    outs="nk, s1, L",
)
