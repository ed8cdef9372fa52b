"""Forward and backward through a hidden Markov chain, scaled at every step.

Forward, from α_0 ∝ π B_0, with s_t what makes α_t sum to 1:

    α_t ∝ (Aᵀ α_{t−1}) B_t       L = Σ_t log s_t

Backward, from β_{T−1} = 1, with w_t = B_t β_t/s_t:

    β_u = A w_{u+1}       γ_u = α_u β_u       Ξ = A ∘ Σ_u α_u w_{u+1}ᵀ
"""

from blrgen.program.axes.text import program

PROGRAM = program(
    letters="t:T, u:T down, j,k:K",
    given="pi[K], A[K,K], B[T,K]",
    body="""
        for t:
            a[t,k] = first(pi[k] * B[t,k]), sum(j, al[t-1,j] * A[j,k]) * B[t,k]
            s[t] = sum(k, a[t,k])
            al[t,k] = a[t,k] / s[t]
        L = sumlog(t, s[t])
        for u:
            b[u,j] = first(1), sum(k, A[j,k] * w[u+1,k])
            pairs[j,k] = sum(u, al[u,j] * w[u+1,k])
            w[u,k] = init(0), B[u,k] * b[u,k] / s[u]
            ga[u,k] = al[u,k] * b[u,k]
        xi[j,k] = A[j,k] * pairs[j,k]
    """,
    outs="L, ga, xi",
)
