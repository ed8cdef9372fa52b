"""A file of its own that draws from a family: `sample(rng, size, …)` and what it calls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from blrgen.algebra.components import Component
from blrgen.algebra.ranks import shape_of
from blrgen.core import Parameter
from blrgen.emit import averages
from blrgen.emit.drawn import Rows, drawing_helpers
from blrgen.emit.special import needed
from blrgen.emit.templates import fill
from blrgen.emit.text import call
from blrgen.geometry.drawn import Step, declared_order, steps_of

if TYPE_CHECKING:
    from blrgen.geometry.geometry import Geometry

Expr = Any


@dataclass(frozen=True)
class Sampler:
    """The source; the parameters it takes in order, sizes that no parameter has last."""

    source: str
    parameters: tuple[Parameter, ...]
    sizes: tuple[str, ...]
    said: str  # each variable in draws, for a reader


def sampler_of(geometry: Geometry, working: bool = True) -> Sampler:
    """In working parameters, or in natural ones; the known constants after them."""
    family = geometry.family
    working = working and bool(family.working)
    steps = steps_of(geometry, working)
    parameters = (*(family.working if working else family.natural), *family.fixed)
    rows = Rows("shape")
    rows.reserve(["rng", "size", "shape", *(p.name for p in parameters)])
    head, sizes = _read(parameters, steps, rows)
    for step in steps:
        rows.step(step)
    results = ", ".join(_result(x, rows) for x in declared_order(geometry))
    body = [*head, *rows.lines, f"    return {results}"]
    arguments = ["rng: np.random.Generator", "size: Any", *(f"{p.name}: Any" for p in parameters)]
    arguments += [f"{s}: int" for s in sizes]
    code = "\n".join(body)
    functions = averages.texts(tuple(rows.expectations), "numpy", tuple(rows.densities))
    functions += drawing_helpers("\n".join(functions) + code)
    functions += needed("\n".join(functions) + code, "numpy")
    many = len(declared_order(geometry)) > 1
    main = fill(
        "draws/function.py.jinja",
        signature=call(
            "def sample(", arguments, f") -> {'tuple[Array, ...]' if many else 'Array'}:"
        ),
        summary=f"Return draws of {', '.join(x.name for x in declared_order(geometry))}.",
        body=code,
    )
    functions = [fill("draws/shape.py.jinja"), *functions, main]
    source = fill("draws/module.py.jinja", title=family.title, functions="\n\n\n".join(functions))
    return Sampler(source + "\n", parameters, sizes, "")


def _read(
    parameters: tuple[Parameter, ...], steps: tuple[Step, ...], rows: Rows
) -> tuple[list[str], tuple[str, ...]]:
    """The first lines: parameters as arrays, sizes from their shapes, the shape of the sample."""
    lines, known, numbers = [], set[str](), []
    for p in parameters:
        rows.names[p.name] = p.name
        lines.append(f"    {p.name} = np.asarray({p.name}, dtype=np.float64)")
        shape = shape_of(p.symbol)
        if isinstance(p.symbol, Component):
            lines += _sizes(p.symbol.size, f"{p.name}.shape[-1]", known, rows)
        elif shape is not None:
            ends = ("-2", "-1") if shape[1] != 1 else ("-1", "")
            for size, axis in zip(shape, ends, strict=True):
                if axis:
                    lines += _sizes(size, f"{p.name}.shape[{axis}]", known, rows)
            if shape[1] == 1:
                lines.append(f"    {p.name} = {p.name}[..., None]")
        else:
            numbers.append(p.name)
    wanted = {s for x in steps for s in _size_symbols(x) if s not in known}
    for s in sorted(wanted):
        rows.names[s] = s
        rows.reserve([s])
    plain = all(s.family.elementwise and s.family.components is None for s in steps)
    own = f"_shape(size, {', '.join(numbers)})" if plain and numbers else "_shape(size)"
    return [*lines, f"    shape = {own}"], tuple(sorted(wanted))


def _size_symbols(step: Step) -> set[str]:
    x = step.variable
    shape = (x.size,) if isinstance(x, Component) else shape_of(x) or ()
    found: set[str] = {s.name for size in shape for s in size.free_symbols}
    return found


def _sizes(size: Expr, text: str, known: set[str], rows: Rows) -> list[str]:
    """The line that names the symbol of a size such as K or K − 1."""
    symbols = sorted(size.free_symbols, key=str)
    if len(symbols) != 1 or symbols[0].name in known:
        return []
    rest = size - symbols[0]
    if not rest.is_Integer:
        return []
    name = symbols[0].name
    known.add(name)
    rows.names[name] = name
    rows.reserve([name])
    shift = "" if rest == 0 else f" {'+' if rest < 0 else '-'} {abs(int(rest))}"
    return [f"    {name} = {text}{shift}"]


def _result(x: Expr, rows: Rows) -> str:
    name = rows.names[x.name]
    shape = shape_of(x) if not x.is_commutative else None
    return f"{name}[..., 0]" if shape is not None and shape[1] == 1 else name
