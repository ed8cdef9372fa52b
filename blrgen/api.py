"""What Python users hold: derivations and geometries with what can be asked of them.

The stages hand plain values to each other (`blrgen.core`); here they get the methods that
reach into later stages: proofs, sources, compiled classes, printed pages.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from blrgen import core
from blrgen.approximate.tools import road
from blrgen.approximate.tools.road import Request


@dataclass(frozen=True)
class Derivation(core.Derivation):
    """Everything derived so far, and what can be asked of it."""

    def prove(self, name: str) -> Any:
        """Derived = the hand-written algorithm of that name: a verdict, state by state."""
        from blrgen.validate.derivation import prove_against

        return prove_against(self, name)

    def verify(self) -> Any:
        """Everything that can be proved of this derivation and of the code it emits."""
        from blrgen.validate.derivation import verify_derivation

        return verify_derivation(self)

    def identify(self) -> Any:
        """The known algorithm that this is, or the nearest."""
        from blrgen.identify import identify

        return identify(self)

    def source(
        self,
        target: str = "numba",
        dtype: str | None = None,
        sizes: Mapping[str, int] | None = None,
    ) -> str:
        """The emitted file; `sizes`, {"d": 4} say, are fixed in it."""
        from blrgen.emit import emit

        return str(emit(self, target=target, dtype=dtype, sizes=sizes))

    def compile(
        self,
        target: str = "numba",
        dtype: str | None = None,
        sizes: Mapping[str, int] | None = None,
    ) -> type:
        """A ready class, `step` and all."""
        from blrgen.emit.compile import compile_class

        return compile_class(self.source(target, dtype, sizes))

    def __str__(self) -> str:
        from blrgen.show import render

        return str(render(self, "text"))

    def _repr_markdown_(self) -> str:
        from blrgen.show import notebook

        return str(notebook(self))


def derive(
    what: str,
    approximations: Iterable[Request] = (),
    loss: str = "",
    insert: Iterable[str] = (),
) -> Derivation:
    """Derive the algorithm for a family, a recipe or a family file.

    Approximations are words such as "delta" or "hessian=squared-gradient", applied in
    the order given; after a recipe's name they come after the recipe's own.  `insert` puts
    some into the recipe's road: "stochastic:prior=apart" behind stochastic.
    """
    return _answering(road.derive(what, approximations, loss, insert))


def approximate(d: core.Derivation, flag: str, option: str | None = None) -> Derivation:
    """Apply one approximation; a refusal says what came before it."""
    return _answering(road.finished(road.approximate(d, flag, option)))


def family(what: str) -> Any:
    """The geometry of a family, by its name or the path of its file.

    >>> import blrgen
    >>> g = blrgen.family("gaussian")
    >>> g.divergence.kl_in_working
    v/(2*v_0) - log(v)/2 + log(v_0)/2 - 1/2 + (m - m_0)**2/(2*v_0)
    """
    from blrgen.geometry import geometry_of
    from blrgen.read.family import read_family
    from blrgen.show.geometry.shown import shown

    return shown(geometry_of(read_family(what)))


def _answering(d: core.Derivation) -> Derivation:
    """The same derivation, with the methods."""
    return Derivation(**{f.name: getattr(d, f.name) for f in fields(d)})
