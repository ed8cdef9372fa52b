"""Special functions as source text, emitted only where an emitted file uses them.

| module | what it does |
|---|---|
| `coefficients` | Bernoulli numbers, the root of ψ, fits: computed, never typed in |
| `helper` | what a helper is: its text, its meaning, where it is checked |
| `gammas`, `falls`, `multivariate`, `bessels`, `cumulants`, `denormals`, … | the helpers |
| `helpers` | the table: name of a helper → how its text is made |
| `checked` | the emitted text run on numbers, against the meaning to fifty digits |

A helper is one template in `templates/special/`, in the part of Python that means the
same for a NumPy array and for a scalar that Numba compiles: `real(...)` around every
number, `where` for cases, loops of fixed length.  What it calls it is emitted with.
"""

from __future__ import annotations

from blrgen.emit.special.helper import Helper
from blrgen.emit.special.helpers import BUILDERS, helper

__all__ = ["BUILDERS", "Helper", "helper"]
