"""How a check that knows nothing of the text says what is wrong with a part of it."""

from __future__ import annotations

from collections.abc import Callable

from blrgen.errors import UserError

Complain = Callable[[str, str], UserError]  # what, why → the error that points at the part
