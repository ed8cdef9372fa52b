"""A model and a flag → its algorithm: blocks, updates and choices, each with its reason.

| module | what it does |
|---|---|
| `closed` | Stationarity equations that have a closed solution |
| `linear` | Points in which E[L] is quadratic: a linear system, common factors cancelled |
| `points` | The joint argmax of E[L] over points, in an order that decouples |
| `prepare` | What every algorithm of a model starts from |
| `values` | What an algorithm for a model is, step by step |
"""
