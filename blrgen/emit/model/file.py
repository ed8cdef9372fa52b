"""A model program → its file: docstring, kernels, class, and the support functions it uses."""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Iterable
from dataclasses import replace

from blrgen.emit.model.draws import DrawWriter, with_labels
from blrgen.emit.model.filters import FilterWriter
from blrgen.emit.model.guarded import HYPERPARAMETERS
from blrgen.emit.model.kernels import TARGETS, Target
from blrgen.emit.model.places import KEPT, domains_beside
from blrgen.emit.model.samplers import Samplers
from blrgen.emit.model.writer import Writer
from blrgen.emit.special import helper
from blrgen.emit.support import support_of, table
from blrgen.emit.tree import classes as c
from blrgen.emit.tree import layout
from blrgen.emit.tree import nodes as t
from blrgen.errors import InternalError, UserError, did_you_mean
from blrgen.program.axes.nodes import Seq
from blrgen.program.model.check import check
from blrgen.program.model.values import Argument, Array, Method, ModelProgram

MEASURE = 92
BELOW = "# --- Support functions, the same in every file that uses them"


def text(program: ModelProgram, target: str = "numba", dtype: str = "") -> str:
    """A file that stands alone; with a dtype its class refuses data of the other."""
    if target not in TARGETS:
        raise UserError(f"unknown target {target!r}", how=did_you_mean(target, TARGETS))
    try:
        check(program)
        return _File(program, TARGETS[target], dtype).text()
    except InternalError as error:
        raise UserError(
            f"--{program.algorithm} of {program.name} is derived, and has no class yet",
            where=program.name,
            why=str(error).splitlines()[0],
            how="`blrgen derive` says what is derived; another algorithm may have a class",
        ) from error
    except OverflowError as error:
        raise UserError(
            f"--{program.algorithm} of {program.name} is made of a number beyond double precision",
            where=program.name, why="products of the text's numbers are in its equations",
            how="choose other units, in which they are nearer to 1",
        ) from error  # fmt: skip


def _arrays(x: Argument) -> tuple[Array, ...]:
    """The arrays that an argument becomes."""
    if not x.seen:
        return (x.array,)
    axes = x.array.axes
    return (x.array, Array(x.seen, axes[: len(axes) - x.value_axes]))


class _File:
    def __init__(self, program: ModelProgram, target: Target, dtype: str) -> None:
        self.program, self.target = program, target
        self.targets = {m.name: self.target_of(m) for m in program.methods}
        self.made = {m.name: self.functions(m) for m in program.methods}
        last = {name: made[-1] for name, made in self.made.items()}
        self.samplers = Samplers(target.name)
        if program.filter is not None:
            writer: Writer = FilterWriter(program, last, dtype)
        else:
            made = DrawWriter if program.draws else Writer
            writer = made(program, last, dtype, self.samplers)
        self.definition, self.hyperparameters = writer.definition(), writer.hyperparameters()

    def target_of(self, m: Method) -> Target:
        """How a method is written: what is run once in whole arrays, where these are enough."""
        p, once = self.program, TARGETS.get(self.target.once)
        first = (p.sums, None if p.start is None else p.start.method)
        if once is None or not any(m is x for x in first):
            return self.target
        turns = any(isinstance(s, Seq) for s in m.program.body)
        ragged = any(x.under for x in m.program.letters)
        if turns or ragged or not self.shared(t.support(once.make(m.program, "_once")), once):
            return self.target
        return once

    def shared(self, names: tuple[str, ...], other: Target) -> bool:
        """Whether support functions are the same text in files of both targets."""
        own, others = (
            {d.name: d.text for d in table(x.name).closure(names)} for x in (self.target, other)
        )
        return own == others and set(names) <= own.keys()

    def functions(self, m: Method) -> tuple[t.Function, ...]:
        """A method's functions under names that no support function has."""
        name, taken = f"_{m.name}", table(self.target.name).definitions.keys()
        while True:
            found = self.targets[m.name].make(m.program, name)
            if not taken & {f.name for f in found}:
                return found
            name += "_of_model"

    def text(self) -> str:
        """The parts in their order."""
        functions = [f for made in self.made.values() for f in made]
        samplers, uses = self.samplers.texts()
        called = t.support(tuple(functions))
        self.refuse_unknown(called, {f.name for f in functions})
        names = sorted({*called, *c.used(self.definition), *uses})
        support = support_of(self.target.name, names)
        imports = support.imports([*self.target.imports, *names])
        body = [self.targets[x].text(f) for x, made in self.made.items() for f in made]
        head = "\n".join([x for _, x in self.target.constants])
        parts = [
            f"{head}\n{self.nodes()}",
            *body,
            layout.definition(self.definition),
            *samplers,
            BELOW,
            *support.made,
            *support.texts,
        ]
        top = "\n".join(layout.docstring(self.docstring(), 0))
        public = f'__all__ = ["{self.program.name}"]'
        top += f"\n\nfrom __future__ import annotations\n\n{imports}\n\n{public}\n\n"
        return top + "\n\n\n".join(x.strip("\n") for x in parts) + "\n"

    def refuse_unknown(self, called: Iterable[str], own: Collection[str]) -> None:
        """No file calls what it does not hold."""
        known = table(self.target.name).definitions
        for x in sorted(called):
            if x.startswith("_") and x not in known and x not in own and helper(x) is None:
                raise InternalError(f"no support function computes {x[1:]}")

    def nodes(self) -> str:
        """What is kept of each node: parameter → array of the state, its axes, its domain."""
        rows = []
        for v in self.program.said:
            parts = tuple(
                (c.Literal(p.parameter), c.Row((c.Literal(p.array.name),
                 c.Row(tuple(map(c.Literal, p.array.axes))), c.Literal(p.array.domain))))
                for p in (replace(x, array=with_labels(x.array)) for x in v.parts)
            )  # fmt: skip
            rows.append((c.Literal(v.name), c.Table(parts)))
        kind = "Mapping[str, Mapping[str, Any]]"
        found = layout.constant("NODES", c.Table(tuple(rows)), kind)
        more = [*(self.rows() if self.program.batch else []), *self.moving(), *self.units()]
        known = layout.constant(HYPERPARAMETERS, self.hyperparameters, "Mapping[str, str]")
        beside = domains_beside(self.program)
        if beside:
            domains = tuple((c.Literal(x), c.Literal(y)) for x, y in beside.items())
            known += layout.constant(KEPT, c.Table(domains), "Mapping[str, str]")
        return "\n".join([*found, *more, *known])

    def units(self) -> list[str]:
        """Data, and which powers of their units points have."""
        pairs = tuple(
            (c.Literal(x.data), c.Table(tuple((c.Literal(y), c.Literal(k)) for y, k in x.points)))
            for x in self.program.units
        )
        kind = "Mapping[str, Mapping[str, float]]"
        return layout.constant("UNITS", c.Table(pairs), kind) if pairs else []

    def moving(self) -> list[str]:
        """Data that are brought near 0, with what is moved with them."""
        pairs = tuple(
            (c.Literal(x.data), c.Row((c.Literal(x.seen), c.Row(tuple(map(c.Literal, x.points))),
             c.Literal(x.axes))))
            for x in self.program.moving
        )  # fmt: skip
        kind = "Mapping[str, tuple[str, tuple[str, ...], int]]"
        return layout.constant("MOVING", c.Table(pairs), kind) if pairs else []

    def rows(self) -> list[str]:
        """Where rows lie in data: along which axis, and by which pointers if they are ragged."""
        p = self.program
        pointers = {x.name: x.pointers for x in p.lengths if x.outer == p.batch}
        table: list[tuple[c.Expression, c.Expression]] = []
        for x in (*(y for g in p.arguments for y in _arrays(g)),):
            first = x.axes[0] if x.axes else ""
            if first == p.batch or first in pointers:
                by = pointers.get(str(first), "")
                table.append((c.Literal(x.name), c.Row((c.Literal(first), c.Literal(by)))))
        return layout.constant("ROWS", c.Table(tuple(table)), "Mapping[str, tuple[str, str]]")

    def docstring(self) -> str:
        """What the model is, and what was derived for it."""
        p = self.program
        parts = [p.title, ""]
        for head, lines in p.equations:
            parts += [f"{head}:", ""]
            for line in lines:
                parts += textwrap.wrap(line, MEASURE, initial_indent="    ",
                                       subsequent_indent="        ")  # fmt: skip
            parts.append("")
        return "\n".join(parts).strip("\n")
