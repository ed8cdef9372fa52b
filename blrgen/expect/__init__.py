"""Geometry → ∇_μ E_q[ℓ] in expectation nodes.  Knows no algorithm.

| module | what it does |
|---|---|
| `base_measure` | ∇_μ E_q[log h]: the part of ∇_μ𝓗 that is not −λ, by what the base measure is |
| `blocks` | Log joints of models, divided block by block by the statistics |
| `by_component` | ∇_μ E_q[ℓ] for vectors by their components: sums over unit vectors |
| `ends` | Whether p q vanishes at the ends of the support, looked at in numbers |
| `enumeration` | Finite support: E_q[ℓ] = Σ_k q(θ_k) ℓ(θ_k), with one probe a point |
| `exists` | Whether E_q[f] is finite: the density against f at the support's ends, and at poles |
| `expectation` | ∇_μ E_q[ℓ] as it was found: by which route, from which probes |
| `factors` | log p of every statement of a model, in the index algebra |
| `gaps` | Coordinates in which a moved domain is a cone: G = S − X for a parameter X in −SPD + S |
| `gaussian` | E[f(x)] of a normal variable x, by what can be integrated against exp(bx − ½Px²) |
| `identities` | Differential identities of a density, found and checked on the density itself |
| `mean_field` | What a factor of a product is told by a concrete loss: E_{q∖k}[ℓ] |
| `metric` | F⁻¹ with letters: where the entries of F are long they keep names of their own |
| `moments` | Expectations in closed form: what lies in the span of the statistics |
| `operators` | First-order identities of a density: v·∂_ψ q = −(p q)′, found by linear algebra |
| `probes` | What a rule asks of the loss: numbers that the caller supplies, and how they read |
| `product` | ∇_μ E_q[ℓ] of a product: each factor by the route that it allows |
| `routes` | ∇_μ E_q[ℓ], by the route the family allows |
| `sites` | What a log joint has beside its statistics, as functions of one predictor each |
| `slopes` | Slopes of E_q[ℓ] by first-order identities, by scores where there are none |
| `weights` | ∇_μ E_q[ℓ] on a finite support: a mean of slopes, with weights that add up to one |
| `words` | The span of statistics that are vectors and matrices |
"""

from blrgen.expect.expectation import Expectation
from blrgen.expect.routes import expectation_of

__all__ = ["Expectation", "expectation_of"]
