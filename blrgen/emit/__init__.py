"""Programs → source files that stand alone.

| module | what it does |
|---|---|
| `targets` | the table of targets |
| `numpy`, `numba` | one target each: how a kernel is written |
| `printers` | nodes as Python expressions |
| `prose` | the docstring: equations, approximations, hyperparameters |
| `elementwise`, `linear` | the class around the kernels, for each kind of program |
| `templates` | the texts of `templates/`, strictly filled |
| `compile` | a source as a ready class |
| `generated` | the committed output: write it, check it |

What an emitted file is made of, for whoever runs it on symbols: every check of what a
caller hands in is in `_check_hyperparameters` (method), `_views`, `_entries` and
`_symmetric` (functions); scalars go through `ARRAY.dtype.type(...)`; everything else is
arithmetic, `np.<function>`, `math.<function>` on scalars, and in linear algebra `@`,
`np.linalg.cholesky` and `_solve(factor, b)`, which computes (L Lᵀ)⁻¹ b.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from blrgen.core import Derivation

DTYPES = ("float32", "float64")


def emit(derivation: Derivation, target: str = "numba", dtype: str | None = None) -> str:
    """The source of a file that computes the derived rule.

    With no `dtype` the class takes float32 and float64 arrays and computes in the
    dtype it is given; with one it refuses the other.
    """
    from blrgen.emit.targets import emitter

    return emitter(target)(derivation, dtype)
