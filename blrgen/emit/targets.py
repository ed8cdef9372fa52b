"""Targets: each folder of templates/ with a module.py.jinja and a module here of its name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

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


def emitter(
    target: str, noise: str | None = None, sizes: Mapping[str, int] | None = None
) -> Callable[[Derivation, str | None], str]:
    """The function that writes for a target, with the random numbers and sizes it is asked for."""
    if target not in TARGETS:
        raise UserError(f"unknown target {target!r}", how=did_you_mean(target, TARGETS))
    from importlib import import_module

    module = import_module(f"blrgen.emit.{target}")
    given = _sized(target, module, sizes)
    if noise is None:
        return partial(module.emit, **given)
    known = getattr(module, "NOISE", ())
    if not known:
        raise UserError(
            f"the {target} target makes no random numbers of its own",
            why="its noise comes from the generator that `draw` is given",
            how="leave --noise out, or choose the numba target",
        )
    if noise not in known:
        raise UserError(f"unknown noise {noise!r}", how=did_you_mean(noise, known))
    return partial(module.emit, noise=noise, **given)


def with_sizes() -> tuple[str, ...]:
    """The targets that can fix the sizes of matrices."""
    from importlib import import_module

    modules = {target: import_module(f"blrgen.emit.{target}") for target in TARGETS}
    return tuple(target for target, module in modules.items() if getattr(module, "SIZED", False))


def _sized(target: str, module: Any, sizes: Mapping[str, int] | None) -> dict[str, Any]:
    """The argument with the sizes, where the target can use them."""
    if sizes and not getattr(module, "SIZED", False):
        raise UserError(
            f"the {target} target leaves sizes open",
            why="entry by entry is faster only where it is compiled",
            how="leave --size out, or choose the numba target",
        )
    return {"sizes": sizes} if sizes else {}
