"""A file of its own that draws from a family: `sample(rng, size, …)` and what it calls."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import sympy as sp

from blrgen.algebra.ranks import lengths_of, rank_of
from blrgen.core import Derivation, Parameter
from blrgen.emit import averages
from blrgen.emit.drawn import Rows
from blrgen.emit.law import MethodPrinter
from blrgen.emit.printers import ArrayPrinter
from blrgen.emit.support import support_of
from blrgen.emit.templates import fill
from blrgen.emit.text import call
from blrgen.emit.uses import collecting, spelled, use, watching
from blrgen.errors import UserError
from blrgen.geometry.drawn import Step, declared_order, steps_of
from blrgen.program.density import Expectation, Weight
from blrgen.program.program import Program

if TYPE_CHECKING:
    from blrgen.geometry.geometry import Geometry

Expr = Any


@dataclass(frozen=True)
class Drawing:
    """A function that draws, and what it calls that is made for one file.

    It takes `rng`, `size`, the parameters in order and sizes that no parameter has.
    """

    function: str
    parameters: tuple[Parameter, ...]
    sizes: tuple[str, ...]
    numbers: bool  # whether parameters that are arrays make arrays of draws
    densities: tuple[Weight, ...]
    expectations: tuple[Expectation, ...]
    uses: frozenset[str]  # support functions
    several: bool  # whether it returns draws of several variables


@dataclass(frozen=True)
class Sampler:
    """The source of a file with `sample`, and what that takes after `rng` and `size`."""

    source: str
    parameters: tuple[Parameter, ...]
    sizes: tuple[str, ...]


def drawing(
    geometry: Geometry,
    working: bool = True,
    name: str = "sample",
    printer: Callable[[dict[str, str]], ArrayPrinter] | None = None,
    first: int = 0,
    plates: bool = False,
    laws: int = 0,
) -> Drawing:
    """In working parameters, or in natural ones; the known constants after them.

    With `plates` all parameters may have axes before their own, the same in all of them: a
    draw has the shape of `size`, then these, then its own.  `first` and `laws` say how many
    expectations and distribution functions the file has already.
    """
    with collecting() as uses:
        made = _drawing(geometry, working, name, printer, first, plates, laws)
    return replace(made, uses=frozenset(x for x in uses if not x.startswith("size ")))


def _drawing(
    geometry: Geometry,
    working: bool,
    name: str,
    printer: Callable[[dict[str, str]], ArrayPrinter] | None,
    first: int,
    plates: bool,
    laws: int,
) -> Drawing:
    family = geometry.family
    working = working and bool(family.working)
    steps = steps_of(geometry, working)
    parameters = (*(family.working if working else family.natural), *family.fixed)
    taken = {p.name for p in parameters}
    if taken & {"np", "Any", "Array"}:
        raise UserError(f"{', '.join(sorted(taken & {'np', 'Any', 'Array'}))} is a name in "
                        "emitted code", where=family.path, how="rename the parameter")  # fmt: skip
    rng, size, shape = (unused(x, taken) for x in ("rng", "size", "shape"))
    several = plates and not _all_numbers(steps)
    rows = Rows(shape, printer=printer, first=first, rng=rng, plates=several, laws=laws)
    rows.reserve([rng, size, shape, *taken])
    lines, sizes = _read(parameters, steps, rows, size)
    if several:
        lines[-1] = ("", _with_plates(parameters, steps, rows, size))
    if plates:
        lines[-1:-1] = [("", line) for p in parameters for line in _inside(p)]
    with watching() as needs:
        for step in steps:
            rows.step(step)
    head = [line for x, line in lines if not x or f"size {x}" in needs]
    variables = declared_order(geometry)
    results = ", ".join(_result(x, rows) for x in variables)
    arguments = [f"{rng}: np.random.Generator", f"{size}: Any"]
    arguments += [f"{p.name}: Any" for p in parameters]
    arguments += [f"{s}: int" for s in sizes]
    result = "tuple[Array, ...]" if len(variables) > 1 else "Array"
    function = fill(
        "draws/function.py.jinja",
        signature=call(f"def {name}(", arguments, f") -> {result}:"),
        summary=f"Return draws of {', '.join(x.name for x in variables)}.",
        body="\n".join([*head, *rows.lines, f"    return {results}"]),
    )
    return Drawing(
        function, parameters, sizes, _all_numbers(steps), tuple(rows.densities),
        tuple(rows.expectations), frozenset(), len(variables) > 1,
    )  # fmt: skip


def _all_numbers(steps: tuple[Step, ...]) -> bool:
    return all(s.family.elementwise and s.family.components is None for s in steps)


def unused(name: str, taken: set[str]) -> str:
    """The name, with underscores behind it where a parameter has it."""
    while name in taken:
        name += "_"
    return name


def sampler_of(geometry: Geometry, working: bool = True) -> Sampler:
    """A file of its own."""
    made = drawing(geometry, working)
    with collecting() as uses:
        parts = averages.texts(made.expectations, "numpy", made.densities)
    support = support_of("numpy", uses | made.uses)
    functions = "\n\n\n".join([made.function, *parts, *support.texts])
    source = fill(
        "draws/module.py.jinja",
        title=geometry.family.title,
        imports=support.imports({"Any", "TypeAlias", "np"}),
        functions=functions,
    )
    return Sampler(source + "\n", made.parameters, made.sizes)


def drawing_of(derivation: Derivation, program: Program, jitted: bool) -> Drawing | None:
    """For the class of a rule that keeps the family's parameters; None where it has no samples."""
    geometry = derivation.geometry
    if geometry is None:
        return None
    held = {v.name for v in program.of("state", "hyper")}
    try:
        made = drawing(
            geometry,
            name="_drawn",
            printer=lambda names: MethodPrinter(names, jitted),
            first=len(program.expectations),
        )
    except UserError:
        return None
    return made if not made.sizes and {p.name for p in made.parameters} <= held else None


def _read(
    parameters: tuple[Parameter, ...], steps: tuple[Step, ...], rows: Rows, size: str
) -> tuple[list[tuple[str, str]], tuple[str, ...]]:
    """The first lines: parameters as arrays, sizes from their shapes, the shape of the sample.

    Before each is the size that it names, if it names one.
    """
    lines, known, numbers = list[tuple[str, str]](), set[str](), []
    for p in parameters:
        rows.names[p.name] = p.name
        lines.append(("", f"    {p.name} = np.asarray({p.name}, dtype=np.float64)"))
        lengths = lengths_of(p.symbol)
        for axis, extent in enumerate(lengths, -len(lengths)):
            lines += _sizes(extent, f"{p.name}.shape[{axis}]", known, rows)
        if rank_of(p.symbol) == "vector":  # in words of vectors and matrices a column
            lines.append(("", f"    {p.name} = {p.name}[..., None]"))
        numbers += [] if lengths else [p.name]
    wanted = {s for x in steps for s in _size_symbols(x) if s not in known}
    for s in sorted(wanted):
        rows.names[s] = s
        rows.reserve([s])
    plain = _all_numbers(steps)
    given = [size, *numbers] if plain else [size]
    own = f"{use('_shape')}({', '.join(given)})"
    return [*lines, ("", f"    {rows.shape} = {own}")], tuple(sorted(wanted))


def _inside(p: Parameter) -> list[str]:
    """A number that was rounded to an end that is excluded is the one beside it."""
    d = p.domain
    ends = [sp.sympify(e) for e in (d.lower, d.upper)] if d.kind == "interval" else []
    if not ends or not all(e.is_number for e in ends) or ends == [-sp.oo, sp.oo]:
        return []
    low, high = ("np.inf" if e == sp.oo else "-np.inf" if e == -sp.oo else repr(float(e))
                 for e in ends)  # fmt: skip
    left, right = d.lower_open and low != "-np.inf", d.upper_open and high != "np.inf"
    return [f"    {p.name} = {use('_within')}({p.name}, {low}, {high}, {left}, {right})"]


def _with_plates(
    parameters: tuple[Parameter, ...], steps: tuple[Step, ...], rows: Rows, size: str
) -> str:
    """The shape of the sample: `size`, then what the parameters have before their own axes.

    Numbers among them stand beside vectors by components as vectors of one, beside whole
    vectors and matrices as what is multiplied with all entries.
    """
    inside = {_axes(s.variable) for s in steps}
    if inside > {1}:
        raise UserError("no sampler over plates for numbers beside vectors by components",
                        where=steps[0].family.path)  # fmt: skip
    fronts = []
    for p in parameters:
        own = _axes(p.symbol)
        fronts.append(f"{p.name}.shape" + f"[:-{own}]" * (own > 0))
        if own == 0 and 1 in inside:
            rows.names[p.name] = f"{p.name}[..., None]"
        elif own == 0:
            rows.sampled.add(p.symbol)
    known = fronts[0] if len(fronts) == 1 else f"np.broadcast_shapes({', '.join(fronts)})"
    return f"    {rows.shape} = (*{use('_shape')}({size}), *{known})"


def _axes(x: Expr) -> int:
    """How many axes a value has in the function; a vector of the algebra of words is a column."""
    return len(lengths_of(x)) + (rank_of(x) == "vector")


def _size_symbols(step: Step) -> set[str]:
    found: set[str] = {s.name for size in lengths_of(step.variable) for s in size.free_symbols}
    return found


def _sizes(size: Expr, text: str, known: set[str], rows: Rows) -> list[tuple[str, str]]:
    """The line that names the symbol of a size such as K or K − 1."""
    symbols = sorted(size.free_symbols, key=str)
    if len(symbols) != 1 or symbols[0].name in known:
        return []
    rest = size - symbols[0]
    if not rest.is_Integer:
        return []
    name = symbols[0].name
    known.add(name)
    rows.names[name] = spelled(name, f"size {name}")
    rows.reserve([name])
    shift = "" if rest == 0 else f" {'+' if rest < 0 else '-'} {abs(int(rest))}"
    return [(name, f"    {name} = {text}{shift}")]


def _result(x: Expr, rows: Rows) -> str:
    name = rows.names[x.name]
    return f"{name}[..., 0]" if rank_of(x) == "vector" else name
