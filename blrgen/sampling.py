"""Draws from a family by itself, through a function that is emitted for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from blrgen.errors import UserError

if TYPE_CHECKING:
    from blrgen.core import Family, Parameter
    from blrgen.geometry.geometry import Geometry

Array = Any


class Sampler:
    """draw(rng, size, a=2.0, b=1.5): an array of shape `size` and then of one draw.

    A draw of a number has no axes of its own, of a vector one, of a matrix two; of several
    variables there is a tuple of arrays, in the order of the declaration.  Parameters of
    families of numbers may be arrays: a draw then has the shape that they have in common.
    `source` is the emitted file, which needs NumPy and nothing else.
    """

    def __init__(self, geometry: Geometry, what: str) -> None:
        from blrgen.emit.sampler import sampler_of

        self._geometry, self._what = geometry, what
        self._forms = {True: sampler_of(geometry)}
        if geometry.family.working:
            self._forms[False] = sampler_of(geometry, working=False)

    @property
    def source(self) -> str:
        """The emitted file, in working parameters where the family has them."""
        return self._forms[True].source

    @property
    def parameters(self) -> tuple[str, ...]:
        """What a call names: the parameters, the known constants, sizes that nothing shows."""
        made = self._forms[True]
        return (*(p.name for p in made.parameters), *made.sizes)

    def __call__(self, rng: Any, size: Any = None, /, **parameters: Any) -> Any:
        """Seeded draws; the same seed gives the same numbers."""
        from blrgen.emit.compile import load

        for made in self._forms.values():
            names = (*(p.name for p in made.parameters), *made.sizes)
            if set(names) == set(parameters):
                values = checked(made.parameters, parameters, self._geometry.family)
                sizes = {s: int(parameters[s]) for s in made.sizes}
                return load(made.source).sample(rng, size, **values, **sizes)
        raise UserError(
            f"the parameters of {self._what!r} are {', '.join(self.parameters)}",
            why=f"given: {', '.join(parameters) or 'none'}",
        )


def sampler(what: str) -> Sampler:
    """A function that draws from a family: draw(rng, size, a=2.0, b=1.5) → an array.

    `rng` is a numpy Generator; the parameters are the family's working ones or its natural
    ones, and its known constants, by name.  The class that `generate` writes draws by the
    same lines.
    """
    from blrgen.geometry import geometry_of
    from blrgen.read.family import list_families, read_family
    from blrgen.read.recipe import read_recipes

    recipe = None if what in list_families() else read_recipes().get(what)
    declared = read_family(what if recipe is None else recipe.family)
    return Sampler(geometry_of(declared), what)


def checked(
    parameters: tuple[Parameter, ...], given: Mapping[str, Any], family: Family
) -> dict[str, Array]:
    """The values as arrays, each inside its domain."""
    import numpy as np

    from blrgen.value.instance import Instance

    arrays: dict[str, Array] = {}
    for p in parameters:
        try:
            arrays[p.name] = np.asarray(given[p.name], dtype=float)
        except (TypeError, ValueError):
            raise UserError(f"{p.name} is no number or array of numbers") from None
    sizes = _sizes(parameters, arrays, family)
    here = Instance(sizes, {p.symbol: _column(p, arrays[p.name]) for p in parameters})
    for p in parameters:
        trouble = _trouble(p, arrays[p.name], here)
        if trouble:
            raise UserError(f"{p.name} {trouble}", why=f"{p.name} is in {p.domain.text}")
    return arrays


def _column(p: Parameter, value: Array) -> Array:
    from blrgen.algebra.ranks import Vec

    return value[..., None] if isinstance(p.symbol, Vec) else value


def _axes(p: Parameter) -> int | None:
    """How many axes the value has; None where arrays of numbers are welcome."""
    from blrgen.algebra.components import Component
    from blrgen.algebra.ranks import shape_of

    if isinstance(p.symbol, Component):
        return 1
    shape = shape_of(p.symbol)
    return None if shape is None else 1 if shape[1] == 1 else 2


def _sizes(
    parameters: tuple[Parameter, ...], arrays: Mapping[str, Array], family: Family
) -> dict[Any, int]:
    """The sizes of vectors and matrices; refused where two do not agree."""
    from blrgen.algebra.ranks import shape_of

    found: dict[Any, int] = {}
    for p in parameters:
        axes, value = _axes(p), arrays[p.name]
        if axes is None:
            if not family.elementwise and value.ndim:
                raise UserError(f"{p.name} is one number", why=f"its shape is {value.shape}")
            continue
        if value.ndim != axes:
            kind = "vector" if axes == 1 else "matrix"
            raise UserError(f"{p.name} is one {kind}", why=f"its shape is {value.shape}")
        shape = (p.symbol.size,) if not shape_of(p.symbol) else shape_of(p.symbol)
        for size, n in zip(shape or (), value.shape, strict=False):
            symbols = sorted(size.free_symbols, key=str)
            wanted = size.subs(found)
            if len(symbols) == 1 and symbols[0] not in found:
                found[symbols[0]] = n - int(size.subs(symbols[0], 0))
            elif wanted.is_Integer and wanted != n:
                raise UserError(f"{p.name} has {n} entries where there are {wanted}")
    return found


def _trouble(p: Parameter, value: Array, here: Any) -> str:
    """What is wrong with a value; empty when nothing is."""
    import numpy as np

    domain = p.domain
    if not np.isfinite(value).all():
        return "is not finite"
    if domain.kind in ("spd", "-spd"):
        sign = -1 if domain.kind == "-spd" else 1
        if not np.allclose(value, value.T, rtol=1e-12, atol=0):
            return "is not symmetric"
        low = 0.0 if domain.lower is None else here.like(domain.lower, p.symbol)
        lowest = np.linalg.eigvalsh(sign * (value - low))[0]
        return (
            "" if lowest > 0 else "is not " + ("negative" if sign < 0 else "positive") + " definite"
        )
    if domain.whole and (value != np.rint(value)).any():
        return "is not whole"
    for bound, sign, is_open in (
        (domain.lower, 1, domain.lower_open), (domain.upper, -1, domain.upper_open),
    ):  # fmt: skip
        if bound is None or domain.kind != "interval":
            continue
        gap = sign * (value - here.value(bound))
        if (gap < 0).any() or (is_open and (gap == 0).any()):
            return "is outside its domain"
    return ""
