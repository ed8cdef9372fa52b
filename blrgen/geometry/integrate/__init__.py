"""The log-partition A(λ) = log ∫ h(θ) exp⟨λ, T(θ)⟩ dθ, by rules on the exponent.

One rule a module, listed in `rules`; where none applies the declaration gives A, which is
then checked against quadrature or summation of the density itself.
"""

from blrgen.geometry.integrate.gaussian import quadratic_form
from blrgen.geometry.integrate.problem import Integral, Problem, exponent_of, log_base
from blrgen.geometry.integrate.rules import integrate, log_integral, shallowest

__all__ = [
    "Integral",
    "Problem",
    "exponent_of",
    "integrate",
    "log_base",
    "log_integral",
    "quadratic_form",
    "shallowest",
]
