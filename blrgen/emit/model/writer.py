"""A model program → its class: what it begins with, how it goes on, what is known after it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from blrgen.emit.model import beginning, known, steps
from blrgen.emit.model.guarded import Guarded, kept_by
from blrgen.emit.model.places import SIZES, Places, beside, caller_name, python_name
from blrgen.emit.model.samplers import Samplers
from blrgen.emit.tree import classes as c
from blrgen.emit.tree import nodes as t
from blrgen.emit.tree.described import Described, Kept
from blrgen.program.model.values import Method, ModelProgram

RATES = (("delay", 1.0), ("forgetting", 0.7))
DOMAINS = {"rho": "(0, inf)", "delay": "[0, inf)", "forgetting": "[0, inf)"}


@dataclass
class Writer:
    """Describes one class; `functions` are those that the methods' programs became."""

    program: ModelProgram
    functions: Mapping[str, t.Function]
    dtype: str = ""  # the only one, if there is one
    samplers: Samplers = field(default_factory=lambda: Samplers("numpy"))

    def __post_init__(self) -> None:
        self.places = Places(self.program)

    def definition(self) -> c.Class:
        """The class."""
        constructor = beginning.constructor(self)
        return Described(
            self.program.name, self.doc(), constructor, self.sections(), self.kept()
        ).written()

    def sections(self) -> tuple[list[c.Method], ...]:
        """The first state; steps; what is known of q; what is said of new rows."""
        p = self.program
        own = [known.own_posterior(self, x) for x in p.posteriors if x.method]
        chains = [("pairs", p.pairs), ("path", p.paths)]
        return (
            [beginning.first_state(self)],
            self.going(),
            [known.posterior(self), *own],
            [known.of_chains(self, name, found) for name, found in chains if found],
            known.sampling(self),
            [known.predictive(self, p.predictive)] if p.predictive else [],
            known.predicted(self, p.predicted) if p.predicted else [],
        )

    def going(self) -> list[c.Method]:
        """Steps by all rows or some, or in parts where blocks are not conjugate."""
        if self.program.guarded:
            return Guarded(self).steps()
        return steps.some_rows(self) if self.program.batch else steps.all_rows(self)

    def kept(self) -> Kept:
        """How it is saved; of what has nodes their number, too."""
        if self.program.nodes:
            return Guarded(self).kept()
        return kept_by("_saved", "_go_on", beside=beside(self.program))

    @property
    def moved(self) -> set[str]:
        """Data and points that are moved together."""
        return {y for x in self.program.moving for y in (x.data, *x.points)}

    @property
    def points(self) -> bool:
        """Whether there are any, which a floor may bound."""
        return any(x.is_point for x in self.program.variables)

    @property
    def rates(self) -> tuple[tuple[str, float], ...]:
        """What ρ of a step is made from, with defaults."""
        return RATES if self.program.batch else self.program.rates

    def hyperparameters(self) -> c.Table:
        """Their domains."""
        return c.Table(tuple((c.Literal(x), c.Literal(DOMAINS[x])) for x, _ in self.rates))

    def doc(self) -> str:
        p = self.program
        words = [
            f"{python_name(x)}=…"
            for x in (*(x for x in p.sizes if x not in p.optional), *self.required())
        ]
        name = p.variables[0].name if p.variables else p.posteriors[0].node
        return (
            f"{p.title}\n\n"
            "`start` is a dictionary name → {parameter: array}, of a point the array itself; what\n"
            "it does not say begins by the seed. Arrays are read where they lie, and not changed.\n"
            "The module's docstring has the equations.\n\n"
            f"    model = {p.name}({', '.join(words)})\n"
            "    model.run()\n"
            f'    model.posterior("{name}")'
        )

    def required(self) -> list[str]:
        found = [caller_name(x) for x in self.program.arguments if x.default is None]
        return [*found, *(x.name for x in self.program.lengths)]

    def size(self, size: str | int) -> c.Expression:
        """A size in a method."""
        return c.Literal(size) if isinstance(size, int) else c.Item(SIZES, c.Literal(size))

    def call(self, method: Method, takes: tuple[str, ...] = ()) -> c.Invoked:
        """The function that a method's program became, with its arguments."""
        return self.places.call(self.functions[method.name], takes)
