"""Logistic loss with an effect of the row's label: a one-hot row that nobody stores.

z_n = X_n·w + Σ_v [l_n = v] u_v       e_n = σ(z_n) − y_n
f = Σ_n softplus(z_n) − y_n z_n       ∇_w f = Xᵀ e       ∇_u f = Σ_n [l_n = v] e_n
"""

from blrgen.program.axes.text import program

PROGRAM = program(
    letters="n:N, j:d, v:V",
    given="X[N,d], y[N], lab[N] in V, w[d], u[V]",
    body="""
        z[n] = sum(j, X[n,j] * w[j]) + sum(v, [lab[n] == v] * u[v])
        e[n] = logistic(z[n]) - y[n]
        f = sum(n, softplus(z[n]) - y[n] * z[n])
        gw[j] = sum(n, e[n] * X[n,j])
        gu[v] = sum(n, [lab[n] == v] * e[n])
    """,
    outs="f, gw, gu",
)
