"""A whole file: docstring, imports, kernels, class, what is made for it, support functions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from blrgen.core import Derivation
from blrgen.emit import GENERATORS, averages, binomial
from blrgen.emit.common import DTYPES, dtype_tuple, wants_gaussian
from blrgen.emit.joined import drivers
from blrgen.emit.law import lowered_law
from blrgen.emit.names import class_name, refuse_reserved
from blrgen.emit.optimizer import parts
from blrgen.emit.optimizer.base import Base
from blrgen.emit.optimizer.target import Target
from blrgen.emit.optimizer.writer import Writer
from blrgen.emit.prose import module_docstring
from blrgen.emit.sampler import drawing_of
from blrgen.emit.support import Support
from blrgen.emit.templates import fill
from blrgen.emit.text import sentence_list
from blrgen.emit.tree import classes, layout
from blrgen.emit.uses import collecting, use
from blrgen.errors import UserError, did_you_mean
from blrgen.program.density import Expectation, Weight
from blrgen.program.lower import Reader
from blrgen.program.moments import moments_of
from blrgen.program.plan import Plan, plan
from blrgen.program.program import Program
from blrgen.program.types import EACH
from blrgen.program.ways import Ways
from blrgen.timing import timed

FAST = (
    'FASTMATH = {"contract", "nsz", "arcp", "afn"}  # NaN stays NaN; a/√x may be NaN for x = 0 or ∞'
)
ASIDE = "# --- The same rule in other passes over memory, and what is made for it alone"
SHARED = "# --- Support functions, the same in every file that uses them"


@dataclass(frozen=True)
class Pieces:
    """Functions that say what a draw and a step are, the class, other functions; who wrote it."""

    first: list[str]
    definition: str
    rest: list[str]
    writer: Any  # for its law and drawing
    sums: str = "numpy"  # the target whose form averages have: of arrays, or of numbers in loops


def assemble(
    derivation: Derivation,
    dtype: str | None,
    target: Target,
    noise: str = GENERATORS[0],
    sizes: Mapping[str, int] | None = None,
) -> str:
    """The source of a file for a target; `sizes` are fixed."""
    if dtype is not None and dtype not in DTYPES:
        raise UserError(f"unknown dtype {dtype!r}", how=did_you_mean(dtype, DTYPES))
    if noise not in GENERATORS:
        raise UserError(f"unknown noise {noise!r}", how=did_you_mean(noise, GENERATORS))
    reader = timed("lower", Reader, derivation.rule)
    refuse_reserved(reader.program)
    planned = plan(reader, sizes)
    program = planned.program
    with collecting() as uses:
        writes = _arrays if program.axes <= {EACH} else _matrices
        made = timed(
            "kernels, class", lambda p: writes(derivation, p, target, bool(sizes)), planned
        )
        writer, rest = made.writer, made.rest
        drawing = writer.drawing if "_drawn" in uses else None
        if drawing is not None:
            rest = [*rest, drawing.function]
            uses |= drawing.uses
        rest = [*rest, *_sums(writer, program, drawing is not None, made.sums)]
    support = target.support(target.name, uses, noise)
    return _file(derivation, planned, target, made, rest, support, dtype, sizes or {})


def _file(
    derivation: Derivation,
    planned: Plan,
    target: Target,
    made: Pieces,
    rest: list[str],
    support: Support,
    dtype: str | None,
    sizes: Mapping[str, int],
) -> str:
    """The parts in their order."""
    docstring = module_docstring(derivation)
    constants = _constants(planned, support)
    if sizes:
        said = sentence_list(f"{name} = {size}" for name, size in sizes.items())
        docstring += f"\n\nFor {said} only: every entry is a statement of its own."
        constants.append(f"SIZES = {dict(sizes)}  # of vectors and matrices".replace("'", '"'))
    own, common = [*rest, *support.made], list(support.texts)
    sections = [*made.first, made.definition]
    sections += [ASIDE, *own] if own else []
    sections += [SHARED, *common] if common else []
    numbers = "Numbers: TypeAlias = tuple[float, ...]\n" if "Numbers" in support.names else ""
    whole = fill(
        f"{target.layout}/module.py.jinja",
        docstring=docstring,
        imports=support.imports(target.every),
        name=class_name(derivation),
        types=target.types.format(numbers=numbers, dtypes=dtype_tuple(dtype)).rstrip("\n"),
        constants="\n".join(constants),
        sections="\n\n\n".join(sections),
    )
    return whole + "\n"


def _arrays(derivation: Derivation, planned: Plan, target: Target, fixed: bool) -> Pieces:
    """Of a rule that acts element by element, or on vectors by their components."""
    program, compiled = planned.program, target.compiled
    law = None if derivation.rule.unkept else lowered_law(derivation, program)
    writer = Writer(derivation, planned, Ways(derivation, planned, compiled), law)
    if law is None and not (derivation.rule.unkept or wants_gaussian(derivation)):
        moments = moments_of(derivation, program)
        ways = replace(writer.ways, moments=moments)
        made = drawing_of(derivation, program, compiled)
        writer = replace(writer, ways=ways, drawing=made, moments=moments)
    first, others = writer.ways.in_order()
    loops = [f for j in writer.ways.joined() for f in drivers(j)]
    texts = [target.write(k) for k in first]
    rest = [*map(target.write, others), *map(target.function, loops)]
    return Pieces(texts, _class(writer, target), rest, writer, "numba" if compiled else "numpy")


def _matrices(derivation: Derivation, planned: Plan, target: Target, fixed: bool) -> Pieces:
    """Of a rule of vectors and matrices."""
    from blrgen.emit.linear import LinearFunctions
    from blrgen.emit.optimizer.matrices import MatrixWriter

    compiled = target.compiled
    functions = LinearFunctions(planned, target.write, compiled, fixed)
    made = None
    if not (derivation.rule.unkept or wants_gaussian(derivation)):
        made = drawing_of(derivation, planned.program, compiled)
    writer = MatrixWriter(derivation, planned, functions, made)
    return Pieces(functions.functions(), _class(writer, target), [], writer)


def _class(writer: Base, target: Target) -> str:
    """The class as the target spells it, and what it uses."""
    definition = target.spelling.of(writer.definition())
    for name in classes.used(definition):
        use(name)
    return layout.definition(definition)


def _sums(writer: Any, program: Program, draws: bool, form: str) -> list[str]:
    """Averages without a closed form, and the inverses that draws need."""
    more: tuple[Expectation, ...] = ()
    inverses: tuple[Weight, ...] = ()
    if writer.law is not None:
        more, inverses = writer.law.expectations, writer.law.densities
    if draws and writer.drawing is not None:
        more, inverses = writer.drawing.expectations, writer.drawing.densities
    made = averages.texts((*program.expectations, *more), form, inverses)
    return [*made, *binomial.texts(program.binomial_means, form)]


def _constants(planned: Plan, support: Support) -> list[str]:
    """What the kernels need above them, and what the class keeps."""
    ranges = parts.domains(planned.program)
    kind = "" if ranges.pairs else "dict[str, str]"
    return [
        *([FAST] if support.names & {"FASTMATH", "njit"} else []),
        *layout.constant("HYPERPARAMETERS", ranges, kind),
    ]
