"""Posterior and samples of a class around linear algebra."""

from __future__ import annotations

from typing import TYPE_CHECKING

from blrgen.emit.common import wants_gaussian
from blrgen.emit.extents import LinearPrinter
from blrgen.emit.sampler import sample_method
from blrgen.emit.templates import fill
from blrgen.emit.uses import use
from blrgen.program import nodes as n
from blrgen.program.types import SCALAR

if TYPE_CHECKING:
    from blrgen.emit.linear import LinearWriter


def posterior_methods(writer: LinearWriter) -> list[str]:
    """Both from one factor of the precision; of a candidate that is no Gaussian, its samples."""
    if not wants_gaussian(writer.derivation):
        return _draws(writer)
    main = writer.main
    rows, mean = _factored(writer)
    finish = [
        f"        identity = np.eye(len({main}), dtype={main}.dtype)",
        f"        root = {use('_solve_lower')}(factor, identity)",
        "        deviation = np.sqrt((root * root).sum(axis=0))",
        f"        return {writer.shaped(f'{mean}.copy()')}, {writer.shaped('deviation')}",
    ]
    moved = f"{mean} + {use('_solve_upper')}(factor, noise)"
    draw = [
        f"        noise = {use('_normals')}(rng, {main if writer.is_vector else mean})",
        f"        return {writer.shaped(moved)}",
    ]
    return [
        fill(
            "class/posterior.py.jinja",
            summary="Return mean and standard deviation of every parameter.",
            body="\n".join([*rows, *finish]),
        ),
        fill(
            "class/sample.py.jinja",
            summary="Draw from the posterior; the same seed gives the same draw.",
            body="\n".join([*rows, *draw]),
        ),
    ]


def _factored(writer: LinearWriter) -> tuple[list[str], str]:
    """The lines up to the factor of the precision, and what the mean is."""
    q = dict(writer.program.posterior)
    names = {v.name: f"self.{v.name}" for v in writer.plan.states if v.name != writer.main}
    hypers = {v.name for v in writer.program.of("hyper")}
    names |= {x: f"real(self.{x})" for x in hypers}
    printer = LinearPrinter(writer.extents, writer.main, names)
    mean, precision = printer(q["mean"]), printer(q["precision"])
    if all(writer.program.scope[x] == SCALAR for x in n.names(q["precision"])):
        eye = f"np.eye(len({writer.main}), dtype={writer.main}.dtype)"
        precision = eye if q["precision"] == n.ONE else f"({precision}) * {eye}"
    rows = [writer.gathered()]
    if hypers & {*n.names(q["mean"]), *n.names(q["precision"])}:
        rows.append(f"        real = {writer.main}.dtype.type")
    rows.append(f'        factor = {use("_cholesky")}("the posterior precision", {precision})')
    return rows, mean


def _draws(writer: LinearWriter) -> list[str]:
    """Samples of a candidate that is no Gaussian."""
    if writer.drawing is None:
        return []
    values = {p.name: f"self.{p.name}" for p in writer.drawing.parameters}
    if writer.main in values:
        values[writer.main] = f"self.{writer.main}"
    return [sample_method(writer.drawing, values, None)]
