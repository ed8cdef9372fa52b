"""The syntax of a model: what a line says before any of its names means something."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from blrgen.read.model.values import NOWHERE, Place


@dataclass(frozen=True)
class RawNumber:
    """Digits, exactly."""

    value: Fraction
    text: str
    place: Place


@dataclass(frozen=True)
class RawInfinity:
    """`oo`."""

    place: Place


@dataclass(frozen=True)
class RawAll:
    """`:` as an index."""

    place: Place


@dataclass(frozen=True)
class RawRef:
    """name or name[index, …]; no brackets are no indices."""

    name: str
    indices: tuple[RawIndex, ...]
    place: Place


@dataclass(frozen=True)
class RawCall:
    """function(argument, …)."""

    function: str
    args: tuple[RawExpr, ...]
    place: Place


@dataclass(frozen=True)
class RawOps:
    """Terms with + and -, or factors with * and /; the first sign is + or *."""

    parts: tuple[tuple[str, RawExpr], ...]
    additive: bool
    place: Place
    depth: int = 1


@dataclass(frozen=True)
class RawNegation:
    """-arg."""

    arg: RawExpr
    place: Place


@dataclass(frozen=True)
class RawPower:
    """base**exponent."""

    base: RawExpr
    exponent: RawExpr
    place: Place


RawExpr: TypeAlias = RawNumber | RawInfinity | RawRef | RawCall | RawOps | RawNegation | RawPower
RawIndex: TypeAlias = RawExpr | RawAll


@dataclass(frozen=True)
class RawSize:
    """K, K-1 or 3."""

    name: str
    number: int
    place: Place


@dataclass(frozen=True)
class RawDomain:
    """kind: "interval", "reals", "simplex", "spd", "labels", "integers", "points"."""

    kind: str
    ends: tuple[RawExpr | None, ...] = ()
    open: tuple[bool, bool] = (True, True)
    sizes: tuple[RawSize, ...] = ()
    place: Place = NOWHERE


@dataclass(frozen=True)
class RawTarget:
    """What stands left of `in`, `=` or `~`."""

    name: str
    indices: tuple[RawIndex, ...]
    place: Place


@dataclass(frozen=True)
class RawArgument:
    """An argument, by keyword where it has a name."""

    keyword: str
    value: RawExpr
    place: Place


@dataclass(frozen=True)
class RawDraw:
    """family(argument, …), also point(c)."""

    family: str
    arguments: tuple[RawArgument, ...]
    place: Place


@dataclass(frozen=True)
class RawChoose:
    """choose(label, D1, …, DK)."""

    label: RawRef
    branches: tuple[RawDraw, ...]
    place: Place


@dataclass(frozen=True)
class RawPlate:
    """plate letter in size times counts."""

    letter: str
    size: RawSize
    per: tuple[tuple[str, Place], ...]
    times: RawExpr | None
    place: Place


@dataclass(frozen=True)
class RawConst:
    """const target in domain = default."""

    target: RawTarget
    domain: RawDomain
    default: RawExpr | None
    place: Place


@dataclass(frozen=True)
class RawParam:
    """param target in domain."""

    target: RawTarget
    domain: RawDomain
    place: Place


@dataclass(frozen=True)
class RawFamily:
    """family name = "path"."""

    name: str
    path: str
    place: Place


@dataclass(frozen=True)
class RawRandom:
    """targets ~ distribution, observed or not."""

    targets: tuple[RawTarget, ...]
    made: RawDraw | RawChoose
    observed: bool
    missing: bool
    place: Place


@dataclass(frozen=True)
class RawLink:
    """target = expression."""

    target: RawTarget
    value: RawExpr
    observed: bool
    place: Place


RawStatement: TypeAlias = RawPlate | RawConst | RawParam | RawFamily | RawRandom | RawLink
