"""Mixtures beside what is written by hand.

| module | what it does |
|---|---|
| `__main__` | Ratios of emitted steps to kernels by hand, and their growth in K and d |
| `by_numpyro` | A logistic regression in groups to its optimum, beside numpyro's SVI |
| `groups` | A logistic regression in groups, emitted and by hand, with the same nodes |
| `independent` | KL(q‖p) in the plane made least by a general optimiser |
| `kernels` | Steps by hand: the ensemble of Newton methods |
| `quadrature` | A step with its integrals in the plane, and by hand with the same nodes |
| `targets` | The four targets of the examples by both, as a table |
"""
