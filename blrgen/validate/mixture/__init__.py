"""What is claimed of a mixture: with one component it is the family's rule, and in numbers.

| module | what it does |
|---|---|
| `data` | Random states and inputs of a mixture: components far apart, near, and on one another |
| `one` | One component: the rule of the family itself, proved |
| `report` | All that is claimed of a mixture's rule: what `blrgen verify mixture:FAMILY` runs |
| `weights` | The weights' rule is that of a variable with finitely many values, proved |
"""
