"""The class of a rule of vectors and matrices, as a tree: one vector of parameters, or one matrix.

The parameters may be several arrays: they are gathered into one vector for a step
and written back only when every next value is known, so that a matrix that is not
positive definite leaves everything as it was.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from blrgen.emit.common import input_words, is_derived
from blrgen.emit.linear import LinearFunctions
from blrgen.emit.optimizer import matrix_ends, matrix_posterior, matrix_start, parts
from blrgen.emit.optimizer.base import Base, Given, Lines
from blrgen.emit.optimizer.guard import HALVINGS
from blrgen.emit.optimizer.held import Matrix, held
from blrgen.emit.optimizer.parts import COUNT, PARAMS, PENDING, SUMS, me, numpy
from blrgen.emit.optimizer.probing import DRAWN, drawing_method, law_numbers, law_of, pending
from blrgen.emit.sampler import Drawing
from blrgen.emit.tree import classes as c
from blrgen.emit.tree.formed import DIAGONAL, WORK
from blrgen.program.part import Part
from blrgen.program.plan import DRAWS
from blrgen.program.program import Variable
from blrgen.program.types import SCALAR


@dataclass(frozen=True)
class MatrixWriter(Base):
    """Writes one class around functions of linear algebra."""

    functions: LinearFunctions
    drawing: Drawing | None = None
    law: None = None

    @property
    def parameters(self) -> c.Name:
        """The parameters as one array, in a method."""
        return c.Name(self.main)

    @property
    def held(self) -> Matrix:
        """How the caller holds the parameters."""
        return held(self.functions.kind)

    def kind_of(self, v: Variable) -> str:
        """The type of an input of `step`."""
        like = v.type == self.functions.kind
        return "float" if v.type == SCALAR else self.held.kind if like else "Array"

    def checked(self) -> Lines:
        """Ends of constants are made of sizes, and looked at where these are known."""
        return []

    def sections(self) -> tuple[list[c.Method], ...]:
        """What is held; draws; steps; runs; the posterior."""
        p, why = self.plan, self.derivation.rule.unkept
        several = p.observe is not None
        return (
            [self.gathering(), *matrix_ends.check_state(self)],
            [self.draw()] if p.draw is not None else [],
            [self.observe()] if several else [],
            self.steps(self.single_rows(), self.averaged_rows()) if several else [self.step()],
            [self.fixed_point()] if self.program.until else [],
            [parts.unkept(why)] if why else matrix_posterior.methods(self),
        )

    def said(self) -> str:
        """The docstring."""
        return parts.described(self.derivation, self.program, apart=True)

    def fixed_point(self) -> c.Method:
        """Step to the fixed point; inputs are functions of the parameters."""
        copied = c.Word("copy", (c.Name("before"),))
        return self.run(c.Word("copy", (me(self.main),)), self.shaped(copied))

    def init(self) -> c.Method:
        """Keeps the arrays; everything else starts as the rule says."""
        hypers = [v for v in self.program.of("hyper") if v.type == SCALAR]
        body = parts.taken(v.name for v in hypers if not is_derived(v))
        own = self.held.kept(c.Name("params"))
        body += [c.Set((PARAMS,), own), c.Set((me("t"),), c.Literal(0), note="steps taken")]
        body += [self.gathered(), *matrix_start.first_rows(self), *self.workspace()]
        noise, over = "the noise of the last draw", "over the draws of this step"
        body += self.remembering("Array", noise, over)
        body += [c.Do(c.call(me("_check_state")))] if matrix_ends.check_state(self) else []
        doc = f"Keep the {self.held.name} to update; everything else starts as the rule says."
        first = c.Argument("params", self.held.kind)
        return self.constructor((first, *matrix_start.arguments(self)), doc, body)

    def gathering(self) -> c.Method:
        """The caller's arrays as one array."""
        value = self.held.gathered()
        said = f"The parameters as one {self.held.one}."
        return c.Method(self.main, (), "Array", said, (c.Return(value),), "property")

    def gathered(self) -> c.Set:
        """The parameters under their name."""
        return c.Set((self.parameters,), me(self.main))

    def shaped(self, vector: c.Expression) -> c.Expression:
        """A value for every parameter as the caller holds his."""
        return self.held.shaped(vector)

    def workspace(self) -> Lines:
        """Where the next matrix is made entry by entry, and where it is factored."""
        work = next(iter(self.functions.all_entries()), None)
        if work is None:
            return []
        state = me(work.made.state)
        empty = numpy("empty_like", state)
        rows: Lines = [
            c.Set((me("_own"),), c.Row((state, empty)), note=f"one of them is {work.made.state}"),
            c.Set((me(f"_{WORK}"),), empty, note="where it is factored"),
        ]
        if work.again:
            dtype = c.Attribute(self.parameters, "dtype")
            zeros = numpy("zeros", c.call("len", state), dtype=dtype)
            note = f"of {work.made.state}, where `{WORK}` has its factor"
            rows.append(c.Set((me(f"_{DIAGONAL}"),), zeros, note=note))
        return rows

    # -- steps ---------------------------------------------------------------------------
    def called(self, name: str, program: Part, given: Given, own: Sequence[str] = ()) -> Lines:
        """Results = name(arrays, scalars); `own` are hyperparameters with a local value."""
        work = self.functions.entries(program)
        arrays, scalars = self.functions.arguments(program)
        places = {self.main: self.parameters, **given}
        rows = Lines()
        if scalars:
            rows.append(c.Set((c.Name("real"),), c.Word("type", (self.parameters,))))
        if work is not None:
            kept, made = me("_own"), c.Name(work.made.name)
            first = c.Item(kept, c.Literal(0))
            rows.append(c.Set((made,), c.Item(kept, c.Sign("is", first, me(work.made.state)))))
            places |= {made.name: made, **{x: me(f"_{x}") for x in (WORK, DIAGONAL)}}
        values = [places.get(a, me(a)) for a in arrays]
        count = {DRAWS: COUNT}
        values += [c.call(c.Name("real"), count.get(s, self.number(s, own))) for s in scalars]
        results = c.own(*self.functions.results(program))
        return [*rows, c.Set(results, c.call(c.Name(name), *values))]

    def sizes_first(self, program: Part) -> Lines:
        """The sizes that are needed as numbers, and a look at what was set from outside."""
        return [*matrix_ends.sizes(self, program), *matrix_ends.before_step(self)]

    def taken(self, name: str, program: Part, given: Given) -> Lines:
        """The step, with smaller and smaller step sizes where the rule says so, and the writes."""
        rate = self.program.halved
        own = {rate: c.Name(rate)} if rate else {}
        inner = [
            *self.scalars(program, own),
            *self.called(name, program, given, tuple(own)),
            *matrix_ends.before_writing(self, program),
        ]
        first, last = self.sizes_first(program), self.commit(program)
        if not rate:
            return [*first, *inner, *last]
        halvings = c.Name("halvings")
        smaller = c.Sign("/", c.Sign("**", halvings, c.Literal(2)), me(rate))
        over = c.When(c.Sign("==", c.Literal(HALVINGS), halvings), (c.Raise(),))
        tried = c.Attempt((*inner, c.Break()), "ValueError", (over,), "outside")
        body = (c.Set((c.Name(rate),), smaller), tried)
        return [*first, c.Loop((halvings,), c.call("range", c.Literal(HALVINGS + 1)), body), *last]

    def commit(self, program: Part) -> Lines:
        """Write all next values."""
        rows = Lines()
        numbers = {v.name for v in self.plan.numbers} - {x.name for x in program.numbers}
        for state, local in program.writes:
            value = c.Name(local)
            if state == self.main:
                rows.append(self.held.written(value))
            else:
                made = c.call("float", value) if state in numbers else value
                rows.append(c.Set((me(state),), made))
        return rows

    def looked(self) -> Lines:
        """What is needed, the parameters, and inputs that were looked at."""
        return [*self.need_pending(), self.gathered(), *matrix_start.inputs_checked(self)]

    def step(self) -> c.Method:
        """One step."""
        rows = [*self.looked(), *self.taken("_step", self.plan.single, self.given())]
        rows += [c.Set((PENDING,), c.Table(()))] if self.plan.carried else []
        said = f"Update the parameters in place from {input_words(self.plan.inputs)}."
        counted = c.Set((me("t"),), c.Literal(1), op="+=")
        body = (*rows, counted)
        return c.Method("step", self.input_arguments(), "None", said, body)

    def single_rows(self) -> Lines:
        """From one draw: check, compute the scalars, update."""
        rows = [*self.looked(), *self.taken("_step", self.plan.single, self.given())]
        return [*rows, c.Set((PENDING,), c.Table(()))]

    def averaged_rows(self) -> Lines:
        """From the sums over draws: the same."""
        p = self.plan
        assert p.averaged is not None
        sums: dict[str, c.Expression] = {x: c.Item(SUMS, c.Literal(x)) for x in p.sums}
        return [self.gathered(), *self.taken("_step_averaged", p.averaged, sums)]

    def draw(self) -> c.Method:
        """Where to evaluate the loss."""
        p, rows = self.plan, Lines([self.gathered()])
        assert p.draw is not None
        for v in p.noises:
            law, name, rng = law_of(v), c.Name(v.name), c.Name("rng")
            given = c.call("_vector", c.Literal(v.name), name, PARAMS, parts.FINITE)
            made = c.call(c.Use(DRAWN[law.name]), rng, self.parameters, *law_numbers(law))
            looked = c.Set((rng,), c.call("_generator", rng, c.Literal(f"{v.name}=")))
            taken = c.Set((name,), c.Word("copy", (given,)))
            asked = c.Sign("is not", parts.NOTHING, name)
            rows.append(c.When(asked, (taken,), (looked, c.Set((name,), made))))
        rows += [*self.sizes_first(p.draw), *self.scalars(p.draw)]
        rows += self.called("_draw", p.draw, {v.name: c.Name(v.name) for v in p.noises})
        probe = c.call("_split", c.Word("copy", (c.Name(p.probe),)), PARAMS)
        rows += [*pending(self), c.Return(probe)]
        said = "Return where to evaluate the loss; what `step` needs of the draw is remembered."
        return drawing_method(self, said, rows)

    def observe(self) -> c.Method:
        """What one of several draws has shown."""
        p = self.plan
        assert p.observe is not None
        rows = [*self.need_pending("observe"), self.gathered(), *matrix_start.inputs_checked(self)]
        rows += [*self.sizes_first(p.observe), *self.scalars(p.observe)]
        rows += self.called("_observe", p.observe, self.given())
        for total, mean in zip(p.sums, p.means, strict=True):
            kept = c.Invoked(c.Attribute(SUMS, "get"), (c.Literal(total), c.Literal(0)))
            summed = c.Sign("+", c.Name(mean), kept)
            rows.append(c.Set((c.Item(SUMS, c.Literal(total)),), summed))
        rows += [c.Set((PENDING,), c.Table(())), c.Set((COUNT,), c.Literal(1), op="+=")]
        said = f"Take {input_words(p.inputs)} at the last draw, one of several."
        return c.Method("observe", self.input_arguments(), "None", said, tuple(rows))
