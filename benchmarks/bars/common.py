"""What kernels by hand share: how they are compiled, and from which size on threads pay."""

from __future__ import annotations

from typing import Any

Array = Any
FASTMATH = {"contract", "nsz", "arcp", "afn"}
SERIAL: dict[str, Any] = {"cache": True, "fastmath": FASTMATH, "error_model": "numpy"}
PARALLEL: dict[str, Any] = SERIAL | {"parallel": True}
ENOUGH = 65_536  # elements


def wants_threads(size: int, threads: int) -> bool:
    """Whether several threads are quicker than one."""
    return threads > 1 and size >= ENOUGH
