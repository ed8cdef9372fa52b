"""What other languages call things, and how they are written here.  Hints only."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

FAMILIES = {
    "normal": "gaussian(mean, variance)", "norm": "gaussian(mean, variance)",
    "dnorm": "gaussian(mean, variance)", "n": "gaussian(mean, variance)",
    "mvn": "gaussian-full(mean, precision)", "mvnormal": "gaussian-full(mean, precision)",
    "multinormal": "gaussian-full(mean, precision)", "bern": "bernoulli(p)",
    "multivariate-normal": "gaussian-full(mean, precision)", "discrete": "categorical(p)",
    "cat": "categorical(p)", "pois": "poisson(rate)", "dpois": "poisson(rate)",
    "exp": "exponential(rate)", "expon": "exponential(rate)", "dir": "dirichlet(alpha)",
    "uniform": "beta(1, 1) on (0, 1)", "unif": "beta(1, 1) on (0, 1)",
    "invgamma": "inverse-gamma(shape, scale)", "lognormal": "log-normal(m, v)",
    "student-t": "gaussian(m, v/u) with u ~ gamma(nu/2, nu/2)",
    "studentt": "gaussian(m, v/u) with u ~ gamma(nu/2, nu/2)",
    "t": "gaussian(m, v/u) with u ~ gamma(nu/2, nu/2)", "delta": "= for a deterministic node",
    "deterministic": "= for a deterministic node", "dirac": "= for a deterministic node",
}  # fmt: skip

FUNCTIONS = {
    "I": "eye(p)", "identity": "eye(p)", "zero": "zeros(p)", "one": "ones(p)", "mean": "sum(x)/N",
    "matmul": "A*B", "inverse": "inv(A)", "t": "transpose(A)", "softmax": "exp(f)/sum(exp(f))",
}  # fmt: skip

DOMAINS = {
    "positive": "(0, oo)", "real": "R", "reals": "R", "nonnegative": "[0, oo)",
    "naturals": "integers >= 0", "integer": "integers", "int": "integers", "float": "R",
    "unit": "(0, 1)", "probability": "(0, 1)", "spd": "SPD(d)", "psd": "SPD(d)", "matrix":
    "R^(p,q)", "vector": "R^p", "boolean": "{0, 1}", "bool": "{0, 1}", "binary": "{0, 1}",
    "label": "labels(K)", "r": "R", "inf": "oo", "infinity": "oo",
}  # fmt: skip


def family(name: str, known: Iterable[str]) -> str:
    """A family of a like name, or what it is called here."""
    other = FAMILIES.get(name.lower())
    if other is not None:
        return f"write {other}"
    names = sorted(known)
    close = get_close_matches(name.lower(), names, n=3, cutoff=0.55)
    close += [n for n in names if n.startswith(name.lower()) and n not in close][:2]
    if close:
        return "did you mean " + " or ".join(repr(c) for c in close) + "?"
    return "blrgen list families has them all."
