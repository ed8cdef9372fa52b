"""Derivation → Derivation, one named rewriting each.  Knows no target.

| module | what it does |
|---|---|
| `backtracking` | The step size halved until the step stays inside the domain of the parameters |
| `bias_correction` | an average that started at zero is divided by the weight it has gathered |
| `clip` | Clipping the preconditioned step, coordinate by coordinate |
| `coordinates` | Which coordinates the step is taken in: natural ones (the rule) |
| `delta` | The delta method: an expectation is replaced by the value at the mean |
| `ess` | Effective sample size: the loss as N times a mean loss, the scale counted per example |
| `fixed_point` | Running the rule until nothing moves |
| `fixed_scale` | A scale that is not learned: held at one |
| `fixed_weights` | The weights of a mixture are held as they are given |
| `hessian` | What stands for the Hessian: itself, squared gradients, per-example squares |
| `inverted` | Inverted dropout: the weights kept are the means πm |
| `momentum` | Natural momentum: part of the last step, taken in natural coordinates |
| `precision` | Which scale divides the mean step: the new one (the rule's) or the old one |
| `prior` | A Gaussian prior N(0, δ⁻¹) (weight decay), kept apart from the loss |
| `relax` | A two-valued variable relaxed to a continuous one |
| `rename` | Another name for a state: nothing else changes |
| `rescale` | A step size measured in units of the first scale |
| `responsibility` | The responsibility of a component at its own mean is taken as one |
| `retraction` | A positive-definite step: the second-order term of the geodesic |
| `rho` | A fixed step size; ρ = 1 jumps to the fixed point of the current expectations |
| `route` | The way to ∇_μ 𝔼_q[ℓ], chosen instead of the first that applies |
| `separate_rates` | Separate step sizes for mean and scale |
| `shrinkage` | No shrinkage: the entropy's pull (1−ρ)λ is left out |
| `slow_scale` | A slowly moving scale |
| `spike` | A second component at zero: of each weight |
| `square_root` | The square root of the scale in the mean step |
| `stale_mean` | A deviation of public code: the mean parameter of the step before |
| `start` | The first value of the scale as a choice |
| `stochastic` | Stochastic approximation: minibatches for sums over data |
| `straight_through` | Straight-through: the slope of the relaxation |
| `tau` | A fixed temperature, or its limit at zero: tanh(x/τ) → sign(x) |
"""

from blrgen.approximate.tools.base import Approximation, check_request, parse_request, registry

__all__ = ["Approximation", "check_request", "parse_request", "registry"]
