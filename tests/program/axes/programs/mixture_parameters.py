"""M-step of a mixture of Gaussians: from sums to means, inverse factors and constants.

μ_k = s1_k/n_k       Σ_k = s2_k/n_k − μ_k μ_kᵀ + ρ I       P_k = chol(Σ_k)⁻¹
lc_k = log(n_k/N) − ½ d log 2π + Σ_i log P_k,ii
"""

from blrgen.program.axes.text import program

PROGRAM = program(
    letters="k:K, i,j:d",
    given="nk[K], s1[K,d], s2[K,d,d] sym, reg",
    body="""
        N = sum(k, nk[k])
        mu[k,i] = s1[k,i] / nk[k]
        S[k,i,j]: spd = s2[k,i,j] / nk[k] - mu[k,i] * mu[k,j] + reg * [i == j]
        C[k,i,j] = chol(S[k,i,j])
        P[k,i,j] = linv(C[k,i,j])
        lc[k] = log(nk[k] / N) - size(d) * log(2 * pi) / 2 + sumlog(i, P[k,i,i])
    """,
    outs="mu, P, lc",
)
