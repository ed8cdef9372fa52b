"""What a family's parameters are functions of each other by, as programs over axes.

    natural     w → λ        the declared chart
    working     λ → w        its inverse, as geometry found it
    mean        λ → E[T]     the mean map ∇A
    partition   λ → A

A natural parameter that is negative definite is given, and made, as its negative: what is
solved with is positive definite.  Letters are a family's own; `inlined` puts such a program
into another one, with the letters of plates in front of everything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import sympy as sp

from blrgen.algebra.ranks import axes_of, logdet
from blrgen.errors import UserError
from blrgen.geometry import Geometry
from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a
from blrgen.program.axes.lowered import Statement, over_axes
from blrgen.program.lowering import Lowering
from blrgen.program.sizes import counts_of
from blrgen.program.stable import stable_equations
from blrgen.program.types import SCALAR, Type, symmetric

Expr = Any
KINDS = ("natural", "working", "mean", "partition")


def family_program(geometry: Geometry, kind: str) -> a.Program:
    """One of the functions: its outs are in the order of the parameters or statistics."""
    given, made = _functions(geometry)[kind]
    fixed = geometry.family.fixed
    types = {str(x): _type(x) for x in (*given, *(p.symbol for p in fixed))}
    sizes = {s.name for x in types.values() for s in map(sp.Symbol, x.shape)}
    used = {s.name for e in made.values() for s in sp.sympify(e).free_symbols}
    counted = {x: SCALAR for x in sorted((sizes & used) - types.keys())}
    made, volumes = _without_volumes(made)
    types |= dict.fromkeys(volumes, SCALAR)
    lowering = Lowering(types | counted, counts_of(given))
    statements = []
    where = lowering.where = f"the {kind} of {geometry.family.name}"
    for name, e in (*((f"{x}_of", m) for x, m in volumes.items()), *made.items()):
        found = lowering.type_of(lowering.prepared(e))
        if name.removesuffix("_of") in volumes:
            found = symmetric(found.shape[0])
        statements.append(Statement(name, sp.sympify(e), found, where=where))
    over = over_axes(lowering, statements)
    if lowering.expectations:
        raise UserError(f"{geometry.family.name} has no closed {kind}")
    whole = _with_volumes(replace(over, body=stable_equations(over.lets)), tuple(volumes))
    return _counted(replace(whole, outs=tuple(made)), counted)


def _without_volumes(made: dict[str, Expr]) -> tuple[dict[str, Expr], dict[str, Expr]]:
    """The expressions with numbers in place of log det M, and each M by that number's name."""
    found: dict[Expr, Expr] = {}
    for e in made.values():
        for x in sorted(sp.sympify(e).atoms(logdet), key=str):
            found.setdefault(x, sp.Symbol(f"volume_{len(found) + 1}", real=True))
    return (
        {k: sp.sympify(e).xreplace(found) for k, e in made.items()},
        {str(v): x.args[0] for x, v in found.items()},
    )


def _with_volumes(program: a.Program, names: Sequence[str]) -> a.Program:
    """The program in which log det M follows M."""

    def let(s: a.Let) -> tuple[a.Statement, ...]:
        name = s.name.removesuffix("_of")
        if name not in names:
            return (s,)
        volume = a.Let(name, (), a.Lin("logdet", (a.ref(s.name, *s.letters),)))
        return (replace(s, structure="spd"), volume)

    given = tuple(q for q in program.given if q.name not in names)
    return replace(program, body=a.mapped(program.body, let), given=given)


def _functions(g: Geometry) -> dict[str, tuple[tuple[Expr, ...], dict[str, Expr]]]:
    """What each function is given, and its values by name."""
    natural, working = tuple(g.natural), tuple(g.working)
    charted = bool(g.family.working)
    turned = {x: -x for x in negated(g)}

    def of(e: Expr) -> Expr:
        return g.ring.tidy(sp.sympify(e).xreplace(turned)) if turned else e

    found = {
        "natural": (working, [turned.get(x, x).xreplace({x: g.natural_of_working[x]})
                              if charted else x for x in natural]),
        "working": (natural, [of(g.working_of_natural[x]) if charted else x for x in working]),
        "mean": (natural, list(map(of, g.mean))),
        "partition": (natural, [of(g.log_partition)]),
    }  # fmt: skip
    return {
        kind: (given, {f"{kind}_{i}": e for i, e in enumerate(made, 1)})
        for kind, (given, made) in found.items()
    }


def negated(g: Geometry) -> tuple[Expr, ...]:
    """The natural parameters that are negative definite: programs have their negatives."""
    return tuple(p.symbol for p in g.family.natural if p.domain.kind == "-spd"
                 and p.domain.lower is None)  # fmt: skip


def _type(x: Expr) -> Type:
    """What a parameter is: a number, a vector's component, a vector, a matrix."""
    plain = Type(axes_of(x))
    return symmetric(plain.shape[0]) if plain.is_square else plain


def _counted(program: a.Program, counted: Mapping[str, Type]) -> a.Program:
    """Sizes that numbers are made of are counts of places."""

    def change(e: n.Node) -> n.Node:
        return a.Extent(e.name) if isinstance(e, a.Ref) and e.name in counted else e

    return _rewritten(program, change, frozenset(counted))


def _rewritten(program: a.Program, change: Any, without: frozenset[str]) -> a.Program:
    def let(s: a.Let) -> tuple[a.Statement, ...]:
        return (replace(s, expr=n.transform(s.expr, change)),)

    kept = tuple(q for q in program.given if q.name not in without)
    return replace(program, body=a.mapped(program.body, let), given=kept)


def resized(program: a.Program, sizes: Mapping[str, a.Size]) -> a.Program:
    """The program with axes of other sizes."""

    def of(x: a.Size) -> a.Size:
        return sizes.get(x, x) if isinstance(x, str) else x

    def change(e: n.Node) -> n.Node:
        if isinstance(e, a.Extent) and e.axis in sizes:
            size = sizes[e.axis]
            return n.Const.of(size) if isinstance(size, int) else a.Extent(size)
        return e

    letters = tuple(replace(x, size=of(x.size)) for x in program.letters)
    given = tuple(replace(q, sizes=tuple(map(of, q.sizes))) for q in program.given)
    return replace(_rewritten(program, change, frozenset()), letters=letters, given=given)


def inlined(
    program: a.Program,
    plates: Sequence[str],
    names: Mapping[str, str],
    letters: Mapping[str, str],
) -> tuple[a.Let, ...]:
    """The equations with plates' letters in front, and all names and letters replaced."""

    def expr(e: n.Node) -> n.Node:
        if isinstance(e, a.Red):
            return replace(e, letters=tuple(letters[x] for x in e.letters), arg=expr(e.arg))
        if isinstance(e, a.Ref):
            front = tuple(map(a.Ix, plates))
            return a.Ref(names[e.name], (*front, *map(expr, e.index)))
        if isinstance(e, a.Ix):
            return a.Ix(letters[e.letter])
        return e.rebuilt(expr)

    return tuple(
        a.Let(names[s.name], (*plates, *(letters[x] for x in s.letters)), expr(s.expr), s.structure)
        for s in program.lets
    )
