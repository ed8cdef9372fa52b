"""Logistic loss over rows: value, gradient, and the sums of squares of its rows.

z = X w       e_n = σ(z_n) − y_n
f = Σ_n softplus(z_n) − y_n z_n       g = Xᵀ e       q_i = Σ_n (e_n X_ni)²
"""

from blrgen.program.axes.text import program

PROGRAM = program(
    letters="n:N, i,j:d",
    given="X[N,d], y[N], w[d]",
    body="""
        z[n] = sum(j, X[n,j] * w[j])
        e[n] = logistic(z[n]) - y[n]
        f = sum(n, softplus(z[n]) - y[n] * z[n])
        g[i] = sum(n, e[n] * X[n,i])
        q[i] = sum(n, (e[n] * X[n,i])**2)
    """,
    outs="f, g, q",
)
