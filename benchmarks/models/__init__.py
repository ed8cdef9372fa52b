"""Emitted classes of models against bare kernels and public packages.

| module | what it does |
|---|---|
| `emitted` | a shipped model's class, emitted and imported from a file |
| `cases` | what is measured: data, a step of ours, the same by a kernel, the same by a package |
| `peers` | a step of public packages |
| `clock` | seconds, of several calls in turn |
| `run` | the table: `python -m benchmarks.models.run` |
| `memory` | what steps take beyond the data: `python -m benchmarks.models.memory` |

The kernels are those of `benchmarks.axes.kernels`.  Each line is timed in turn in one process;
what counts is our time by the kernel's, what stands beside it is the package's time by ours.
"""
