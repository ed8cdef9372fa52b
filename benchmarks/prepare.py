"""A recipe → what a process that knows no SymPy needs to time its emitted file.

What a step reads and writes is counted from the plan of its program, never known from a
recipe's name.  A whole step of a rule that draws is one pass: it reads the states, the
inputs and the last draw, and writes the states and the next draw.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from blrgen.core import Derivation

if TYPE_CHECKING:
    from blrgen.program.plan import Plan

PREFIX = "blrgen_timed_"


@dataclass(frozen=True)
class Shape:
    """Arrays a pass reads, those of them it updates in place, and those it only writes."""

    reads: int
    updates: int
    outputs: int = 0
    names: tuple[str, ...] = ()  # of the arrays: updated ones, those only read, outputs

    @property
    def arrays(self) -> int:
        return max(self.reads, self.updates) + self.outputs

    def bytes(self, itemsize: int) -> int:
        """Bytes an element, each read and each write once."""
        return (self.reads + self.updates + self.outputs) * itemsize


@dataclass(frozen=True)
class Timed:
    """An emitted file and its names."""

    name: str
    path: str
    class_name: str
    elementwise: bool
    states: tuple[str, ...]
    inputs: tuple[tuple[str, tuple[str, ...]], ...]  # (name, its axes)
    hypers: tuple[str, ...]
    needed: tuple[str, ...]  # what the constructor has no default for
    noises: tuple[tuple[str, str], ...]  # (name, law)
    probe: str  # where the loss is evaluated, if not at the parameters
    step: Shape  # the update alone
    whole: Shape  # with the draw
    plain: str = ""  # the same rule's NumPy file, where that is timed too
    small: str = ""  # the same rule's file for one small size, where that is timed too
    lean: bool = False  # whether only those are timed beside it that a goal is about

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    @staticmethod
    def from_dict(d: dict[str, Any]) -> Timed:
        given: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in d.items()}
        given |= {
            "inputs": tuple((name, tuple(axes)) for name, axes in d["inputs"]),
            "noises": tuple(map(tuple, d["noises"])),
        }
        given |= {k: Shape(**{**d[k], "names": tuple(d[k]["names"])}) for k in ("step", "whole")}
        return Timed(**given)


def prepared(
    what: str,
    target: str = "numba",
    noise: str | None = None,
    sizes: Mapping[str, int] | None = None,
) -> Timed:
    """Derive, emit, write the file where Numba's cache finds it again."""
    from blrgen.api import derive
    from blrgen.emit import emit
    from blrgen.emit.compile import public_name

    derivation = derive(what)
    source = emit(derivation, target, noise=noise, sizes=sizes)
    return _described(what, derivation, written(source), public_name(source))


def _described(what: str, d: Derivation, path: Path, class_name: str) -> Timed:
    from blrgen.emit.common import defaults
    from blrgen.program.lower import Reader
    from blrgen.program.plan import plan
    from blrgen.program.types import EACH

    p = plan(Reader(d.rule))
    program = p.program
    elementwise = program.axes <= {EACH}
    step, whole = shapes(p) if elementwise else (Shape(0, 0), Shape(0, 0))
    lacking = [v.name for v in program.of("hyper") if v.default is None]
    needed = (*defaults(program)[1], *lacking)
    return Timed(
        name=what,
        path=str(path),
        class_name=class_name,
        elementwise=elementwise,
        states=tuple(v.name for v in p.states),
        inputs=tuple((v.name, v.type.shape) for v in p.inputs),
        hypers=tuple(v.name for v in program.of("hyper")),
        needed=needed,
        noises=tuple((v.name, v.distribution) for v in p.noises),
        probe=p.probe,
        step=step,
        whole=whole,
    )


def shapes(p: Plan) -> tuple[Shape, Shape]:
    """Of the update alone, and of a whole step, draw included."""
    from blrgen.program.plan import array_names

    order = tuple(dict.fromkeys((*p.program.scope, *p.single.sizes, *filter(None, [p.probe]))))
    made = {v.name for v in p.noises}
    single = set(array_names(p.single, order))
    drawn = set(array_names(p.draw, order)) if p.draw is not None else set()
    arrays = {v.name for v in p.states if v.type.shape}
    written = {target for target, _ in p.single.writes} & arrays
    step = _shape(single, written, order)
    if not p.probe:
        return step, step
    rest = (single | drawn) - made - {p.probe}
    if single & (made | {p.probe}):  # the last draw is read, and overwritten by the next
        return step, _shape(rest | {p.probe}, written | {p.probe}, order)
    return step, replace(_shape(rest, written, order, p.probe), outputs=1)


def _shape(read: set[str], written: set[str], order: tuple[str, ...], output: str = "") -> Shape:
    """Of a pass that reads these arrays and updates some of them."""
    names = sorted(read, key=lambda x: (x not in written, order.index(x)))
    return Shape(len(read), len(written), names=(*names, *filter(None, [output])))


def written(source: str) -> Path:
    """The file with the source, under the hash of its text."""
    from blrgen.emit.compile import written as kept

    digest = hashlib.sha256(source.encode()).hexdigest()[:32]
    return kept(source, f"{PREFIX}{digest}")
