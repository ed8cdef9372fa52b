"""What the classes of both kinds of program have in common: the order of things, resuming."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from blrgen.core import Derivation
from blrgen.emit.common import check_line, input_words
from blrgen.emit.kernels import Kernel
from blrgen.emit.law import Lowered
from blrgen.emit.moments import Moments
from blrgen.emit.plan import Plan, phase_of
from blrgen.emit.printers import ScalarPrinter
from blrgen.emit.sampler import Drawing
from blrgen.emit.templates import fill
from blrgen.emit.text import WIDTH, assignment, call, indented
from blrgen.emit.uses import use
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
    law: Lowered | None = None  # of a candidate that is no Gaussian
    drawing: Drawing | None = None  # how all its variables are drawn, where it is no Gaussian
    moments: Moments | None = None  # of the components of a vector
    jitted: bool = False  # whether the target compiles

    def functions(self) -> tuple[list[str], list[str]]:
        """The functions that say what a draw and a step are; the others that are made for it."""
        raise NotImplementedError

    def definition(self) -> str:
        """The class."""
        raise NotImplementedError

    def kernels(self) -> dict[str, Kernel]:
        """The kernels of the file, where it has some."""
        return {}

    def single_rows(self) -> list[str]:
        """From one draw: check, compute the scalars, update."""
        raise NotImplementedError

    def averaged_rows(self) -> list[str]:
        """From the sums over draws: the same."""
        raise NotImplementedError

    def vector_of_parameters(self) -> str:
        """All parameters as one vector, a copy."""
        raise NotImplementedError

    def parameters_shaped(self) -> str:
        """A copy of the parameters in the caller's own shape."""
        raise NotImplementedError

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
        constants = [v.name for v in self.program.of("hyper") if v.type != SCALAR]
        order = [p.probe, *states, *constants, *p.carried, *self.noises, *inputs, *p.sums]
        return tuple(dict.fromkeys(order))

    @property
    def noises(self) -> list[str]:
        return [v.name for v in self.plan.noises]

    def scalar_lines(self, program: Program, own: Mapping[str, str] | None = None) -> list[str]:
        """The scalar section, as statements of a method; `own` are names with other spellings."""
        inside = {v.name: f"self.{v.name}" for v in self.program.of("hyper")}
        inside |= {v.name: f"self.{v.name}" for v in self.scalar_states}
        inside |= own or {}
        printer = ScalarPrinter(inside)
        rows = []
        if any("t" in n.names(s.expr) for s in phase_of(program).scalars):
            rows.append("        t = self.t + 1")
        for s in phase_of(program).scalars:
            rows.append(assignment(s.name, printer(s.expr), 8))
        return rows

    def scalar_writes(self, program: Program) -> list[str]:
        names = {v.name for v in self.scalar_states}
        made = {s.name for s in phase_of(program).body}  # by a kernel, in its arrays' type
        return [
            f"        self.{a} = {f'float({b})' if b in made else b}"
            for a, b in phase_of(program).writes
            if a in names
        ]

    def input_arguments(self, optional: bool = False) -> list[str]:
        """Arguments of `step`."""
        none = " | None = None" if optional else ""
        kinds = {v.name: "float" if v.type == SCALAR else "Arrays" for v in self.plan.inputs}
        return [f"{name}: {kind}{none}" for name, kind in kinds.items()]

    def step_of_draws(self) -> str:
        """step(g) after one draw in one pass; step() after draws that were observed."""
        names = [v.name for v in self.plan.inputs]
        some = " and ".join(f"{x} is not None" for x in names)
        hand = ", ".join(names)
        given = ["rng: np.random.Generator | None"] if self.in_one_pass else []
        rows = [
            f"        if not self._draws and {some}:",
            f"            self._step_single({hand}{', rng' if self.in_one_pass else ''})",
            "        else:",
            f"            if {some}:",
            f"                self.observe({hand})",
            "            self._step_averaged()",
        ]
        step = self.stepping(
            self.input_arguments(optional=True),
            f"Update in place from {input_words(self.plan.inputs)} at the draw, or all observed",
            rows,
        )
        single = [
            call("    def _step_single(", ["self", *self.input_arguments(), *given], ") -> None:"),
            '        """Estimate and update in one pass, from one draw."""',
            *self.single_rows(),
            *([] if self.in_one_pass else ["        self._pending = {}"]),
        ]
        averaged = [
            "    def _step_averaged(self) -> None:",
            '        """Update from several draws, observed one by one."""',
            "        if self._pending:",
            '            raise RuntimeError("the last draw was not observed: pass what it showed")',
            "        if not self._draws:",
            '            raise RuntimeError("step needs a draw: call draw first")',
            *self.averaged_rows(),
            "        self._sums = {}",
            "        self._draws = 0",
        ]
        return "\n\n".join([step, "\n".join(single), "\n".join(averaged)])

    @property
    def in_one_pass(self) -> bool:
        """Whether a step can draw again in the same pass over memory."""
        return False

    def stepping(self, arguments: list[str], summary: str, rows: list[str]) -> str:
        """`step`, which draws again where the rule draws and a generator is given."""
        body = "\n".join(rows)
        if not self.plan.noises:
            arguments = ["self", *arguments]
            return fill(
                "class/step.py.jinja",
                arguments=", ".join(arguments),
                summary=f"{summary}.",
                check=check_line(self.program),
                body=body,
            )
        own = [*arguments, "*", "rng: np.random.Generator | None = None"]
        drawn = "self.draw(rng)"
        if self.in_one_pass:
            probe = f'{use("_lent")}(self._pending["{self.plan.probe}"], self.params)'
            drawn = f"{probe} if self._pending else {drawn}"
        return fill(
            "class/step_draw.py.jinja",
            signature=call("    def step(", ["self", *own], ") -> Arrays | None:"),
            summary=f"{summary}; with rng, draw again.",
            check=check_line(self.program),
            generator=f"{use('_generator')}(rng)",
            body=body,
            drawn=drawn,
        )

    def need_pending(self, what: str = "step") -> list[str]:
        if not self.plan.carried:
            return []
        return [
            "        if not self._pending:",
            f'            raise RuntimeError("{what} needs a draw: call draw first")',
        ]

    def posterior(self, methods: Callable[[Self], list[str]]) -> list[str]:
        """The methods that tell of q where the rule keeps it; else the one that says why not."""
        why = self.derivation.rule.unkept
        if not why:
            return methods(self)
        use("Any")
        parts = textwrap.wrap(f"has no {{name}}: {why}", WIDTH - 22)
        rows = [f'f"{part} "' for part in parts[:-1]] + [f'f"{parts[-1]}"']
        rows[1:] = [row.removeprefix("f") for row in rows[1:]]
        return [fill("class/unkept.py.jinja", why=indented("\n".join(rows), 16))]

    def run(self) -> str:
        """Step to the fixed point; inputs are functions of the parameters."""
        if self.plan.noises:
            raise InternalError("a rule that draws has no fixed point")
        for name in ("math", "Callable"):
            use(name)
        names = [FUNCTION_OF.get(v.name, v.name) for v in self.plan.inputs]
        return fill(
            "class/run.py.jinja",
            arguments=indented("\n".join(f"{x}: Callable[[Arrays], Any]," for x in names), 8),
            inputs=input_words(self.plan.inputs),
            calls=", ".join(f"{x}(at)" for x in names),
            before=self.vector_of_parameters(),
            shaped=self.parameters_shaped(),
        )

    def resume(self) -> str:
        """How the state is saved, taken back, set from outside and told."""
        for name in ("_load", "_set", "_told", "deepcopy", "Any", "Mapping"):
            use(name)
        p, key = self.plan, 'name.lstrip("_")' if self.plan.carried or self.plan.sums else "name"
        left = [f"pending={self.shaped_like(p.carried)}"] if p.carried else []
        left += [f"sums={self.shaped_like(p.sums, p.means)}"] if p.sums else []
        return fill(
            "class/state_dict.py.jinja",
            beside="; save rng.bit_generator.state beside it" if p.noises else "",
            kept=f"{{{key}: deepcopy(getattr(self, name)) for name in KEPT}}",
            load=call("        _load(", ["self", "saved", "HYPERPARAMETERS", "KEPT", *left]),
        )

    def shaped_like(self, names: Sequence[str], of: Sequence[str] = ()) -> str:
        """Each name with a state of its shape, as source of a dictionary."""
        rows = []
        for name, told in zip(names, of or names, strict=True):
            kind = self.program.scope[told]
            held = (self.program[self.main], *self.array_states)
            like = [f"self.{v.name}" for v in held if v.type == kind] + ["0.0"] * (kind == SCALAR)
            if not like:
                raise InternalError(f"no state has the shape of {name}")
            rows.append(f'"{name}": {like[0]}')
        return f"{{{', '.join(rows)}}}"
