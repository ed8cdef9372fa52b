"""Geometry and expectation → the exact rule.  Knows no approximation.

| module | what it does |
|---|---|
| `arrange` | Writing an update the way people do: (1 − ρ)s + ρh.  Exact regroupings only |
| `assemble` | The exact rule as a `Derivation`: the quantities |
| `by_inputs` | An update collected by what it asks of the loss: each input once |
| `change` | A letter for a parameter's change where a later next value subtracts its squares |
| `component_loss` | A concrete loss of a vector by its components, where a rule probes it |
| `divisors` | Long divisors that several terms share, as names of their own: F⁻¹ has one |
| `expand` | A rule as functions of the old state: earlier assignments substituted into later ones |
| `gather` | Sums of matrices with one coefficient for each product |
| `lines` | The exact derivation line by line: geometry, the gradient of the expected loss |
| `loss_names` | The names in a loss besides the variable: hyperparameters of the table, or data |
| `mixture` | Candidates that are mixtures: the rule of each component |
| `model` | A model and a flag → its algorithm: blocks, updates, choices |
| `quantities` | The names a rule may use, with their meaning, range and default, in one table |
| `results` | What an assignment makes: its symbol, and which rank it has |
| `rule` | The exact Bayesian learning rule of a family |
| `shift` | A letter for X + S where a rule has its inverse: (X + S)⁻¹X = 1 − (X + S)⁻¹S |
| `sizes` | sizes that none of the arrays tells are chosen by the caller |
| `spaces` | Coordinate spaces as types: what may be added to what |
| `start` | First values of parameters: simple numbers inside the declared domains |
"""

from blrgen.rule.rule import RHO, ExactRule, exact_rule, next_of

__all__ = ["RHO", "ExactRule", "exact_rule", "next_of"]
