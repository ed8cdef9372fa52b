"""One step of an emitted class on symbols.

The class is built on symbolic parameters with symbolic hyperparameters, its states are
set to symbols, `draw` is given symbolic noise, `step` symbolic inputs.  The emitted helpers
keep their documented meaning (`emitted_helpers`).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection
from typing import Any

import numpy as np

from blrgen.core import Rule
from blrgen.errors import InternalError
from blrgen.validate.carried import attributes, carried, changed
from blrgen.validate.emitted_helpers import give_checks, give_linear, give_special
from blrgen.validate.joined import WALKED, give_joined
from blrgen.validate.match import Matching
from blrgen.validate.misfit import Lacking
from blrgen.validate.modes import ArrayMode, MatrixMode
from blrgen.validate.outline import class_name
from blrgen.validate.sized import SizedMode
from blrgen.validate.symbolic.linear import NC
from blrgen.validate.symbolic.number import Sym
from blrgen.validate.symbolic.run import Override, Program

Expr = Any
UNTIL_THE_STEP = ("_pending", "_sums", "_draws")


class EmittedRun:
    """One step of the emitted class on symbols."""

    def __init__(self, source: str, rule: Rule, mode: Any) -> None:
        self.source, self.rule, self.mode = source, rule, mode
        self.draws = [q.name for q in rule.of("draw")]
        self.helpers: set[str] = set()
        self.probe: Any = None
        self.count: Any = None
        self.drawing = False  # whether the class has a `draw`
        self.tidy = True  # whether what is kept between steps is as it was
        self.carries: dict[str, Any] = {}  # what is kept and changes, beside the rule's states
        self.probes = [a.name for a in rule.assignments if a.stage == "draw"]
        states = tuple(q.name for q in rule.of("state"))
        self.matching = Matching((), states, ())
        self.program, self.values, _ = self.execute()

    def execute(self, override: Override | None = None) -> tuple[Program, dict[str, Any], Matching]:
        """A single step: draw once where the rule draws, then step."""
        program, opt, params = self.built(override)
        before = carried(self, opt)
        self.stepped(program, opt)
        self.carries = changed(self, opt, before)
        return program, self.after(opt, params), self.matching

    def stepped(self, program: Program, opt: Any) -> None:
        """Draw where the rule draws, then step."""
        before = self.kept(opt)
        self.drawing = hasattr(opt, "draw")
        if self.drawing and self.probes:
            several = isinstance(getattr(opt, "params", None), list)
            noise = {n: self.value(n) for n in self.draws}
            noise = {n: self.split(x) if several else x for n, x in noise.items()}
            self.probe = program.call(opt.draw, **noise)
        elif self.drawing and self.draws:
            # a vector draw is a symbol of the rule; that it has its law is another claim
            opt._pending = {n: self.value(n) for n in self.draws}
        several = isinstance(getattr(opt, "params", None), list)
        inputs = {n: self.value(n) for n in self.inputs(opt.step)}
        program.call(opt.step, **{n: self.split(x) if several else x for n, x in inputs.items()})
        self.count = getattr(opt, "t", None)
        self.tidy = self.kept(opt) == before

    def built(
        self, override: Override | None = None, many: bool = False
    ) -> tuple[Program, Any, Any]:
        """The class on symbolic parameters, its states set to symbols; `many`: in two arrays."""
        program, opt, params = self.fresh(override, many)
        for q in self.rule.of("counter"):
            opt.t = self.value(q.name) - 1
        for n in self.matching.states:
            if n != self.parameters:
                self._set(opt, n)
        return program, opt, params

    def fresh(
        self, override: Override | None = None, many: bool = False
    ) -> tuple[Program, Any, Any]:
        """The class on symbolic parameters, its states as it sets them itself."""
        program = Program(self.source, self.mode.domains, override)
        if isinstance(self.mode, ArrayMode):
            noise = [list(np.ravel(self.value(n))) for n in self.draws]
            self.helpers |= give_joined(program, noise)
        if many:
            program.names |= WALKED
        cls = program.function(class_name(self.source))
        if cls is None:
            raise InternalError("the source has no class")
        self.helpers |= give_special(program, self.rule, self.mode.first_form)
        self.helpers |= give_checks(program, cls)
        if isinstance(self.mode, MatrixMode | SizedMode):
            self.helpers |= give_linear(program, self.mode.factor)
        params = self.value(self.parameters)
        params = self.split(params) if many else params
        hyper = {q.name: self.value(q.name) for q in self.rule.of("hyper")}
        hyper |= {s.name: Sym(s) for s in self.sizes(cls) if s.name not in hyper}
        return program, program.call(cls, params, **hyper), params

    def again(self, opt: Any, params: Any) -> None:
        """The rule's states and its counter as they are before the step; all else is kept."""
        for q in self.rule.of("counter"):
            opt.t = self.value(q.name) - 1
        for n in self.matching.states:
            held = params if n == self.parameters else getattr(opt, n)
            if isinstance(held, np.ndarray | NC):
                held[...] = self.value(n)
            else:
                self._set(opt, n)

    def sizes(self, cls: Any) -> list[Expr]:
        """Sizes that no array of the rule says, where the class asks for them."""
        asked = inspect.signature(cls).parameters
        there = {s for a in self.rule.assignments for s in a.expr.free_symbols if s.name in asked}
        known = {q.name for q in self.rule.quantities}
        return sorted((s for s in there if s.name not in known), key=str)

    @property
    def parameters(self) -> str:
        """The state the caller's arrays hold: the first one, the first array of several ranks."""
        arrays = [q.name for q in self.rule.of("state") if q.rank != "scalar"]
        return (arrays or self.matching.states)[0]

    def value(self, name: str) -> Any:
        return self.mode.value(name)

    def inputs(self, step: Callable[..., Any]) -> list[str]:
        return [n for n in inspect.signature(step).parameters if n in self.rule]

    def split(self, value: Any) -> Any:
        """An array as two; a number as it is."""
        return [value[:1], value[1:]] if isinstance(value, np.ndarray) else value

    def _set(self, opt: Any, name: str) -> None:
        if not hasattr(opt, name):
            names = ", ".join(sorted(k for k in attributes(opt) if not k.startswith("_")))
            raise Lacking(f"the class keeps no {name}, a state of the rule (it keeps {names})")
        held = getattr(opt, name)
        if isinstance(held, list | tuple):
            value = self.value(name)
            parts = self.split(value) if len(held) == 2 else [value]
            for array_, part in zip(held, parts, strict=True):
                array_[...] = part
        elif isinstance(held, np.ndarray | NC):
            held[...] = self.value(name)
        else:
            setattr(opt, name, self.value(name))

    def after(self, opt: Any, params: Any, names: Collection[str] | None = None) -> dict[str, Any]:
        """What the rule's states are now, or some of them."""
        out = {}
        for n in self.matching.states:
            if names is not None and n not in names:
                continue
            held = params if n == self.parameters else getattr(opt, n)
            out[n] = held[0] if isinstance(held, list | tuple) and len(held) == 1 else held
        return out

    def kept(self, opt: Any) -> dict[str, Any]:
        """What an emitted class keeps between a draw and the step after it."""
        held = attributes(opt)
        return {
            k: dict(held[k]) if isinstance(held[k], dict) else held[k]
            for k in UNTIL_THE_STEP if k in held
        }  # fmt: skip
