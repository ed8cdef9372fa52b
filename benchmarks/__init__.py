"""What blrgen emits against what a person can install, and against memory itself.

| module | what it does |
|---|---|
| `arrays` | Arrays that nobody can complain about: aligned to cache lines, for everybody the same |
| `cases` | What is measured: an experiment on something, at a size, in a dtype |
| `child` | The process in which cases are measured: a request on standard input, a line a case |
| `elementwise` | Steps of an elementwise rule against memory |
| `emitted` | An emitted file as steppers, by its public class alone |
| `goals` | The goals as data: `goals.toml`, one entry for what must be reached against whom |
| `growth_picture` | Cost against size as a picture: a panel a plot, names as rows |
| `growth_tool` | Cost against size of what the tool does itself: long losses, vectors, families |
| `growth` | Cost against size: parameters, dimensions, components, terms of a loss, families |
| `machine` | What the machine is, as far as times depend on it |
| `many` | Many small arrays: as slices of one flat buffer, and as a list |
| `matrices` | Full covariance against the bare LAPACK solver |
| `measure` | A whole run: prepare, measure, compare, save: `make bench` |
| `noise` | Random numbers as an emitted file makes them, against torch's |
| `peers` | Public optimizers as steppers on given gradients, each as a good user of it writes it |
| `picture` | Results as a picture: how much of the roofline everybody reaches |
| `prepare` | A recipe → what a process that knows no SymPy needs to time its emitted file |
| `readme` | The table in docs/speed.md, written from a run that is kept in `measured/` |
| `report` | Results as rows: a ratio for everybody we are measured against, with its goal |
| `roofline` | Memory itself: a pass over as many arrays as a step reads and writes, in place |
| `run` | Cases → results, one process for each number of threads, restarted behind a crash |
| `setup` | What an experiment hands over to be timed |
| `start` | The first step in a new process, its kernels compiled before, against importing NumPy |
| `suite` | Which cases a run has: all of them, the quick ones, or those of what was asked for |
| `terms` | Cost of every stage and pass against the terms of a loss: `make bench-growth` |
| `timing` | Interleaved repetitions: everything is timed in turn, round after round |
| `tool_speed` | How long a command line takes: `make bench-tool` |
| `bars` | The bar: for each recipe the kernel that a person writes by hand, as well as it can be |

Everything is timed by functions of no arguments in one process, in turns; only ratios of
such times are compared.  A case knows a recipe by its emitted file: what is read, written
and drawn comes from the plan of its program.

Run from the top of a checkout; no wheel has it, and nothing in `blrgen` knows of it.
"""
