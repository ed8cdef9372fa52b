"""Names of a model → names of programs, and what of a model the caller gives.

A program's name is a plain identifier that no printed line uses for itself; what the caller
says keeps the model's name.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from keyword import iskeyword

from blrgen.expect.factors.names import axis_of
from blrgen.program.axes import nodes as a
from blrgen.program.model.expressions import Equations, Reader, labels_reader, named_reader
from blrgen.program.model.values import DEFINITE, REAL, SIMPLEX, Argument, Array, Lengths
from blrgen.program.nodes import ONE, Named
from blrgen.program.program import fresh
from blrgen.read.model.domains import support_domain
from blrgen.read.model.values import (
    Call,
    Choose,
    Const,
    Domain,
    Draw,
    Expr,
    Model,
    Negation,
    Node,
    Number,
    Product,
    Shape,
    Size,
    SizeOf,
    Sum,
)
from blrgen.read.model.values import Point as PointMass

TAKEN = frozenset({
    "real", "np", "math", "range", "prange", "min", "max", "abs", "float", "int", "Array", "Any",
    "zero", "one", "two", "half", "inf", "floor", "self", "data", "state", "sizes", "sums", "rows",
    "rho", "scale", "objective", "flags", "t", "name", "saved", "steps", "tol", "batch", "start",
    "seed", "given", "njit", "log_evidence", "SUMS", "ASIDE", "FASTMATH", "slice", "len", "dict",
})  # fmt: skip


class Names:
    """Program names by the model's, each its own."""

    def __init__(self, model: Model) -> None:
        self.taken = {*TAKEN, *map(plain, model.sizes)}
        self.found: dict[str, str] = {}

    def of(self, name: str) -> str:
        """The program's name."""
        if name not in self.found:
            self.found[name] = fresh(plain(name), self.taken)
            self.taken.add(self.found[name])
        return self.found[name]


def plain(name: str) -> str:
    """An ASCII identifier: Greek letters by their names."""
    words = []
    for c in name:
        if c.isascii():
            words.append(c if c.isalnum() else "_")
        else:
            word = unicodedata.name(c, "").split(" WITH ")[0].rsplit(" ", 1)[-1].lower()
            words.append(word if word.isidentifier() and word.isascii() else "_")
    made = re.sub(r"__+", "_", "".join(words)) or "x"
    made = made if not made[0].isdigit() else f"x{made}"
    return f"{made}_" if iskeyword(made) else made.lstrip("_") or "x"


class Given:
    """Constants, data, ragged sizes of a model, as arguments and as what expressions read.

    What runs along the letter `along` comes element by element: its axis there has one place,
    which expressions do not name.
    """

    def __init__(self, model: Model, along: str = "") -> None:
        self.model, self.names, self.along = model, Names(model), along
        self.readers: dict[str, Reader] = {"pi#": named_reader(Named("pi"))}
        self.shares = frozenset(_shares(model))
        self.quantities: dict[str, a.Quantity] = {}
        self.ragged: dict[str, a.Letter] = {}
        self.lengths: list[Lengths] = []
        for p in model.plates:
            if p.outer and p.letter != along:
                self.rows_of_lengths(p.letter)
        data = [self.observed(x) for x in model.nodes if x.kind == "observed"]
        every = (*(y for x in data for y in x), *map(self.constant, model.constants))
        comes = {x for n in model.nodes if along and along in n.letters for x in n.names}
        comes |= {x.name for x in model.constants if along and along in x.letters}
        self.arguments = tuple(x for x in every if x.called not in comes)
        self.arriving = tuple(x for x in every if x.called in comes)
        letters = {x: n.letters for n in model.nodes for x in n.names}
        letters |= {x.name: x.letters for x in model.constants}
        self.places = tuple(letters[x.called].index(along) for x in self.arriving)
        shown = {s for x in self.arguments if x.default is None for s in x.array.axes}
        shown |= {x.name for x in self.lengths} | {x.outer for x in self.lengths}
        axes = {axis_of(p.size) for p in model.plates if p.letter != along}
        used = axes | {str(s) for n in model.nodes for sh in n.shapes for s in sh}
        self.sizes = tuple(s for s in model.sizes if s not in shown and s in used)
        said = {s for x in self.arguments if x.default is not None for s in x.array.axes}
        self.optional = tuple(s for s in self.sizes if s in said)

    def equations(self, taken: set[str]) -> Equations:
        """None yet, with a letter of each plate; names in `taken` are not theirs."""
        ragged = dict(self.ragged)
        eq = Equations(self.readers, ragged, taken=taken, shares=self.shares)
        plates = [p for p in self.model.plates if p.letter != self.along]
        for p in sorted(plates, key=lambda p: bool(p.outer)):
            letter = eq.letter(axis_of(p.size), p.letter, ())
            for axis, x in self.ragged.items():  # under that letter, which may be another here
                if x.under == p.letter:
                    ragged[axis] = replace(x, under=letter)
        return eq

    def rows_of_lengths(self, letter: str) -> None:
        plate = self.model.plate(letter)
        outer = axis_of(self.model.plate(plate.outer[-1]).size)
        axis = axis_of(plate.size)
        if axis in self.ragged:
            return
        pointers = self.names.of(f"{axis}_starts")
        self.ragged[axis] = a.Letter(letter, axis, plate.outer[-1], pointers)
        self.lengths.append(Lengths(axis, outer, pointers))
        self.quantities[pointers] = a.Quantity(pointers, (f"{outer}_ends",))
        self.readers[f"exists:{axis}"] = named_reader(ONE)

    def observed(self, node: Node) -> list[Argument]:
        """Its arrays; what may be missing comes with what is there."""
        out = []
        for name, domain in zip(node.names, node.domains, strict=True):
            axes = self.axes_of(node.letters)
            at = self.place_along(node.letters)
            x = self.argument(name, axes, self.widened(node, domain), "data", at=at)
            if node.missing:
                seen = self.names.of(f"{name}_seen")
                self.quantities[seen] = a.Quantity(seen, _sized(axes))
                self.readers[f"seen:{name}"] = _one_place(_plain(seen), at)
                values = len(x.array.sizes) - len(axes)
                x = Argument(x.array, name, "data", None, seen, values)
            out.append(x)
        return out

    def axes_of(self, letters: tuple[str, ...]) -> tuple[str, ...]:
        """The axes of plates; one place of what comes element by element."""
        return tuple("1" if x == self.along else axis_of(self.model.plate(x).size)
                     for x in letters)  # fmt: skip

    def place_along(self, letters: tuple[str, ...]) -> int | None:
        return letters.index(self.along) if self.along in letters else None

    def widened(self, node: Node, domain: Domain) -> Domain:
        """Where the values of all branches of a choice are; anywhere if an end is no number."""
        found = [self.of_branch(b) for s in node.statements if isinstance(s.made, Choose)
                 for b in s.made.branches]  # fmt: skip
        if not found or domain.kind not in ("interval", "finite"):
            return domain
        if all(d.kind == "finite" for d in found):
            points = {p for d in found for p in d.points}
            return replace(domain, kind="finite", points=tuple(sorted(points)))
        ends: list[Number | None] = []
        for side, least in (("lower", min), ("upper", max)):
            values = [_finite_end(d, side, least) for d in found]
            known = [x for x in values if x is not None]
            ends.append(Number(Fraction(least(known))) if len(known) == len(values) else None)
        lower, upper = ends
        own = domain.kind == "interval"
        return replace(
            domain, kind="interval", lower=lower, upper=upper,
            whole=all(_is_whole(d) for d in found),
            lower_open=domain.lower_open if own and lower == domain.lower else lower is None,
            upper_open=domain.upper_open if own and upper == domain.upper else upper is None,
        )  # fmt: skip

    def of_branch(self, branch: Draw | PointMass) -> Domain:
        """Where the values of one branch are: one point, or the support of a family."""
        if isinstance(branch, PointMass):
            value = number(branch.value)
            if value is not None:
                return Domain("finite", points=(Fraction(value),))
            return Domain("interval")
        support = self.model.family(branch.family).supports[0]
        return support_domain(support, dict(branch.sizes), {})

    def constant(self, x: Const) -> Argument:
        axes, at = self.axes_of(x.letters), self.place_along(x.letters)
        plain = number(x.default)
        default = x.default if plain is None else plain
        return self.argument(x.name, axes, x.domain, "constant", default, at)

    def argument(
        self,
        name: str,
        axes: tuple[str, ...],
        domain: Domain,
        role: str,
        default: float | Expr | None = None,
        at: int | None = None,
    ) -> Argument:
        """An array that the caller gives; `at` is where its one place along a chain stands."""
        own = self.names.of(name)
        if domain.kind in ("one-hot", "labels"):
            labels = axis_of(domain.labels) if domain.labels else axis_of(domain.shape[0])
            array = Array(own, _sized(axes), "labels", size_of(labels), _sized(self.flat(axes)))
            self.readers[name] = _one_place(labels_reader(own), at)
        else:
            sizes = (*axes, *_axes(domain.shape))
            flat = _sized(self.flat(sizes))
            array = Array(own, _sized(sizes), domain_text(domain), "", flat)
            self.readers[name] = _one_place(_plain(own), at)
        structure = "spd" if domain.kind == "spd" else "dense"
        self.quantities[own] = a.Quantity(own, array.sizes, structure, array.labels)
        return Argument(array, name, role, default)

    def in_memory(self, x: Array) -> Array:
        """The array with the axes that it has in memory."""
        return replace(x, flat=_sized(self.flat(tuple(map(str, x.sizes)))))

    def flat(self, axes: tuple[str, ...]) -> tuple[str, ...]:
        """The axes in memory: the one under which the next is ragged is not one of them."""
        outer = {x.name: x.outer for x in self.lengths}
        kept = tuple(x for x, y in pairwise((*axes, "")) if outer.get(y) != x)
        return kept if len(kept) < len(axes) else ()


def _shares(model: Model) -> Iterable[str]:
    """What is on a simplex and has entries that may be 0: known, or a value that is found."""
    for x in model.constants:
        if x.domain.kind == "simplex":
            yield x.name
    for node in model.nodes:
        if node.kind != "observed":
            of = zip(node.names, node.domains, strict=True)
            yield from (name for name, domain in of if domain.kind == "simplex")


def _finite_end(
    d: Domain, side: str, least: Callable[[Iterable[Fraction]], Fraction]
) -> float | None:
    """The lower or the upper end as a number, None where there is none."""
    if d.kind == "finite":
        return float(least(d.points))
    return number(d.lower if side == "lower" else d.upper)


def _is_whole(d: Domain) -> bool:
    """Whether all values are whole numbers."""
    return d.whole or (d.kind == "finite" and all(p.denominator == 1 for p in d.points))


def _plain(name: str) -> Reader:
    return lambda index: a.Ref(name, index)


def _one_place(read: Reader, at: int | None) -> Reader:
    """The reader of an array in which one index, which nobody names, is the first."""
    if at is None:
        return read
    return lambda index: read((*index[:at], a.Num(0), *index[at:]))


def size_of(axis: str) -> a.Size:
    """An axis as a size: a number where it is one."""
    return int(axis) if axis.isdigit() else axis


def _sized(axes: tuple[str, ...]) -> tuple[a.Size, ...]:
    return tuple(map(size_of, axes))


def _axes(shape: Shape) -> tuple[str, ...]:
    return tuple(axis_of(s) for s in shape)


def number(e: Expr | None) -> float | None:
    """A default that is one number, or the same number everywhere."""
    match e:
        case Number(value=value):
            return float(value)
        case Negation(arg=arg):
            inner = number(arg)
            return None if inner is None else -inner
        case Call(function="ones"):
            return 1.0
        case Call(function="zeros"):
            return 0.0
        case Product(factors=factors):
            found = [number(x) for x in factors]
            total = Fraction(1)
            for x in found:
                if x is None:
                    return None
                total *= Fraction(x)
            return float(total)
    return None


def domain_text(domain: Domain) -> str:
    """The domain as an emitted file checks it."""
    if domain.kind == "simplex":
        return SIMPLEX
    if domain.kind == "spd":
        return DEFINITE
    if domain.kind == "finite":
        return f"{{{', '.join(_short(float(p)) for p in domain.points)}}}"
    if domain.kind == "counts":
        return "integers [0, oo)"
    if domain.kind != "interval":
        return REAL
    low, high = _end(domain.lower, "-oo"), _end(domain.upper, "oo")
    left = "(" if domain.lower_open or low == "-oo" else "["
    right = ")" if domain.upper_open or high == "oo" else "]"
    text = f"{left}{low}, {high}{right}"
    if domain.whole:
        return f"integers {text}"
    return REAL if (low, high) == ("-oo", "oo") else text


def _end(e: Expr | None, without: str) -> str:
    """An end that is a number, or a size more or less a number; without one what is said."""
    value = number(e)
    if value is not None:
        return _short(value)
    match e:
        case SizeOf(size=Size(name=str(name), number=whole)) if name:
            return f"{name} {'+-'[whole < 0]} {abs(whole)}" if whole else name
        case Sum(terms=(SizeOf(size=Size(name=str(name), number=0)), other)) if name:
            more = number(other)
            if more is not None:
                return f"{name} {'+-'[more < 0]} {_short(abs(more))}"
    return without


def _short(x: float) -> str:
    return str(int(x)) if x == int(x) else repr(x)


def class_name(model: str) -> str:
    """gamma-mixture → GammaMixture."""
    words = "".join(x if x.isalnum() else " " for x in model).split()
    found = "".join(w[0].upper() + w[1:] for w in words)
    return found if found.isidentifier() else f"Model{found}"
