"""Distributions: a family with its arguments, `choose`, `point`.

Arguments stand in the order of the family's [working] table, behind them its [fixed]
constants, or by keyword; or all natural parameters by keyword.
"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches

from blrgen import core
from blrgen.errors import did_you_mean
from blrgen.read.model import raw
from blrgen.read.model.domains import parameter_shape, replaced
from blrgen.read.model.expressions import Resolver
from blrgen.read.model.families import Signature, own_shape
from blrgen.read.model.mistakes import Broken, every
from blrgen.read.model.values import (
    Argument,
    Choose,
    Distribution,
    Draw,
    Expr,
    Point,
    Shape,
    Size,
)


def first_family(made: raw.RawDraw | raw.RawChoose) -> raw.RawDraw | None:
    """The first family among what makes a node."""
    options = made.branches if isinstance(made, raw.RawChoose) else (made,)
    return next((d for d in options if d.family != "point"), None)


class Maker:
    """Resolves the distribution of one statement for variables of given shapes."""

    def __init__(self, reader: Resolver, shapes: tuple[Shape, ...], latent: bool) -> None:
        self.reader, self.shapes, self.latent = reader, shapes, latent
        self.failed = False  # an argument was given that is none

    def made(self, said: raw.RawDraw | raw.RawChoose) -> Distribution:
        if isinstance(said, raw.RawChoose):
            return self.choose(said)
        if said.family == "point":
            self.reader.wrong(
                "measure", said.place, "a point mass alone is no distribution",
                why="it has no density beside other values",
                how="write = for a deterministic node, or choose(z[n], point(0), …)",
            )  # fmt: skip
        return self.draw(said)

    def choose(self, said: raw.RawChoose) -> Choose:
        reader, sizes = self.reader, self.reader.scope.sizes
        trouble: Broken | None = None
        label = None
        try:
            label = reader.label(said.label)
            many = reader.label_size(said.label)
            if not sizes.same(many, Size("", len(said.branches))):
                reader.wrong(
                    "size", said.place,
                    f"{said.label.name} has {sizes.find(many)} labels, choose has "
                    f"{len(said.branches)} distributions",
                    how="one distribution a label, in their order",
                )  # fmt: skip
        except Broken as broken:
            trouble = broken
        branches = every(self.branch, said.branches)
        if trouble is not None or label is None:
            raise trouble or Broken("choose")
        return Choose(label, tuple(branches), said.place)

    def branch(self, said: raw.RawDraw) -> Draw | Point:
        if said.family != "point":
            return self.draw(said)
        reader = self.reader
        if len(said.arguments) != 1 or said.arguments[0].keyword:
            reader.wrong("arguments", said.place, "point takes one value", how="write point(0)")
        value = reader.read(said.arguments[0].value)
        if value.shape and not reader.scope.sizes.fit(value.shape, self.shapes[0]):
            reader.wrong("size", value.place, f"the point is {reader.words(value.shape)}, the "
                         f"variable {reader.words(self.shapes[0])}")  # fmt: skip
        return Point(value, said.place)

    def draw(self, said: raw.RawDraw) -> Draw:
        signature = self.reader.scope.families.get(said.family, said.place)
        if signature is None:
            for argument in said.arguments:
                self.reader.quietly(argument.value)
            raise Broken(said.family)
        self.failed = False
        own = {n: self.reader.scope.sizes.fresh() for n in own_sizes(signature.family)}
        values, wrong = self.matched(said, signature), None
        done: list[Argument] = []
        for parameter, role in self.wanted(signature, values):
            given = values.get(parameter.name)
            try:
                if given is not None:
                    done.append(self.argument(said.family, parameter, role, given, own))
            except Broken as broken:
                wrong = broken
        for parameter, _ in self.wanted(signature, values):
            if parameter.name not in values and not self.failed:
                self.reader.scope.mistakes.note(
                    "arguments", said.place, f"{said.family} needs {parameter.name}",
                    why=f"its arguments are {signature.spoken}",
                )  # fmt: skip
                wrong = Broken(parameter.name)
        known = Draw(said.family, tuple(done), tuple(own.items()), said.place)
        kind = "latent" if self.latent else "observed"
        self.reader.scope.partial.append((",".join(self.reader.around.own), kind, known))
        self.fits(said, signature.family, own)
        if wrong is not None or self.failed:
            raise wrong or Broken(said.family)
        return known

    def matched(self, said: raw.RawDraw, signature: Signature) -> dict[str, raw.RawArgument]:
        """Parameter → its argument."""
        found: dict[str, raw.RawArgument] = {}
        places = list(signature.positional)
        known = {p.name: p for p in (*signature.working, *signature.natural, *signature.fixed)}
        keyword = False
        for number, argument in enumerate(said.arguments):
            name = argument.keyword
            if not name and keyword:
                self.complain(argument, "a keyword stands before an argument without one",
                              "write arguments by position first")  # fmt: skip
                continue
            if not name and number >= len(places):
                self.complain(
                    argument, f"{said.family} takes {len(places)} "
                    f"argument{'s' * (len(places) != 1)}, not {len(said.arguments)}",
                    f"its arguments are {signature.spoken}",
                )  # fmt: skip
                break
            keyword = keyword or bool(name)
            name = name or places[number].name
            if name not in known:
                self.complain(argument, f"{said.family} has no parameter {name!r}",
                              _named(name, signature, known))  # fmt: skip
            elif name in found:
                self.complain(argument, f"{name} of {said.family} is given twice", "leave one out")
            else:
                found[name] = argument
        return self.unmixed(said, signature, found)

    def unmixed(
        self, said: raw.RawDraw, signature: Signature, found: dict[str, raw.RawArgument]
    ) -> dict[str, raw.RawArgument]:
        natural = [p.name for p in signature.natural if p.name in found]
        working = [p.name for p in signature.working if p.name in found]
        if natural and working:
            argument = found[natural[0]]
            self.complain(
                argument, f"{natural[0]} is a natural parameter of {said.family}, "
                f"{working[0]} a working one",
                f"give {signature.spoken}, or all of "
                f"{', '.join(p.name for p in signature.natural)}",
            )  # fmt: skip
            for name in natural:
                del found[name]
        return found

    def complain(self, argument: raw.RawArgument, text: str, how: str) -> None:
        self.reader.scope.mistakes.note("arguments", argument.place, text, instead=how)
        self.reader.quietly(argument.value)
        self.failed = True

    def wanted(
        self, signature: Signature, given: Mapping[str, object]
    ) -> list[tuple[core.Parameter, str]]:
        """The parameters that the draw must have: working or natural, then fixed."""
        natural = not signature.working or any(p.name in given for p in signature.natural)
        main = signature.natural if natural else signature.working
        role = "natural" if natural else "working"
        return [*((p, role) for p in main), *((p, "fixed") for p in signature.fixed)]

    def argument(
        self, family: str, parameter: core.Parameter, role: str, given: raw.RawArgument,
        own: Mapping[str, Size],
    ) -> Argument:  # fmt: skip
        if _infinite(given.value):
            self.reader.wrong(
                "improper" if self.latent else "domain", given.place,
                f"{parameter.name} of {family} is infinite",
                why="with a parameter on the boundary there is no density of mass 1",
                how="write a large number, or declare the variable as a param: no prior",
            )  # fmt: skip
        value = self.reader.read(given.value)
        wants = parameter_shape(parameter.domain, own)
        if not self.reader.scope.sizes.fit(wants, value.shape):
            spoken = own_shape(parameter.domain.size)
            there = wants if len(wants) == len(value.shape) else spoken
            self.reader.wrong(
                "size", value.place,
                f"{parameter.name} of {family} is {self.reader.words(there)}, "
                f"here stands {self.reader.words(value.shape)}",
                how=self.hint(len(wants), value),
            )  # fmt: skip
        return Argument(parameter.name, value, role, given.place)

    def hint(self, rank: int, value: Expr) -> str:
        """What is meant where a number stands for a vector, or a vector along a plate for one."""
        if not value.shape:
            return _filled(rank)
        sizes, axes = self.reader.scope.sizes, self.reader.scope.axes
        along = [x for x in self.reader.around.bound if axes[x].size == sizes.find(value.shape[0])]
        if rank == 0 and len(value.shape) == 1 and along:
            return f"name it, f = …, and write f[{along[0]}] for its element"
        if rank == 0 and len(value.shape) == 1:
            return "of two vectors dot(a, b) is a number, of one sum(a), or an element, a[1]"
        return ""

    def fits(self, said: raw.RawDraw, family: core.Family, own: Mapping[str, Size]) -> None:
        """What the family makes has the shape of what stands on the left."""
        made = [replaced(own_shape(s.size), own) for s in family.supports]
        if len(made) != len(self.shapes):
            wants = ", ".join(map(str, family.variables))
            self.reader.wrong(
                "arguments", said.place,
                f"{said.family} is a density of {len(made)} variable{'s' * (len(made) > 1)}, "
                f"on the left stand{'s' * (len(self.shapes) == 1)} {len(self.shapes)}",
                how=f"write ({wants}) ~ {said.family}(…)" if len(made) > 1 else "",
            )  # fmt: skip
        for shape, left in zip(made, self.shapes, strict=True):
            if not self.reader.scope.sizes.fit(shape, left):
                self.reader.wrong(
                    "size", said.place, f"{said.family} makes {self.reader.words(shape)}, "
                    f"elsewhere the variable is {self.reader.words(left)}",
                )  # fmt: skip


def _named(name: str, signature: Signature, known: Mapping[str, object]) -> str:
    """A parameter of a like name, or those that there are."""
    if get_close_matches(name[:80], known, n=1, cutoff=0.55):
        return did_you_mean(name[:80], known)
    return f"its arguments are {signature.spoken}"


def own_sizes(family: core.Family) -> list[str]:
    """The sizes that a family names: of its variables and of its parameters."""
    shapes = [own_shape(s.size) for s in family.supports]
    shapes += [
        own_shape(p.domain.size)
        for p in (*family.natural, *family.working, *family.simplex, *family.fixed)
    ]
    return list(dict.fromkeys(s.name for shape in shapes for s in shape if s.name))


def _infinite(e: raw.RawExpr) -> bool:
    return isinstance(e, raw.RawInfinity) or (isinstance(e, raw.RawNegation) and _infinite(e.arg))


def _filled(rank: int) -> str:
    return {1: "write zeros(p), or c*ones(p)", 2: "write c*eye(p)"}.get(rank, "")
