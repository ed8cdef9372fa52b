"""The log-partition A(λ) = log ∫ h(θ) exp⟨λ, T(θ)⟩ dθ, by rules on the exponent.

| module | what it does |
|---|---|
| `bessel` | c + a log x + b xᵖ + d x⁻ᵖ on (0, ∞), b and d < 0: a Bessel function K of index |
| `beta` | c + a log(x − l) + b log(u − x) on (l, u): e^c (u − l)^(a+b+1) B(a + 1, b + 1) |
| `beta_prime` | c + a log x + b log(r + s x) on (0, ∞): the beta integral of the second kind |
| `circle` | c + a cos kx + b sin kx over a whole turn: e^c 2π I₀(√(a² + b²)) |
| `component_moments` | E_q[Σ_k g(x_k)] of vectors: by the statistics |
| `exponential` | c + a x between two ends |
| `exponents` | log Σ exp of a few log-integrals, in the form that does not overflow |
| `finite_sum` | A finite support: the sum over its points |
| `gammas` | log Γ and log B without what cancels: log Γ(a + 1) − log Γ(a) = log a |
| `gaussian` | A quadratic exponent c + bᵀθ − ½θᵀPθ on R^d: c + ½bᵀP⁻¹b − ½log|P| + (d/2)log 2π |
| `inverse_matrix` | The substitution X = Y⁻¹ over SPD(d): log|X| = −log|Y|, dX = |Y|^{−(d+1)} dY |
| `matrix_gaussian` | A quadratic exponent over R^(n,p): the matrix Gaussian integral |
| `mixture` | A density whose base measure is a sum: ∫ (h₁ + h₂) e^f = ∫ h₁ e^f + ∫ h₂ e^f |
| `pieces` | Absolute values: the integral in pieces between the points where they turn |
| `power_exponential` | c + a log x + b xᵖ on (0, ∞), b < 0: e^c Γ(k) (−b)^(−k) / |p| with k = |
| `primitive` | Primitive random draws, as symbols inside an expression for the variable |
| `problem` | What a rule is given, ∫ or Σ of exp(exponent) over a support, and what it answers |
| `ratio` | The ratio of successive terms t(k+1)/t(k) = z Π(k + aᵢ)/Π(k + bⱼ) |
| `rules` | The rules, in the order in which they are tried; the first that answers is taken |
| `separable` | Vectors of symbolic size: the exponent is c + Σ_k φ_k(x_k) |
| `sequential` | Several variables, one after the other: each by the rules |
| `series` | Sums over whole numbers by the ratio of successive terms, with z = e^η |
| `substitution` | x = g(u): the exponent becomes f(g(u)) + log|g′(u)| |
| `symmetric` | An exponent that is even about a centre: twice the integral over u = |x − c| |
| `terms` | An exponent as a sum of coefficients times functions of the variable |
| `wishart` | A determinant and a linear exponent over SPD: the Wishart integral |
| `zeta` | Powers of whole numbers: Σ_{k ≥ m} (k + r)^a = ζ(−a, m + r) |

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
