"""What functions, comparisons and reductions mean, in NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blrgen.errors import InternalError

Array = NDArray[Any]

_CALLS: dict[str, Callable[..., Any]] = {
    "sqrt": np.sqrt, "exp": np.exp, "log": np.log, "log1p": np.log1p, "expm1": np.expm1,
    "sin": np.sin, "cos": np.cos, "tanh": np.tanh, "sinh": np.sinh, "cosh": np.cosh,
    "atanh": np.arctanh, "abs": np.abs, "sign": np.sign, "floor": np.floor, "pow": np.power,
    "softplus": lambda x: np.logaddexp(x, np.zeros_like(x)),
    "logistic": lambda x: np.exp(-np.logaddexp(np.zeros_like(x), -x)),
    "logcosh2": lambda x: np.logaddexp(x, -x),
    "log_share": lambda x: np.where(x == 0, -1e30, np.log(x)),  # 0 log 0 = 0
    "level": lambda x: np.where(np.abs(x) < 1e29, x, x * np.inf),
}  # fmt: skip
COMPARE: dict[str, Callable[..., Any]] = {
    "<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal,
    "==": np.equal, "!=": np.not_equal,
}  # fmt: skip


def calls(name: str) -> Callable[..., Any]:
    """A function of numbers by its name."""
    return _CALLS.get(name) or special(name)


def _bessel_law(v: float, x: float) -> tuple[float, float, float]:
    """log K_v(x), its slope by v, K_(v+1)(x)/K_v(x): 2 K_v(x) = ∫ exp(v t − x cosh t) dt."""
    t, step = np.linspace(-30, 30, 30001, retstep=True)
    t = t + np.arcsinh(v / x)
    log_w = v * t - x * np.cosh(t)
    w = np.exp(log_w - log_w.max())
    w_sum = w.sum()
    slope, ratio = (w * t).sum() / w_sum, (w * np.exp(t)).sum() / w_sum
    return float(log_w.max() + np.log(w_sum * step / 2)), float(slope), float(ratio)


def special(name: str) -> Callable[..., Any]:
    """A function of numbers that NumPy does not have, from SciPy."""
    import scipy.special as ss

    known: dict[str, Callable[..., Any]] = {
        "digamma": ss.digamma, "loggamma": ss.gammaln,
        "trigamma": lambda x: ss.polygamma(1, x), "erf": ss.erf, "erfc": ss.erfc,
        "digamma_rise": lambda x, y: ss.digamma(x + y) - ss.digamma(x),
        "trigamma_fall": lambda x, y: ss.polygamma(1, x) - ss.polygamma(1, x + y),
        "loggamma_ratio": lambda x, y: ss.gammaln(x + y) - ss.gammaln(x),
        "log_beta": ss.betaln, "multigammaln": _multigammaln,
        "multipolygamma_0": lambda x, d: _over_halves(ss.digamma, x, d),
        "multipolygamma_1": lambda x, d: _over_halves(lambda y: ss.polygamma(1, y), x, d),
        "log_besseli": lambda v, x: np.log(ss.ive(v, x)) + x,
        "bessel_quotient": lambda v, x: ss.ive(v + 1, x) / (x * ss.ive(v, x)),
        "log_besselk": np.vectorize(lambda v, x: _bessel_law(v, x)[0]),
        "besselk_order": np.vectorize(lambda v, x: _bessel_law(v, x)[1]),
        "besselk_ratio": np.vectorize(lambda v, x: _bessel_law(v, x)[2]),
    }  # fmt: skip
    if name not in known:
        raise InternalError(f"nothing says what {name} means")
    return known[name]


def _over_halves(f: Callable[[Array], Any], x: Array, d: Array) -> Array:
    """Σ_j f(x − (j − 1)/2) for j from 1 to d."""
    return np.asarray(sum(f(x - j / 2) for j in range(int(np.max(d)))))


def _multigammaln(x: Array, d: Array) -> Array:
    """log Γ_d(x)."""
    import scipy.special as ss

    return np.asarray(_over_halves(ss.gammaln, x, d) + d * (d - 1) / 4 * np.log(np.pi))


def _lse(x: Array, axis: int) -> Array:
    """log Σ exp, −∞ where all terms are."""
    top = np.max(x, axis, keepdims=True, initial=-np.inf)
    top = np.where(np.isneginf(top), 0.0, top).astype(x.dtype)
    whole = np.log(np.sum(np.exp(x - top), axis)) + np.squeeze(top, axis)
    return np.asarray(whole)


REDUCE: dict[str, Callable[[Array, int], Array]] = {
    "sum": lambda x, axis: np.sum(x, axis),
    "max": lambda x, axis: np.max(x, axis, initial=-np.inf),
    "lse": _lse,
    "sumlog": lambda x, axis: np.sum(np.log(x), axis),
}
