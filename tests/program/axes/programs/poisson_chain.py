"""The sums of an EM step of a hidden Markov chain with Poisson counts.

With l_tk = x_t log λ_k − λ_k and E_t = exp(l_t − max l_t), forward and backward as usual:

    α_t ∝ (Aᵀ α_{t−1}) E_t       L = Σ_t log s_t + max l_t
    β_u = A w_{u+1}, w_t = E_t β_t/s_t       γ_u = α_u β_u
    Ξ = A ∘ Σ_u α_u w_{u+1}ᵀ       n = Σ_u γ_u       sx = Σ_u x_u γ_u       p0 = γ_0, the last u
"""

from blrgen.program.axes.text import program

PROGRAM = program(
    letters="t:T, u:T down, j,k:K",
    given="x[T], pi[K], A[K,K], rate[K]",
    body="""
        l[t,k] = x[t] * log(rate[k]) - rate[k]
        top[t] = max(k, l[t,k])
        E[t,k] = exp(l[t,k] - top[t])
        for t:
            a[t,k] = first(pi[k] * E[t,k]), sum(j, al[t-1,j] * A[j,k]) * E[t,k]
            s[t] = sum(k, a[t,k])
            al[t,k] = a[t,k] / s[t]
        L = sumlog(t, s[t]) + sum(t, top[t])
        for u:
            b[u,j] = first(1), sum(k, A[j,k] * w[u+1,k])
            pairs[j,k] = sum(u, al[u,j] * w[u+1,k])
            w[u,k] = init(0), E[u,k] * b[u,k] / s[u]
            ga[u,k] = al[u,k] * b[u,k]
            n[k] = sum(u, ga[u,k])
            sx[k] = sum(u, ga[u,k] * x[u])
        xi[j,k] = A[j,k] * pairs[j,k]
        p0[k] = ga[last(u),k]
    """,
    outs="L, p0, xi, n, sx",
)
