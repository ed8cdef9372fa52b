"""What the classes of all rules are written with: numbers, inputs, `step` around its lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from blrgen.core import Derivation
from blrgen.emit.common import input_words
from blrgen.emit.names import class_name
from blrgen.emit.optimizer import parts
from blrgen.emit.optimizer.parts import (
    ARRAYS,
    COUNT,
    NOTHING,
    PARAMS,
    PENDING,
    RNG,
    SUMS,
    me,
)
from blrgen.emit.text import WIDTH
from blrgen.emit.tree import classes as c
from blrgen.emit.tree.described import Described
from blrgen.emit.tree.layout import flat
from blrgen.errors import InternalError
from blrgen.program import nodes as n
from blrgen.program.part import Part
from blrgen.program.plan import DRAWS, Plan
from blrgen.program.program import Program, Variable
from blrgen.program.types import SCALAR

FUNCTION_OF = {"g": "gradient", "h": "hessian", "H": "hessian"}  # inputs, as functions of m
Given = Mapping[str, c.Expression]
Lines = list[c.Statement]


@dataclass(frozen=True)
class Base:
    """A rule whose class is written."""

    derivation: Derivation
    plan: Plan

    @property
    def program(self) -> Program:
        """The rule."""
        return self.plan.program

    @property
    def main(self) -> str:
        """The state that the parameters are."""
        return self.plan.main

    @property
    def fuses(self) -> bool:
        """Whether a step can draw again in the same pass over memory."""
        return False

    def init(self) -> c.Method:
        """The constructor."""
        raise NotImplementedError

    def sections(self) -> tuple[list[c.Method], ...]:
        """What is held; draws; steps; runs; the posterior."""
        raise NotImplementedError

    def said(self) -> str:
        """The docstring."""
        return parts.described(self.derivation, self.program)

    def definition(self) -> c.Class:
        """The class."""
        name, kept = class_name(self.derivation), parts.resuming(self.plan)
        return Described(name, self.said(), self.init(), self.sections(), kept).written()

    def kind_of(self, v: Variable) -> str:
        """The type of an input of `step`."""
        return "float" if v.type == SCALAR else ARRAYS

    def checked(self) -> Lines:
        """The call that looks at ranges which other hyperparameters say."""
        return parts.checked(self.program)

    # -- lines of methods ----------------------------------------------------------------
    def scalars(self, part: Part, own: Given | None = None) -> Lines:
        """The scalar section; `own` are names that are written in other ways."""
        names = parts.hyperparameters(self.program) | {
            v.name: me(v.name) for v in self.plan.numbers
        }
        rows, found = tuple((names | dict(own or {})).items()), Lines()
        made = part.numbers
        if any("t" in n.names(s.expr) for s in made):
            found.append(c.Set((c.Name("t"),), c.Sign("+", c.Literal(1), me("t"))))
        return found + [c.Set((c.Name(s.name),), c.Formula(s.expr, rows)) for s in made]

    def number(self, name: str, own: Sequence[str] = ()) -> c.Expression:
        """A number that a function takes, where the class has it; `own` have a local value."""
        if name == DRAWS:
            return c.call("float", COUNT)
        held = {v.name for v in (*self.program.of("hyper"), *self.plan.numbers)} - {*own}
        return me(name) if name in held else c.Name(name)

    def given(self) -> dict[str, c.Expression]:
        """Inputs, and what the last draw left."""
        found: dict[str, c.Expression] = {v.name: c.Name(v.name) for v in self.plan.inputs}
        return found | {x: c.Item(PENDING, c.Literal(x)) for x in self.plan.carried}

    def input_arguments(self, optional: bool = False) -> tuple[c.Argument, ...]:
        """Arguments of `step`."""
        none, nothing = (" | None", NOTHING) if optional else ("", None)
        return tuple(
            c.Argument(v.name, f"{self.kind_of(v)}{none}", nothing) for v in self.plan.inputs
        )

    def need_pending(self, what: str = "step") -> Lines:
        """Without a draw there is nothing to step from."""
        said = c.Literal(f"{what} needs a draw: call draw first")
        absent = c.Sign("not", PENDING)
        return [c.When(absent, (c.Raise("RuntimeError", said),))] if self.plan.carried else []

    # -- methods -------------------------------------------------------------------------
    def constructor(self, arguments: Sequence[c.Argument], doc: str, body: Lines) -> c.Method:
        """The constructor, which looks at inputs from its end on."""
        finite = c.Argument("check_finite", "bool", c.Literal(True), True)
        last = c.Set((parts.FINITE,), c.Name("check_finite"))
        return c.Method("__init__", (*arguments, finite), "None", doc, (*body, last))

    def remembering(self, kind: str, left: str, over: str) -> Lines:
        """What a draw leaves, and sums over draws, in the beginning."""
        rows, empty = Lines(), c.Table(())
        if self.plan.carried:
            rows.append(c.Set((PENDING,), empty, f"dict[str, {kind}]", left))
        if self.plan.sums:
            rows.append(c.Set((SUMS,), empty, f"dict[str, {kind}]", over))
            rows.append(c.Set((COUNT,), c.Literal(0), note="how many there are in them"))
        return rows

    def stepping(self, arguments: Sequence[c.Argument], said: str, rows: Lines) -> c.Method:
        """`step`, which draws again where the rule draws and a generator is given."""
        rng, counted = c.Name("rng"), c.Set((me("t"),), c.Literal(1), op="+=")
        first = self.checked()
        if not self.plan.noises:
            body = (*first, *rows, counted)
            return c.Method("step", tuple(arguments), "None", f"{said}.", body)
        absent = c.Sign("is", NOTHING, rng)
        drawn: c.Expression = c.call(me("draw"), rng)
        if self.fuses:
            probe = c.call("_lent", c.Item(PENDING, c.Literal(self.plan.probe)), PARAMS)
            drawn = c.Either(probe, PENDING, drawn)
        looked = c.When(c.Sign("is not", NOTHING, rng), (c.Do(c.call("_generator", rng)),))
        body = (*first, looked, *rows, counted, c.When(absent, (c.Return(NOTHING),)))
        given = (*arguments, c.Argument("rng", f"{RNG} | None", NOTHING, True))
        doc = f"{said}; with rng, draw again."
        return c.Method("step", given, "Arrays | None", doc, (*body, c.Return(drawn)))

    def steps(self, single: Lines, averaged: Lines) -> list[c.Method]:
        """step(g) after one draw in one pass; step() after draws that were observed."""
        names = c.own(*(v.name for v in self.plan.inputs))
        some = c.Text(" and ".join(f"{x.name} is not None" for x in names))
        rng = (c.Name("rng"),) if self.fuses else ()
        seen = c.When(some, (c.Do(c.call(me("observe"), *names)),))
        alone = (c.Do(c.call(me("_step_single"), *names, *rng)),)
        other = (seen, c.Do(c.call(me("_step_averaged"))))
        rows: Lines = [c.When(c.Text(f"not self._draws and {some.text}"), alone, other)]
        said = f"Update in place from {input_words(self.plan.inputs)} at the draw, or all observed"
        step = self.stepping(self.input_arguments(optional=True), said, rows)
        given = (c.Argument("rng", f"{RNG} | None"),) if rng else ()
        own = "Estimate and update in one pass, from one draw."
        arguments = (*self.input_arguments(), *given)
        return [
            step, c.Method("_step_single", arguments, "None", own, tuple(single)),
            _averaged(averaged),
        ]  # fmt: skip

    def run(self, vector: c.Expression, shaped: c.Expression) -> c.Method:
        """Steps until no parameter moves; `vector` is all of them, `shaped` a copy."""
        if self.plan.noises:
            raise InternalError("a rule that draws has no fixed point")
        inputs = self.plan.inputs
        names = [FUNCTION_OF.get(v.name, v.name) for v in inputs]
        arguments = [c.Argument(x, "Callable[[Arrays], Any]") for x in names]
        arguments += [c.Argument("tol", "float", c.Literal(1e-8)),
                      c.Argument("max_steps", "int", c.Literal(100))]  # fmt: skip
        doc = (
            "Step until no parameter moves by more than tol·(1 + |parameter|); return the steps."
            "\n\nThe functions take the parameters, in their own shape, and return "
            f"{input_words(inputs)}."
        )
        return c.Method("run", tuple(arguments), "int", doc, _running(names, vector, shaped))


def _averaged(rows: Lines) -> c.Method:
    """The step after several draws, around what it computes."""
    pending = c.Literal("the last draw was not observed: pass what it showed")
    none = c.Literal("step needs a draw: call draw first")
    body = (
        c.When(PENDING, (c.Raise("RuntimeError", pending),)),
        c.When(c.Sign("not", COUNT), (c.Raise("RuntimeError", none),)),
        *rows,
        c.Set((SUMS,), c.Table(())),
        c.Set((COUNT,), c.Literal(0)),
    )
    said = "Update from several draws, observed one by one."
    return c.Method("_step_averaged", (), "None", said, body)


def _running(
    names: Sequence[str], vector: c.Expression, shaped: c.Expression
) -> tuple[c.Statement, ...]:
    """The lines of `run`."""
    tol, steps, count, before, at = c.own("tol", "max_steps", "count", "before", "at")
    move, largest = c.own("move", "largest")
    one, zero, of_math = c.Literal(1), c.Literal(0), c.Use("math")
    moved = parts.numpy("abs", c.Sign("-", before, vector))
    most = c.Invoked(c.Attribute(move, "max"), (), (("initial", zero),))
    unknown = c.Sign("not", c.Invoked(c.Attribute(of_math, "isfinite"), (largest,)))
    found = c.Words("step {count} led to numbers that are not finite")
    failed = c.Words(
        "no fixed point after {max_steps} steps: the last one still moved a parameter by "
        "{largest:.3g} of 1 + its size; start closer, or raise max_steps"
    )
    body: tuple[c.Statement, ...] = (
        c.Set((before,), vector),
        c.Set((at,), shaped),
        c.Do(c.call(me("step"), *(c.call(c.Name(x), at) for x in names))),
        c.Set((move,), c.Sign("/", c.Text("(1 + np.abs(before))", ("np",)), moved)),
        c.Set((largest,), c.call("float", most)),
        c.When(unknown, (c.Raise("RuntimeError", found),)),
        c.When(c.Sign("<=", tol, largest), (c.Return(count),)),
    )
    return (
        c.Set((largest,), c.Attribute(of_math, "inf")),
        c.Loop((count,), c.call("range", one, c.Sign("+", one, steps)), body),
        c.Raise("RuntimeError", failed),
    )


def together(rows: Sequence[c.Expression]) -> c.Invoked:
    """The arrays in one place of several lists, place by place."""
    return c.Invoked(c.Name("zip"), tuple(rows), (("strict", c.Literal(True)),))


def handing(
    function: str,
    first: Sequence[c.Expression],
    rows: Sequence[c.Expression],
    handed: Sequence[c.Expression],
    indent: int = 8,
) -> Lines:
    """A call with lists of arrays among its arguments, which have a line where there are many."""
    whole = c.call(function, *first, c.Row(tuple(rows)), *handed)
    if len(flat(whole)) <= WIDTH - indent:
        return [c.Do(whole)]
    named = c.Name("rows")
    listed = c.Set((named,), c.Row(tuple(rows), listed=True, filled=True))
    return [listed, c.Do(c.call(function, *first, named, *handed))]
