"""A whole file: docstring, imports, kernels, class, what is made for it, support functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from blrgen.core import Derivation
from blrgen.emit import GENERATORS, averages, binomial
from blrgen.emit.common import DTYPES, domains, dtype_tuple, wants_gaussian
from blrgen.emit.elementwise import ElementwiseWriter
from blrgen.emit.kernels import Kernel
from blrgen.emit.law import lowered_law
from blrgen.emit.moments import moments_of
from blrgen.emit.names import class_name, refuse_reserved
from blrgen.emit.plan import plan
from blrgen.emit.prose import module_docstring
from blrgen.emit.sampler import drawing_of
from blrgen.emit.support import Support, support_of
from blrgen.emit.templates import fill
from blrgen.emit.text import assignment_in_braces, sentence_list
from blrgen.emit.uses import collecting
from blrgen.emit.writer import Writer
from blrgen.errors import UserError, did_you_mean
from blrgen.program.density import Density, Expectation
from blrgen.program.lower import lower
from blrgen.program.program import ELEMENTWISE, Program
from blrgen.program.sized import sized
from blrgen.timing import timed

EVERY = ("np", "Any", "Mapping", "Sequence", "TypeAlias", "NDArray")  # names in every file
ASIDE = "# --- The same rule in other passes over memory, and what is made for it alone"
SHARED = "# --- Support functions, the same in every file that uses them"


def assemble(
    derivation: Derivation,
    dtype: str | None,
    target: str,
    write: Callable[[Kernel], str],
    noise: str = GENERATORS[0],
    sizes: Mapping[str, int] | None = None,
) -> str:
    """The source of a file for a target whose kernels `write` makes; `sizes` are fixed."""
    if dtype is not None and dtype not in DTYPES:
        raise UserError(f"unknown dtype {dtype!r}", how=did_you_mean(dtype, DTYPES))
    if noise not in GENERATORS:
        raise UserError(f"unknown noise {noise!r}", how=did_you_mean(noise, GENERATORS))
    program = sized(timed("lower", lower, derivation.rule), sizes or {})
    refuse_reserved(program)
    jitted = target == "numba"
    writer = _writer(derivation, program, write, jitted, bool(sizes))
    with collecting() as uses:
        parts = timed("kernels, class", lambda w: (w.functions(), w.definition()), writer)
        (kernels, rest), definition = parts
        drawing = writer.drawing if "_drawn" in uses else None
        if drawing is not None:
            rest = [*rest, drawing.function]
            uses |= drawing.uses
        form = target if jitted and program.kind == ELEMENTWISE else "numpy"
        rest = [*rest, *_sums(writer, program, drawing is not None, form)]
    support = support_of(target, uses, noise)
    docstring, header = module_docstring(derivation, program), [_header(writer, dtype, support)]
    if sizes:
        said = sentence_list(f"{name} = {size}" for name, size in sizes.items())
        docstring += f"\n\nFor {said} only: every entry is a statement of its own."
        header.append(f"SIZES = {dict(sizes)}  # of vectors and matrices".replace("'", '"'))
    own, common = [*rest, *support.made], list(support.texts)
    sections = [*kernels, definition]
    sections += [ASIDE, *own] if own else []
    sections += [SHARED, *common] if common else []
    return (
        fill(
            f"{target}/module.py.jinja",
            docstring=docstring,
            imports=support.imports(EVERY),
            header="\n".join(header),
            sections="\n\n\n".join(sections),
        )
        + "\n"
    )


def _writer(
    derivation: Derivation,
    program: Program,
    write: Callable[[Kernel], str],
    jitted: bool,
    fixed: bool,
) -> Writer:
    """Who writes the pieces."""
    if program.kind != ELEMENTWISE:
        from blrgen.emit.linear import LinearWriter

        writer: Writer = LinearWriter(derivation, plan(program), write, jitted=jitted, fixed=fixed)
    else:
        law = None if derivation.rule.unkept else lowered_law(derivation, program)
        writer = ElementwiseWriter(derivation, plan(program), write, law, jitted=jitted)
    if writer.law is None and not (derivation.rule.unkept or wants_gaussian(derivation)):
        writer = replace(writer, drawing=drawing_of(derivation, program, jitted))
        moments = moments_of(derivation, program) if program.kind == ELEMENTWISE else None
        writer = replace(writer, moments=moments)
    return writer


def _sums(writer: Writer, program: Program, draws: bool, form: str) -> list[str]:
    """Averages without a closed form, and the inverses that draws need."""
    more: tuple[Expectation, ...] = ()
    inverses: tuple[Density, ...] = ()
    if writer.law is not None:
        more, inverses = writer.law.expectations, writer.law.densities
    if draws and writer.drawing is not None:
        more, inverses = writer.drawing.expectations, writer.drawing.densities
    parts = averages.texts((*program.expectations, *more), form, inverses)
    return [*parts, *binomial.texts(program.binomial_means, form)]


def _header(writer: Writer, dtype: str | None, support: Support) -> str:
    """What the kernels need above them, and what the class keeps."""
    compiled = "FASTMATH" in support.names or "njit" in support.names
    ranges = assignment_in_braces("HYPERPARAMETERS", domains(writer.program))
    if ranges.endswith("{}"):
        ranges = "HYPERPARAMETERS: dict[str, str] = {}"
    return fill(
        f"{'numba' if compiled else 'numpy'}/header.py.jinja",
        name=class_name(writer.derivation),
        numbers="Numbers: TypeAlias = tuple[float, ...]\n" if "Numbers" in support.names else "",
        dtypes=dtype_tuple(dtype),
        hyperparameters=ranges,
        kept=assignment_in_braces("KEPT", writer.kept()),
    )
