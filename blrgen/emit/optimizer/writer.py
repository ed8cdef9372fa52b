"""The class of an optimizer over arrays, as a tree: constructor, step, run, what it keeps.

It is the same for every target: what is done to arrays are words, which a target spells
(`blrgen.emit.tree.spelling`), and loops over their elements are functions that it calls.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from blrgen.core import Derivation
from blrgen.emit.common import input_words, is_derived
from blrgen.emit.kernels import Kernel
from blrgen.emit.law import Lowered
from blrgen.emit.moments import Moments
from blrgen.emit.names import class_name
from blrgen.emit.optimizer import parts
from blrgen.emit.optimizer.parts import (
    ARRAYS,
    COUNT,
    FINITE,
    NOTHING,
    PARAMS,
    PENDING,
    RNG,
    SELF,
    SUMS,
    me,
)
from blrgen.emit.optimizer.passes import Passes
from blrgen.emit.plan import DRAWS, Plan, phase_of
from blrgen.emit.sampler import Drawing
from blrgen.emit.text import WIDTH
from blrgen.emit.tree import classes as c
from blrgen.emit.tree.layout import flat
from blrgen.errors import InternalError
from blrgen.program import nodes as n
from blrgen.program.program import Program, Variable
from blrgen.program.types import SCALAR

FUNCTION_OF = {"g": "gradient", "h": "hessian", "H": "hessian"}  # inputs, as functions of m
Given = Mapping[str, c.Expression]


@dataclass(frozen=True)
class Writer:
    """Writes one class; `law` and `drawing` are of a candidate that is no Gaussian."""

    derivation: Derivation
    passes: Passes
    law: Lowered | None = None
    drawing: Drawing | None = None
    moments: Moments | None = None

    @property
    def plan(self) -> Plan:
        """The programs of the rule's phases."""
        return self.passes.plan

    @property
    def program(self) -> Program:
        """The rule."""
        return self.plan.program

    @property
    def main(self) -> str:
        """The state that the parameters are."""
        return self.passes.main

    def definition(self) -> c.Class:
        """The class."""
        from blrgen.emit.optimizer import guard, posterior, probing

        p = self.plan
        methods = [self.constructor(), self.held(), *parts.check_method(self.program)]
        methods += guard.methods(self)
        methods += [probing.draw(self)] if p.draw is not None else []
        methods += [probing.observe(self)] if p.observe is not None else []
        methods += probing.steps(self) if p.observe is not None else [self.step()]
        methods += [self.run()] if self.program.until else []
        why = self.derivation.rule.unkept
        methods += [parts.unkept(why)] if why else posterior.methods(self)
        doc = parts.described(self.derivation, self.program)
        return c.Class(class_name(self.derivation), doc, (*methods, *parts.resuming(p)))

    # -- constructor ---------------------------------------------------------------------
    def constructor(self) -> c.Method:
        """Keeps the arrays; everything else starts as the rule says."""
        hypers = self.program.of("hyper")
        needed = parts.first_states(self.program)
        kinds = {v.name: ARRAYS if v.type != SCALAR else "float" for v in self.plan.states}
        arguments = [c.Argument("params", ARRAYS)]
        arguments += [c.Argument(x, kinds[x], None, True) for x in needed]
        arguments += parts.hyper_arguments(hypers)
        arguments += [c.Argument("check_finite", "bool", c.Literal(True), True)]
        given = [v for v in hypers if not is_derived(v)]
        body: list[c.Statement] = [c.Set((me(v.name),), c.Name(v.name)) for v in given]
        own = parts.hyperparameters(self.program)
        body += [parts.derived(v, own) for v in hypers if is_derived(v)]
        body += parts.checked(self.program)
        held = c.call("_held", c.Literal("params"), c.Name("params"))
        body += [c.Set((PARAMS,), held), *self._vectors()]
        body += [c.Set((me("t"),), c.Literal(0), note="steps taken")]
        body += [self._first(v, v.name in needed) for v in self.plan.states if v.name != self.main]
        kind = "dict[str, list[Array]]"
        if self.plan.carried:
            body.append(c.Set((PENDING,), c.Table(()), kind, "what the last draw left"))
        if self.plan.sums:
            body.append(c.Set((SUMS,), c.Table(()), kind, "over this step's draws"))
            body.append(c.Set((COUNT,), c.Literal(0), note="how many there are in them"))
        body += [c.Do(c.call(me("_check_state")))] if self.passes.guarded else []
        body.append(c.Set((FINITE,), c.Name("check_finite")))
        doc = "Keep the arrays to update; everything else starts as the rule says."
        return c.Method("__init__", tuple(arguments), "None", doc, tuple(body))

    def held(self) -> c.Method:
        """The parameters as flat views, of the arrays that an object has now, if it is a copy."""
        said = "The parameters as flat views."
        body = (c.Return(c.call("_flat", SELF)),)
        return c.Method(self.main, (), "list[Array]", said, body, "property")

    def _vectors(self) -> list[c.Statement]:
        """A look at arrays that are one vector each, with as many components as the family has."""
        if not self.passes.coupled:
            return []
        quantities = self.derivation.rule.of("state")
        sizes = [q.symbol.size for q in quantities if hasattr(q.symbol, "size")]
        fixed = int(sizes[0]) if sizes and sizes[0].is_Integer else None
        alone = bool(self.passes.numbers) or any(v.type == SCALAR for v in self.plan.inputs)
        args = (c.Name("params"), c.Literal(fixed), c.Literal(alone))
        return [c.Do(c.call("_check_vectors", *args))]

    def _first(self, v: Variable, asked: bool) -> c.Set:
        """The first value of a state; `asked`: from an argument."""
        main, own = c.Name(self.main), tuple(parts.hyperparameters(self.program).items())
        if v.type == SCALAR:
            return c.Set((me(v.name),), c.Formula(v.init or n.ZERO, own))
        if asked:
            given = (c.Literal(v.name), c.Name(v.name), c.Name("params"), c.Name("check_finite"))
            x = c.Name("x")
            return c.Set(
                (me(v.name),), c.Each(c.Word("copy", (x,)), (x,), c.call("_views", *given))
            )
        place = c.Literal([x.name for x in self.passes.arrays].index(v.name))
        value = self._first_array(v, main, place, own)
        return c.Set((me(v.name),), c.Each(value, (main,), me(self.main)))

    def _first_array(
        self, v: Variable, main: c.Name, place: c.Literal, own: tuple[tuple[str, c.Expression], ...]
    ) -> c.Expression:
        """The first value of a state beside one array of parameters."""
        start = v.init if v.init is not None else n.ZERO
        if start == n.ZERO:
            return c.Word("zeros", (main, place))
        read = n.names(start)
        if all(self.program.scope[x] == SCALAR for x in read):
            return c.Word("filled", (main, place, c.Formula(start, own)))
        if start == n.Sym(main.name):
            return c.Word("copy", (main,))
        if set(read) <= {main.name, *(k for k, _ in own)}:
            made = c.Formula(start, (*own, (main.name, main)), (main.name,))
            return c.Word("as_array", (made, main))
        others = {s.name: s for s in self.program.of("state") if s.name not in (v.name, main.name)}
        if isinstance(start, n.Sym) and start.name in others:  # it starts where that one does
            return self._first_array(others[start.name], main, place, own)
        raise InternalError(f"the first value of {v.name} depends on another state")

    # -- the lines of methods ------------------------------------------------------------
    def scalars(self, program: Program, own: Given | None = None) -> list[c.Statement]:
        """The scalar section; `own` are names that are written in other ways."""
        names = parts.hyperparameters(self.program)
        names |= {v.name: me(v.name) for v in self.passes.numbers}
        names |= dict(own or {})
        found: list[c.Statement] = []
        made = phase_of(program).scalars
        if any("t" in n.names(s.expr) for s in made):
            found.append(c.Set((c.Name("t"),), c.Sign("+", c.Literal(1), me("t"))))
        rows = tuple(names.items())
        return found + [c.Set((c.Name(s.name),), c.Formula(s.expr, rows)) for s in made]

    def writes(self, program: Program) -> list[c.Statement]:
        """Next values of states that are numbers."""
        names = {v.name for v in self.passes.numbers}
        made = {s.name for s in phase_of(program).body}  # by a kernel, in its arrays' type
        return [
            c.Set((me(a),), c.call("float", c.Name(b)) if b in made else c.Name(b))
            for a, b in phase_of(program).writes
            if a in names
        ]

    def number(self, name: str, own: Sequence[str] = ()) -> c.Expression:
        """A number that a kernel takes, where the class has it; `own` have a local value."""
        if name == DRAWS:
            return c.call("float", COUNT)
        held = {v.name for v in (*self.program.of("hyper"), *self.passes.numbers)} - {*own}
        return me(name) if name in held else c.Name(name)

    def numbers(self, names: Sequence[str], own: Sequence[str] = ()) -> tuple[
        list[c.Statement], tuple[c.Expression, ...]
    ]:  # fmt: skip
        """The numbers that a kernel takes: a line that names them, and how they are given."""
        values = tuple(self.number(x, own) for x in names)
        if len(values) < 3:
            return [], values
        named = c.Name("numbers")
        return [c.Set((named,), c.Row(values, filled=True))], (c.Sign("*", named),)

    def rows(self, names: Sequence[str], given: Given) -> list[c.Expression]:
        """The lists of arrays that a kernel takes."""
        return [given.get(a, me(a)) for a in names]

    def each(self, k: Kernel, given: Given) -> list[c.Statement]:
        """Run a kernel on all arrays, on those in the same place of every list at a time."""
        lines, handed = self.numbers(k.scalars)
        rows = self.rows(k.arrays, given)
        if self.passes.compiled and self.passes.joins(k):
            serial, threaded = c.Name(k.name), c.Name(f"{k.name}_threads")
            return [*lines, *run("_run", (serial, threaded), rows, handed)]
        arrays = c.Name("arrays")
        return [*lines, c.Loop((arrays,), together(rows), (self.called(k, handed),))]

    def called(self, k: Kernel, handed: Sequence[c.Expression]) -> c.Statement:
        """The call of a kernel on the arrays in one place, with numbers of their type."""
        arrays = c.Name("arrays")
        typed = c.call("_typed", c.Item(arrays, c.Literal(0)), *handed)
        call = c.call(
            c.Name(k.name), c.Sign("*", arrays), *([c.Sign("*", typed)] if handed else [])
        )
        return c.Set(c.own(*k.returns), call) if k.returns else c.Do(call)

    def given(self) -> dict[str, c.Expression]:
        """Inputs, and what the last draw left."""
        found: dict[str, c.Expression] = {v.name: c.Name(v.name) for v in self.plan.inputs}
        return found | {x: c.Item(PENDING, c.Literal(x)) for x in self.plan.carried}

    def inputs_checked(self) -> list[c.Statement]:
        """Arrays as flat views, then numbers."""
        found = list[c.Statement]()
        for v in sorted(self.plan.inputs, key=lambda v: v.type == SCALAR):
            name, like = c.Name(v.name), () if v.type == SCALAR else (PARAMS,)
            look = "_number" if v.type == SCALAR else "_views"
            found.append(c.Set((name,), c.call(look, c.Literal(v.name), name, *like, FINITE)))
        return found

    def input_arguments(self, optional: bool = False) -> tuple[c.Argument, ...]:
        """Arguments of `step`."""
        none, nothing = (" | None", NOTHING) if optional else ("", None)
        kinds = {v.name: "float" if v.type == SCALAR else ARRAYS for v in self.plan.inputs}
        return tuple(c.Argument(x, f"{kind}{none}", nothing) for x, kind in kinds.items())

    def need_pending(self, what: str = "step") -> list[c.Statement]:
        """Without a draw there is nothing to step from."""
        said = c.Literal(f"{what} needs a draw: call draw first")
        absent = c.Sign("not", PENDING)
        return [c.When(absent, (c.Raise("RuntimeError", said),))] if self.plan.carried else []

    # -- step and run --------------------------------------------------------------------
    def step(self) -> c.Method:
        """One step from one draw, or from none."""
        from blrgen.emit.optimizer import guard, probing

        p, passes = self.plan, self.passes
        rows = [*self.need_pending(), *self.inputs_checked()]
        if self.program.halved:
            rows += [*guard.before(self), *guard.tried(self), *guard.after(self)]
        elif passes.fuses:
            rows += probing.fused(self)
        else:
            single = passes.kernels()["single"]
            writes, looked = self.writes(p.single), guard.after(self)
            rows += [*self.scalars(p.single), *guard.before(self), *self.each(single, self.given())]
            rows += [*writes, *looked] if passes.coupled else [*looked, *writes]
        if p.carried and not passes.fuses:
            rows.append(c.Set((PENDING,), c.Table(())))
        where = "where `draw` said" if p.probe else f"at {self.main}"
        said = f"Update the parameters in place from {input_words(p.inputs)}, {where}"
        return self.stepping(self.input_arguments(), said, rows)

    def stepping(
        self, arguments: Sequence[c.Argument], said: str, rows: Sequence[c.Statement]
    ) -> c.Method:
        """`step`, which draws again where the rule draws and a generator is given."""
        rng, counted = c.Name("rng"), c.Set((me("t"),), c.Literal(1), op="+=")
        first = parts.checked(self.program)
        if not self.plan.noises:
            body = (*first, *rows, counted)
            return c.Method("step", tuple(arguments), "None", f"{said}.", body)
        absent = c.Sign("is", NOTHING, rng)
        drawn: c.Expression = c.call(me("draw"), rng)
        if self.passes.fuses:
            probe = c.call("_lent", c.Item(PENDING, c.Literal(self.plan.probe)), PARAMS)
            drawn = c.Either(probe, PENDING, drawn)
        looked = c.When(c.Sign("is not", NOTHING, rng), (c.Do(c.call("_generator", rng)),))
        body = (*first, looked, *rows, counted, c.When(absent, (c.Return(NOTHING),)))
        given = (*arguments, c.Argument("rng", f"{RNG} | None", NOTHING, True))
        doc = f"{said}; with rng, draw again."
        return c.Method("step", given, "Arrays | None", doc, (*body, c.Return(drawn)))

    def run(self) -> c.Method:
        """Step to the fixed point; inputs are functions of the parameters."""
        if self.plan.noises:
            raise InternalError("a rule that draws has no fixed point")
        vector = parts.numpy("concatenate", me(self.main))
        x = c.Name("x")
        copies = c.Each(c.Word("copy", (x,)), (x,), me(self.main))
        return running(self.plan, vector, c.call("_shaped", copies, PARAMS))


def running(plan: Plan, vector: c.Expression, shaped: c.Expression) -> c.Method:
    """`run`: steps until no parameter moves; `vector` is all of them, `shaped` a copy."""
    names = [FUNCTION_OF.get(v.name, v.name) for v in plan.inputs]
    tol, steps, count, before, at = c.own("tol", "max_steps", "count", "before", "at")
    move, largest = c.own("move", "largest")
    one = c.Literal(1)
    limit = c.call("range", one, c.Sign("+", one, steps))
    arguments = [c.Argument(x, "Callable[[Arrays], Any]") for x in names]
    arguments += [c.Argument("tol", "float", c.Literal(1e-8)),
                  c.Argument("max_steps", "int", c.Literal(100))]  # fmt: skip
    moved = parts.numpy("abs", c.Sign("-", before, vector))
    relative = c.Sign("/", c.Text(f"(1 + np.abs({before.name}))", ("np",)), moved)
    found = c.Words("step {count} led to numbers that are not finite")
    finite = c.Invoked(c.Attribute(c.Use("math"), "isfinite"), (largest,))
    body: tuple[c.Statement, ...] = (
        c.Set((before,), vector),
        c.Set((at,), shaped),
        c.Do(c.call(me("step"), *(c.call(c.Name(x), at) for x in names))),
        c.Set((move,), relative),
        c.Set((largest,), c.call("float", c.Invoked(c.Attribute(move, "max"), (),
                                                    (("initial", c.Literal(0)),)))),
        c.When(c.Sign("not", finite), (c.Raise("RuntimeError", found),)),
        c.When(c.Sign("<=", tol, largest), (c.Return(count),)),
    )  # fmt: skip
    failed = c.Words(
        "no fixed point after {max_steps} steps: the last one still moved a parameter by "
        "{largest:.3g} of 1 + its size; start closer, or raise max_steps"
    )
    doc = (
        "Step until no parameter moves by more than tol·(1 + |parameter|); return the steps.\n\n"
        "The functions take the parameters, in their own shape, and return "
        f"{input_words(plan.inputs)}."
    )
    first = c.Set((largest,), c.Attribute(c.Use("math"), "inf"))
    whole = (first, c.Loop((count,), limit, body), c.Raise("RuntimeError", failed))
    return c.Method("run", tuple(arguments), "int", doc, whole)


def together(rows: Sequence[c.Expression]) -> c.Invoked:
    """The arrays in one place of several lists, place by place."""
    return c.Invoked(c.Name("zip"), tuple(rows), (("strict", c.Literal(True)),))


def run(
    function: str,
    first: Sequence[c.Expression],
    rows: Sequence[c.Expression],
    handed: Sequence[c.Expression],
) -> list[c.Statement]:
    """A call with lists of arrays among its arguments, which have a line where there are many."""
    whole = c.call(function, *first, c.Row(tuple(rows)), *handed)
    if len(flat(whole)) < WIDTH - 8:
        return [c.Do(whole)]
    named = c.Name("rows")
    listed = c.Set((named,), c.Row(tuple(rows), listed=True, filled=True))
    return [listed, c.Do(c.call(function, *first, named, *handed))]
