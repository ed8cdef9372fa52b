"""Claims about vectors, matrices and several variables, as numbers at concrete sizes.

What is derived has been held against the density at these sizes by the stages before; here
each claim is held against what is derived, at points inside the domains.  λ(μ) is claimed
right when it gives λ back at the mean parameters of λ, whether or not blrgen has a closed
form of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import mpmath
import numpy as np

from blrgen.algebra.components import Component
from blrgen.check.context import Context
from blrgen.check.finding import NotChecked, Wrong
from blrgen.errors import InternalError
from blrgen.read.claims import Claim
from blrgen.value.evaluate import Undefined

Expr = Any
Value = Any
_TOLERANCE = 1e-10
_DIGITS = 40
_TURNS = ((1, 0), (2, 0), (2, 1), (3, 0))  # (size, point)


@dataclass(frozen=True)
class Spot:
    """A place with values by symbol, and how to evaluate expressions there."""

    values: dict[Expr, Value]
    sizes: dict[Expr, int]
    evaluate: Any  # (expression, symbol of its shape or None, values) → a list of numbers


def applies(context: Context) -> bool:
    """Whether the family's claims have no tables of one variable."""
    family = context.family
    return bool(family.components is not None or family.joint or not family.elementwise)


def compare(context: Context, claim: Claim) -> int:
    """At how many places the claim holds; the first at which it does not is shown."""
    count = 0
    with mpmath.workdps(_DIGITS):
        for spot in _spots(context):
            expected = _expected(context, claim)
            if expected is None:
                raise NotChecked("the Fisher information of vectors is a quadratic form")
            should_be, like = expected
            should = spot.evaluate(should_be, like, spot.values)
            values = _names(context, claim, spot)
            try:
                found = spot.evaluate(claim.expr, like, values)
            except (Undefined, InternalError, ValueError, ZeroDivisionError) as error:
                raise Wrong(claim.text, _place(claim, values, spot), f"no number ({error})",
                            _text(should)) from None  # fmt: skip
            top = max([1, *map(abs, should)])
            wrong = len(found) != len(should) or not all(
                abs(a - b) <= _TOLERANCE * top for a, b in zip(found, should, strict=True)
            )
            if wrong:
                raise Wrong(claim.text, _place(claim, values, spot), _text(found), _text(should))
            count += 1
    return count


def _expected(context: Context, claim: Claim) -> tuple[Expr, Expr] | None:
    """What the claim should equal as a function of λ, and the parameter whose shape it has."""
    g = context.geometry
    if claim.key == "inverse_mean":
        return g.natural[claim.index[0]], g.natural[claim.index[0]]
    if claim.key in ("log_partition", "entropy"):
        return getattr(g, claim.key), None
    if claim.key == "fisher":
        if not context.family.elementwise or context.family.components is not None:
            return None
        return g.fisher[claim.index[0]][claim.index[1]], None
    return getattr(g, claim.key)[claim.index[0]], g.natural[claim.index[0]]


def _names(context: Context, claim: Claim, spot: Spot) -> dict[Expr, Value]:
    """The symbols that a claim may use."""
    from blrgen.geometry.inverse import mean_symbols

    g, values = context.geometry, dict(spot.values)
    if claim.key == "inverse_mean":
        constants = {p.symbol: values[p.symbol] for p in context.family.fixed}
        means = {
            s: _shaped(spot.evaluate(m, x, values), x, values[x])
            for s, x, m in zip(mean_symbols(g), g.natural, g.mean, strict=True)
        }
        return constants | means
    if claim.expr.free_symbols - set(values):
        chart = g.working_of_natural
        values |= {
            w: _in_shape(spot.evaluate(chart[w], w, values), w, spot)
            for w in (p.symbol for p in context.family.working)
        }
    return values


def _shaped(flat: list[Any], x: Expr, like: Value) -> Value:
    """Numbers after one another in the shape of a value."""
    from blrgen.algebra.tables import filled

    if isinstance(like, list):
        return flat
    if not isinstance(like, np.ndarray):
        return flat[0]
    made = filled(like.shape, None)
    for k, v in enumerate(flat):
        made[divmod(k, like.shape[1])] = v
    return made


def _in_shape(flat: list[Any], x: Expr, spot: Spot) -> Value:
    """A working parameter in its own shape."""
    from blrgen.value.arithmetic import REALS
    from blrgen.value.instance import Instance

    if isinstance(x, Component):
        return flat
    shape = Instance(spot.sizes, {}, REALS).shape(x)
    if shape is None:
        return flat[0]
    return _shaped(flat, x, np.empty(shape, dtype=object))


def _spots(context: Context) -> Iterator[Spot]:
    if context.family.components is not None:
        yield from _component_spots(context)
        return
    from blrgen.geometry.inside import exactly
    from blrgen.geometry.packed import flat
    from blrgen.geometry.points_at_sizes import point_inside, sizes_at
    from blrgen.read.sizes import size_symbols
    from blrgen.value.arithmetic import REALS
    from blrgen.value.instance import Instance

    family = context.family
    turns = _TURNS if size_symbols(family) else ((1, 0), (1, 1), (1, 2), (1, 3))
    for size, turn in turns:
        at = exactly(point_inside(family, sizes_at(family, size), turn))

        def evaluate(
            e: Expr, like: Expr, values: dict[Expr, Value], at: Instance = at
        ) -> list[Any]:
            there = Instance(at.sizes, values, REALS)
            return flat(there.value(e) if like is None else there.like(e, like))

        yield Spot(dict(at.own), at.sizes, evaluate)


def _component_spots(context: Context) -> Iterator[Spot]:
    from blrgen.geometry.sized import places
    from blrgen.value.arithmetic import EXTENDED
    from blrgen.value.instance import Instance

    family = context.family
    symbols = {p.name: p.symbol for p in (*family.fixed, *family.natural)}
    for sizes, point in places(family):

        def evaluate(
            e: Expr, like: Expr, values: dict[Expr, Value], sizes: Any = sizes
        ) -> list[Any]:
            here = Instance(sizes, {x.name: v for x, v in values.items()}, EXTENDED)
            return here.vector(e, like.size) if isinstance(like, Component) else [here.value(e)]

        values = {symbols[name]: v for name, v in point.items()}
        yield Spot(values, dict(sizes), evaluate)


def _place(claim: Claim, values: dict[Expr, Value], spot: Spot) -> dict[str, str]:
    """The sizes, and the values of what the claim uses."""
    used = {x: v for x, v in values.items() if x in claim.expr.free_symbols} or values
    return {**{str(k): str(v) for k, v in spot.sizes.items()}, **{
        x.name: _shown(v) for x, v in sorted(used.items(), key=lambda item: str(item[0]))
    }}  # fmt: skip


def _shown(value: Value) -> str:
    if isinstance(value, np.ndarray):
        rows = [", ".join(mpmath.nstr(v, 8) for v in row) for row in value]
        return "[" + ", ".join(f"[{row}]" for row in rows) + "]"
    if isinstance(value, list):
        return _text(value)
    return str(mpmath.nstr(value, 8))


def _text(values: list[Any]) -> str:
    shown = [str(mpmath.nstr(v, 12)) for v in values]
    return shown[0] if len(shown) == 1 else "[" + ", ".join(shown) + "]"
