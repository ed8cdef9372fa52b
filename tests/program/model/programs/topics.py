"""Topics of documents by stochastic variational inference: counts of words, ragged.

theta[d] ~ dirichlet(alpha), phi[k] ~ dirichlet(beta), z[d,w] ~ categorical(theta[d]),
word[d,w] ~ categorical(phi[z[d,w]]) times count[d,w].  Local blocks go to their fixed point.
"""

from blrgen.program.axes.text import program
from blrgen.program.model.given import handing_out
from blrgen.program.model.values import (
    POSITIVE,
    Argument,
    Array,
    Lengths,
    Method,
    ModelProgram,
    Part,
    Posterior,
    Variable,
)

WHOLE = program(
    letters="d:D, w:W under d by ptr, k,h:K, v,u:V, r:100",
    given="ptr[O], word[D,W] in V, count[D,W], lam[K,V], alpha, beta, rho, scale",
    body="""
        total[k] = digamma(sum(u, lam[k,u]))
        elog[k,v] = digamma(lam[k,v]) - total[k]
        eb[v,k] = exp(elog[k,v])
        for d:
            b[d,w,k] = eb[word[d,w],k]
            for r:
                th[d,r,k] = exp(digamma(g[d,r-1,k]) - digamma(sum(h, g[d,r-1,h])))
                q[r,d,w] = count[d,w] / sum(k, b[d,w,k] * th[d,r,k])
                g[d,r,k] = init(1), alpha + th[d,r,k] * sum(w, q[r,d,w] * b[d,w,k])
                small[d,r] = sum(k, abs(g[d,r,k] - g[d,r-1,k])) < 0.0000000001
                until(small[d,r])
            gam[d,k] = g[d,last(r),k]
            lt[d,k] = digamma(gam[d,k]) - digamma(sum(h, gam[d,h]))
            theta[d,k] = exp(lt[d,k])
            like[d,w] = sum(k, b[d,w,k] * theta[d,k])
            ss[v,k] = sum((d,w), [word[d,w] == v] * count[d,w] / like[d,w] * b[d,w,k] * theta[d,k])
            gs[d] = sum(h, gam[d,h])
            own[d] = (sum(w, count[d,w] * log(like[d,w]))
                + loggamma(size(K) * alpha) - size(K) * loggamma(alpha)
                + sum(k, (alpha - gam[d,k]) * lt[d,k] + loggamma(gam[d,k])) - loggamma(gs[d]))
        lam_next[k,v] = (1 - rho) * lam[k,v] + rho * (beta + scale * ss[v,k])
        lams[k] = sum(u, lam[k,u])
        objective = (sum(d, own[d])
            + size(K) * (loggamma(size(V) * beta) - size(V) * loggamma(beta))
            + sum((k,v), (beta - lam[k,v]) * elog[k,v] + loggamma(lam[k,v]))
            - sum(k, loggamma(lams[k])))
    """,
    outs="lam_next, objective",
)
PHI = Variable("phi", "dirichlet", (Part(Array("lam", ("K", "V"), POSITIVE), "alpha"),))
TOPICS = ModelProgram(
    name="Topics",
    algorithm="svi",
    title="Topics of documents.",
    equations=(("Model", ("theta[d] ~ dirichlet(alpha), phi[k] ~ dirichlet(beta)",)),),
    arguments=(
        Argument(Array("word", ("D", "W"), labels="V", flat=("W",))),
        Argument(Array("count", ("D", "W"), "[0, oo)", flat=("W",))),
        Argument(Array("alpha", (), POSITIVE), role="constant", default=0.1),
        Argument(Array("beta", (), POSITIVE), role="constant", default=0.1),
    ),
    sizes=("K", "V"),
    variables=(PHI,),
    lengths=(Lengths("W", "D", "ptr"),),
    sweep=Method("sweep", handing_out(WHOLE, ("lam_next",)), "One step."),
    bound=Method("bound", handing_out(WHOLE, ("objective",)), "The objective."),
    batch="D",
    posteriors=(
        Posterior("phi", "dirichlet", (("alpha", "lam"),)),
        Posterior("theta", "dirichlet", (("alpha", "gam"),),
                  Method("posterior_theta", handing_out(WHOLE, ("gam",)), "Return q of theta.")),
    ),
)  # fmt: skip
