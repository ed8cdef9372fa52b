"""A whole file: docstring, imports, constants, functions, class."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from blrgen.core import Derivation
from blrgen.emit import GENERATORS, averages, binomial, later
from blrgen.emit.common import DTYPES, dtype_tuple, wants_gaussian
from blrgen.emit.drawn import drawing_helpers
from blrgen.emit.elementwise import ElementwiseWriter
from blrgen.emit.kernels import Kernel
from blrgen.emit.law import lowered_law
from blrgen.emit.moments import moments_of
from blrgen.emit.names import class_name, refuse_reserved
from blrgen.emit.noise import noise_texts, threads_text
from blrgen.emit.plan import plan
from blrgen.emit.probing import compiled_laws
from blrgen.emit.prose import module_docstring
from blrgen.emit.sampler import drawing_of
from blrgen.emit.special import needed
from blrgen.emit.templates import fill
from blrgen.emit.text import sentence_list
from blrgen.emit.writer import Writer
from blrgen.errors import UserError, did_you_mean
from blrgen.program.lower import lower
from blrgen.program.program import ELEMENTWISE
from blrgen.program.sized import sized
from blrgen.timing import timed


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
    program = sized(timed("lower", lower, derivation.rule), sizes or {})
    refuse_reserved(program)
    jitted = target == "numba"
    if program.kind != ELEMENTWISE:
        from blrgen.emit.linear import LinearWriter

        writer: Writer = LinearWriter(
            derivation, plan(program), write, jitted=jitted, fixed=bool(sizes)
        )
    else:
        law = lowered_law(derivation, program)
        writer = ElementwiseWriter(derivation, plan(program), write, law, jitted=jitted)
    if writer.law is None and not wants_gaussian(derivation):
        writer = replace(writer, drawing=drawing_of(derivation, program, jitted))
        moments = moments_of(derivation, program) if program.kind == ELEMENTWISE else None
        writer = replace(writer, moments=moments)
    parts, definition = timed("kernels, class", lambda w: (w.functions(), w.definition()), writer)
    code = "\n\n\n".join(parts) + definition
    form = target if "@njit" in code and program.kind == ELEMENTWISE else "numpy"
    more = writer.law.expectations if writer.law is not None else ()
    inverses = writer.law.densities if writer.law is not None else ()
    if "_drawn(" in definition and writer.drawing is not None:
        parts.append(writer.drawing.function)
        more, inverses = writer.drawing.expectations, writer.drawing.densities
    parts += averages.texts((*program.expectations, *more), form, inverses)
    parts += binomial.texts(program.binomial_means, form)
    if "_over(" in "".join(parts) + definition:
        parts.append(fill("functions/over.py.jinja"))
    parts += drawing_helpers("\n".join(parts) + definition)
    noises: list[str] = []
    if isinstance(writer, ElementwiseWriter):
        threaded = [x for x in ("_standard_normal", "_signs") if f"{x}_threads(" in definition]
        noises += noise_texts(compiled_laws(writer), noise, dtype, signs="_signs" in threaded)
        noises += map(threads_text, threaded)
    parts += needed("\n".join((*parts, *noises)) + definition, form)
    parts += noises
    code = "\n\n\n".join(parts) + definition
    compiler = _compiler(code)
    if compiler:
        parts = [later.helper(compiler), *parts]
    checked = later.checked_imports(compiler)
    functions = "\n\n\n".join(parts)
    code = functions + definition
    constants = fill(
        f"{target if '@njit' in code else 'numpy'}/constants.py.jinja",
        name=class_name(derivation),
        dtypes=dtype_tuple(dtype),
    )
    if "BLOCK" in code or "PORTION" in code:
        constants += "\n" + fill("joined/constants.py.jinja")
    if "_laid(" in code:
        constants += "\n" + fill("joined/memory.py.jinja")
    docstring = module_docstring(derivation, program)
    if sizes:
        said = sentence_list(f"{name} = {size}" for name, size in sizes.items())
        docstring += f"\n\nFor {said} only: every entry is a statement of its own."
        constants += f"\nSIZES = {dict(sizes)}  # of vectors and matrices\n".replace("'", '"')
    return (
        fill(
            f"{target}/module.py.jinja",
            docstring=docstring,
            imports=_imports(checked + code),
            constants=checked + constants,
            functions=functions,
            definition=definition,
        )
        + "\n"
    )


def _imports(code: str) -> str:
    """Only what the code uses, in the order that a linter wants."""
    collections = [x for x in ("Callable", "Mapping", "Sequence") if re.search(rf"\b{x}\b", code)]
    checking = ["TYPE_CHECKING"] if "TYPE_CHECKING" in code else []
    return fill(
        "class/imports.py.jinja",
        math="import math\n" if "math." in code else "",
        operator="import operator\n" if "operator." in code else "",
        sys="import sys\n" if "sys." in code else "",
        collections=", ".join(collections),
        suppress="from contextlib import suppress\n" if "suppress(" in code else "",
        typing=", ".join([*checking, "Any", "TypeAlias"]),
    )


def _compiler(code: str) -> str:
    """What the code uses of Numba."""
    names = ("carray", "get_num_threads", "njit", "prange", "types")
    used = [x for x in names if re.search(rf"\b{x}[(.]|@{x}\b", code)]
    if "@njit" not in code:
        return ""
    extending = [x for x in ("intrinsic", "overload") if f"@{x}" in code]
    more = f"from numba.extending import {', '.join(extending)}\n" if extending else ""
    return f"from numba import {', '.join(used)}\n{more}"
