"""The text around a matrix that is made entry by entry (`blrgen.program.formed`).

A function of one entry says what the matrix is; a compiled loop writes all entries to an
array that becomes the state once the step is known to be right, and the upper triangle to
another, where it is factored.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from blrgen.emit.extents import LinearPrinter, told
from blrgen.emit.plan import phase_of
from blrgen.emit.printers import literal
from blrgen.emit.shorten import shortened
from blrgen.emit.templates import fill
from blrgen.emit.text import assignment, call
from blrgen.emit.tree import nodes as t
from blrgen.emit.tree.numba import function as compiled
from blrgen.emit.uses import use
from blrgen.program import nodes as n
from blrgen.program.formed import UNIT, Formed
from blrgen.program.program import Program, Statement, fresh

if TYPE_CHECKING:
    from blrgen.emit.linear import LinearFunctions

WORK = "work"  # where the matrix is factored
DIAGONAL = "diagonal"  # of the matrix whose factor is in the work space, 0 where there is none


class SolvedPrinter(LinearPrinter):
    """Linear algebra in which the one solution with the matrix reads the work space."""

    made: Formed
    again: bool

    def print_MatMul(self, node: n.MatMul) -> tuple[str, int]:
        if n.transposed(node.left) != node.right or isinstance(node.left, n.Sym):
            return super().print_MatMul(node)
        return self.call(use("_gram"), self(node.right))

    def print_Factor(self, node: n.Factor) -> tuple[str, int]:
        if not self.again or node.arg != n.Sym(self.made.state):
            return super().print_Factor(node)
        words = f'"{told(node.arg)}"'
        return self.call(use("_known_factor"), words, self(node.arg), WORK, DIAGONAL)

    def print_Solve(self, node: n.Solve) -> tuple[str, int]:
        if node.arg != n.Sym(self.made.factor):
            return super().print_Solve(node)
        words = f'"{told(n.Sym(self.made.name))}"'
        return self.call(use("_solved"), words, WORK, self(node.right))


def names(made: Formed, suffix: str) -> tuple[str, str]:
    """The function of an entry and the loop."""
    return f"_{made.name}{suffix}", f"_write_{made.state}{suffix}"


def entry_functions(made: Formed, suffix: str, again: bool) -> str:
    """Both functions, compiled; `again`: what is below the diagonal is copied, too."""
    entry, _ = names(made, suffix)
    scalars = [*made.scalars, *(name for name, _ in made.constants)]
    unit = f"; `{UNIT}` is I, or an entry of it" if made.has_identity else ""
    one = t.Function(
        entry, tuple(made.leaves), (), (*scalars, *([UNIT] if made.has_identity else [])),
        (t.Return(made.entry),), f"Return {told(n.Sym(made.name))}, or one entry of it{unit}.",
        gives="Any", ordered=True,
    )  # fmt: skip
    return f"{compiled(one)}\n\n\n{compiled(_writer(made, suffix, scalars, again))}"


def _writer(made: Formed, suffix: str, scalars: Sequence[str], again: bool) -> t.Function:
    """The loop over all entries, row by row."""
    entry, writer = names(made, suffix)
    taken = {*made.leaves, *scalars, UNIT, "out", WORK, "i", "j", "row"}
    rows = {"out": "row"}
    for x in made.leaves:
        rows[x] = fresh(f"{x}_row", taken)
        taken.add(rows[x])
    i, j, zero, one = map(t.name, ("i", "j", "zero", "one"))
    numbers = tuple(map(t.name, scalars))
    unit = ((zero,), (one,)) if made.has_identity else ((), ())
    at = tuple(t.Entry(rows[x], (j,)) for x in made.leaves)
    inner = t.Assign(t.Entry("row", (j,)), n.Call(entry, (*at, *numbers, *unit[0])))
    at = tuple(t.Entry(x, (i, i)) for x in made.leaves)
    diagonal = t.Assign(t.Entry("row", (i,)), n.Call(entry, (*at, *numbers, *unit[1])))
    right: tuple[n.Node, ...] = (t.Entry(WORK, (i,)), t.name("row"))
    if not again:
        right = (t.Entry(WORK, (i, t.Span(i))), t.Entry("row", (t.Span(i),)))
    names_of = t.Several(tuple(t.name(rows[x]) for x in rows))
    body: tuple[t.Statement, ...] = (
        t.Assign(names_of, t.Several(tuple(t.Entry(x, (i,)) for x in rows))),
        t.For("j", t.Whole(0), t.Length("row"), (inner,)),
        *((diagonal,) if made.has_identity else ()),
        t.Assign(t.Several((t.name("there"), t.name("here"))), t.Several(right)),
        t.For("j", t.Whole(0), t.Length("here"),
              (t.Assign(t.Entry("there", (j,)), t.Entry("here", (j,))),)),
    )  # fmt: skip
    typed = t.Assign(t.Several((zero, one)), t.Several((t.Real(n.ZERO), t.Real(n.ONE))))
    loop = t.For("i", t.Whole(0), t.Shape("out", 0), body)
    what = "a copy" if again else "its upper triangle"
    return t.Function(
        writer, ("out", WORK, *made.leaves), (), tuple(scalars),
        (*((typed,) if made.has_identity else ()), loop),
        f"Write {told(n.Sym(made.name))} to `out`, and {what} to `work`.",
        reals_of="out", ordered=True,
    )  # fmt: skip


def _all(writer: LinearFunctions) -> list[Formed]:
    """The matrices of a step, and of one after several draws."""
    found = (writer.formed(p) for p in (writer.plan.single, writer.plan.averaged) if p is not None)
    return [made for made in found if made is not None]


def again(writer: LinearFunctions) -> bool:
    """Whether a step begins with the factor that a look at its matrix found one step ago."""
    found = _all(writer)
    return bool(found) and all(made.again for made in found)


def suffix_of(name: str) -> str:
    """What tells the functions of a step after several draws from those of a single one."""
    return name.removeprefix("_step")


def function(writer: LinearFunctions, name: str, summary: str, program: Program) -> str:
    """The step; the matrix is made and factored in arrays that are there."""
    made = writer.formed(program)
    assert made is not None
    arrays, scalars = writer.arguments(program)
    results = writer.results(program)
    scope, phase = made.program.scope, phase_of(made.program)
    factors = {s.name for s in phase.body if s.type.rank == "factor"}
    printer = SolvedPrinter(writer.extents, writer.main, factors)
    printer.made, printer.again = made, again(writer)
    taken = {*scope, *arrays, *scalars, WORK, DIAGONAL}
    at = next(k for k, s in enumerate(phase.body) if s.name == made.name)
    numbers = [f"{WORK}.dtype.type({literal(c.value)[0]})" for _, c in made.constants]
    given = [made.name, WORK, *made.leaves, *made.scalars, *numbers]
    middle = call(f"    {names(made, suffix_of(name))[1]}(", given)
    many = len(made.products)
    before = list(phase.body[many:at])
    after = [s for s in phase.body[at + 1 :] if s.name != made.factor]
    looked = [f'"{told(n.Sym(made.name))}"']
    if printer.again:  # the old factor is where the new one will be
        before, after = before + after, []
        looked += [made.name, WORK, DIAGONAL]
    else:
        looked.append(WORK)
    look = "" if made.solved else use("_look" if printer.again else "_definite")
    rows = [
        *_product_lines(phase.body[:many]),
        *_lines(before, printer, arrays, taken),
        middle,
        *([call(f"    {look}(", looked)] if look else []),
        *_lines(after, printer, arrays, taken),
        f"    return {', '.join(results)}",
    ]
    kinds = ["float" if scope[x].rank == "scalar" else "Array" for x in results]
    returns = kinds[0] if len(kinds) == 1 else f"tuple[{', '.join(kinds)}]"
    arguments = [f"{a}: Array" for a in arrays] + [f"{s}: float" for s in scalars]
    arguments += [f"{made.name}: Array", f"{WORK}: Array"]
    arguments += [f"{DIAGONAL}: Array"] if printer.again else []
    return fill(
        "numpy/function.py.jinja",
        signature=call(f"def {name}(", arguments, f") -> {returns}:"),
        summary=summary,
        body="\n".join(rows),
    )


def _product_lines(part: Sequence[Statement]) -> list[str]:
    """All products with one X in one reading of it."""
    if not part:
        return []
    factors = [s.expr for s in part if isinstance(s.expr, n.MatMul)]
    read = [", ".join(n.names(x.left)) for x in factors[:1]]
    read += [", ".join(n.names(x.right)) for x in factors]
    return [call(f"    {', '.join(s.name for s in part)} = {use('_products')}(", read)]


def _lines(
    part: Sequence[Statement], printer: LinearPrinter, arrays: Collection[str], taken: set[str]
) -> list[str]:
    rows = []
    for local, expr in shortened([(s.name, s.expr) for s in part], printer, 4, taken):
        text = printer(expr)
        if isinstance(expr, n.Sym) and expr.name in arrays:
            text += ".copy()"  # never the caller's own array
        rows.append(assignment(local, text, 4))
    return rows
