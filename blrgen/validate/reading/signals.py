"""How a reading ends early; none of these is an exception of the code that is read.

`Refused` is what has no meaning here (the verdict is `not compared`), `NeedsSizes` what has
one only for arrays of known lengths, `PythonRaises` what Python itself would refuse to run.
"""

from __future__ import annotations


class Refused(Exception):
    """A construct outside the table: file, line and what it is."""

    def __init__(self, what: str, line: int = 0) -> None:
        super().__init__(what)
        self.what, self.line = what, line


class NeedsSizes(Exception):
    """Beyond one generic element: to be read at sizes."""

    def __init__(self, what: str, line: int = 0) -> None:
        super().__init__(what)
        self.what, self.line = what, line


class PythonRaises(Exception):
    """The code ends with an exception on this path, for all values on it."""

    def __init__(self, what: str, line: int = 0) -> None:
        super().__init__(what)
        self.what, self.line = what, line


class Unchecked(Refused):
    """Compiled code reads beyond an array's end: Python would raise, it does not."""
