"""The command line: one module a command, each a thin door to the stage that does the work.

| module | what it does |
|---|---|
| `algorithms` | The algorithms of a model as flags |
| `check` | Check a family file line by line: every identity against the density itself |
| `derive` | Derive the learning rule of a candidate distribution, line by line |
| `fit` | Fit a model to data: derive its algorithm, emit it, run it |
| `fit_mixture` | A mixture fitted to a loss: `blrgen fit --family mixture:FAMILY` |
| `generate` | Write the derived rule as one source file that stands alone |
| `identify` | Name the known algorithm that this derivation is |
| `list` | List what blrgen knows: families, recipes, approximations, losses |
| `main` | Find the command, run it, and turn what happens into an exit code |
| `new_family` | Write a commented family file to start from |
| `of_model` | Commands on a model's text: `check FILE.model`, `derive FILE.model` |
| `output` | Results to standard output, everything else to standard error |
| `parser` | An argument parser that suggests: the nearest flag, the nearest value |
| `point` | NAME=VALUE,… as a mapping; a value is a number, or a list of numbers or of such lists |
| `progress` | One line on a terminal that says what is being done; nothing in a pipe or a file |
| `show` | Show a family's geometry: log-partition, mean, Fisher matrix, entropy |
| `table` | Print Table 1 of the paper: candidate, approximations, and how far each row is shown |
| `tried` | What "did you mean" proposes is tried in the place of the word, before it is printed |
| `verify` | Prove or refute: a derivation against its hand-written reference |
| `what` | WHAT and the approximations: what derive, generate, verify and identify have in common |

`main` finds the command and turns every outcome into an exit code, `parser` has
flags with suggestions, `what` reads WHAT and the approximations in their order,
`output` writes results and files.  Nothing here imports SymPy, NumPy or Numba.
"""

from __future__ import annotations

from blrgen.cli.main import main

__all__ = ["main"]
