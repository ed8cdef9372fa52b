"""What somebody who wrote a name that is not known may have meant."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

from blrgen.errors import did_you_mean

_NEAR = 0.75  # how like a function's name a name must be for it to be proposed
_ELSEWHERE = {
    "ln": "log(x)", "log2": "log(x)/log(2)", "log10": "log(x)/log(10)", "lgamma": "loggamma(x)",
    "gammaln": "loggamma(x)", "lngamma": "loggamma(x)", "psi": "digamma(x)",
    "trigamma": "polygamma(1, x)", "betaln": "log(beta(a, b))", "comb": "binomial(n, k)",
    "choose": "binomial(n, k)", "fact": "factorial(x)", "sech": "1/cosh(x)", "csch": "1/sinh(x)",
    "coth": "1/tanh(x)", "cot": "cos(x)/sin(x)", "tan": "sin(x)/cos(x)", "sec": "1/cos(x)",
    "sigmoid": "1/(1 + exp(-x))", "logistic": "1/(1 + exp(-x))", "expit": "1/(1 + exp(-x))",
    "logit": "log(x/(1 - x))", "softplus": "log(1 + exp(x))", "erfc": "1 - erf(x)",
    "pow": "x**y", "square": "x**2", "sq": "x**2", "cbrt": "x**(1/3)", "fabs": "abs(x)",
    "tr": "trace(X)", "det": "exp(logdet(X))", "norm": "sqrt(dot(x, x))", "inner": "dot(x, y)",
    "iv": "besseli(n, x)", "kv": "besselk(n, x)", "ive": "besseli(n, x)*exp(-x)",
}  # fmt: skip


def other_name(name: str) -> str:
    """How a function is written here that has another name elsewhere."""
    form = _ELSEWHERE.get(name.lower())
    return f"write {form}" if form else ""


def suggestion(name: str, names: Sequence[str], functions: Iterable[str]) -> str:
    """A name like it, a function very like it, or the names there are."""
    if not get_close_matches(name, names, n=1, cutoff=0.55):
        near = get_close_matches(name, sorted(functions), n=1, cutoff=_NEAR)
        if near:
            return f"did you mean {near[0]!r}?"
    return did_you_mean(name, names)
