"""A model's algorithm and its class: what is proved of them, and what is compared in numbers.

| module | what it does |
|---|---|
| `blocks` | Each block multiplied back: identity |
| `data` | Small random data and constants for a model, in the domains that it declares |
| `emitted` | An emitted class on small random data against the derived expressions, in numbers |
| `laws` | q of a block in numbers: E[T], A and ⟨λ, E[T]⟩, chains by all paths |
| `report` | All that is claimed of a model's algorithm: `blrgen verify FILE.model FLAG` |
| `sites` | Expectations of sites in numbers, by a rule of their own |
| `stationary` | Each update is where the objective stands still in its block, as an identity |
"""
