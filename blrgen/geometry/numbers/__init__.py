"""A, μ and expectations without a closed form: quadrature and summation over a density.

| module | what it does |
|---|---|
| `branch` | A support in branches x = end ± eᵘ, on which every end and singularity lies at u = −∞ |
| `density_rule` | The density at a point as a rule: A, E_q[f] and covariances |
| `landmarks` | Places that a formula names: where a spike can stand that no grid would meet |
| `make` | A rule for the density of a declaration: over an interval, integers or points |
| `modes` | Where a density has its mass: local maxima on a branch, and how far out it counts |
| `moments` | Densities at points, kept: A |
| `nodes` | Symbols for what has no known closed form: A(λ) and E_q[f](λ) |
| `panels` | Gauss–Legendre panels, halved until n and 3n/2 nodes agree for every integrand |
| `quadrature` | ∫ f h exp⟨λ, T⟩ over an interval, by Gauss–Legendre panels around the modes |
| `samples` | Points all over a support: the places at which a density is first looked at |
| `scout` | Panels halved and joined in doubles, to spare work in many digits; nothing rests on it |
| `summation` | Σ f h exp⟨λ, T⟩ over points: finite sets, integers from a bound on, all integers |
| `task` | What is integrated, nodes with weights, and arrays of doubles or of mpmath numbers |
"""
