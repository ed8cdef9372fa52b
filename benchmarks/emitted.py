"""An emitted file as steppers, by its public class alone."""

from __future__ import annotations

import importlib.util
import inspect
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from benchmarks import arrays
from benchmarks.prepare import Shape, Timed
from benchmarks.timing import Stepper


def loaded(path: str) -> ModuleType:
    """The emitted file as a module."""
    name = Path(path).stem
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # Numba looks it up there
    spec.loader.exec_module(module)
    return module


@dataclass
class Emitted:
    """An optimizer on arrays of its own, with the inputs of a step."""

    timed: Timed
    size: int
    dtype: str
    path: str = ""  # another file of the same rule
    checked: bool = False  # whether a step looks at its inputs
    optimizer: Any = field(init=False)
    inputs: list[Any] = field(init=False)
    rng: np.random.Generator = field(init=False)

    def __post_init__(self) -> None:
        module = loaded(self.path or self.timed.path)
        params = arrays.full(self.size, self.dtype, 0.25)
        self.optimizer = getattr(module, self.timed.class_name)(params, check_finite=self.checked)
        self.inputs = inputs(self.timed, self.size, self.dtype)
        self.rng = np.random.default_rng(1)

    @property
    def fused(self) -> bool:
        """Whether one call can update and make the next draw."""
        return "rng" in inspect.signature(self.optimizer.step).parameters

    def arrays(self, shape: Shape) -> list[Any]:
        """The arrays of a pass of this shape, flat; none where one of them is not kept."""
        given = {name: x for (name, _), x in zip(self.timed.inputs, self.inputs, strict=True)}
        known = self.held(shape.names) | given
        found = [known[name] for name in shape.names if name in known]
        whole = all(isinstance(x, np.ndarray) and x.size == self.size for x in found)
        return found if whole and len(found) == len(shape.names) else []

    def held(self, names: Iterable[str]) -> dict[str, Any]:
        """The flat arrays that the optimizer works on: its states, and where it has drawn last.

        Nothing asks for the object's dictionary: one that was asked for has slower attributes.
        """
        if self.timed.probe and not getattr(self.optimizer, "_pending", None):
            self.drawing()()
        last = getattr(self.optimizer, "_pending", {})
        found = {x: last.get(x) or getattr(self.optimizer, x, None) for x in names}
        return {x: kept[0] for x, kept in found.items() if isinstance(kept, list) and kept}

    def whole(self) -> Stepper:
        """A step as a user makes it, its draw included."""
        if not self.timed.probe:
            return self.update()
        if not self.fused:
            return self.apart()
        step, inputs_, rng = self.optimizer.step, self.inputs, self.rng
        self.optimizer.draw(rng)

        def once() -> None:
            step(*inputs_, rng=rng)

        return Stepper(once)

    def apart(self) -> Stepper:
        """The draw, then the update: two calls."""
        draw, step, inputs_ = self.drawing(), self.optimizer.step, self.inputs

        def once() -> None:
            draw()
            step(*inputs_)

        return Stepper(once)

    def update(self) -> Stepper:
        """The update alone; where it needs a draw, that is not timed."""
        step, inputs_ = self.optimizer.step, self.inputs

        def once() -> None:
            step(*inputs_)

        return Stepper(once, self.drawing() if self.timed.probe else None)

    def drawing(self) -> Callable[[], object]:
        """The draw alone."""
        draw, rng = self.optimizer.draw, self.rng
        if "rng" not in inspect.signature(draw).parameters:
            return draw  # type: ignore[no-any-return]
        return lambda: draw(rng)


def inputs(timed: Timed, size: int, dtype: str) -> list[Any]:
    """What a step takes: the first may have either sign, the others are positive."""
    return [
        arrays.gradient(size, dtype, positive=k > 0) if axes else 1.0
        for k, (_, axes) in enumerate(timed.inputs)
    ]
