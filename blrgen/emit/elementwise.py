"""The class around elementwise kernels: flat views, one kernel call for each array."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from blrgen.emit.common import (
    check_line,
    check_method,
    defaults,
    head,
    hyper_assignments,
    init_number,
    init_value,
    input_words,
    keyword_arguments,
)
from blrgen.emit.guard import after_step, at_start, before_step, guarded, method
from blrgen.emit.kernels import Kernel, adding, kernel
from blrgen.emit.plan import DRAWS
from blrgen.emit.posterior import posterior_methods
from blrgen.emit.printers import ScalarPrinter
from blrgen.emit.probing import (
    draw_method,
    drawing,
    drawing_again,
    fused_rows,
    fuses,
    joined_functions,
    joins,
    observe_method,
    run_all,
)
from blrgen.emit.templates import fill
from blrgen.emit.text import call, indented
from blrgen.emit.trial import tried
from blrgen.emit.uses import use
from blrgen.emit.writer import Writer
from blrgen.program import nodes as n
from blrgen.program.program import Variable
from blrgen.program.types import SCALAR


class ElementwiseWriter(Writer):
    """Writes the pieces of a file for a rule that acts element by element."""

    def kernels(self) -> dict[str, Kernel]:
        """All the kernels of the file, by what they are for."""
        made = self.phase_kernels()
        if fuses(self):
            made["again"] = drawing_again(self, made["single"], made["draw"])
        if self.moments is not None:
            made["moments"] = self.moments.kernel()
        often = {name for k in drawing(self, made) for name in (k.name, *(p.name for p in k.parts))}
        return {what: replace(k, by_block=k.name in often) for what, k in made.items()}

    def phase_kernels(self) -> dict[str, Kernel]:
        """Those of one phase each, by its name."""
        p = self.plan
        made = {"single": kernel("_step", "Update every element in place.", p.single, self.order)}
        if p.draw is not None:
            made["draw"] = kernel(
                "_draw",
                f"Write where to evaluate the loss into {p.probe}.",
                p.draw,
                self.order,
                is_output=True,
            )
        if p.observe is not None and p.averaged is not None:
            made["observe"] = kernel(
                "_observe",
                "Add what one draw has shown to the sums.",
                adding(p.observe),
                self.order,
            )
            made["averaged"] = kernel(
                "_step_averaged", "Update every element in place, from averages over draws.",
                p.averaged, self.order,
            )  # fmt: skip
        return made

    def functions(self) -> tuple[list[str], list[str]]:
        """The kernels of a draw and a step; the same in other passes over memory."""
        made = self.kernels()
        first = [self.write(made[k]) for k in ("draw", "single") if k in made]
        others = ("observe", "averaged", "again", "moments")
        rest = [self.write(made[k]) for k in others if k in made]
        return first, rest + joined_functions(self)

    @property
    def coupled(self) -> bool:
        """Whether each array is one vector whose components need sums over all of them."""
        return any(k.coupled for k in self.phase_kernels().values())

    @property
    def one_number(self) -> bool:
        """Whether a step takes a number beside the vectors."""
        return any(v.type == SCALAR for v in self.plan.inputs)

    def definition(self) -> str:
        methods = [self.init(), self.held(), *check_method(self.program), *method(self)]
        if self.plan.draw is not None:
            methods.append(draw_method(self))
        if self.plan.observe is not None:
            methods.append(observe_method(self))
        methods.append(self.step())
        if self.program.until:
            methods.append(self.run())
        methods += [*self.posterior(posterior_methods), self.resume()]
        return "\n\n".join([head(self.derivation, self.program), *methods])

    @property
    def in_one_pass(self) -> bool:
        return fuses(self)

    @property
    def guarded(self) -> tuple[Variable, ...]:
        """The states whose domain a step must not leave."""
        halved = bool(self.program.halved)
        return guarded(self.derivation, self.plan.states, self.coupled, halved)

    def init(self) -> str:
        arguments, needed = defaults(self.program)
        rows = [f'self.params = {use("_held")}("params", params)']
        rows += [self.check_vectors()] if self.coupled else []
        rows += ["self.t = 0  # steps taken"]
        for v in self.plan.states:
            if v.name == self.main:
                continue
            if v.type == SCALAR:
                printer = ScalarPrinter(
                    {h.name: f"self.{h.name}" for h in self.program.of("hyper")}
                )
                rows.append(f"self.{v.name} = {printer(v.init or n.ZERO)}")
                continue
            rows.append(f"self.{v.name} = {self.first_arrays(v, v.name in needed)}")
        if self.plan.carried:
            rows.append("self._pending: dict[str, list[Array]] = {}  # what the last draw left")
        if self.plan.sums:
            rows.append("self._sums: dict[str, list[Array]] = {}  # over this step's draws")
            rows.append("self._draws = 0  # how many there are in them")
        rows += [*at_start(self), "self.check_finite = check_finite"]
        return fill(
            "class/init.py.jinja",
            check=check_line(self.program),
            arguments=keyword_arguments(arguments),
            params="Arrays",
            summary="Keep the arrays to update; everything else starts as the rule says.",
            hyperparameters=hyper_assignments(self.program),
            states=indented("\n".join(rows), 8),
        )

    def held(self) -> str:
        """The parameters as flat views, of the arrays that an object has now, if it is a copy."""
        return fill(
            "class/held.py.jinja",
            main=self.main,
            kind="list[Array]",
            summary="The parameters as flat views.",
            value=f"{use('_flat')}(self)",
        )

    def check_vectors(self) -> str:
        """The check that arrays are vectors, of the right size where the family fixes it."""
        quantities = self.derivation.rule.of("state")
        sizes = [q.symbol.size for q in quantities if hasattr(q.symbol, "size")]
        fixed = int(sizes[0]) if sizes and sizes[0].is_Integer else None
        alone = bool(self.scalar_states) or self.one_number
        return f"{use('_check_vectors')}(params, {fixed}, {alone})"

    def first_arrays(self, v: Variable, asked: bool) -> str:
        """The first value of a state beside each array of parameters; `asked`: an argument."""
        if asked:
            views = f'{use("_views")}("{v.name}", {v.name}, params, check_finite)'
            return f"[x.copy() for x in {views}]"
        number = init_number(self.program, v)
        value = init_value(self.program, v, self.main)
        if self.jitted and number is not None:
            place = [x.name for x in self.array_states].index(v.name)
            rest = f", {number}" if number else ""
            value = f"{use('_apart')}({self.main}, {place}{rest})"
        return f"[{value} for {self.main} in self.{self.main}]"

    def called(
        self, k: Kernel, given: dict[str, str], indent: int = 12, own: Collection[str] = ()
    ) -> str:
        """The call of a kernel for the array number `index`; `own` have a local value."""
        attributes = {v.name for v in self.program.of("hyper")} - set(own)
        attributes |= {v.name for v in self.scalar_states}
        arguments = [given.get(a, f"self.{a}[index]") for a in k.arrays]
        values = [self.number(s, attributes) for s in k.scalars]
        if values:
            arguments.append(f"*{use('_typed')}({', '.join([arguments[0], *values])})")
        results = f"{', '.join(k.returns)} = " if k.returns else ""
        return call(f"{' ' * indent}{results}{k.name}(", arguments)

    def number(self, name: str, attributes: Collection[str]) -> str:
        """A number that a kernel takes, where the class has it."""
        if name == DRAWS:
            return f"float(self._{name})"
        return f"self.{name}" if name in attributes else name

    def loop(self, k: Kernel, given: dict[str, str]) -> list[str]:
        """For each array: call the kernel; `given` says where lists of arrays are."""
        if joins(self, k):
            return run_all(self, k, given)
        rows = [f"        for index, {self.main} in enumerate(self.{self.main}):"]
        if self.main not in k.arrays:
            rows = [f"        for index in range(len(self.{self.main})):"]
        return [*rows, self.called(k, self.indexed(given))]

    def indexed(self, given: dict[str, str]) -> dict[str, str]:
        """One array of each list."""
        return {self.main: self.main} | {x: f"{text}[index]" for x, text in given.items()}

    def given_inputs(self) -> dict[str, str]:
        return {v.name: v.name for v in self.plan.inputs}

    def pending(self) -> dict[str, str]:
        return {x: f'self._pending["{x}"]' for x in self.plan.carried}

    def input_views(self) -> list[str]:
        """The inputs, checked."""
        arrays = [v.name for v in self.plan.inputs if v.type != SCALAR]
        given = "self.params, self.check_finite"
        rows = [f'        {x} = {use("_views")}("{x}", {x}, {given})' for x in arrays]
        for v in self.plan.inputs:
            if v.type == SCALAR:
                value = f'{use("_number")}("{v.name}", {v.name}, self.check_finite)'
                rows.append(f"        {v.name} = {value}")
        return rows

    def step(self) -> str:
        if self.plan.observe is not None:
            return self.step_of_draws()
        rows = self.need_pending()
        given = self.given_inputs() | self.pending()
        rows += self.input_views()
        single = self.plan.single
        if self.program.halved:
            rows += [
                *before_step(self),
                *tried(self, self.kernels()["single"], self.indexed(given)),
            ]
            rows += after_step(self)
        elif fuses(self):
            rows += self.single_lines()
        else:
            rows += [*self.scalar_lines(single), *before_step(self)]
            rows += self.loop(self.kernels()["single"], given)
            writes, looked = self.scalar_writes(single), after_step(self)
            rows += [*writes, *looked] if self.coupled else [*looked, *writes]
        if self.plan.carried and not fuses(self):
            rows.append("        self._pending = {}")
        where = "where `draw` said" if self.plan.probe else f"at {self.main}"
        return self.stepping(
            self.input_arguments(),
            f"Update the parameters in place from {input_words(self.plan.inputs)}, {where}",
            rows,
        )

    def single_rows(self) -> list[str]:
        """From one draw: check, compute the scalars, call the kernel."""
        return [*self.need_pending(), *self.input_views(), *self.single_lines()]

    def single_lines(self) -> list[str]:
        """The scalars, then the kernel; with the next draw in the same pass where that can be."""
        given = self.given_inputs() | self.pending()
        if fuses(self):
            return fused_rows(self, given)
        single = self.plan.single
        rows = [*self.scalar_lines(single), *self.loop(self.kernels()["single"], given)]
        return [*rows, *self.scalar_writes(single)]

    def averaged_rows(self) -> list[str]:
        """From the sums over draws."""
        p = self.plan
        assert p.averaged is not None
        sums = {x: f'self._sums["{x}"]' for x in p.sums}
        rows = [
            *self.scalar_lines(p.averaged, sums | {DRAWS: "self._draws"}),
            *self.loop(self.kernels()["averaged"], sums),
        ]
        return [*rows, *self.scalar_writes(p.averaged)]

    def vector_of_parameters(self) -> str:
        """All of them as one vector, a copy."""
        return f"np.concatenate(self.{self.main})"

    def parameters_shaped(self) -> str:
        """A copy in the caller's own shape."""
        return f"{use('_shaped')}([x.copy() for x in self.{self.main}], self.params)"
