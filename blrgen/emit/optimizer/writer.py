"""The class of an optimizer over arrays, as a tree: constructor, step, run, what it keeps.

It is the same for every target: what is done to arrays are words, which a target spells
(`blrgen.emit.tree.spelling`), and loops over their elements are functions that it calls.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from blrgen.emit.common import input_words, is_derived
from blrgen.emit.law import Lowered
from blrgen.emit.optimizer import guard, parts, posterior, probing
from blrgen.emit.optimizer.base import Base, Given, Lines, handing, together
from blrgen.emit.optimizer.parts import ARRAYS, FINITE, PARAMS, PENDING, SELF, me
from blrgen.emit.sampler import Drawing
from blrgen.emit.tree import classes as c
from blrgen.errors import InternalError
from blrgen.program import nodes as n
from blrgen.program.kernels import Kernel
from blrgen.program.moments import Moments
from blrgen.program.part import Part
from blrgen.program.program import Variable
from blrgen.program.types import SCALAR
from blrgen.program.ways import Ways


@dataclass(frozen=True)
class Writer(Base):
    """Writes one class; `law` and `drawing` are of a candidate that is no Gaussian."""

    ways: Ways
    law: Lowered | None = None
    drawing: Drawing | None = None
    moments: Moments | None = None

    @property
    def fuses(self) -> bool:
        """Whether a step can draw again in the same pass over memory."""
        return self.ways.fuses

    def sections(self) -> tuple[list[c.Method], ...]:
        """What is held; draws; steps; runs; the posterior."""
        p, why = self.plan, self.derivation.rule.unkept
        several = p.observe is not None
        return (
            [self.held(), *parts.check_method(self.program), *guard.methods(self)],
            [probing.draw(self)] if p.draw is not None else [],
            [probing.observe(self)] if several else [],
            self.steps(probing.single_rows(self), probing.averaged_rows(self))
            if several else [self.step()],
            [self.fixed_point()] if self.program.until else [],
            [parts.unkept(why)] if why else posterior.methods(self),
        )  # fmt: skip

    # -- constructor ---------------------------------------------------------------------
    def init(self) -> c.Method:
        """Keeps the arrays; everything else starts as the rule says."""
        hypers = self.program.of("hyper")
        needed = parts.first_states(self.program)
        kinds = {v.name: ARRAYS if v.type != SCALAR else "float" for v in self.plan.states}
        arguments = [c.Argument("params", ARRAYS)]
        arguments += [c.Argument(x, kinds[x], None, True) for x in needed]
        arguments += parts.hyper_arguments(hypers)
        body = parts.taken(v.name for v in hypers if not is_derived(v))
        own = parts.hyperparameters(self.program)
        body += [parts.derived(v, own) for v in hypers if is_derived(v)]
        body += self.checked()
        held = c.call("_held", c.Literal("params"), c.Name("params"))
        body += [c.Set((PARAMS,), held), *self._vectors()]
        body += [c.Set((me("t"),), c.Literal(0), note="steps taken")]
        body += [self._first(v, v.name in needed) for v in self.plan.states if v.name != self.main]
        left, over = "what the last draw left", "over this step's draws"
        body += self.remembering("list[Array]", left, over)
        body += [c.Do(c.call(me("_check_state")))] if self.ways.guarded else []
        doc = "Keep the arrays to update; everything else starts as the rule says."
        return self.constructor(arguments, doc, body)

    def held(self) -> c.Method:
        """The parameters as flat views, of the arrays that an object has now, if it is a copy."""
        said = "The parameters as flat views."
        body = (c.Return(c.Word("flat", (SELF,))),)
        return c.Method(self.main, (), "list[Array]", said, body, "property")

    def _vectors(self) -> Lines:
        """A look at arrays that are one vector each, with as many components as the family has."""
        if not self.ways.coupled:
            return []
        quantities = self.derivation.rule.of("state")
        sizes = [q.symbol.size for q in quantities if hasattr(q.symbol, "size")]
        fixed = int(sizes[0]) if sizes and sizes[0].is_Integer else None
        alone = bool(self.plan.numbers) or any(v.type == SCALAR for v in self.plan.inputs)
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
        value = self._first_array(v, main, own)
        return c.Set((me(v.name),), c.Each(value, (main,), me(self.main)))

    def _first_array(
        self, v: Variable, main: c.Name, own: tuple[tuple[str, c.Expression], ...]
    ) -> c.Expression:
        """The first value of a state beside one array of parameters."""
        start = v.init if v.init is not None else n.ZERO
        if start == n.ZERO:
            return c.Word("zeros", (main,))
        read = n.names(start)
        if all(self.program.scope[x] == SCALAR for x in read):
            return c.Word("filled", (main, c.Formula(start, own)))
        if n.is_name(start, main.name):
            return c.Word("copy", (main,))
        if set(read) <= {main.name, *(k for k, _ in own)}:
            made = c.Formula(start, (*own, (main.name, main)), (main.name,))
            return c.Word("as_array", (made, main))
        others = {s.name: s for s in self.program.of("state") if s.name not in (v.name, main.name)}
        if isinstance(start, n.Ref) and start.name in others:  # it starts where that one does
            return self._first_array(others[start.name], main, own)
        raise InternalError(f"the first value of {v.name} depends on another state")

    # -- the lines of methods ------------------------------------------------------------
    def writes(self, part: Part) -> Lines:
        """Next values of states that are numbers; a kernel makes them in its arrays' type."""
        names = {v.name for v in self.plan.numbers}
        return [
            c.Set((me(a),), c.call("float", c.Name(b)) if part.makes(b) else c.Name(b))
            for a, b in part.writes
            if a in names
        ]

    def numbered(self, names: Sequence[str], own: Sequence[str] = ()) -> tuple[
        Lines, tuple[c.Expression, ...]
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

    def each(self, k: Kernel, given: Given) -> Lines:
        """Run a kernel on all arrays, on those in the same place of every list at a time."""
        lines, handed = self.numbered(k.scalars)
        rows = self.rows(k.arrays, given)
        if self.ways.compiled and self.ways.joins(k):
            several = any(j.kernel.name == k.name and not j.noise for j in self.ways.joined())
            threaded = c.Name(f"{k.name}_threads") if several else c.Literal(None)
            return [*lines, *handing("_run", (c.Name(k.name), threaded), rows, handed)]
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

    def inputs_checked(self) -> Lines:
        """Arrays as flat views, then numbers."""
        found = Lines()
        for v in sorted(self.plan.inputs, key=lambda v: v.type == SCALAR):
            name, like = c.Name(v.name), () if v.type == SCALAR else (PARAMS,)
            look = "_number" if v.type == SCALAR else "_views"
            found.append(c.Set((name,), c.call(look, c.Literal(v.name), name, *like, FINITE)))
        return found

    # -- step and run --------------------------------------------------------------------
    def step(self) -> c.Method:
        """One step from one draw, or from none."""
        p, ways = self.plan, self.ways
        rows = [*self.need_pending(), *self.inputs_checked()]
        if self.program.halved:
            rows += [*guard.before(self), *guard.tried(self), *guard.after(self)]
        elif ways.fuses:
            rows += probing.fused(self)
        else:
            single = ways.kernels()["single"]
            rows += [*self.scalars(p.single), *guard.before(self), *self.each(single, self.given())]
            rows += [*self.writes(p.single), *guard.after(self)]
        if p.carried and not ways.fuses:
            rows.append(c.Set((PENDING,), c.Table(())))
        where = "where `draw` said" if p.probe else f"at {self.main}"
        said = f"Update the parameters in place from {input_words(p.inputs)}, {where}"
        return self.stepping(self.input_arguments(), said, rows)

    def fixed_point(self) -> c.Method:
        """Step to the fixed point; inputs are functions of the parameters."""
        x = c.Name("x")
        copies = c.Each(c.Word("copy", (x,)), (x,), me(self.main))
        vector = parts.numpy("concatenate", me(self.main))
        return self.run(vector, c.call("_shaped", copies, PARAMS))
