"""Kalman filter with its log-likelihood.

Before the observation (at t = 0 these are m0 and P0), and what is expected of it:

    x = F m       V = F P Fᵀ + Q       D = H V       S = D Hᵀ + R       v = y − H x

After it, with K = S⁻¹ D the transposed gain:

    m = x + Dᵀ S⁻¹ v       P = V − Dᵀ K       L = −½ Σ_t v·S⁻¹ v + log |2π S|
"""

from blrgen.program.axes.text import program

PROGRAM = program(
    letters="t:T, i,j,l:n, a,b:o",
    given="F[n,n], H[o,n], Q[n,n] spd, R[o,o] spd, y[T,o], m0[n], P0[n,n] spd",
    body="""
        for t:
            x[t,i] = first(m0[i]), sum(l, F[i,l] * m[t-1,l])
            A[t,i,l] = first(0), sum(j, F[i,j] * Pt[t-1,j,l])
            V[t,i,j]: spd = first(P0[i,j]), sum(l, A[t,i,l] * F[j,l]) + Q[i,j]
            D[t,a,j] = sum(i, H[a,i] * V[t,i,j])
            S[t,a,b]: spd = sum(j, D[t,a,j] * H[b,j]) + R[a,b]
            v[t,a] = y[t,a] - sum(i, H[a,i] * x[t,i])
            e[t,a] = solve(S[t,a,b], v[t,a])
            K[t,a,j] = solve(S[t,a,b], D[t,a,j])
            m[t,i] = x[t,i] + sum(a, D[t,a,i] * e[t,a])
            Pt[t,i,j]: spd = V[t,i,j] - sum(a, D[t,a,i] * K[t,a,j])
            square[t] = sum(a, v[t,a] * e[t,a])
            volume[t] = logdet(S[t,a,b])
        L = -sum(t, square[t] + volume[t]) / 2 - size(T) * size(o) * log(2 * pi) / 2
        P[i,j]: spd = Pt[last(t),i,j]
    """,
    outs="m, P, L",
)
