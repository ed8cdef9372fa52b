"""log p of every statement of a model, from its family's geometry alone, in the index algebra.

| module | what it does |
|---|---|
| `arguments` | A model's expressions in the index algebra; labels become letters with weights |
| `density` | ⟨η(w), T(x)⟩ − A(η(w)) + log h(x) of a family, at given arguments and variables |
| `discrete` | Functions of discrete unknowns, opened by their values |
| `joint` | The log joint: one factor a statement, over its plates |
| `names` | The symbols of a model: axes, signs, constraints, what is known |
| `translate` | A family's SymPy expressions in the index algebra, whatever ring they are of |
"""
