"""Where values live: what the text says of a constant, what a family says of its variable."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from blrgen import core
from blrgen.read.model import raw
from blrgen.read.model.expressions import Resolver
from blrgen.read.model.families import own_shape
from blrgen.read.model.scope import Scope
from blrgen.read.model.unify import shape_words
from blrgen.read.model.values import (
    Domain,
    Expr,
    Number,
    Power,
    Product,
    Shape,
    Size,
    SizeOf,
    Sum,
)

ZERO, ONE = Number(Fraction(0)), Number(Fraction(1))


def said_shape(scope: Scope, said: raw.RawDomain) -> Shape:
    """The shape of a value, before anything else of its domain is read."""
    if said.kind == "spd":
        if not said.sizes:
            raise scope.mistakes.broken(
                "size", said.place, "SPD needs its size", instead="write SPD(d)"
            )
        return (scope.size(said.sizes[0]),) * 2
    if said.kind == "labels":
        scope.size(said.sizes[0])
        return ()
    return tuple(scope.size(s) for s in said.sizes)


def said_domain(reader: Resolver, said: raw.RawDomain, shape: Shape) -> Domain:
    """A domain as the text says it; its ends may hold sizes and constants."""
    text = _spelled(said, shape)
    match said.kind:
        case "interval":
            lower, upper = (_end(reader, e) for e in said.ends)
            opened = (said.open[0] or lower is None, said.open[1] or upper is None)
            _not_empty(reader, said, lower, upper)
            return Domain("interval", shape, lower, upper, *opened, text=text)
        case "integers":
            lower, upper = (_end(reader, e) if e is not None else None for e in said.ends)
            _not_empty(reader, said, lower, upper)
            return Domain("interval", shape, lower, upper, lower is None, upper is None, True,
                          text=text)  # fmt: skip
        case "points":
            return _points(reader, said, text)
        case "labels":
            size = reader.scope.size(said.sizes[0])
            return Domain("labels", (), whole=True, labels=size, text=f"labels({size})")
        case "simplex":
            return Domain("simplex", shape, closed=True, text=text)
        case "spd":
            return Domain("spd", shape, text=text)
        case _:
            return Domain("interval", shape, text=text)


def _points(reader: Resolver, said: raw.RawDomain, text: str) -> Domain:
    """{0, 1}: numbers that are listed."""
    points = []
    for e in said.ends:
        assert e is not None
        value = reader.read(e)
        if not isinstance(value, Number):
            reader.wrong("syntax", value.place, "a list of points holds numbers",
                         how="write {0, 1}, or integers 0..n")  # fmt: skip
        points.append(value.value)
    whole = all(p.denominator == 1 for p in points)
    return Domain("finite", (), points=tuple(sorted(set(points))), whole=whole, text=text)


def _end(reader: Resolver, e: raw.RawExpr | None) -> Expr | None:
    """An end of an interval; None for infinity."""
    if e is None or isinstance(e, raw.RawInfinity):
        return None
    if isinstance(e, raw.RawNegation) and isinstance(e.arg, raw.RawInfinity):
        return None
    value = reader.read(e)
    if value.shape:
        reader.wrong("size", value.place, f"an end is a number, not {shape_words(value.shape)}")
    return value


def _not_empty(
    reader: Resolver, said: raw.RawDomain, lower: Expr | None, upper: Expr | None
) -> None:
    numbers = isinstance(lower, Number) and isinstance(upper, Number)
    if numbers and not lower.value < upper.value:  # type: ignore[union-attr]
        reader.wrong("domain", said.place, "the domain is empty",
                     why="its lower end is not below its upper end")  # fmt: skip


def _spelled(said: raw.RawDomain, shape: Shape) -> str:
    """The domain as text, for messages."""
    power = ""
    if shape and said.kind in ("interval", "reals"):
        inside = ",".join(map(str, shape))
        power = f"^({inside})" if len(shape) > 1 or " " in inside else f"^{inside}"
    match said.kind:
        case "interval":
            low, high = (spell_end(e) for e in said.ends)
            return f"{'[('[said.open[0]]}{low}, {high}{'])'[said.open[1]]}{power}"
        case "integers" if said.ends[1] is not None:
            return f"integers {spell_end(said.ends[0])}..{spell_end(said.ends[1])}"
        case "integers" if said.ends[0] is not None:
            return f"integers >= {spell_end(said.ends[0])}"
        case "integers":
            return "integers"
        case "points":
            return "{" + ", ".join(map(spell_end, said.ends)) + "}"
        case "reals":
            return f"R{power}"
        case "spd":
            return f"SPD({shape[0]})"
        case _:
            return f"{said.kind}({', '.join(map(str, shape))})"


def spell_end(e: raw.RawExpr | None) -> str:
    """A short expression as it was written, near enough for a message."""
    match e:
        case raw.RawNumber(text=text):
            return text
        case raw.RawRef(name=name):
            return name
        case raw.RawNegation(arg=arg):
            return f"-{spell_end(arg)}"
        case raw.RawOps(parts=parts):
            first, *rest = parts
            return spell_end(first[1]) + "".join(f" {s} {spell_end(p)}" for s, p in rest)
        case raw.RawInfinity() | None:
            return "oo"
        case _:
            return "…"


def parameter_shape(domain: core.Domain, sizes: Mapping[str, Size]) -> Shape:
    """The shape of a family's parameter, its own sizes replaced."""
    return replaced(own_shape(domain.size), sizes)


def replaced(shape: Shape, sizes: Mapping[str, Size]) -> Shape:
    """A shape in a family's own sizes, in those of the model."""
    found = []
    for s in shape:
        other = sizes.get(s.name)
        found.append(Size(other.name, other.number + s.number) if other else s)
    return tuple(found)


_KINDS = {"vector": "interval", "matrix": "interval", "integers": "interval"}


def support_domain(
    support: core.Support, sizes: Mapping[str, Size], values: Mapping[str, Expr]
) -> Domain:
    """Where a family's variable lives, with the model's sizes and the draw's arguments."""
    shape = replaced(own_shape(support.size), sizes)
    kind = _KINDS.get(support.kind, support.kind)
    lower = upper = None
    if kind in ("interval", "counts"):
        lower = converted(support.lower, sizes, values)
        upper = converted(support.upper, sizes, values)
    points = tuple(Fraction(int(p.p), int(p.q)) for p in support.points if p.is_Rational)
    whole = support.kind in ("integers", "counts", "one-hot") or (
        bool(points) and all(p.denominator == 1 for p in points)
    )
    return Domain(
        kind, shape, lower, upper, support.lower_open or lower is None,
        support.upper_open or upper is None, whole, points, text=support.text,
    )  # fmt: skip


def parameter_domain(
    domain: core.Domain, sizes: Mapping[str, Size], values: Mapping[str, Expr]
) -> Domain:
    """Where a family's parameter may be, with the model's sizes and the draw's arguments."""
    shape = parameter_shape(domain, sizes)
    if domain.kind == "interval":
        lower = converted(domain.lower, sizes, values)
        upper = converted(domain.upper, sizes, values)
        return Domain("interval", shape, lower, upper, domain.lower_open, domain.upper_open,
                      domain.whole, text=domain.text)  # fmt: skip
    kind = "interval" if domain.kind in ("vector", "matrix") else domain.kind
    return Domain(kind, shape, closed=kind == "simplex", text=domain.text)


def _shifted(parts: tuple[Expr, ...]) -> Expr | None:
    """d - 1 as a size."""
    match parts:
        case (Number(value=n), SizeOf(size=size)) if n.denominator == 1:
            return SizeOf(Size(size.name, size.number + int(n)))
    return None


def converted(e: Any, sizes: Mapping[str, Size], values: Mapping[str, Expr]) -> Expr | None:
    """A bound of a family file (SymPy) in the model's terms; None for infinity or unknown."""
    if e is None or e.is_infinite:
        return None
    if e.is_Rational:
        return Number(Fraction(int(e.p), int(e.q)))
    if e.is_Symbol:
        if e.name in values:
            return values[e.name]
        return SizeOf(sizes[e.name]) if e.name in sizes else None
    inside = [converted(a, sizes, values) for a in e.args]
    parts = tuple(x for x in inside if x is not None)
    if len(parts) != len(inside):
        return None
    if e.is_Add:
        return _shifted(parts) or Sum(parts)
    if e.is_Mul:
        return Product(parts)
    return Power(parts[0], parts[1]) if e.is_Pow else None
