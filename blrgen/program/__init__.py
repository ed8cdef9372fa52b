"""A small frozen language for what is to be computed, free of SymPy from here on.

| module | what it does |
|---|---|
| `nodes` | expressions: constants, symbols, arithmetic, calls, matrices |
| `types` | their ranks, and the checker |
| `program` | variables, statements, phases: a whole program |
| `lower` | a `Rule` of SymPy expressions → `Program` (the only module here that sees SymPy) |
| `order`, `dead`, `stable`, `expand`, `hoist`, `strength`, `factor`, `cse` | one pass each |
| `passes` | the passes in their order |
| `inspect` | any of these as text |
"""
