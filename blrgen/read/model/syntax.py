"""A statement's text → its syntax, by the grammar in `grammar.lark`.

Nothing is evaluated.  Nodes are built while the parser reduces: there is no tree to walk,
and long sums are flat.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

from blrgen.read.model import raw
from blrgen.read.model.lines import Line, statements
from blrgen.read.model.mistakes import Mistakes
from blrgen.read.model.unexpected import explain
from blrgen.read.model.values import Place

MAX_DIGITS = 60  # of a number
MAX_EXPONENT = 400


def read_syntax(text: str, mistakes: Mistakes) -> list[raw.RawStatement]:
    """All statements that can be parsed; for the others a mistake each."""
    if text.startswith("\ufeff"):
        text = text[1:]
    found = []
    for line in statements(text, mistakes):
        statement = _parsed(line, mistakes)
        if statement is not None:
            found.append(statement)
    return found


def _parsed(line: Line, mistakes: Mistakes) -> raw.RawStatement | None:
    from lark.exceptions import UnexpectedInput, VisitError

    build, parser = _parser()
    build.above = line.first - 1
    try:
        return parser(line.text)  # type: ignore[no-any-return]
    except UnexpectedInput as error:
        explain(error, line, mistakes)
    except (VisitError, _BadNumber) as error:
        bad = error.orig_exc if isinstance(error, VisitError) else error
        if not isinstance(bad, _BadNumber):
            raise
        mistakes.note(
            "syntax", bad.place, f"the number is too long: {bad.text[:20]}…",
            why=f"at most {MAX_DIGITS} digits, and exponents up to {MAX_EXPONENT}",
        )  # fmt: skip
    return None


class _BadNumber(Exception):
    """A number that is too long to be computed with."""

    def __init__(self, text: str, place: Place) -> None:
        self.text, self.place = text, place
        super().__init__(text)


@cache
def _parser() -> tuple[Any, Callable[[str], Any]]:
    """The builder and the parser; made once, 30 ms."""
    from lark import Lark

    text = Path(__file__).with_name("grammar.lark").read_text(encoding="utf-8")
    build = _builder()
    made = Lark(text, parser="lalr", maybe_placeholders=True,
                transformer=build)  # fmt: skip
    return build, made.parse


def _builder() -> Any:
    from lark import Transformer

    return type("Builder", (_Build, Transformer), {})(visit_tokens=False)


class _Build:
    """A method for each rule of the grammar: its parts → syntax."""

    above = 0  # lines above the statement

    def at(self, token: Any) -> Place:
        return Place(token.line + self.above, token.column)

    # statements

    def start(self, parts: list[Any]) -> Any:
        return parts[0]

    def plate(self, parts: list[Any]) -> raw.RawPlate:
        letter, (size, per), times = parts[1], parts[3], parts[5]
        return raw.RawPlate(_name(letter), size, per, times, self.at(letter))

    def bound(self, parts: list[Any]) -> Any:
        first, *per = (p for p in parts if p is not None)
        letters = tuple((_name(p), self.at(p)) for p in per)
        return self.sized(first, 0, self.at(first)), letters

    def const(self, parts: list[Any]) -> raw.RawConst:
        return raw.RawConst(parts[1], parts[3], parts[4], parts[1].place)

    def param(self, parts: list[Any]) -> raw.RawParam:
        return raw.RawParam(parts[1], parts[3], parts[1].place)

    def family(self, parts: list[Any]) -> raw.RawFamily:
        return raw.RawFamily(str(parts[1]), str(parts[2])[1:-1], self.at(parts[1]))

    def random(self, parts: list[Any]) -> raw.RawRandom:
        targets, made, (observed, missing) = parts
        return raw.RawRandom(targets, made, observed, missing, targets[0].place)

    def link(self, parts: list[Any]) -> raw.RawLink:
        return raw.RawLink(parts[0], parts[1], parts[2][0], parts[0].place)

    def left(self, parts: list[Any]) -> tuple[raw.RawTarget, ...]:
        return tuple(parts)

    def target(self, parts: list[Any]) -> raw.RawTarget:
        indices = tuple(p for p in parts[1:] if p is not None)
        return raw.RawTarget(_name(parts[0]), indices, self.at(parts[0]))

    def seen(self, parts: list[Any]) -> tuple[bool, bool]:
        return parts[0] is not None, parts[2] is not None

    # distributions

    def choose(self, parts: list[Any]) -> raw.RawChoose:
        return raw.RawChoose(parts[1], tuple(parts[2:]), self.at(parts[0]))

    def branch(self, parts: list[Any]) -> raw.RawDraw:
        return parts[0]  # type: ignore[no-any-return]

    def dist(self, parts: list[Any]) -> raw.RawDraw:
        given = tuple(p for p in parts[1:] if p is not None)
        return raw.RawDraw(str(parts[0]), given, self.at(parts[0]))

    def keyword(self, parts: list[Any]) -> raw.RawArgument:
        return raw.RawArgument(_name(parts[0]), parts[1], self.at(parts[0]))

    def argument(self, parts: list[Any]) -> raw.RawArgument:
        return raw.RawArgument("", parts[0], parts[0].place)

    # domains

    def domain(self, parts: list[Any]) -> raw.RawDomain:
        first, *rest = parts
        if isinstance(first, raw.RawDomain):  # an interval, and its power
            return raw.RawDomain("interval", first.ends, first.open, rest[0] or (), first.place)
        place = self.at(first)
        kind = {"R": "reals"}.get(str(first), str(first).lower())
        if kind == "integers":
            return raw.RawDomain(kind, (rest[-1], None), place=place)
        sizes = rest[0] if kind == "reals" else tuple(rest)
        return raw.RawDomain(kind, sizes=tuple(s for s in sizes or () if s), place=place)

    def between(self, parts: list[Any]) -> raw.RawDomain:
        return raw.RawDomain("integers", (parts[1], parts[3]), place=self.at(parts[0]))

    def points(self, parts: list[Any]) -> raw.RawDomain:
        return raw.RawDomain("points", tuple(parts), place=parts[0].place)

    def interval(self, parts: list[Any]) -> raw.RawDomain:
        opened, lower, upper, closed = parts
        return raw.RawDomain(
            "interval", (lower, upper), (opened == "(", closed == ")"), place=self.at(opened)
        )

    def power(self, parts: list[Any]) -> tuple[raw.RawSize, ...]:
        return tuple(p for p in parts if p is not None)

    def size(self, parts: list[Any]) -> raw.RawSize:
        number = int(self.exact(parts[2]).value) if len(parts) > 1 and parts[2] else 0
        sign = -1 if number and parts[1] == "-" else 1
        return self.sized(parts[0], sign * number, self.at(parts[0]))

    def sized(self, token: Any, change: int, place: Place) -> raw.RawSize:
        if token.type == "NAME":
            return raw.RawSize(_name(token), change, place)
        value = self.exact(token).value
        whole = value.denominator == 1 and value >= 1
        return raw.RawSize("", int(value) if whole else -1, place)  # -1: refused by who uses it

    # expressions

    def sum(self, parts: list[Any]) -> raw.RawExpr:
        return self.chained(parts, True)

    def product(self, parts: list[Any]) -> raw.RawExpr:
        return self.chained(parts, False)

    def chained(self, parts: list[Any], additive: bool) -> raw.RawExpr:
        """a + b - c as one node; a part in brackets stays a part."""
        if len(parts) == 1:
            return parts[0]  # type: ignore[no-any-return]
        left, sign, right = parts
        joins = isinstance(left, raw.RawOps) and left.additive == additive and not left.depth
        before = left.parts if joins else (("+" if additive else "*", left),)
        return raw.RawOps((*before, (str(sign), right)), additive, left.place, 0)

    def unary(self, parts: list[Any]) -> raw.RawExpr:
        return parts[0]  # type: ignore[no-any-return]

    def signed(self, parts: list[Any]) -> raw.RawExpr:
        sign, arg = parts
        return raw.RawNegation(arg, self.at(sign)) if sign == "-" else arg

    def powered(self, parts: list[Any]) -> raw.RawPower:
        return raw.RawPower(parts[0], parts[2], parts[0].place)

    def atom(self, parts: list[Any]) -> raw.RawExpr:
        return parts[0]  # type: ignore[no-any-return]

    def bracketed(self, parts: list[Any]) -> raw.RawExpr:
        inner = parts[0]
        if isinstance(inner, raw.RawOps):
            return raw.RawOps(inner.parts, inner.additive, inner.place, 1)
        return inner  # type: ignore[no-any-return]

    def number(self, parts: list[Any]) -> raw.RawNumber:
        return self.exact(parts[0])

    def exact(self, token: Any) -> raw.RawNumber:
        text = str(token)
        mantissa, _, exponent = text.lower().partition("e")
        if (
            len(mantissa) > MAX_DIGITS
            or len(exponent) > 5
            or abs(int(exponent or 0)) > MAX_EXPONENT
        ):
            raise _BadNumber(text, self.at(token))
        return raw.RawNumber(Fraction(text), text, self.at(token))

    def infinity(self, parts: list[Any]) -> raw.RawInfinity:
        return raw.RawInfinity(self.at(parts[0]))

    def call(self, parts: list[Any]) -> raw.RawCall:
        args = tuple(p for p in parts[1:] if p is not None)
        return raw.RawCall(_name(parts[0]), args, self.at(parts[0]))

    def ref(self, parts: list[Any]) -> raw.RawRef:
        indices = tuple(p for p in parts[1:] if p is not None)
        return raw.RawRef(_name(parts[0]), indices, self.at(parts[0]))

    def index(self, parts: list[Any]) -> raw.RawIndex:
        return parts[0]  # type: ignore[no-any-return]

    def all(self, parts: list[Any]) -> raw.RawAll:
        return raw.RawAll(self.at(parts[0]))


def _name(token: Any) -> str:
    """A name as Python spells it: µ (micro) and μ (mu) are one."""
    return unicodedata.normalize("NFKC", str(token))
