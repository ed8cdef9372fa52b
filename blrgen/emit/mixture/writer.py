"""The class of a mixture as a value: constructor, step, what is kept."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from blrgen.core import Quantity
from blrgen.emit.common import number
from blrgen.emit.ranges import interval
from blrgen.emit.tree import classes as c
from blrgen.emit.tree import nodes as t
from blrgen.emit.tree.described import Described, Kept, of_object, put_by
from blrgen.program import nodes as n
from blrgen.program.mixture.lower import Array, MixtureProgram

ARRAY = "Array"
NUMBERS, ARRAYS = "HYPERPARAMETERS", "ARRAYS"


@dataclass(frozen=True)
class Writer:
    """Writes one class; `function` is the one that computes all next states."""

    name: str
    doc: str
    program: MixtureProgram
    function: t.Function
    dtype: str
    unkept: str  # why there is no posterior
    parameters: frozenset[str]  # of q; other states are of the step
    factored: frozenset[str]  # next values whose factor is NaN, and all behind it, where none is

    def definition(self) -> c.Class:
        """The class."""
        own = [] if self.unkept else [self.posterior()]
        numbers, tables = c.Name(NUMBERS), (c.Name(NUMBERS), c.Name(ARRAYS))
        kept = Kept(
            of_object("_kept_of", *tables),
            of_object("_resumed", c.Name("saved"), *tables),
            put_by("_set", numbers),
            of_object("_described", *tables),
        )
        sections = ([self.step()], own)
        return Described(self.name, self.doc, self.constructor(), sections, kept).written()

    def constructor(self) -> c.Method:
        """m, the other states by keyword, hyperparameters."""
        arguments = [c.Argument(x.name, ARRAY) for x in self.given()]
        arguments += [
            c.Argument(x.name, "Array | None", c.Literal(None), True)
            for x in self.program.states if x.first
        ]  # fmt: skip
        arguments += [c.Argument(q.name, "float", _default(q), True) for q in self.program.hypers]
        arguments.append(c.Argument("check_finite", "bool", c.Literal(True), True))
        sizes, reals = c.Name("sizes"), [c.Name(x.name) for x in self.given()]
        body: list[c.Statement] = [
            c.Set((sizes,), c.Table(()), "dict[str, int]"),
            c.Set((c.Name("dtype"),), c.call("_dtype", c.Literal(self.dtype), *reals)),
        ]
        first = [*self.given(), *(x for x in self.program.states if x.first)]
        body += [c.Set((c.attribute(x.name),), self.first(x)) for x in first]
        body += [c.Set((c.attribute(q.name),), c.Name(q.name)) for q in self.program.hypers]
        body += [c.Set((c.attribute("sizes"),), sizes),
                 c.Set((c.attribute("t"),), c.Literal(0)),
                 c.Set((c.attribute("check_finite"),), c.Name("check_finite"))]  # fmt: skip
        doc = "Keep copies of what the components start from."
        return c.Method("__init__", tuple(arguments), "None", doc, tuple(body))

    def given(self) -> list[Array]:
        """The states that have no first value."""
        return [x for x in self.program.states if not x.first]

    def first(self, x: Array) -> c.Expression:
        """What is given, or the first value, which may be that of another state."""
        words = (c.Literal(_domain(x)), c.Literal(x.first))
        value: c.Expression = c.Name(x.name)
        if x.first in {s.name for s in self.program.states}:
            value = c.call("_given_or", value, c.attribute(x.first))
        return c.call("_first", c.Literal(x.name), value, _axes(x),
                      c.Name("sizes"), c.Name("dtype"), *words)  # fmt: skip

    def step(self) -> c.Method:
        """One step of all components, or of none."""
        given = tuple(c.Argument(x.name, ARRAY) for x in self.program.inputs)
        main = c.Attribute(c.attribute(self.given()[0].name), "dtype")
        body: list[c.Statement] = []
        for x in self.program.inputs:
            asked = c.call("_asked", c.Name("self"), c.Literal(x.name), c.Name(x.name), _axes(x),
                           main)  # fmt: skip
            body.append(c.Set((c.Name(x.name),), asked))
        outs = self.program.program.outs
        body.append(c.Set(tuple(c.Name(x) for x in outs), self.called()))
        states = {f"{x.name}_next": x for x in self.program.states}
        table = c.Table(tuple(
            (c.Literal(states[x].name), c.Row((c.Name(x), c.Literal(self.looked_at(states[x])))))
            for x in outs
        ))  # fmt: skip
        body.append(c.Do(c.call("_inside", c.Name("self"), table)))
        names = ", ".join(x.name for x in self.program.inputs)
        doc = f"Move all components by {names} at their means; where one would leave, move none."
        return c.Method("step", given, "None", doc, tuple(body))

    def looked_at(self, x: Array) -> str:
        """The domain that a next value is held against; none where the step has seen it."""
        return "R" if f"{x.name}_next" in self.factored else _domain(x)

    def called(self) -> c.Invoked:
        """The function with its arguments."""
        states = {x.name for x in self.program.states}
        hypers = {q.name for q in self.program.hypers}

        def place(name: str) -> c.Expression:
            if name == "t":
                return c.Sign("+", c.Literal(1), c.attribute("t"))
            return c.attribute(name) if name in states | hypers else c.Name(name)

        f = self.function
        sizes = [c.Item(c.attribute("sizes"), c.Literal(x)) for x in f.wholes]
        return c.call(c.Name(f.name), *map(place, f.arrays), *sizes, *map(place, f.reals))

    def posterior(self) -> c.Method:
        """The candidate as it stands."""
        states = [x for x in self.program.states if x.name in self.parameters]
        table = c.Table(tuple((c.Literal(x.name), c.attribute(x.name)) for x in states))
        body = (c.Return(c.call("_copied", table)),)
        doc = "Return copies of the parameters of all components."
        return c.Method("posterior", (), "dict[str, Array]", doc, body)


def _default(q: Quantity) -> c.Expression | None:
    if q.default is None:
        return None
    text = number(n.Const(Fraction(str(q.default))))
    return c.Name(text)


def _axes(x: Array) -> c.Row:
    return c.Row(tuple(map(c.Literal, x.sizes)))


def _domain(x: Array) -> str:
    """As the runtime reads it."""
    return "R" if x.domain == "(-oo, oo)" else x.domain


def ranges(program: MixtureProgram) -> tuple[c.Table, c.Table]:
    """Hyperparameters and arrays with their domains."""
    found = [(q.name, interval(q.domain) or "") for q in program.hypers]
    numbers = tuple((c.Literal(name), c.Literal(domain)) for name, domain in found)
    arrays = tuple((c.Literal(x.name), c.Literal(_domain(x))) for x in program.states)
    return c.Table(numbers), c.Table(arrays)
