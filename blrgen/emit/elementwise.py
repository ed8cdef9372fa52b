"""The class around elementwise kernels: flat views, one kernel call for each array."""

from __future__ import annotations

from collections.abc import Collection

from blrgen.emit.common import (
    check_method,
    defaults,
    head,
    hyper_assignments,
    init_value,
    input_words,
    keyword_arguments,
    law_functions,
    noise_arguments,
    wants_gaussian,
)
from blrgen.emit.components import vectors_function
from blrgen.emit.guard import after_step, at_start, before_step, guarded, method
from blrgen.emit.kernels import Kernel, kernel
from blrgen.emit.plan import DRAWS
from blrgen.emit.posterior import posterior_methods
from blrgen.emit.printers import ScalarPrinter
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
        if self.moments is not None:
            made["moments"] = self.moments.kernel()
        return made

    def functions(self) -> list[str]:
        made = self.kernels()
        parts = [
            self.write(made[k])
            for k in ("draw", "observe", "single", "averaged", "moments")
            if k in made
        ]
        parts += [fill("functions/views.py.jinja"), fill("functions/listed.py.jinja")]
        parts.append(fill("functions/restored.py.jinja"))
        parts += self.vector_functions()
        if self.plan.noises:
            parts += law_functions(self.plan.noises, wants_gaussian(self.derivation))
            parts.append(fill("functions/noise.py.jinja"))
        elif wants_gaussian(self.derivation):
            parts += law_functions((), True)
        if wants_gaussian(self.derivation):
            parts.append(fill("functions/deviation.py.jinja"))
        if "_between(" in check_method(self.program):
            parts.append(fill("functions/between.py.jinja"))
        return parts

    @property
    def coupled(self) -> bool:
        """Whether each array is one vector whose components need sums over all of them."""
        return any(k.coupled for x, k in self.kernels().items() if x != "moments")

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
        methods = [self.init(), check_method(self.program)]
        methods += method(self)
        if self.plan.draw is not None:
            methods.append(self.draw())
        if self.plan.observe is not None:
            methods.append(self.observe())
        methods.append(self.step())
        if self.program.until:
            methods.append(self.run())
        methods += [*posterior_methods(self), self.state_dict()]
        if self.uses_shaped() or any("self._shaped(" in m or "self._shaped," in m for m in methods):
            methods.append(fill("class/shaped.py.jinja"))
        return "\n\n".join([head(self.derivation, self.program), *methods])

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
            if v.name in needed:
                views = f'_views("{v.name}", {v.name}, self._arrays)'
                rows.append(f"self.{v.name} = [x.copy() for x in {views}]")
                continue
            value = init_value(self.program, v, self.main)
            rows.append(f"self.{v.name} = [{value} for {self.main} in self.{self.main}]")
        if self.plan.carried:
            rows.append("self._pending: dict[str, list[Array]] = {}  # the noise of the last draw")
        if self.plan.sums:
            rows.append("self._sums: dict[str, list[Array]] = {}  # over the draws of this step")
            rows.append("self._draws = 0  # how many there are in them")
        rows += at_start(self)
        return fill(
            "class/init.py.jinja",
            arguments=keyword_arguments(arguments),
            summary="Keep the arrays to update; everything else starts as the rule says.",
            hyperparameters=hyper_assignments(self.program),
            states=indented("\n".join(rows), 8),
        )

    def called(
        self, k: Kernel, given: dict[str, str], indent: int = 12, own: Collection[str] = ()
    ) -> str:
        """The call of a kernel for the array number `index`; `own` have a local value."""
        attributes = {v.name for v in self.program.of("hyper")} - set(own)
        attributes |= {v.name for v in self.scalar_states}
        arguments = [given.get(a, f"self.{a}[index]") for a in k.arrays]
        for s in k.scalars:
            value = f"self.{s}" if s in attributes else f"self._{s}" if s == DRAWS else s
            arguments.append(f"real({value})")
        results = f"{', '.join(k.returns)} = " if k.returns else ""
        return call(f"{' ' * indent}{results}{k.name}(", arguments)

    def loop(self, k: Kernel, given: dict[str, str]) -> list[str]:
        """For each array: call the kernel."""
        given = {self.main: self.main} | given
        rows = [f"        for index, {self.main} in enumerate(self.{self.main}):"]
        if k.scalars:
            rows.append(f"            real = {self.main}.dtype.type")
        elif self.main not in k.arrays:
            rows = [f"        for index in range(len(self.{self.main})):"]
        return [*rows, self.called(k, given)]

    def given_inputs(self) -> dict[str, str]:
        return {v.name: f"{v.name}[index]" for v in self.plan.inputs}

    def pending(self) -> dict[str, str]:
        return {x: f'self._pending["{x}"][index]' for x in self.plan.carried}

    def input_views(self) -> list[str]:
        """The inputs that are arrays, checked; a scalar is used as it is."""
        arrays = [v.name for v in self.plan.inputs if v.type != SCALAR]
        return [f'        {x} = _views("{x}", {x}, self._arrays)' for x in arrays]

    def step(self) -> str:
        made, single = self.kernels(), self.plan.single
        inputs = self.plan.inputs
        if self.plan.observe is not None:
            return self.step_of_draws()
        rows = self.need_pending()
        given = self.given_inputs() | self.pending()
        rows += self.input_views()
        if self.program.halved:
            rows += [*before_step(self), *tried(self, made["single"], given), *after_step(self)]
        else:
            rows += [*self.scalar_lines(single), *before_step(self)]
            rows += self.loop(made["single"], given)
            writes, looked = self.scalar_writes(single), after_step(self)
            rows += [*writes, *looked] if self.coupled else [*looked, *writes]
        if self.plan.carried:
            rows.append("        self._pending = {}")
        where = "where `draw` said" if self.plan.probe else f"at {self.main}"
        return fill(
            "class/step.py.jinja",
            arguments=", ".join(["self", *self.input_arguments()]),
            summary=f"Update the parameters in place from {input_words(inputs)}, {where}.",
            body="\n".join(rows),
        )

    def single_rows(self) -> list[str]:
        """From one draw: check, compute the scalars, call the kernel."""
        single = self.plan.single
        return [
            *self.need_pending(), *self.input_views(), *self.scalar_lines(single),
            *self.loop(self.kernels()["single"], self.given_inputs() | self.pending()),
            *self.scalar_writes(single),
        ]  # fmt: skip

    def averaged_rows(self) -> list[str]:
        """From the sums over draws."""
        p = self.plan
        assert p.averaged is not None
        sums = {x: f'self._sums["{x}"][index]' for x in p.sums}
        rows = [*self.scalar_lines(p.averaged), *self.loop(self.kernels()["averaged"], sums)]
        return [*rows, *self.scalar_writes(p.averaged)]

    def draw(self) -> str:
        p = self.plan
        assert p.draw is not None
        made = self.kernels()["draw"]
        rows = []
        for v in p.noises:
            law = law_functions((v,), False, names_only=True)[0]
            rows.append(
                f'        {v.name} = _noise("{v.name}", {v.name}, rng, self._arrays, {law})'
            )
        noise = {v.name: f"{v.name}[index]" for v in p.noises}
        rows += self.scalar_lines(p.draw)
        empty = f"[np.empty_like({self.main}) for {self.main} in self.{self.main}]"
        rows.append(f"        {p.probe} = {empty}")
        rows += self.loop(made, noise | {p.probe: f"{p.probe}[index]"})
        kept = [
            f'"{x}": {x}' if x in noise else f'"{x}": [x.copy() for x in {x}]' for x in p.carried
        ]
        if p.carried:
            rows.append(f"        self._pending = {{{', '.join(kept)}}}")
        rows.append(f"        return self._shaped({p.probe})")
        summary = "Return where to evaluate the loss"
        summary += "; the noise is remembered for `step`." if p.carried else "."
        return fill(
            "class/draw.py.jinja",
            signature=call("    def draw(", ["self", *noise_arguments(p.noises)], ") -> Arrays:"),
            summary=summary,
            body="\n".join(rows),
        )

    def observe(self) -> str:
        p = self.plan
        assert p.observe is not None
        rows = [*self.need_pending(), *self.input_views(), *self.scalar_lines(p.observe)]
        rows.append("        if not self._sums:")
        zeros = f"[np.zeros_like({self.main}) for {self.main} in self.{self.main}]"
        for x in p.sums:
            rows.append(f'            self._sums["{x}"] = {zeros}')
        given = self.given_inputs() | self.pending()
        given |= {x: f'self._sums["{x}"][index]' for x in p.sums}
        rows += self.loop(self.kernels()["observe"], given)
        if p.carried:
            rows.append("        self._pending = {}")
        rows.append("        self._draws += 1")
        return fill(
            "class/observe.py.jinja",
            arguments=", ".join(["self", *self.input_arguments()]),
            summary=f"Take {input_words(p.inputs)} at the last draw, one of several.",
            body="\n".join(rows),
        )

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
            restored = f"_restored(k, v, self.{self.main})"
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
