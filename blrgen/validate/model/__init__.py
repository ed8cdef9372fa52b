"""A model's algorithm and its class: what is proved of them, and what is compared in numbers.

| module | what it does |
|---|---|
| `blocks` | Each block multiplied back: identity |
| `covered` | Which lines of an emitted file were run, and the same file with short blocks |
| `data` | Small random data and constants for a model, in the domains that it declares |
| `draws` | A class that draws, against the full conditionals of its derivation, in numbers |
| `emitted` | An emitted class on small random data against the derived expressions, in numbers |
| `exact` | An emitted class on numbers of a tower of prime fields: a proof |
| `fields` | Random numbers of a tower in the place of small random data and states |
| `forms` | Kalman's two forms against each other, in a prime field |
| `laws` | q of a block in numbers: E[T], A and ⟨λ, E[T]⟩, chains by all paths |
| `report` | All that is claimed of a model's algorithm: `blrgen verify FILE.model FLAG` |
| `sites` | Expectations of sites in numbers, by a rule of their own |
| `some_rows` | A step over some rows on numbers of a tower |
| `stand_ins` | What an emitted file finds when it runs on numbers of a tower |
| `stationary` | Each update is where the objective stands still in its block, as an identity |
"""
