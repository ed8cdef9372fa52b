"""Gradient descent with momentum, in place.

u ← β u + (1 − β) g
m ← m − α u
"""

from blrgen.program.axes.text import program

PROGRAM = program(
    letters="i:n",
    given="m[n], u[n], g[n], alpha, beta",
    body="""
        u_next[i] = beta * u[i] + (1 - beta) * g[i]
        m_next[i] = m[i] - alpha * u_next[i]
    """,
    writes="m = m_next, u = u_next",
)
