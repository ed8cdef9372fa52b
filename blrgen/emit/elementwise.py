"""The class around elementwise kernels: flat views, one kernel call for each array."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace

from blrgen.emit.common import (
    check_method,
    defaults,
    head,
    hyper_assignments,
    init_number,
    init_value,
    input_words,
    keyword_arguments,
    wants_gaussian,
)
from blrgen.emit.components import vectors_function
from blrgen.emit.guard import after_step, at_start, before_step, guarded, method
from blrgen.emit.kernels import Kernel, kernel
from blrgen.emit.plan import DRAWS
from blrgen.emit.posterior import posterior_methods
from blrgen.emit.printers import ScalarPrinter
from blrgen.emit.probing import (
    draw_method,
    drawing,
    drawing_again,
    fused_rows,
    fuses,
    init_rows,
    joined_functions,
    joins,
    noise_functions,
    observe_method,
    run_all,
    run_methods,
)
from blrgen.emit.special.helper import JITTED
from blrgen.emit.templates import fill
from blrgen.emit.text import call, indented
from blrgen.emit.trial import tried
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
                p.observe,
                self.order,
                accumulate=True,
            )
            made["averaged"] = kernel(
                "_step_averaged", "Update every element in place, from averages over draws.",
                p.averaged, self.order,
            )  # fmt: skip
        return made

    def functions(self) -> list[str]:
        made = self.kernels()
        order = ("draw", "observe", "single", "averaged", "again", "moments")
        parts = [self.write(made[k]) for k in order if k in made]
        parts += joined_functions(self)
        parts += [fill("functions/views.py.jinja"), fill("functions/listed.py.jinja")]
        parts.append(fill("functions/restored.py.jinja"))
        parts += self.vector_functions()
        parts += noise_functions(self)
        if wants_gaussian(self.derivation):
            parts.append(fill("functions/deviation.py.jinja"))
        if "_between(" in check_method(self.program):
            parts.append(fill("functions/between.py.jinja"))
        return parts

    @property
    def coupled(self) -> bool:
        """Whether each array is one vector whose components need sums over all of them."""
        return any(k.coupled for k in self.phase_kernels().values())

    def vector_functions(self) -> list[str]:
        """What kernels with sums over components need."""
        parts = []
        if self.coupled:
            alone = bool(self.scalar_states) or self.one_number
            parts.append(vectors_function(self.derivation, alone))
        code = "".join(map(self.write, self.kernels().values()))
        for name in ("added", "exp_added"):
            if f" _{name}(" in code:
                parts.append(fill(f"functions/{name}.py.jinja", decorator=JITTED))
        return parts

    @property
    def one_number(self) -> bool:
        """Whether a step takes a number beside the vectors."""
        return any(v.type == SCALAR for v in self.plan.inputs)

    def definition(self) -> str:
        methods = [self.init(), self.copied(), check_method(self.program)]
        methods += method(self)
        if self.plan.draw is not None:
            methods.append(draw_method(self))
        if self.plan.observe is not None:
            methods.append(observe_method(self))
        methods.append(self.step())
        if self.program.until:
            methods.append(self.run())
        methods += [*posterior_methods(self), self.state_dict(), *run_methods(self)]
        if self.uses_shaped() or any("self._shaped(" in m or "self._shaped," in m for m in methods):
            methods.append(fill("class/shaped.py.jinja"))
        return "\n\n".join([head(self.derivation, self.program), *methods])

    @property
    def in_one_pass(self) -> bool:
        return fuses(self)

    @property
    def guarded(self) -> tuple[Variable, ...]:
        """The states whose domain a step must not leave."""
        return guarded(self.derivation, self.plan.states, self.coupled)

    def uses_shaped(self) -> bool:
        asked = any(k == "mean" for k, _ in self.program.posterior)
        asked = asked or self.law is not None
        return self.plan.draw is not None or asked or bool(self.program.until)

    def init(self) -> str:
        arguments, needed = defaults(self.program)
        rows = [f'self.{self.main} = _views("params", params)']
        rows += ["_check_vectors(self._arrays)"] if self.coupled else []
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
            rows.append("self._pending: dict[str, Sequence[Array]] = {}  # what the last draw left")
        if self.plan.sums:
            rows.append("self._sums: dict[str, Sequence[Array]] = {}  # over this step's draws")
            rows.append("self._draws = 0  # how many there are in them")
        rows += init_rows(self)
        rows += at_start(self)
        return fill(
            "class/init.py.jinja",
            arguments=keyword_arguments(arguments),
            summary="Keep the arrays to update; everything else starts as the rule says.",
            hyperparameters=hyper_assignments(self.program),
            states=indented("\n".join(rows), 8),
        )

    def copied(self) -> str:
        """What makes a copy, or a pickle that is read back, step its own arrays."""
        again = [re.sub(r"^(\S+): .*? = ", r"\1 = ", row) for row in init_rows(self)]
        made = [row.partition(" = ")[0].removeprefix("self.") for row in again]
        left = ", ".join(f'"{x}"' for x in ["_arrays", self.main, *made])
        return fill(
            "class/copied.py.jinja",
            left=f"({left})",
            main=self.main,
            rows=indented("\n".join(again), 8),
        ).rstrip()

    def first_arrays(self, v: Variable, asked: bool) -> str:
        """The first value of a state beside each array of parameters; `asked`: an argument."""
        if asked:
            views = f'_views("{v.name}", {v.name}, self._arrays)'
            return self.new_arrays(v.name, views) or f"[x.copy() for x in {views}]"
        made = f"[{init_value(self.program, v, self.main)} for {self.main} in self.{self.main}]"
        number = init_number(self.program, v)
        return self.new_arrays(v.name, made if number is None else number) or made

    def new_arrays(self, name: str, values: str = "") -> str:
        """New arrays beside the parameters, where the target cares how they lie in memory."""
        if not joins(self, self.kernels()["single"]):
            return ""
        names = [v.name for v in self.array_states] + [*self.plan.sums, self.plan.probe]
        return f"_laid(self.{self.main}, {names.index(name)}{values and f', {values}'})"

    def called(
        self, k: Kernel, given: dict[str, str], indent: int = 12, own: Collection[str] = ()
    ) -> str:
        """The call of a kernel for the array number `index`; `own` have a local value."""
        attributes = {v.name for v in self.program.of("hyper")} - set(own)
        attributes |= {v.name for v in self.scalar_states}
        arguments = [given.get(a, f"self.{a}[index]") for a in k.arrays]
        for s in k.scalars:
            arguments.append(self.number(s, attributes))
        results = f"{', '.join(k.returns)} = " if k.returns else ""
        return call(f"{' ' * indent}{results}{k.name}(", arguments)

    def number(self, name: str, attributes: Collection[str]) -> str:
        """A number that a kernel takes, where the class has it."""
        if name == DRAWS:
            return f"float(self._{name})"
        return f"self.{name}" if name in attributes else name

    def loop(self, k: Kernel, given: dict[str, str]) -> list[str]:
        """For each array: call the kernel."""
        if joins(self, k):
            return run_all(self, k, given)
        given = {self.main: self.main} | given
        rows = [f"        for index, {self.main} in enumerate(self.{self.main}):"]
        if self.main not in k.arrays:
            rows = [f"        for index in range(len(self.{self.main})):"]
        return [*rows, self.called(k, given)]

    def given_inputs(self) -> dict[str, str]:
        return {v.name: f"{v.name}[index]" for v in self.plan.inputs}

    def pending(self) -> dict[str, str]:
        return {x: f'self._pending["{x}"][index]' for x in self.plan.carried}

    def input_views(self) -> list[str]:
        """The inputs that are arrays, checked; a scalar is used as it is."""
        arrays = [v.name for v in self.plan.inputs if v.type != SCALAR]
        if joins(self, self.kernels()["single"]):
            return [f'        {x} = self._seen("{x}", {x})' for x in arrays]
        return [f'        {x} = _views("{x}", {x}, self._arrays)' for x in arrays]

    def step(self) -> str:
        if self.plan.observe is not None:
            return self.step_of_draws()
        rows = self.need_pending()
        given = self.given_inputs() | self.pending()
        rows += self.input_views()
        single = self.plan.single
        if self.program.halved:
            rows += [*before_step(self), *tried(self, self.kernels()["single"], given)]
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
        sums = {x: f'self._sums["{x}"][index]' for x in p.sums}
        rows = [*self.scalar_lines(p.averaged), *self.loop(self.kernels()["averaged"], sums)]
        return [*rows, *self.scalar_writes(p.averaged)]

    def vector_of_parameters(self) -> str:
        """All of them as one vector, a copy."""
        return f"np.concatenate(self.{self.main})"

    def parameters_shaped(self) -> str:
        """A copy in the caller's own shape."""
        return f"self._shaped([{self.main}.copy() for {self.main} in self.{self.main}])"

    def state_dict(self) -> str:
        arrays = [v.name for v in self.array_states]
        entries = [f'"{x}": [x.copy() for x in self.{x}],' for x in arrays]
        entries += [f'"{v.name}": self.{v.name},' for v in self.scalar_states]
        restore = [f'{x} = _restored("{x}", saved["{x}"], self.{x})' for x in arrays]
        groups = [("pending", self.plan.carried), ("sums", self.plan.sums)]
        for group, members in groups:
            if not members:
                continue
            entries.append(
                f'"{group}": {{k: [x.copy() for x in v] for k, v in self._{group}.items()}},'
            )
            restored = f"tuple(_restored(k, v, self.{self.main}))"
            restore.append(f'{group} = {{k: {restored} for k, v in saved["{group}"].items()}}')
        if self.plan.sums:
            entries.append('"draws": self._draws,')
        for x in arrays:
            restore.append(f"for array, value in zip(self.{x}, {x}, strict=True):")
            restore.append("    array[:] = value")
        restore += [f'self.{v.name} = saved["{v.name}"]' for v in self.scalar_states]
        restore += [f"self._{group} = {group}" for group, members in groups if members]
        if self.plan.sums:
            restore.append('self._draws = int(saved["draws"])')
        keys = ["t", "hyperparameters", *arrays, *(v.name for v in self.scalar_states)]
        keys += [group for group, members in groups if members]
        return self.resume(keys + (["draws"] if self.plan.sums else []), entries, restore)
