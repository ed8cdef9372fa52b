"""Targets: each folder of templates/ with a module.py.jinja and a module here of its name."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from blrgen.errors import UserError, did_you_mean
from blrgen.paths import data_dir

if TYPE_CHECKING:
    from blrgen.core import Derivation


def _found() -> tuple[str, ...]:
    """Names that have both a template folder and a module, sorted."""
    here = Path(__file__).parent
    places = data_dir("templates").iterdir()
    folders = (p.name for p in places if (p / "module.py.jinja").is_file())
    return tuple(sorted(name for name in folders if (here / f"{name}.py").is_file()))


TARGETS = _found()


def emitter(target: str, noise: str | None = None) -> Callable[[Derivation, str | None], str]:
    """The function that writes for a target, with the random numbers it is asked for."""
    if target not in TARGETS:
        raise UserError(f"unknown target {target!r}", how=did_you_mean(target, TARGETS))
    from importlib import import_module

    module = import_module(f"blrgen.emit.{target}")
    if noise is None:
        return module.emit  # type: ignore[no-any-return]
    known = getattr(module, "NOISE", ())
    if not known:
        raise UserError(
            f"the {target} target makes no random numbers of its own",
            why="its noise comes from the generator that `draw` is given",
            how="leave --noise out, or choose the numba target",
        )
    if noise not in known:
        raise UserError(f"unknown noise {noise!r}", how=did_you_mean(noise, known))
    return partial(module.emit, noise=noise)
