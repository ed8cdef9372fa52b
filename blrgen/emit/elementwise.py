"""The class around elementwise kernels: flat views, one kernel call for each array."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from blrgen.core import Derivation
from blrgen.emit.common import (
    check_method,
    defaults,
    head,
    hyper_assignments,
    hyper_dict,
    init_value,
    input_words,
    keyword_arguments,
    law_functions,
    noise_arguments,
    wants_gaussian,
    wants_two_points,
)
from blrgen.emit.kernels import Kernel, kernel
from blrgen.emit.plan import DRAWS, Plan, phase_of
from blrgen.emit.printers import ArrayPrinter, ScalarPrinter
from blrgen.emit.templates import fill
from blrgen.emit.text import WIDTH, assignment, call, indented
from blrgen.errors import InternalError
from blrgen.program import nodes as n
from blrgen.program.program import Program, Variable
from blrgen.program.types import SCALAR

FUNCTION_OF = {"g": "gradient", "h": "hessian", "H": "hessian"}  # inputs, as functions of m
Write = Callable[[Kernel], str]


@dataclass(frozen=True)
class Writer:
    """Writes the pieces of one file; `write` turns a kernel into text for the target."""

    derivation: Derivation
    plan: Plan
    write: Write

    # -- what there is -----------------------------------------------------------

    @property
    def program(self) -> Program:
        return self.plan.program

    @property
    def main(self) -> str:
        """The state that the parameters are."""
        return self.plan.parameter.name

    @property
    def array_states(self) -> list[Variable]:
        return [v for v in self.plan.states if v.type != SCALAR]

    @property
    def scalar_states(self) -> list[Variable]:
        return [v for v in self.plan.states if v.type == SCALAR]

    @property
    def order(self) -> tuple[str, ...]:
        """Array arguments: outputs, states, what a draw left, inputs, sums."""
        p = self.plan
        states = [self.main, *(v.name for v in self.array_states if v.name != self.main)]
        inputs = [v.name for v in p.inputs]
        return tuple(dict.fromkeys([p.probe, *states, *p.carried, *self.noises, *inputs, *p.sums]))

    @property
    def noises(self) -> list[str]:
        return [v.name for v in self.plan.noises]

    def kernels(self) -> dict[str, Kernel]:
        """All the kernels of the file, by what they are for."""
        p = self.plan
        made = {"single": kernel("_step", "Update every element in place.", p.single, self.order)}
        if p.draw is not None:
            made["draw"] = kernel(
                "_draw", f"Write where to evaluate the loss into {p.probe}.", p.draw, self.order, is_output=True
            )
        if p.observe is not None and p.averaged is not None:
            made["observe"] = kernel(
                "_observe", "Add what one draw has shown to the sums.", p.observe, self.order, accumulate=True
            )
            made["averaged"] = kernel(
                "_step_averaged", "Update every element in place, from averages over draws.",
                p.averaged, self.order,
            )  # fmt: skip
        return made

    # -- module-level functions ---------------------------------------------------

    def functions(self) -> list[str]:
        made = self.kernels()
        parts = [self.write(made[k]) for k in ("draw", "observe", "single", "averaged") if k in made]
        parts += [fill("functions/views.py.jinja"), fill("functions/listed.py.jinja")]
        parts.append(fill("functions/restored.py.jinja"))
        if self.plan.noises:
            parts += law_functions(self.plan.noises, wants_gaussian(self.derivation))
            parts.append(fill("functions/noise.py.jinja"))
        elif wants_gaussian(self.derivation):
            parts += law_functions((), True)
        if wants_gaussian(self.derivation):
            parts.append(fill("functions/deviation.py.jinja"))
        return parts

    # -- the class ---------------------------------------------------------------

    def definition(self) -> str:
        methods = [self.init(), check_method(self.program)]
        if self.plan.draw is not None:
            methods.append(self.draw())
        if self.plan.observe is not None:
            methods.append(self.observe())
        methods.append(self.step())
        if self.program.until:
            methods.append(self.run())
        methods += [*self.posterior(), self.state_dict()]
        if self.uses_shaped():
            methods.append(fill("class/shaped.py.jinja"))
        return "\n\n".join([head(self.derivation, self.program), *methods])

    def uses_shaped(self) -> bool:
        asked = any(k == "mean" for k, _ in self.program.posterior)
        return self.plan.draw is not None or asked or bool(self.program.until)

    def init(self) -> str:
        arguments, needed = defaults(self.program)
        rows = [f"self.{self.main} = _views(\"params\", params)"]
        for v in self.plan.states:
            if v.name == self.main:
                continue
            if v.type == SCALAR:
                printer = ScalarPrinter({h.name: f"self.{h.name}" for h in self.program.of("hyper")})
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
        return fill(
            "class/init.py.jinja",
            arguments=keyword_arguments(arguments),
            summary="Keep the arrays to update; everything else starts as the rule says.",
            hyperparameters=hyper_assignments(self.program),
            states=indented("\n".join(rows), 8),
        )

    def scalar_lines(self, program: Program) -> list[str]:
        """The scalar section, as statements of a method."""
        inside = {v.name: f"self.{v.name}" for v in self.program.of("hyper")}
        inside |= {v.name: f"self.{v.name}" for v in self.scalar_states}
        printer = ScalarPrinter(inside)
        rows = []
        if any("t" in n.names(s.expr) for s in phase_of(program).scalars):
            rows.append("        t = self.t + 1")
        for s in phase_of(program).scalars:
            rows.append(assignment(s.name, printer(s.expr), 8))
        return rows

    def call(self, k: Kernel, given: dict[str, str], indent: int = 12) -> str:
        """The call of a kernel for the array number `index`."""
        attributes = {v.name for v in self.program.of("hyper")} | {v.name for v in self.scalar_states}
        arguments = [given.get(a, f"self.{a}[index]") for a in k.arrays]
        for s in k.scalars:
            value = f"self.{s}" if s in attributes else f"self._{s}" if s == DRAWS else s
            arguments.append(f"real({value})")
        return call(f"{' ' * indent}{k.name}(", arguments)

    def loop(self, k: Kernel, given: dict[str, str]) -> list[str]:
        """for each array: call the kernel."""
        given = {self.main: self.main} | given
        rows = [f"        for index, {self.main} in enumerate(self.{self.main}):"]
        if k.scalars:
            rows.append(f"            real = {self.main}.dtype.type")
        elif self.main not in k.arrays:
            rows = [f"        for index in range(len(self.{self.main})):"]
        return [*rows, self.call(k, given)]

    def given_inputs(self) -> dict[str, str]:
        return {v.name: f"{v.name}[index]" for v in self.plan.inputs}

    def pending(self) -> dict[str, str]:
        return {x: f"self._pending[\"{x}\"][index]" for x in self.plan.carried}

    def input_views(self) -> list[str]:
        return [
            f'        {v.name} = _views("{v.name}", {v.name}, self._arrays)' for v in self.plan.inputs
        ]

    def scalar_writes(self, program: Program) -> list[str]:
        names = {v.name for v in self.scalar_states}
        return [f"        self.{a} = {b}" for a, b in phase_of(program).writes if a in names]

    def step(self) -> str:
        made, single = self.kernels(), self.plan.single
        inputs = self.plan.inputs
        if self.plan.observe is not None:
            return self.step_of_draws()
        rows = self.need_pending()
        rows += self.input_views() + self.scalar_lines(single)
        rows += self.loop(made["single"], self.given_inputs() | self.pending())
        rows += self.scalar_writes(single)
        if self.plan.carried:
            rows.append("        self._pending = {}")
        where = "where `draw` said" if self.plan.probe else f"at {self.main}"
        return fill(
            "class/step.py.jinja",
            arguments=", ".join(["self", *(f"{v.name}: Arrays" for v in inputs)]),
            summary=f"Update the parameters in place from {input_words(inputs)}, {where}.",
            body="\n".join(rows),
        )

    def input_arguments(self, optional: bool = False) -> list[str]:
        """Arguments of `step`."""
        none = " | None = None" if optional else ""
        return [f"{v.name}: Arrays{none}" for v in self.plan.inputs]

    def step_of_draws(self) -> str:
        """step(g) after one draw in one pass; step() after draws that were observed."""
        names = [v.name for v in self.plan.inputs]
        some = " and ".join(f"{x} is not None" for x in names)
        hand = ", ".join(names)
        rows = [
            f"        if not self._draws and {some}:",
            f"            self._step_single({hand})",
            "        else:",
            f"            if {some}:",
            f"                self.observe({hand})",
            "            self._step_averaged()",
        ]
        step = fill(
            "class/step.py.jinja",
            arguments=", ".join(["self", *self.input_arguments(optional=True)]),
            summary=f"Update in place from {input_words(self.plan.inputs)} at the draw, "
            "or from all that was observed.",
            body="\n".join(rows),
        )
        single = [
            f"    def _step_single({', '.join(['self', *self.input_arguments()])}) -> None:",
            '        """Estimate and update in one pass, from one draw."""',
            *self.single_rows(),
            "        self._pending = {}",
        ]
        averaged = [
            "    def _step_averaged(self) -> None:",
            '        """Update from several draws, observed one by one."""',
            "        if self._pending:",
            '            raise RuntimeError("the last draw was not observed: pass what it showed")',
            "        if not self._draws:",
            '            raise RuntimeError("step needs a draw: call draw, and take the gradient there")',
            *self.averaged_rows(),
            "        self._sums = {}",
            "        self._draws = 0",
        ]
        return "\n\n".join([step, "\n".join(single), "\n".join(averaged)])

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

    def need_pending(self) -> list[str]:
        if not self.plan.carried:
            return []
        return [
            "        if not self._pending:",
            '            raise RuntimeError("step needs a draw: call draw, and take the gradient there")',
        ]

    def draw(self) -> str:
        p = self.plan
        assert p.draw is not None
        made = self.kernels()["draw"]
        rows = []
        for v in p.noises:
            law = law_functions((v,), False, names_only=True)[0]
            rows.append(f'        {v.name} = _noise("{v.name}", {v.name}, rng, self._arrays, {law})')
        noise = {v.name: f"{v.name}[index]" for v in p.noises}
        rows += self.scalar_lines(p.draw)
        rows.append(f"        {p.probe} = [np.empty_like({self.main}) for {self.main} in self.{self.main}]")
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
            arguments=", ".join(["self", *(f"{v.name}: Arrays" for v in p.inputs)]),
            summary=f"Take {input_words(p.inputs)} at the last draw, one of several before a `step()`.",
            body="\n".join(rows),
        )

    def run(self) -> str:
        """Step to the fixed point; inputs are functions of the parameters."""
        if self.plan.noises:
            raise InternalError("a rule that draws has no fixed point")
        names = [FUNCTION_OF.get(v.name, v.name) for v in self.plan.inputs]
        return fill(
            "class/run.py.jinja",
            arguments=indented("\n".join(f"{x}: Callable[[Arrays], Any]," for x in names), 8),
            inputs=input_words(self.plan.inputs),
            calls=", ".join(f"{x}(at)" for x in names),
            before=self.vector_of_parameters(),
            shaped=self.parameters_shaped(),
        )

    def vector_of_parameters(self) -> str:
        """All of them as one vector, a copy."""
        return f"np.concatenate(self.{self.main})"

    def parameters_shaped(self) -> str:
        """A copy in the caller's own shape."""
        return f"self._shaped([{self.main}.copy() for {self.main} in self.{self.main}])"

    # -- the posterior -----------------------------------------------------------

    def posterior(self) -> list[str]:
        q = dict(self.program.posterior)
        if "mean" not in q:
            return []
        names = {v.name: f"self.{v.name}[index]" for v in self.array_states}
        names |= {v.name: f"real(self.{v.name})" for v in self.program.of("hyper")}
        names |= {v.name: f"real(self.{v.name})" for v in self.scalar_states}
        names[self.main] = self.main
        printer = ArrayPrinter(names)
        if "precision" in q and wants_gaussian(self.derivation):
            return [self._gaussian(q, printer), self._gaussian_sample()]
        points = wants_two_points(self.derivation)
        if points is not None:
            return self._two_points(q["mean"], points, printer)
        return []

    def _value(self, expr: n.Node, printer: ArrayPrinter) -> str:
        """An expression as an array of its own."""
        scope = self.program.scope
        if isinstance(expr, n.Sym) and scope[expr.name] != SCALAR:
            return f"{printer(expr)}.copy()"
        if all(scope[x] == SCALAR for x in n.names(expr)):
            return f"np.full_like({self.main}, {printer(expr)})"
        return printer(expr)

    def _rows(self, makes: list[tuple[str, str]]) -> list[str]:
        rows = [f"        {name}s = []" for name, _ in makes]
        rows.append(f"        for index, {self.main} in enumerate(self.{self.main}):")
        if any("real(" in text for _, text in makes):
            rows.append(f"            real = {self.main}.dtype.type")
        if not any("[index]" in text for _, text in makes):
            rows[len(makes)] = f"        for {self.main} in self.{self.main}:"
        return rows + [f"            {name}s.append({text})" for name, text in makes]

    def _gaussian(self, q: dict[str, n.Node], printer: ArrayPrinter) -> str:
        mean, precision = self._value(q["mean"], printer), printer(q["precision"])
        if all(self.program.scope[x] == SCALAR for x in n.names(q["precision"])):
            precision = self._value(q["precision"], printer)
        rows = self._rows([("mean", mean), ("deviation", f"_deviation({precision})")])
        rows.append("        return self._shaped(means), self._shaped(deviations)")
        return fill(
            "class/posterior.py.jinja",
            summary="Return mean and standard deviation of every parameter.",
            body="\n".join(rows),
        )

    def _gaussian_sample(self) -> str:
        rows = [
            "        means, deviations = self.posterior()",
            "        pairs = zip(_listed(means), _listed(deviations), strict=True)",
            "        return self._shaped([m + s * _standard_normal(rng, m) for m, s in pairs])",
        ]
        return fill(
            "class/sample.py.jinja",
            summary="Draw from the posterior; the same seed gives the same draw.",
            body="\n".join(rows),
        )

    def _two_points(
        self, mean: n.Node, points: tuple[Fraction, Fraction], printer: ArrayPrinter
    ) -> list[str]:
        """P(high) = (mean − low)/(high − low); the variance is (mean − low)(high − mean)."""
        low, high = (n.Const(p) for p in points)
        above = n.Sub(n.Sym("mean"), low) if low.value > 0 else n.add(n.Sym("mean"), n.neg(low))
        text = ArrayPrinter()
        spread = text(n.sqrt(n.mul(above, n.Sub(high, n.Sym("mean")))))
        share = text(n.div(above, n.Const(high.value - low.value)))
        rows = self._rows([("mean", self._value(mean, printer))])
        rows += [
            f"        deviations = [{spread} for mean in means]",
            "        return self._shaped(means), self._shaped(deviations)",
        ]
        posterior = fill(
            "class/posterior.py.jinja",
            summary="Return mean and standard deviation of every binary variable.",
            body="\n".join(rows),
        )
        rows = [
            "        means, _ = self.posterior()",
            "        values = []",
            "        for mean in _listed(means):",
            "            u = rng.random(mean.shape, dtype=mean.dtype)",
            f"            low, high = mean.dtype.type({text(low)}), mean.dtype.type({text(high)})",
            f"            values.append(np.where(u < {share}, high, low))",
            "        return self._shaped(values)",
        ]
        sample = fill(
            "class/sample.py.jinja",
            summary=f"Draw {text(low)} or {text(high)} for each; the same seed, the same draw.",
            body="\n".join(rows),
        )
        return [posterior, sample]

    # -- resuming ----------------------------------------------------------------

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

    def resume(self, keys: list[str], entries: list[str], restore: list[str]) -> str:
        """state_dict and load_state_dict from their lines."""
        restore = [*restore, 'self.t = int(saved["t"])']
        for v in self.program.of("hyper"):
            restore.append(f'self.{v.name} = saved["hyperparameters"]["{v.name}"]')
        quoted = ", ".join(f'"{k}"' for k in keys)
        missing = f"        missing = [key for key in ({quoted}) if key not in saved]"
        if len(missing) > WIDTH:
            missing = (
                f"        missing = [\n            key\n            for key in ({quoted})\n"
                "            if key not in saved\n        ]"
            )
        return fill(
            "class/state_dict.py.jinja",
            hyperparameters=hyper_dict(self.program),
            missing=missing,
            entries=indented("\n".join(entries), 12),
            restore=indented("\n".join(restore), 8),
        )
