"""Candidates that are mixtures, q = Σ_k π_k q_k: the rule of each component.

| module | what it does |
|---|---|
| `candidate` | A mixture of members of one family: the rule of each component and of the weights |
| `component` | The rule of one component of a mixture, derived from the rule of its family |
| `lines` | The joint over (z, θ), its blocks and their natural gradients, as lines |
"""
