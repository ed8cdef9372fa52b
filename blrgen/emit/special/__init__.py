"""Special functions of emitted files: what they mean, and the numbers that they hold.

| module | what it does |
|---|---|
| `besselk` | Bessel functions K through the law they normalise: K_ν(x) = ½∫ exp(νt − x cosh t) dt |
| `bessels` | Ratios of Bessel functions |
| `checked` | The special functions of an emitted file, run on numbers against what they mean |
| `coefficients` | Numbers that the special functions of the runtime hold |
| `cumulants` | Functions with a removable singularity |
| `debye` | Ratios of Bessel functions of large order: Debye's expansions, derived exactly |
| `denormals` | Zero in place of denormal numbers, for states that fade away (`program/fading`) |
| `elementary` | exp, log and their kin without branches |
| `errors` | erf, erfc and what is left of erfc without its exponential |
| `exponentials` | Logarithms of sums and differences of exponentials |
| `falls` | What ψ and ψ′ change by between x and x + y |
| `gammas` | Log Γ, ψ and what is built from them |
| `helper` | What an emitted special function is: its text, its meaning, where it is checked |
| `helpers` | The table of helpers: name in emitted code → how its text is made |
| `multivariate` | The multivariate Γ function and its derivatives |
| `numbers` | Numbers that runtime functions hold as constants: what computes each |

The texts are functions of `blrgen.runtime`, in the part of Python that means the same for a
NumPy array and for a scalar that Numba compiles: `real(...)` around every number, `_where` for
cases, loops of fixed length.  Those with an order in their names are made from a template.
"""

from __future__ import annotations

from blrgen.emit.special.helper import Helper
from blrgen.emit.special.helpers import BUILDERS, helper

__all__ = ["BUILDERS", "Helper", "helper"]
