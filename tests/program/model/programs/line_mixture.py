"""A mixture on the line by EM: x ~ gaussian(mu[z[n]], 1/tau[z[n]]), pi, mu, tau points.

An empty component keeps its parameters.
"""

from blrgen.program.axes.text import program
from blrgen.program.model.given import given, handing_out
from blrgen.program.model.values import (
    POSITIVE,
    SIMPLEX,
    Argument,
    Array,
    Method,
    ModelProgram,
    Note,
    Part,
    Posterior,
    Start,
    Variable,
)

SWEEP = program(
    letters="n:N, k:K",
    given="x[N], pi[K], mu[K], tau[K]",
    body="""
        lc[k] = log(pi[k]) + log(tau[k]) / 2 - log(2 * pi_) / 2
        lp[n,k] = lc[k] - tau[k] * (x[n] - mu[k])**2 / 2
        lse[n] = lse(k, lp[n,k])
        r[n,k] = exp(lp[n,k] - lse[n])
        nk[k] = sum(n, r[n,k])
        s1[k] = sum(n, r[n,k] * x[n])
        objective = sum(n, lse[n])
        pi_next[k] = nk[k] / size(N)
        empty[k] = nk[k] <= 0
        mu_next[k] = select(nk[k] > 0, s1[k] / nk[k], mu[k])
        s2[k] = sum(n, r[n,k] * (x[n] - mu_next[k])**2)
        tau_next[k] = select(nk[k] > 0, nk[k] / s2[k], tau[k])
    """.replace("pi_)", "pi)").replace("2 * pi)", "6.283185307179586)"),
    outs="objective, pi_next, mu_next, tau_next, empty",
)
NEXT = ("pi_next", "mu_next", "tau_next")
PREDICT = program(
    letters="n:M, k:K",
    given="x[M], pi[K], mu[K], tau[K]",
    body="""
        lc[k] = log(pi[k]) + log(tau[k]) / 2 - log(6.283185307179586) / 2
        p[n] = lse(k, lc[k] - tau[k] * (x[n] - mu[k])**2 / 2)
    """,
    outs="p",
)
POINTS = (
    Variable("pi", "", (Part(Array("pi", ("K",), SIMPLEX)),)),
    Variable("mu", "", (Part(Array("mu", ("K",))),)),
    Variable("tau", "", (Part(Array("tau", ("K",), POSITIVE)),)),
)
LINE_MIXTURE = ModelProgram(
    name="LineMixture",
    algorithm="em",
    title="Mixture of lines, by EM.",
    equations=(("Update", ("r[n,k] ∝ pi[k] N(x[n]; mu[k], 1/tau[k])", "mu[k] = Σ_n r x / Σ_n r")),),
    arguments=(Argument(Array("x", ("N",)), meaning="the points"),),
    sizes=("K",),
    variables=POINTS,
    sweep=Method("sweep", SWEEP, "One step."),
    posteriors=(
        Posterior("z", "categorical", (("p", "r"),),
                  Method("posterior_z", handing_out(SWEEP, ("r",)), "Return q of z.")),
        *(Posterior(v.name, "", (("", v.name),)) for v in POINTS),
    ),
    start=Start(Method("start", given(SWEEP, ("r",), NEXT), "First."),
                Array("r", ("N", "K")), ("x",)),
    predictive=Method("predictive", PREDICT, "Return log p of each of some new rows.",
                      (Argument(Array("x", ("M",))),)),
    notes=(Note("empty", "z", "no row belongs to the component", "empty"),),
)  # fmt: skip
