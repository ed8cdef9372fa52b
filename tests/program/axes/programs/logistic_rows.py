"""Logistic loss over a minibatch: the rows of X and y whose numbers are given.

z_b = X_{rows b}·w       e_b = σ(z_b) − y_{rows b}
f = Σ_b softplus(z_b) − y_{rows b} z_b       g = Σ_b e_b X_{rows b}       q alike, squared
"""

from blrgen.program.axes.text import program

PROGRAM = program(
    letters="b:B, i,j:d",
    given="X[N,d], y[N], w[d], rows[B] in N",
    body="""
        z[b] = sum(j, X[rows[b],j] * w[j])
        e[b] = logistic(z[b]) - y[rows[b]]
        f = sum(b, softplus(z[b]) - y[rows[b]] * z[b])
        g[i] = sum(b, e[b] * X[rows[b],i])
        q[i] = sum(b, (e[b] * X[rows[b],i])**2)
    """,
    outs="f, g, q",
)
