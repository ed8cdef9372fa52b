"""Is a family file right, line by line: what `blrgen check` runs.

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
