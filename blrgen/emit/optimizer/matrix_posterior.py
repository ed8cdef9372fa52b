"""Posterior and samples of a class of vectors and matrices: both from one factor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from blrgen.emit.common import wants_gaussian
from blrgen.emit.optimizer import posterior as of_arrays
from blrgen.emit.optimizer.base import Lines
from blrgen.emit.optimizer.matrix_ends import printed
from blrgen.emit.optimizer.parts import ARRAYS, RNG, me, numpy
from blrgen.emit.optimizer.posterior import REAL, SAME, SEED
from blrgen.emit.tree import classes as c
from blrgen.program import nodes as n
from blrgen.program.types import SCALAR

if TYPE_CHECKING:
    from blrgen.emit.optimizer.matrices import MatrixWriter

FACTOR = c.Name("factor")


def methods(w: MatrixWriter) -> list[c.Method]:
    """Both from one factor of the precision; of a candidate that is no Gaussian, its samples."""
    if not wants_gaussian(w.derivation):
        if w.drawing is None:
            return []
        return [of_arrays.drawn(w.drawing, [me(p.name) for p in w.drawing.parameters], None)]
    (rows, mean), root = _factored(w), c.Name("root")
    squares = c.Text("(root * root).sum(axis=0)")
    finish: Lines = [
        c.Set((root,), c.call("_solve_lower", FACTOR, _eye(w))),
        c.Set((of_arrays.DEVIATION,), numpy("sqrt", squares)),
        c.Return(c.Row((w.shaped(c.Word("copy", (mean,))), w.shaped(of_arrays.DEVIATION)))),
    ]
    noise = c.Name("noise")
    moved = c.Sign("+", c.call("_solve_upper", FACTOR, noise), mean)
    like = w.parameters if len(w.functions.kind.shape) == 1 else mean
    drawn: Lines = [
        c.Set((noise,), c.call("_normals", SEED, like)),
        c.Return(w.shaped(moved)),
    ]
    said = "Return mean and standard deviation of every parameter."
    given = (c.Argument("rng", RNG),)
    body = (of_arrays.GENERATOR, *rows, *drawn)
    return [
        of_arrays.posterior(said, [*rows, *finish]),
        c.Method("sample", given, ARRAYS, f"Draw from the posterior; {SAME}.", body),
    ]


def _eye(w: MatrixWriter) -> c.Invoked:
    """The identity as large as the parameters."""
    return numpy("eye", c.call("len", w.parameters), dtype=c.Attribute(w.parameters, "dtype"))


def _factored(w: MatrixWriter) -> tuple[Lines, c.Expression]:
    """The lines up to the factor of the precision, and what the mean is."""
    q = dict(w.program.posterior)
    hypers = {v.name for v in w.program.of("hyper")}
    names: dict[str, c.Expression] = {v.name: me(v.name) for v in w.plan.states}
    del names[w.main]
    names |= {x: c.call(REAL, me(x)) for x in hypers}
    mean, precision = (printed(w, q[x], names) for x in ("mean", "precision"))
    whole: c.Expression = precision
    if all(w.program.scope[x] == SCALAR for x in n.names(q["precision"])):
        number = c.Text(f"({precision.text})", precision.uses)
        whole = _eye(w) if q["precision"] == n.ONE else c.Sign("*", _eye(w), number)
    rows: Lines = [w.gathered()]
    if hypers & {*n.names(q["mean"]), *n.names(q["precision"])}:
        rows.append(c.Set((REAL,), c.Word("type", (w.parameters,))))
    told = c.Literal("the posterior precision")
    return [*rows, c.Set((FACTOR,), c.call("_cholesky", told, whole))], mean
