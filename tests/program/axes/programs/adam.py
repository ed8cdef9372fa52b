"""Adam, in place: one letter over the parameters.

u ← β₁ u + (1 − β₁) g          û = u/(1 − β₁ᵗ)
s ← β₂ s + (1 − β₂) g²         ŝ = s/(1 − β₂ᵗ)
m ← m − α û/(√ŝ + c)
"""

from blrgen.program.axes.text import program

PROGRAM = program(
    letters="i:n",
    given="m[n], u[n], s[n], g[n], t, alpha, beta1, beta2, c",
    body="""
        u_next[i] = beta1 * u[i] + (1 - beta1) * g[i]
        s_next[i] = beta2 * s[i] + (1 - beta2) * g[i]**2
        u_hat[i] = u_next[i] / (1 - beta1**t)
        s_hat[i] = s_next[i] / (1 - beta2**t)
        m_next[i] = m[i] - alpha * u_hat[i] / (sqrt(s_hat[i]) + c)
    """,
    writes="m = m_next, u = u_next, s = s_next",
)
