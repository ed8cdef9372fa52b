"""The class around linear algebra: one vector of parameters, factor-and-solve, no inverse.

The parameters may be several arrays: they are gathered into one vector for a step
and written back only when every next value is known, so that a matrix that is not
positive definite leaves everything as it was.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from blrgen.emit import formed as matrix
from blrgen.emit.common import (
    check_line,
    check_method,
    head,
    hyper_assignments,
    input_words,
    keyword_arguments,
    law_numbers,
    noise_arguments,
)
from blrgen.emit.extents import Extent, extent_text, extents
from blrgen.emit.linear_functions import functions
from blrgen.emit.linear_guard import before_step, before_writing, check_state, sizes_in_ends
from blrgen.emit.linear_parts import constructor_arguments, first_rows, inputs_checked
from blrgen.emit.linear_posterior import posterior_methods
from blrgen.emit.plan import DRAWS, phase_of, scalar_names
from blrgen.emit.probing import DRAWN
from blrgen.emit.templates import fill
from blrgen.emit.text import call, indented
from blrgen.emit.tree.formed import DIAGONAL, WORK, Entries
from blrgen.emit.trial import HALVINGS
from blrgen.emit.uses import use
from blrgen.emit.writer import Writer
from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a
from blrgen.program.axes.formed import Formed, formed
from blrgen.program.axes.matrices import pass_over_axes
from blrgen.program.laws import distribution
from blrgen.program.program import Program
from blrgen.program.types import SCALAR, Type


@dataclass(frozen=True)
class LinearWriter(Writer):
    """Writes the pieces of a file for a rule of vectors and matrices."""

    fixed: bool = False  # whether the sizes are numbers, and every entry is a statement

    def over_axes(self, program: Program) -> a.Program:
        """The equations of a planned program, its numbers given."""
        return pass_over_axes(program, phase_of(program), self.returned(program))

    def formed(self, program: Program) -> Formed | None:
        """The matrix that is made entry by entry where it is factored, in a step."""
        if not self.jitted or self.fixed or program not in (self.plan.single, self.plan.averaged):
            return None
        scope = program.scope
        states = {
            local: state
            for state, local in phase_of(program).writes
            if state != self.main and scope[state] == scope[local]
        }
        data = [v.name for v in program.of("data")]
        return formed(self.over_axes(program), states, data)

    def entries(self, program: Program) -> Entries | None:
        """How the entries of that matrix are made; all steps of a class in one way."""
        found = {p: self.formed(p) for p in (self.plan.single, self.plan.averaged) if p}
        made = found.get(program)
        if made is None:
            return None
        again = all(x.known for x in found.values() if x is not None)
        return Entries(made, "_averaged" if program is self.plan.averaged else "", again)

    def all_entries(self) -> list[Entries]:
        """Those of a step, and of one after several draws."""
        found = (self.entries(p) for p in (self.plan.single, self.plan.averaged) if p)
        return [x for x in found if x is not None]

    @property
    def extents(self) -> dict[str, Extent]:
        """Size → the array and axis it is read from."""
        return extents(self.program)

    @property
    def kind(self) -> Type:
        """The type of the parameters."""
        return self.program.parameter.type

    @property
    def is_vector(self) -> bool:
        """Whether the parameters are gathered into one vector; else they are one matrix."""
        return self.kind.rank == "vector"

    def held(self, array: str) -> str:
        """How a method calls an array that it has not been given."""
        return array if array == self.main else f"self.{array}"

    def held_of(self, size: str) -> str:
        return self.held(self.extents[size].array if size in self.extents else self.main)

    # -- module-level functions ---------------------------------------------------

    def functions(self) -> tuple[list[str], list[str]]:
        return functions(self)

    def arguments(self, program: Program) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Arrays and numbers, those that are written to last."""
        entries = self.entries(program)
        over = self.over_axes(program) if entries is None else entries.made.program
        given = {q.name: q for q in over.given}
        arrays = [x for x in self.order if x in given and given[x].sizes]
        if entries is not None:
            arrays += [*entries.room, *([DIAGONAL] if entries.again else [])]
        return tuple(arrays), tuple(x for x in scalar_names(program) if x in given)

    def returned(self, program: Program) -> list[str]:
        """What the phase makes; next values of numbers may be known before it is called."""
        phase = phase_of(program)
        early = {s.name for s in phase.scalars}
        return [local for _, local in phase.writes if local not in early]

    def results(self, program: Program) -> list[str]:
        """What the function returns."""
        entries = self.entries(program)
        written = "" if entries is None else entries.made.name
        return [x for x in self.returned(program) if x != written]

    # -- the class ---------------------------------------------------------------

    def definition(self) -> str:
        methods = [self.init(), self.gathering(), *check_method(self.program)]
        methods += check_state(self)
        if self.plan.draw is not None:
            methods.append(self.draw())
        if self.plan.observe is not None:
            methods.append(self.observe())
        methods.append(self.step())
        if self.program.until:
            methods.append(self.run())
        methods += [*self.posterior(posterior_methods), self.resume()]
        return "\n\n".join([head(self.derivation, self.program), *methods])

    def gathering(self) -> str:
        """The caller's arrays as one array."""
        held = "_vector" if self.is_vector else "_parameter"
        return fill(
            "class/held.py.jinja",
            main=self.main,
            kind="Array",
            summary=f"The parameters as one {'vector' if self.is_vector else 'matrix'}.",
            value=f'{use(held)}("params", {use("_mine")}(self))',
        )

    def scatter(self, value: str) -> str:
        """The statement that writes next parameters in place."""
        if self.is_vector:
            return f"{use('_scattered')}({value}, self.params)"
        return f"self.params[:] = {value}"

    def init(self) -> str:
        held = f'{use("_held")}("params", params)' if self.is_vector else "params"
        rows = [f"self.params = {held}", "self.t = 0  # steps taken"]
        rows += [f"{self.main} = self.{self.main}", *first_rows(self), *matrix.first_rows(self)]
        if self.plan.carried:
            rows.append("self._pending: dict[str, Array] = {}  # the noise of the last draw")
        if self.plan.sums:
            rows.append("self._sums: dict[str, Array] = {}  # over the draws of this step")
            rows.append("self._draws = 0  # how many there are in them")
        rows += ["self._check_state()"] if check_state(self) else []
        rows.append("self.check_finite = check_finite")
        what = "arrays" if self.is_vector else "matrix"
        return fill(
            "class/init.py.jinja",
            check=check_line(self.program),
            arguments=keyword_arguments(constructor_arguments(self)),
            params="Arrays" if self.is_vector else "Array",
            summary=f"Keep the {what} to update; everything else starts as the rule says.",
            hyperparameters=hyper_assignments(self.program),
            states=indented("\n".join(rows), 8),
        )

    def scalar_given(self, names: tuple[str, ...], own: Collection[str] = ()) -> list[str]:
        attributes = {v.name for v in self.program.of("hyper")} - set(own)
        attributes |= {v.name for v in self.scalar_states}
        values = [
            f"self.{s}" if s in attributes else f"self._{s}" if s == DRAWS else s for s in names
        ]
        return [f"real({v})" for v in values]

    def called(
        self, name: str, program: Program, given: dict[str, str], own: Collection[str] = ()
    ) -> list[str]:
        """Results = name(arrays, scalars); `own` are hyperparameters with a local value."""
        arrays, scalars = self.arguments(program)
        entries = self.entries(program)
        if entries is not None:
            own_room = {x: f"self._{x}" for x in (WORK, DIAGONAL)}
            given = given | own_room | {entries.made.name: entries.made.name}
        values = [given.get(x, x if x == self.main else f"self.{x}") for x in arrays]
        values += self.scalar_given(scalars, own)
        results = ", ".join(self.results(program))
        rows = [f"        real = {self.main}.dtype.type"] if scalars else []
        rows += [matrix.room(entries)] if entries is not None else []
        return [*rows, call(f"        {results} = {name}(", values)]

    def scalar_lines(self, program: Program, own: Mapping[str, str] | None = None) -> list[str]:
        """The sizes that are needed as numbers, and the scalar section."""
        return [*self.sizes_first(program), *super().scalar_lines(program, own)]

    def sizes_first(self, program: Program) -> list[str]:
        """The sizes that are needed as numbers, and a look at what was set from outside."""
        sizes = {v.name for v in self.program.of("size")}
        phase = phase_of(program)
        read = {x for s in (*phase.scalars, *phase.body) for x in n.names(s.expr)}
        used = sorted((read | sizes_in_ends(self)) & sizes)
        rows = [f"        {x} = {extent_text(x, self.extents, self.held)}" for x in used]
        return [*rows, *before_step(self)]

    def taken(self, name: str, program: Program, given: dict[str, str]) -> list[str]:
        """The step, with smaller and smaller step sizes where the rule says so, and the writes."""
        rate = self.program.halved
        if not rate:
            rows = [*self.scalar_lines(program), *self.called(name, program, given)]
            return [*rows, *before_writing(self, program), *self.commit(program)]
        inner = [
            *super().scalar_lines(program, {rate: rate}),
            *self.called(name, program, given, (rate,)),
            *before_writing(self, program),
        ]
        return [
            *self.sizes_first(program),
            f"        for halvings in range({HALVINGS + 1}):",
            f"            {rate} = self.{rate} / 2**halvings",
            "            try:",
            *(indented(row, 8) for row in inner),
            "                break",
            "            except ValueError:  # outside",
            f"                if halvings == {HALVINGS}:",
            "                    raise",
            *self.commit(program),
        ]

    def input_arguments(self, optional: bool = False) -> list[str]:
        made = []
        for v in self.plan.inputs:
            kind = "float" if v.type == SCALAR else "Array"
            kind = "Arrays" if v.type.rank == "vector" and v.type == self.kind else kind
            made.append(f"{v.name}: {kind}" + (" | None = None" if optional else ""))
        return made

    def gathered(self) -> str:
        return f"        {self.main} = self.{self.main}"

    def commit(self, program: Program) -> list[str]:
        """Write all next values."""
        rows = []
        numbers = {v.name for v in self.scalar_states} - {x.name for x in phase_of(program).scalars}
        for state, local in phase_of(program).writes:
            value = f"float({local})" if state in numbers else local
            write = self.scatter(local) if state == self.main else f"self.{state} = {value}"
            rows.append(f"        {write}")
        return rows

    def given(self) -> dict[str, str]:
        found = {v.name: v.name for v in self.plan.inputs}
        return found | {x: f'self._pending["{x}"]' for x in self.plan.carried}

    def step(self) -> str:
        if self.plan.observe is not None:
            return self.step_of_draws()
        rows = [*self.need_pending(), self.gathered(), *inputs_checked(self)]
        rows += self.taken("_step", self.plan.single, self.given())
        if self.plan.carried:
            rows.append("        self._pending = {}")
        return fill(
            "class/step.py.jinja",
            check=check_line(self.program),
            arguments=", ".join(["self", *self.input_arguments()]),
            summary=f"Update the parameters in place from {input_words(self.plan.inputs)}.",
            body="\n".join(rows),
        )

    def single_rows(self) -> list[str]:
        single = self.plan.single
        return [
            *self.need_pending(), self.gathered(), *inputs_checked(self),
            *self.taken("_step", single, self.given()),
        ]  # fmt: skip

    def averaged_rows(self) -> list[str]:
        p = self.plan
        assert p.averaged is not None
        sums = {x: f'self._sums["{x}"]' for x in p.sums}
        return [self.gathered(), *self.taken("_step_averaged", p.averaged, sums)]

    def draw(self) -> str:
        p = self.plan
        assert p.draw is not None
        rows = [self.gathered()]
        for v in p.noises:
            law = distribution(v.distribution)
            assert law is not None
            given = f'{use("_vector")}("{v.name}", {v.name}, self.params, self.check_finite)'
            drawn = call(f"{use(DRAWN[law.name])}(", ["rng", self.main, *law_numbers(law)])
            rows += [
                f"        if {v.name} is not None:",
                f"            {v.name} = {given}.copy()",
                "        else:",
                f'            rng = {use("_generator")}(rng, "{v.name}=")',
                f"            {v.name} = {drawn}",
            ]
        rows += self.scalar_lines(p.draw)
        rows += self.called("_draw", p.draw, {v.name: v.name for v in p.noises})
        if p.carried:
            kept = ", ".join(f'"{x}": {x}' for x in p.carried)
            rows.append(f"        self._pending = {{{kept}}}")
        rows.append(f"        return {use('_split')}({p.probe}.copy(), self.params)")
        return fill(
            "class/draw.py.jinja",
            check=check_line(self.program),
            signature=call("    def draw(", ["self", *noise_arguments(p.noises)], ") -> Arrays:"),
            summary="Return where to evaluate the loss; the noise is remembered for `step`.",
            body="\n".join(rows),
        )

    def observe(self) -> str:
        p = self.plan
        assert p.observe is not None
        rows = [*self.need_pending("observe"), self.gathered(), *inputs_checked(self)]
        rows += self.scalar_lines(p.observe)
        rows += self.called("_observe", p.observe, self.given())
        for total, mean in zip(p.sums, p.means, strict=True):
            rows.append(f'        self._sums["{total}"] = self._sums.get("{total}", 0) + {mean}')
        rows += ["        self._pending = {}", "        self._draws += 1"]
        return fill(
            "class/observe.py.jinja",
            arguments=", ".join(["self", *self.input_arguments()]),
            summary=f"Take {input_words(p.inputs)} at the last draw, one of several.",
            body="\n".join(rows),
        )

    def vector_of_parameters(self) -> str:
        return f"self.{self.main}.copy()"

    def parameters_shaped(self) -> str:
        return self.shaped("before.copy()")

    def shaped(self, vector: str) -> str:
        """A vector as the caller holds his: the parameters' shape, if they are one."""
        return f"{use('_split')}({vector}, self.params)" if self.is_vector else vector
