"""A model and a flag → its algorithm: blocks, updates and choices, each with its reason.

| module | what it does |
|---|---|
| `values` | What an algorithm for a model is, step by step |
"""
