"""The table of targets: a name, the module that writes for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from blrgen.errors import UserError, did_you_mean

if TYPE_CHECKING:
    from blrgen.core import Derivation

TARGETS = ("numba", "numpy")


def emitter(target: str) -> Callable[[Derivation, str | None], str]:
    """The function that writes for a target."""
    if target not in TARGETS:
        raise UserError(f"unknown target {target!r}", how=did_you_mean(target, TARGETS))
    from importlib import import_module

    module = import_module(f"blrgen.emit.{target}")
    return module.emit  # type: ignore[no-any-return]
