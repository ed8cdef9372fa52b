"""EM step of factor analysis from the scatter matrix S = XᵀX of N centred rows.

G = I + Wᵀ Ψ⁻¹ W       β = G⁻¹ Wᵀ Ψ⁻¹       C = β S
M = N G⁻¹ + C βᵀ       W ← (M⁻¹ C)ᵀ         ψ_i ← (S_ii − Σ_a W_ia C_ai)/N
"""

from blrgen.program.axes.text import program

PROGRAM = program(
    letters="i,j:d, a,b,e:q",
    given="S[d,d] sym, W[d,q], psi[d], N",
    body="""
        U[a,i] = W[i,a] / psi[i]
        G[a,b]: spd = [a == b] + sum(i, U[a,i] * W[i,b])
        beta[a,i] = solve(G[a,b], U[a,i])
        C[a,i] = sum(j, beta[a,j] * S[i,j])
        I[a,b] = [a == b]
        V[a,b]: spd = solve(G[a,e], I[a,b])
        M[a,b]: spd = N * V[a,b] + sum(i, C[a,i] * beta[b,i])
        Y[a,i] = solve(M[a,b], C[a,i])
        W_next[i,a] = Y[a,i]
        psi_next[i] = (S[i,i] - sum(a, Y[a,i] * C[a,i])) / N
    """,
    outs="W_next, psi_next",
)
