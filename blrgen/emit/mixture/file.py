"""A derivation of a mixture as its file: docstring, kernels, class, support functions."""

from __future__ import annotations

import textwrap

from blrgen.core import Derivation
from blrgen.emit.mixture.writer import ARRAYS, NUMBERS, Writer, ranges
from blrgen.emit.model.file import BELOW, MEASURE
from blrgen.emit.model.kernels import TARGETS
from blrgen.emit.names import class_name
from blrgen.emit.prose import heading
from blrgen.emit.support import support_of
from blrgen.emit.tree import classes as c
from blrgen.emit.tree import layout
from blrgen.emit.tree import nodes as t
from blrgen.errors import UserError, did_you_mean
from blrgen.program.axes import nodes as a
from blrgen.program.axes.text import shown
from blrgen.program.mixture.lower import MixtureProgram, lower_mixture

FUNCTION = "_next_states"


def mixture_file(d: Derivation, target: str, dtype: str | None) -> str:
    """The source of a file that stands alone."""
    if target not in TARGETS:
        why = f"the {target} target writes no mixtures"
        raise UserError(why, how=did_you_mean(target, TARGETS))
    program = lower_mixture(d)
    made = TARGETS[target]
    functions = made.make(program.program, FUNCTION)
    name = class_name(d)
    factored = _factored(program) if target == "numba" else frozenset[str]()
    writer = Writer(name, _class_doc(d, program, name), program, functions[-1], dtype or "",
                    d.rule.unkept, factored)  # fmt: skip
    definition = writer.definition()
    names = sorted({*t.support(tuple(functions)), *c.used(definition)})
    support = support_of(target, names)
    imports = support.imports([*made.imports, *names])
    constants = "\n".join(x for _, x in made.constants)
    parts = [
        "\n".join([constants, *_tables(program)]),
        *(made.text(f) for f in functions),
        layout.definition(definition),
        BELOW,
        *support.made,
        *support.texts,
    ]
    top = "\n".join(layout.docstring(_docstring(d, program), 0))
    top += f'\n\nfrom __future__ import annotations\n\n{imports}\n\n__all__ = ["{name}"]\n\n'
    return top + "\n\n\n".join(x.strip("\n") for x in parts) + "\n"


def _factored(program: MixtureProgram) -> frozenset[str]:
    """The matrices that the program factors; compiled, one that is not definite gives NaN."""
    found = [x.expr for x in program.program.lets if isinstance(x.expr, a.Lin)]
    return frozenset(x.args[0].name for x in found)


def _tables(program: MixtureProgram) -> list[str]:
    """What is kept, with its domains."""
    numbers, arrays = ranges(program)
    kind = "Mapping[str, str]"
    return [*layout.constant(NUMBERS, numbers, kind), *layout.constant(ARRAYS, arrays, kind)]


def _class_doc(d: Derivation, program: MixtureProgram, name: str) -> str:
    inputs = ", ".join(x.name for x in program.inputs)
    given = ", ".join(x.name for x in program.states if not x.first)
    others = ", ".join(f"{x.name}=" for x in program.states if x.first)
    return (
        f"{heading(d)}.\n\n"
        f"K components; what they start from is copied, and kept in the attributes of the\n"
        f"same names. The module's docstring has the equations.\n\n"
        f"    opt = {name}({given}, {others} …)\n"
        f"    opt.step({inputs})"
    )


def _docstring(d: Derivation, program: MixtureProgram) -> str:
    """The title, what the names are, the equations, the approximations."""
    rule = d.rule
    named = [q for q in (*rule.of("state"), *rule.of("input"), *rule.of("hyper"))]
    words = "; ".join(f"{q.name} is {q.meaning}" for q in named)
    parts = [f"{heading(d)}.", "", *textwrap.wrap(f"The Bayesian learning rule for the candidate: "
             f"{d.family.title}. Of each component k: {words}.", MEASURE)]  # fmt: skip
    parts += ["", "Update, all from the old states:", ""]
    for x in program.program.body:
        parts += textwrap.wrap(shown(x), MEASURE, initial_indent="    ",
                               subsequent_indent="        ")  # fmt: skip
    if d.approximations:
        parts += ["", "Approximations, in the order in which they were made:", ""]
        for s in d.steps:
            if s.approximation:
                said = f"{s.approximation}: {s.because}"
                parts += textwrap.wrap(said, MEASURE, initial_indent="    ",
                                       subsequent_indent="        ")  # fmt: skip
    if d.recipe is not None and d.recipe.citation:
        parts += ["", f"See {d.recipe.citation}."]
    return "\n".join(parts)
