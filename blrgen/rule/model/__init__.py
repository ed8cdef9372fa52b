"""A model and a flag → its algorithm: blocks, updates and choices, each with its reason.

| module | what it does |
|---|---|
| `choices` | The named approximations: why, under which condition, from where |
| `closed` | Stationarity equations that have a closed solution |
| `derive` | The algorithms: what is one block, what is a point, which ρ |
| `edges` | The edges of the graph, conjugate or with the term that breaks them |
| `exact` | All latents as one exact block |
| `linear` | Points in which E[L] is quadratic: a linear system, common factors cancelled |
| `lines` | A model's derivation line by line |
| `nonconjugate` | Blocks that are not conjugate: conjugate part + ∇_μ E_q[what is left] |
| `points` | The joint argmax of E[L] over points, in an order that decouples |
| `prepare` | What every algorithm of a model starts from |
| `rows` | Data that enter only through sums: the step need not see the rows |
| `values` | What an algorithm for a model is, step by step |
"""
