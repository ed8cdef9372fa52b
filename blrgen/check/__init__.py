"""Is a family file right, line by line: what `blrgen check` runs.

| module | what it does |
|---|---|
| `all` | Every family that comes with blrgen, checked in parallel processes |
| `as_json` | The findings as JSON: `blrgen.check/1` |
| `by_components` | Stages for families of vectors by their components |
| `by_sizes` | Stages for families of several variables or of symbolic size |
| `claimed` | What a claim under [check] is held against: the derived expression |
| `claims_at_sizes` | Claims about vectors, matrices and several variables |
| `context` | What the stages share: the declaration, the geometry derived from it |
| `double` | Expressions in double precision, as code that is typed from them computes them |
| `drawn_places` | Draws of the emitted sampler at a place, and the law there as weighted nodes |
| `finding` | What one stage of `check` found |
| `goodness` | How far draws are from a law: means, covariances, distribution functions |
| `limit` | A limit on the time that one stage may take: computer algebra can run away |
| `of_product` | A product under check: every factor as it is declared |
| `points` | Where a claim is tried: inside the natural domain, at zero, near the edges |
| `run` | The stages one after the other; what a refutation leaves standing still runs |
| `shipped` | What `check` found of the families that ship, as data beside them |
| `stages` | The stages, in the order they run; each is a module with NAME, NEEDS and `run` |

    declaration       keys, names, domains
    minimality        no combination of the statistics is constant on the support
    log-partition     derived, or the given one against it or the density itself
    charts            both directions, the round trip, the images
    normalised        ∫ q = 1 inside the domain and near its edges
    mean              E_q[T] = ∇A            covariance        Cov_q[T] = ∇²A
    convexity         ∇²A > 0                entropy           −E_q[log q]
    entropy gradient  ∇_μ𝓗, and how h enters
    parametrisations  log q in working = log q in natural parameters
    inverse mean      λ(μ(λ)) = λ
    sampling          draws follow the density
    expectation       the route by which gradients of E_q[ℓ] are found
    rule              the exact rule
    claims            the closed forms under [check], each against the derived one

A stage whose ground is refuted does not run; all others do.
"""

from blrgen.check.finding import Finding
from blrgen.check.run import check

__all__ = ["Finding", "check"]
