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
from blrgen.emit.tree import nodes as t
from blrgen.emit.tree.matrices import Matrices
from blrgen.emit.tree.numpy import Arrays
from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a
from blrgen.program.part import axes
from blrgen.program.words import LETTERS

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
    program, states = _equations(w), {v.name for v in w.plan.states} - {w.main}
    names: dict[str, c.Expression] = {x: me(x) for x in states}
    numbers = {v.name for v in w.program.of("hyper")}
    names |= {x: c.call(REAL, me(x)) for x in numbers}
    size = str(program.letters[0].size)
    names[size] = c.call("len", w.parameters)
    made = [x.value for x in Matrices(program, "posterior").body() if isinstance(x, t.Assign)]
    alone = [s.expr if isinstance(s.expr, a.Ref) else e
             for s, e in zip(program.lets, made, strict=True)]  # fmt: skip
    *inner, mean, precision = (printed(w, e, names, Arrays) for e in alone)
    rows: Lines = [w.gathered()]
    nodes = [x for s in program.lets for x in n.walk(s.expr)]
    if any(isinstance(x, a.Is) or (isinstance(x, a.Ref) and x.name in numbers) for x in nodes):
        rows.append(c.Set((REAL,), c.Word("type", (w.parameters,))))
    rows += [c.Set((c.Name(s.name),), e) for s, e in zip(program.lets, inner, strict=False)]
    told = c.Literal("the posterior precision")
    return [*rows, c.Set((FACTOR,), c.call("_cholesky", told, precision))], mean


def _equations(w: MatrixWriter) -> a.Program:
    """Mean and precision as equations over the axis of the parameters; of what they read, that."""
    rule, q = w.program, dict(w.program.posterior)
    i, j, *_ = LETTERS
    unit = () if a.free(q["precision"]) else (a.Is(a.Ix(i), a.Ix(j)),)  # a number is that times I
    whole = a.Let("precision", (i, j), n.mul(q["precision"], *unit))
    lets = (*rule.inner, a.Let("mean", (i,), q["mean"]), whole)
    read = {w.main, *(x for s in lets for x in n.names(s.expr))}
    given = tuple(
        a.Quantity(v.name, axes(v.type, ""), v.type.structure)
        for v in (rule.parameter, *rule.variables) if v.name in read
    )  # fmt: skip
    along = axes(w.functions.kind, "")[0]
    letters = tuple(a.Letter(x, along) for x in LETTERS)
    return a.Program(letters, tuple(dict.fromkeys(given)), lets, ("mean", "precision"))
