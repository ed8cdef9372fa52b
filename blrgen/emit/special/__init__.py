"""Special functions of emitted files: what they mean, and the numbers that they hold.

| module | what it does |
|---|---|
| `coefficients` | Bernoulli numbers, the root of ψ, fits: computed, never typed in |
| `helper` | what a helper is: its meaning, its numbers, where it is checked |
| `numbers` | the constants of the runtime, computed; their rewriting |
| `gammas`, `falls`, `multivariate`, `bessels`, `cumulants`, `denormals`, … | the helpers |
| `helpers` | the table: name of a helper → what makes it |
| `checked` | the emitted text run on numbers, against the meaning to fifty digits |

The texts are functions of `blrgen.runtime`, in the part of Python that means the same for a
NumPy array and for a scalar that Numba compiles: `real(...)` around every number, `_where` for
cases, loops of fixed length.  Those with an order in their names are made from a template.
"""

from __future__ import annotations

from blrgen.emit.special.helper import Helper
from blrgen.emit.special.helpers import BUILDERS, helper

__all__ = ["BUILDERS", "Helper", "helper"]
