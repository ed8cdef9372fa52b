"""RMSprop, in place.

s ← (1 − β) s + β g²
m ← m − α g/(√s + c)
"""

from blrgen.program.axes.text import program

PROGRAM = program(
    letters="i:n",
    given="m[n], s[n], g[n], alpha, beta, c",
    body="""
        s_next[i] = (1 - beta) * s[i] + beta * g[i]**2
        m_next[i] = m[i] - alpha * g[i] / (sqrt(s_next[i]) + c)
    """,
    writes="m = m_next, s = s_next",
)
