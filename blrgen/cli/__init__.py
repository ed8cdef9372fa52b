"""The command line: one module a command, each a thin door to the stage that does the work.

`main` finds the command and turns every outcome into an exit code, `parser` has
flags with suggestions, `what` reads WHAT and the approximations in their order,
`output` writes results and files.  Nothing here imports SymPy, NumPy or Numba.
"""

from __future__ import annotations

from blrgen.cli.main import main

__all__ = ["main"]
