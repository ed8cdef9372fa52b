"""A small frozen language for what is to be computed, free of SymPy from here on.

| module | what it does |
|---|---|
| `nodes` | expressions: constants, symbols, arithmetic, calls, matrices |
| `types` | their ranks, and the checker |
| `program` | variables, statements, phases: a whole program |
| `lower` | a `Rule` of SymPy expressions → `Program`; what is behind it does not see SymPy |
| `variables`, `sizes` | its quantities, and the names that stand for sizes |
| `lowering` | its expressions → nodes |
| `order`, `dead`, `stable`, `expand`, `hoist`, `strength`, `factor`, `cse` | one pass each |
| `passes` | the passes in their order |
| `inspect` | any of these as text |
"""
