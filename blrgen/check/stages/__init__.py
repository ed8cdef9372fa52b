"""The stages, in the order they run; each is a module with NAME, NEEDS and `run`.

| module | what it does |
|---|---|
| `charts` | Working ↔ natural: solved in both directions, round trip, images inside the domains |
| `claims` | The closed forms under [check]: each against the density, the derived form |
| `convexity` | A is strictly convex on the domain: F = ∇²A is symmetric and positive definite |
| `covariance` | Cov_q[T] = ∇²A |
| `entropy` | 𝓗 = −E_q[log q] = A − ⟨λ, μ⟩ − E_q[log h] |
| `entropy_gradient` | ∇_μ𝓗 = −λ − ∇_μ E_q[log h], held against −F⁻¹ Cov_q(T |
| `expectation` | The route by which gradients of E_q[ℓ] are found |
| `inverse_mean` | μ → λ takes μ(λ) back to λ: the closed form where there is one |
| `log_partition` | A(λ): derived, or the given form against the derived one or the density |
| `mean` | E_q[T] = ∇A |
| `minimality` | No combination of the statistics is constant on the support |
| `normalised` | ∫ q = 1: log ∫ h exp⟨λ, T⟩ by quadrature or summation is A(λ) |
| `parametrisations` | log q in working parameters = log q in natural ones, at points of both |
| `rule` | The exact rule in working coordinates |
| `sampling` | Draws of the emitted sampler follow the density: moments |

`run(context)` returns what to say when the stage holds, as (level, text), and raises
`Wrong`, `UserError` or `InternalError` when it does not, `NotChecked` when it cannot tell.
A stage runs unless one that it NEEDS was refuted.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

STAGES = (
    "minimality",
    "log_partition",
    "charts",
    "normalised",
    "mean",
    "covariance",
    "convexity",
    "entropy",
    "entropy_gradient",
    "parametrisations",
    "inverse_mean",
    "sampling",
    "expectation",
    "rule",
    "claims",
)


def stages() -> list[ModuleType]:
    """The modules of the stages."""
    return [import_module(f"blrgen.check.stages.{name}") for name in STAGES]
