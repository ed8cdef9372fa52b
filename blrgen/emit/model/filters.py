"""A filter → its class: each step takes one element of a chain.

model = Trend(v=0.5)
log_p = model.step(y=1.3)        log p of it given those before
model.posterior("l")             of the last element
model.objective()                the log evidence so far
"""

from __future__ import annotations

from blrgen.emit.model import known
from blrgen.emit.model.beginning import argument, checked, there
from blrgen.emit.model.places import DTYPE, SIZES, STATE, caller_name, python_name
from blrgen.emit.model.writer import Writer
from blrgen.emit.tree import classes as c
from blrgen.program.model.values import Argument, Filter, Method

SO_FAR = "log_evidence"


class FilterWriter(Writer):
    """Writes the class of a filter."""

    @property
    def filter(self) -> Filter:
        assert self.program.filter is not None
        return self.program.filter

    def sections(self) -> tuple[list[c.Method], ...]:
        """Nothing known; one element a step; what is known of the last."""
        own = [known.own_posterior(self, x) for x in self.program.posteriors]
        return [self.start()], [self.step(), self.objective()], [self.posterior(), *own]

    def doc(self) -> str:
        p = self.program
        words = [f"{python_name(x)}=…" for x in (*p.sizes, *self.required())]
        taken = ", ".join(f"{caller_name(x)}=…" for x in self.filter.arriving)
        return (
            f"{p.title}\n\n"
            "Each step takes what one element of the chain has, NaN where nothing was seen.\n"
            "The module's docstring has the equations.\n\n"
            f"    model = {p.name}({', '.join(words)})\n"
            f"    model.step({taken})\n"
            f'    model.posterior("{p.posteriors[0].node}")'
        )

    def start(self) -> c.Method:
        """Nothing is known of any element."""
        zeros = [(c.Literal(x.name), c.call("_zeros", c.Row(tuple(map(c.Literal, x.axes))), SIZES,
                  DTYPE)) for x in self.program.state]  # fmt: skip
        zeros.append((c.Literal(SO_FAR), c.call("_zeros", c.Row(()), SIZES, DTYPE)))
        given = c.call("_given_start", c.Name("start"), c.Name("NODES"), SIZES, DTYPE, c.Row(()))
        body = (c.Return(c.Sign("|", c.Table(tuple(zeros)), given)),)
        argument = c.Argument("start", "Mapping[str, Any] | None")
        return c.Method("_first_state", (argument,), STATE, "Return the first state.", body)

    def step(self) -> c.Method:
        """One element."""
        body: list[c.Statement] = []
        for x, at in zip(self.filter.arriving, self.filter.places, strict=True):
            body += self.taken(x, c.Literal(at))
        for k, method in enumerate(self.filter.firsts):
            body.append(c.When(c.Sign("==", c.Literal(k), c.attribute("t")), self.went_on(method)))
        body += self.went_on(self.filter.later)
        arguments = tuple(argument(x) for x in self.filter.arriving)
        doc = "Take one element of the chain; return log p of it given those before."
        return c.Method("step", arguments, "float", doc, tuple(body))

    def taken(self, x: Argument, at: c.Expression) -> list[c.Statement]:
        """An array of the element: its one place along the chain is put in."""
        name = c.Name(caller_name(x))
        value = c.call("_as_element", name, at)
        own = c.Name(x.array.name)
        if not x.seen:
            return [c.Set((own,), checked(x, value, SIZES))]
        return [c.Set((own, c.Name(x.seen)), there(x, value, SIZES))]

    def went_on(self, method: Method) -> tuple[c.Statement, ...]:
        """The step's program; its state is taken where log p is a number."""
        local = tuple(y for x in self.filter.arriving for y in (x.array.name, x.seen) if y)
        call = self.places.call(self.functions[method.name], local)
        names = c.Row(tuple(c.Literal(x.name) for x in self.program.state))
        return (c.Return(c.call("_went_on", c.Name("self"), names, call)),)

    def objective(self) -> c.Method:
        value = c.call("float", c.Item(c.attribute("state"), c.Literal(SO_FAR)))
        doc = "Return log p of all elements so far."
        return c.Method("objective", (), "float", doc, (c.Return(value),))

    def posterior(self) -> c.Method:
        """Of the last element, once there is one."""
        made = known.posterior(self)
        begun = c.Do(c.call("_begun", c.attribute("t")))
        doc = "Return the parameters of q of the last element, given all up to it."
        return c.Method(made.name, made.arguments, made.returns, doc, (begun, *made.body))
