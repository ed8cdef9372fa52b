"""Algorithms written by hand as programs over axes: one file each, its equations and no loops.

`PROGRAMS` has them by name, as `tests/program/axes/references.py` names them; `fixed` gives
axes a number of places.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from importlib import import_module

from blrgen.program.axes.nodes import Extent, Let, Program, Size, mapped
from blrgen.program.nodes import Const, Node, transform

NAMES = (
    "adam",
    "rmsprop",
    "momentum",
    "mixture",
    "mixture_parameters",
    "line_mixture",
    "bernoulli_mixture",
    "logistic",
    "logistic_hessian",
    "logistic_rows",
    "effects",
    "newton",
    "forward_backward",
    "poisson_chain",
    "kalman",
    "smoother",
    "documents",
    "factor",
)

PROGRAMS: dict[str, Program] = {
    name: import_module(f"tests.program.axes.programs.{name}").PROGRAM for name in NAMES
}


def fixed(program: Program, sizes: Mapping[str, int]) -> Program:
    """The program with these axes of known size."""

    def known(size: Size) -> Size:
        return sizes.get(size, size) if isinstance(size, str) else size

    def counted(node: Node) -> Node:
        known = isinstance(node, Extent) and node.axis in sizes
        return Const(Fraction(sizes[node.axis])) if known else node

    def equation(s: Let) -> tuple[Let]:
        parts = {k: getattr(s, k) for k in ("expr", "first", "init")}
        return (replace(s, **{k: e and transform(e, counted) for k, e in parts.items()}),)

    return replace(
        program,
        body=mapped(program.body, equation),
        letters=tuple(replace(x, size=known(x.size)) for x in program.letters),
        given=tuple(
            replace(q, sizes=tuple(map(known, q.sizes)), labels=known(q.labels))
            for q in program.given
        ),
    )
