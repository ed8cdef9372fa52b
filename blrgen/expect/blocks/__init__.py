"""Blocks of a log joint: division by the span of {1, T}, multiplied back as the proof.

| module | what it does |
|---|---|
| `block` | A block of nodes and its full conditional |
| `divide` | Division by the span of {1, T}, and multiplying back |
| `expectation` | E_q of terms, block by block; the stationarity of the objective |
| `match` | Matching a term against a template |
| `templates` | Statistics as templates |
| `values` | Factors, statistics, coefficients, remainders, blocks |
"""
