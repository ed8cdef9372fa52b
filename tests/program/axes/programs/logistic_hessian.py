"""Logistic loss over rows with its Hessian.

z = X w       p_n = σ(z_n)       e = p − y
f = Σ_n softplus(z_n) − y_n z_n       g = Xᵀ e       q_i = Σ_n (e_n X_ni)²
H = Xᵀ diag(p (1 − p)) X
"""

from blrgen.program.axes.text import program

PROGRAM = program(
    letters="n:N, i,j:d",
    given="X[N,d], y[N], w[d]",
    body="""
        z[n] = sum(j, X[n,j] * w[j])
        p[n] = logistic(z[n])
        e[n] = p[n] - y[n]
        h[n] = p[n] * (1 - p[n])
        f = sum(n, softplus(z[n]) - y[n] * z[n])
        g[i] = sum(n, e[n] * X[n,i])
        q[i] = sum(n, (e[n] * X[n,i])**2)
        H[i,j]: sym = sum(n, h[n] * X[n,i] * X[n,j])
    """,
    outs="f, g, q, H",
)
