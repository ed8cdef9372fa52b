"""Topics of documents whose words are ragged, and the expected counts of words by topic.

β_w is the row of `eb` of word w; for each document, from γ = g0, round after round until the
mean change of γ is below `tol`:

    θ = exp(ψ(γ) − ψ(Σ_k γ_k))       q_w = c_w/(β_w·θ)       γ ← α + θ ∘ Σ_w q_w β_w

and with the last γ: ss_v = Σ_w [word w is v] q_w β_w ∘ θ.
"""

from blrgen.program.axes.text import program

PROGRAM = program(
    letters="d:D, w:W under d by ptr, k,h:K, v:V, r:R",
    given="ptr[O], word[D,W] in V, count[D,W], eb[V,K], g0[D,K], alpha, tol",
    body="""
        for d:
            beta[d,w,k] = eb[word[d,w],k]
            for r:
                th[d,r,k] = exp(digamma(g[d,r-1,k]) - digamma(sum(h, g[d,r-1,h])))
                q[r,d,w] = count[d,w] / sum(k, beta[d,w,k] * th[d,r,k])
                g[d,r,k] = init(g0[d,k]), alpha + th[d,r,k] * sum(w, q[r,d,w] * beta[d,w,k])
                small[d,r] = sum(k, abs(g[d,r,k] - g[d,r-1,k])) < tol * size(K)
                until(small[d,r])
            gam[d,k] = g[d,last(r),k]
            theta[d,k] = exp(digamma(gam[d,k]) - digamma(sum(h, gam[d,h])))
            p[d,w] = count[d,w] / sum(k, beta[d,w,k] * theta[d,k])
            ss[v,k] = sum((d,w), [word[d,w] == v] * p[d,w] * beta[d,w,k] * theta[d,k])
    """,
    outs="gam, ss",
)
