"""Rules of vectors and matrices: next values are looked at before any of them is written.

A matrix that must stay definite is factored in the step itself, which is the check; what is
left are the ends of numbers and values that are not finite.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from blrgen.emit.extents import extent_text
from blrgen.emit.optimizer import parts
from blrgen.emit.optimizer.base import Given, Lines
from blrgen.emit.optimizer.parts import me
from blrgen.emit.printers import ArrayPrinter
from blrgen.emit.tree import classes as c
from blrgen.emit.tree.layout import flat
from blrgen.emit.uses import watching
from blrgen.program import nodes as n
from blrgen.program.part import Part
from blrgen.program.program import Variable
from blrgen.program.types import SCALAR

if TYPE_CHECKING:
    from blrgen.emit.optimizer.matrices import MatrixWriter

Printed = type[ArrayPrinter]


def printed(w: MatrixWriter, e: n.Node, names: Given, printer: Printed = ArrayPrinter) -> c.Text:
    """An expression, with what is kept under its places."""
    known = parts.hyperparameters(w.program) | dict(names)
    texts = {k: flat(v) for k, v in known.items()}
    with watching() as uses:
        text = printer(texts)(e)
    return c.Text(text, tuple(sorted(uses)))


def before_step(w: MatrixWriter) -> Lines:
    """Numbers that were set from outside, or a constant that has moved their ends."""
    own = {v.name: me(v.name) for v in w.plan.numbers}
    return [_between(w, v, v.name, me(v.name), own) for v in (*w.plan.numbers, *_constants(w))]


def check_state(w: MatrixWriter) -> list[c.Method]:
    """_check_state: what is there at the start, and what was saved; matrices by themselves."""
    ends = before_step(w)
    constants = [v for v in w.program.of("hyper") if v.type.shape]
    states = [v for v in w.plan.states if v.name != w.main]
    looks = [r for v in (*states, *constants) for r in definite(v.name, v, me(v.name))]
    own = definite("params", w.program.parameter, w.parameters)
    if not (ends or looks or own):
        return []
    numbers = _extents(w, _in_ends(w))
    read = own or any(_reads(x, w.main) for x in (*ends, *numbers))
    first = [w.gathered()] if read else []
    said = "Refuse what is kept outside the domain."
    return [c.Method("_check_state", (), "None", said, (*first, *numbers, *ends, *looks, *own))]


def _reads(x: object, name: str) -> bool:
    """Whether a statement reads a name; a printer has written its ends."""
    if isinstance(x, c.Text):
        return name in x.uses
    if isinstance(x, tuple):
        return any(_reads(y, name) for y in x)
    found = vars(x).values() if hasattr(x, "__dataclass_fields__") else ()
    return x == c.Name(name) or any(_reads(y, name) for y in found)


def definite(told: str, v: Variable, value: c.Expression) -> Lines:
    """A check that what must be positive definite is, where that is said by itself."""
    if isinstance(v.definite, n.Ref):
        return [c.Do(c.call("_cholesky", c.Literal(told), value))]
    if isinstance(v.definite, n.Neg):
        minus = c.Sign("-", value)
        return [c.Do(c.call("_cholesky", c.Literal(f"minus {told}"), minus))]
    return []


def _constants(w: MatrixWriter) -> list[Variable]:
    """The constants whose ends are made of sizes."""
    hypers = [v for v in w.program.of("hyper") if v.type == SCALAR]
    return [v for v in hypers if (v.lower, v.upper) != (None, None)]


def before_writing(w: MatrixWriter, part: Part) -> Lines:
    """Next values that are outside, before anything is changed."""
    writes = dict(part.writes)
    places: dict[str, c.Expression] = {v.name: me(v.name) for v in w.plan.numbers}
    places |= {k: c.Name(writes[k]) for k in places if k in writes}
    rows = Lines()
    for v in w.plan.states:
        if v.name not in writes or v.definite is not None:
            continue
        told, value = f"the next {v.name}", c.Name(writes[v.name])
        if v.type == SCALAR:
            rows.append(_between(w, v, told, value, places))
        else:
            rows.append(c.Do(c.call("_finite", c.Literal(told), value)))
    return rows


def _between(
    w: MatrixWriter, v: Variable, told: str, value: c.Expression, names: Given
) -> c.Statement:
    """A number between its ends."""
    low, high = (None if b is None else printed(w, b, names) for b in (v.lower, v.upper))
    ends = (low or c.Sign("-", parts.INFINITY), high or parts.INFINITY)
    return c.Do(c.call("_between", c.Literal(told), value, *ends))


def sizes(w: MatrixWriter, part: Part) -> Lines:
    """The sizes that a part reads as numbers, and those that ends are made of."""
    return _extents(w, {x for s in part.statements for x in n.names(s.expr)}
                    | _in_ends(w))  # fmt: skip


def _extents(w: MatrixWriter, read: set[str]) -> Lines:
    """Those of the names that are sizes, each as the length of an axis."""
    used = sorted(read & {v.name for v in w.program.of("size")})
    return [c.Set((c.Name(x),), extent(w, x)) for x in used]


def extent(w: MatrixWriter, size: str) -> c.Text:
    """A size in code; of the parameters it reads their local name."""
    known = w.functions.extents
    own = (w.main,) if size in known and known[size].array == w.main else ()
    return c.Text(extent_text(size, known, w.functions.held), own)


def _in_ends(w: MatrixWriter) -> set[str]:
    """What ends of domains are made of."""
    held = (*w.plan.numbers, *_constants(w))
    return {x for v in held for b in (v.lower, v.upper) if b is not None for x in n.names(b)}
