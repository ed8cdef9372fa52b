"""Functions of the multivariate Gamma function."""

from __future__ import annotations

from typing import Any

import numpy as np

from blrgen.runtime.arrays import Array
from blrgen.runtime.gammas import _log_minus_digamma, _loggamma, _trigamma_rest
from blrgen.runtime.marks import elementwise
from blrgen.runtime.plain import _real_of, _where

MULTIGAMMALN_CONSTANT = 0.28618247146235004


@elementwise
def _multigammaln(x: Array, d: int) -> Any:
    """Return log Γ_d(x) for x > (d − 1)/2.

    d(d − 1)/4 log π + Σ log Γ(y), y = x − j/2, j = 0, …, d − 1;
    what each addition rounds off is added in the end.
    """
    real = _real_of(x)
    total, lost = real(MULTIGAMMALN_CONSTANT) * real(d * (d - 1)), real(0)
    for j in range(int(d)):
        half = real(0.5) * real(j)
        y = x - half
        term = _loggamma(y)
        more = total + term
        part = more - total
        lost += (total - (more - part)) + (term - part)
        total = more
    return total + _where(lost == lost, lost, real(0))


@elementwise
def _multitrigamma_rest(x: Array, d: int) -> Any:
    """Return ψ′_d(x) − d/x for x > (d − 1)/2.

    Σ ψ′(y) − 1/y + j/(2xy), y = x − j/2, j = 0, …, d − 1;
    what each addition rounds off is added in the end.
    """
    real = _real_of(x)
    total, lost = real(0.0) * real(d * (d - 1)), real(0)
    for j in range(int(d)):
        half = real(0.5) * real(j)
        y = x - half
        term = _trigamma_rest(y) + half / x / y
        more = total + term
        part = more - total
        lost += (total - (more - part)) + (term - part)
        total = more
    return total + _where(lost == lost, lost, real(0))


@elementwise
def _log_minus_multidigamma(x: Array, d: int) -> Any:
    """Return d log x − ψ_d(x) for x > (d − 1)/2.

    Σ log y − ψ(y) + log(x/y), y = x − j/2, j = 0, …, d − 1;
    what each addition rounds off is added in the end.
    """
    real = _real_of(x)
    total, lost = real(0.0) * real(d * (d - 1)), real(0)
    for j in range(int(d)):
        half = real(0.5) * real(j)
        y = x - half
        term = _log_minus_digamma(y) + np.log1p(half / y)
        more = total + term
        part = more - total
        lost += (total - (more - part)) + (term - part)
        total = more
    return total + _where(lost == lost, lost, real(0))
