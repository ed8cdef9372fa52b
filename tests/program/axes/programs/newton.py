"""A step of Newton's method.

w ← w − H⁻¹ g
"""

from blrgen.program.axes.text import program

PROGRAM = program(
    letters="i,j:d",
    given="g[d], H[d,d] spd, w[d]",
    body="""
        step[i] = solve(H[i,j], g[i])
        w_next[i] = w[i] - step[i]
    """,
    outs="w_next",
)
