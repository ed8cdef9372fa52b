"""blrgen: write down a distribution and a loss; get back the learning algorithm.

Importing this package is cheap; SymPy is loaded by the first derivation.

>>> import blrgen
>>> d = blrgen.derive("gaussian-diag", ["delta"])
"""

from __future__ import annotations

TYPE_CHECKING = False  # as type checkers read it; `typing` itself costs 5 ms
if TYPE_CHECKING:
    from typing import Any

    from blrgen.api import Derivation as Derivation
    from blrgen.api import derive as derive
    from blrgen.api import family as family
    from blrgen.errors import UserError as UserError
    from blrgen.geometry.fit import fit as fit
    from blrgen.sampling import sampler as sampler

__version__ = "0.1.0"

# name → the module it comes from, imported at first use
_HOME = {
    "derive": "blrgen.api",
    "family": "blrgen.api",
    "Derivation": "blrgen.api",
    "UserError": "blrgen.errors",
    "fit": "blrgen.geometry.fit",
    "sampler": "blrgen.sampling",
}

__all__ = ["Derivation", "UserError", "__version__", "derive", "family", "fit", "sampler"]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        from importlib import import_module

        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'blrgen' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
