"""A model and a flag → its algorithm: blocks, updates and choices, each with its reason.

| module | what it does |
|---|---|
| `arrivals` | What comes with one element of a chain: its own statements, divided |
| `choices` | The named approximations: why, under which condition, from where |
| `chosen` | Families that are chosen for q |
| `closed` | Stationarity equations that have a closed solution |
| `derive` | The algorithms: what is one block, what is a point, which ρ |
| `edges` | The edges of the graph, conjugate or with the term that breaks them |
| `exact` | All latents as one exact block |
| `given` | A model in which some latents have values: what rows are likely by |
| `labels` | Labels that no algorithm here sums over |
| `linear` | Points in which E[L] is quadratic: a linear system, common factors cancelled |
| `lines` | A model's derivation line by line |
| `nonconjugate` | Blocks that are not conjugate: conjugate part + ∇_μ E_q[what is left] |
| `points` | The joint argmax of E[L] over points, in an order that decouples |
| `prepare` | What every algorithm of a model starts from |
| `rows` | Sums over rows by names of their own |
| `shift` | what can be moved without changing anything: data and points together |
| `typeset` | The lines of a derivation in LaTeX |
| `units` | In which units points are, where data are in some |
| `values` | What an algorithm for a model is, step by step |
"""
