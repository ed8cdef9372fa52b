"""Kalman filter, then the smoother of Rauch, Tung and Striebel, with the log-likelihood.

The filter as in `kalman`; then backward, from m and P of the last step, with W_u the
transposed gain:

    W_u = V_{u+1}⁻¹ F P_u
    ms_u = m_u + W_uᵀ (ms_{u+1} − x_{u+1})       Ps_u = P_u + W_uᵀ (Ps_{u+1} − V_{u+1}) W_u
"""

from blrgen.program.axes.text import program

PROGRAM = program(
    letters="t:T, u:T down, i,j,l:n, a,b:o",
    given="F[n,n], H[o,n], Q[n,n] spd, R[o,o] spd, y[T,o], m0[n], P0[n,n] spd",
    body="""
        for t:
            x[t,i] = first(m0[i]), sum(l, F[i,l] * m[t-1,l])
            A[t,i,l] = first(0), sum(j, F[i,j] * P[t-1,j,l])
            V[t,i,j]: spd = first(P0[i,j]), sum(l, A[t,i,l] * F[j,l]) + Q[i,j]
            D[t,a,j] = sum(i, H[a,i] * V[t,i,j])
            S[t,a,b]: spd = sum(j, D[t,a,j] * H[b,j]) + R[a,b]
            v[t,a] = y[t,a] - sum(i, H[a,i] * x[t,i])
            e[t,a] = solve(S[t,a,b], v[t,a])
            K[t,a,j] = solve(S[t,a,b], D[t,a,j])
            m[t,i] = x[t,i] + sum(a, D[t,a,i] * e[t,a])
            P[t,i,j]: spd = V[t,i,j] - sum(a, D[t,a,i] * K[t,a,j])
            square[t] = sum(a, v[t,a] * e[t,a])
            volume[t] = logdet(S[t,a,b])
        L = -sum(t, square[t] + volume[t]) / 2 - size(T) * size(o) * log(2 * pi) / 2
        for u:
            W[u,i,j] = first(0), solve(V[u+1,i,l], A[u+1,i,j])
            ms[u,i] = first(m[u,i]), m[u,i] + sum(l, W[u,l,i] * (ms[u+1,l] - x[u+1,l]))
            Y[u,l,j] = first(0), sum(i, (Ps[u+1,l,i] - V[u+1,l,i]) * W[u,i,j])
            Ps[u,i,j]: spd = first(P[u,i,j]), P[u,i,j] + sum(l, W[u,l,i] * Y[u,l,j])
    """,
    outs="ms, Ps, L",
)
