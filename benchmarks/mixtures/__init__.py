"""Mixtures beside what is written by hand.

| module | what it does |
|---|---|
| `__main__` | Ratios of emitted steps to kernels by hand, and their growth in K and d |
| `groups` | A logistic regression in groups, emitted and by hand, with the same nodes |
| `independent` | KL(q‖p) in the plane made least by a general optimiser |
| `kernels` | Steps by hand: the ensemble of Newton methods |
| `targets` | The four targets of the examples by both, as a table |
"""
