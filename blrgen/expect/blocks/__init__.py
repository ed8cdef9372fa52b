"""Blocks of a log joint: division by the span of {1, T}, multiplied back as the proof.

| module | what it does |
|---|---|
| `values` | Factors, statistics, coefficients, remainders, blocks |
"""
