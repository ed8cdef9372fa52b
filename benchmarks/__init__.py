"""What blrgen emits against what a person can install, and against memory itself.

| module | what it does |
|---|---|
| `cases` | which experiments are run, at which sizes, dtypes and thread counts |
| `goals` | the goals, read from `goals.toml`; a goal met or missed |
| `prepare` | a recipe → its emitted file, its names and the arrays a step reads and writes |
| `child` | the process in which cases are measured: one line of JSON a case |
| `run` | one such process after the other, under the same allocator and thread counts |
| `timing` | interleaved rounds: best and median |
| `arrays` | aligned arrays, the same for everybody |
| `emitted`, `roofline`, `bars`, `peers` | what is timed: ours, memory, by hand, public packages |
| `elementwise`, `many`, `noise`, `matrices`, `start` | one experiment each |
| `report` | results as rows, a table, JSON |
| `picture` | results as SVG and PNG |
| `measure` | a whole run: `python -m benchmarks`, `make bench` |
| `growth`, `growth_tool`, `growth_picture` | cost against size, of steps and of the tool |
| `terms` | cost of every stage and pass against the terms of a loss: `make bench-growth` |
| `tool_speed` | how long a command line takes: `make bench-tool` |
| `readme` | the README's table, written from a run that is kept in `measured/` |

Everything is timed by functions of no arguments in one process, in turns; only ratios of
such times are compared.  A case knows a recipe by its emitted file: what is read, written
and drawn comes from the plan of its program.

Run from the top of a checkout; no wheel has it, and nothing in `blrgen` knows of it.
"""
