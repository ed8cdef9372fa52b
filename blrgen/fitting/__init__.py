"""A mixture fitted to a loss that is a formula: min over q of E_q[ℓ] − 𝓗(q).

| module | what it does |
|---|---|
| `asked` | What a rule asks under a component, as expectations of values alone |
| `constants` | The known constants of a family, n of a binomial, as somebody gives them |
| `gaussian` | Components that are Gaussian: nodes around their mean, or draws |
| `groups` | Points in groups: a first mixture of Gaussians |
| `line` | Components on a line, on whole numbers, on points: nodes where their mass is |
| `loss` | The loss as a function of arrays of points |
| `moves` | One step of the derived rule on numbers |
| `nodes` | Nodes of the trapezoidal rule around a Gaussian, and log q there |
| `run` | Steps of the derived rule until the objective rests |
| `start` | First components: groups of points in proportion to exp(−ℓ) |
"""
