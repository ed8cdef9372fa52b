"""Blocks of a log joint: division by the span of {1, T}, multiplied back as the proof.

| module | what it does |
|---|---|
| `block` | A block of nodes and its full conditional |
| `divide` | Division by the span of {1, T}, and multiplying back |
| `eliminate` | Latents eliminated in turn: labels, and what is given them |
| `expectation` | E_q of terms, block by block; the stationarity of the objective |
| `library` | Which declared family holds a full conditional |
| `match` | Matching a term against a template |
| `normaliser` | A of the family at the coefficients, element by element |
| `templates` | Statistics as templates |
| `values` | Factors, statistics, coefficients, remainders, blocks |
"""
