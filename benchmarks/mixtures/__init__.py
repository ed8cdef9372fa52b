"""Mixtures beside what is written by hand.

| module | what it does |
|---|---|
| `__main__` | Ratios of emitted steps to kernels by hand, and their growth in K and d |
| `independent` | KL(q‖p) in the plane made least by a general optimiser |
| `kernels` | Steps by hand: the ensemble of Newton methods, a logistic regression in groups |
| `targets` | The four targets of the examples by both, as a table |
"""
