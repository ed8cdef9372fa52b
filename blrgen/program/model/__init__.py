"""A model's algorithm as programs over axes: what a class holds, and what its methods compute.

| module | what it does |
|---|---|
| `values` | `ModelProgram`: arguments, state, one program over axes for each method |
| `lower` | a model's derivation as a model program |
| `own` | a block under way, and points |
| `together` | what has been lowered, put together |
| `others` | algorithms without a step of all blocks |
| `titles` | what a model program says of itself |
| `names` | names of a model as names of programs; what the caller gives |
| `expressions` | expressions of the index algebra as equations |
| `products` | terms as products: factors with powers, numbers in front |
| `family` | a family's charts, mean map and A as programs |
| `member` | a block as a member of its family on plates |
| `chains` | chains of labels: forward and backward |
| `dense` | Gaussians over all elements along an axis |
| `bands` | Gaussian chains: elimination and substitution |
| `gibbs` | steps that draw every block from its full conditional |
| `samples` | draws from q of nodes |
| `laid` | numbers of several nodes, lags or plates, laid end to end; natural parameters |
| `stacked` | Gaussians over them: what is known |
| `blocks` | blocks as what writes their equations |
| `filtering` | one element of a chain at a time |
| `running` | what a filter keeps of a block |
| `stochastic` | steps over some rows, local blocks to their fixed point |
| `objective` | the objective at the first block's maximum |
| `predictive` | log p of new rows, where it has a closed form |
| `calls` | functions in expressions as calls that a file can make |
| `one_sum` | sums over the same places whose terms have factors in common |
| `coupled` | points whose equations couple them, without a closed solution |
| `near` | data that are far from 0, or whose unit is far from 1 |
| `newton` | points without a closed equation |
| `solved` | linear systems of points |
| `sites` | expectations of what is no statistic, at q as it stands |
| `elements` | the same of a function of a predictor with elements |
| `numbers` | the same of one number of a family that is no Gaussian |
| `stable_sites` | functions of sites in stable forms |
| `start` | a first state from labels |
| `sums` | sums of data alone, found once |
| `merged` | equal equations, each once |
| `given` | a program with some of its equations given from outside |
| `check` | what must fit: the parts of a model program against each other |
"""
