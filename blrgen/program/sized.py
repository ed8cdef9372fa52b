"""A program whose sizes are numbers: d = 4 in every type, identity and formula."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from blrgen.errors import UserError, did_you_mean
from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a
from blrgen.program.part import Part
from blrgen.program.program import Program, Variable
from blrgen.program.types import EACH, Type

LARGEST = 8  # straight-line code compiles in more than the square of its length

Sizes = Mapping[str, int]


def sizes_of(program: Program) -> list[str]:
    """The sizes that vectors and matrices have, in order of first use."""
    found = (x for v in program.variables for x in v.type.shape if x != EACH and not x.isdigit())
    return list(dict.fromkeys(found))


def sized(program: Program, sizes: Sizes) -> Program:
    """The program with numbers for sizes; a mistake in them is the user's."""
    if not sizes:
        return program
    _check(program, sizes)
    texts = {name: str(size) for name, size in sizes.items()}

    def of_type(t: Type) -> Type:
        return Type(tuple(texts.get(x, x) for x in t.shape), t.structure)

    def change(node: n.Node) -> n.Node:
        if isinstance(node, n.Ref) and node.name in sizes:
            return n.Const.of(sizes[node.name])
        return node

    def expr(node: n.Node | None) -> n.Node | None:
        return None if node is None else n.transform(node, change)

    def variable(v: Variable) -> Variable:
        return replace(
            v, type=of_type(v.type), init=expr(v.init), default=expr(v.default),
            lower=expr(v.lower), upper=expr(v.upper), gap=expr(v.gap),
        )  # fmt: skip

    return replace(
        program,
        variables=tuple(variable(v) for v in program.variables if v.name not in sizes),
        made=tuple((name, of_type(t)) for name, t in program.made),
        posterior=tuple((key, n.transform(e, change)) for key, e in program.posterior),
        inner=tuple(replace(s, expr=n.transform(s.expr, change)) for s in program.inner),
    )


def of_sizes(part: Part, sizes: Sizes) -> Part:
    """The part of a rule whose sizes are numbers."""
    if not sizes:
        return part

    def change(e: n.Node) -> n.Node:
        name = e.axis if isinstance(e, a.Extent) else e.name if isinstance(e, n.Ref) else ""
        return n.Const.of(sizes[name]) if name in sizes else e

    letters = tuple(replace(x, size=sizes.get(str(x.size), x.size)) for x in part.letters)
    return replace(part.mapped(lambda e: n.transform(e, change)),
                   rule=sized(part.rule, sizes), letters=letters)  # fmt: skip


def _check(program: Program, sizes: Sizes) -> None:
    known = sizes_of(program)
    if program.of("data"):
        raise UserError(
            "--size is not for rules that read data",
            why="these have any number of rows, and are read in loops",
        )
    if not known:
        raise UserError(
            "--size is for rules with vectors and matrices",
            why="here every element is computed by itself, for any number of them",
        )
    for name, size in sizes.items():
        if name not in known:
            raise UserError(f"no size is called {name!r} here", how=did_you_mean(name, known))
        if not 1 <= size <= LARGEST:
            raise UserError(
                f"--size {name}={size} is not between 1 and {LARGEST}",
                why="every entry becomes a statement, and long code takes minutes to compile",
                how="leave --size out: the class then takes any size, and uses LAPACK",
            )
    missing = [x for x in known if x not in sizes]
    if missing:
        raise UserError(
            f"--size {missing[0]}=… is missing",
            why="entries are written out only where every size is a number",
        )
