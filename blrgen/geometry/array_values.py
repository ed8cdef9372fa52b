"""Vectors and matrices as a user gives them: numbers, shapes, and the sizes they tell.

A vector is [0.3, -2], a matrix [[2, 0.5], [0.5, 1]], rows first; NumPy arrays do as well.
Entries are kept as they are (fractions, or mpmath's numbers) until digits are chosen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import sympy as sp

from blrgen.algebra.ranks import T, Vec, shape_of
from blrgen.algebra.tables import filled
from blrgen.core import Family, Parameter
from blrgen.errors import UserError, did_you_mean
from blrgen.geometry.inside import is_inside
from blrgen.value.instance import Instance

Expr = Any
Value = Any
_SKEW = Fraction(1, 10**12)  # of a symmetric matrix made of doubles


def entry(value: Any, name: str, where: str) -> Any:
    """A number as the fraction it is; mpmath's numbers as they are."""
    if isinstance(value, mpmath.mpf):
        if mpmath.isfinite(value):
            return value
        raise UserError(f"{name} is no finite number: {value!s:.40}", where=where)
    from blrgen.geometry.place import exact_value

    found = exact_value(value, name, where)
    if isinstance(found, sp.MatrixBase) or not found.is_Rational:
        raise UserError(f"{name} is no number: {value!r:.40}", where=where)
    return Fraction(int(found.p), int(found.q))


def _is_list(value: Any) -> bool:
    if hasattr(value, "tolist"):
        return bool(getattr(value, "ndim", 0) > 0)
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def array(value: Any, x: Expr, name: str, where: str) -> Value:
    """A value in the rank of the symbol x: a number, a column, a table of rows."""
    if shape_of(x) is None:
        if _is_list(value):
            raise UserError(f"{name} is a number, not a list", where=where)
        return entry(value, name, where)
    vector = isinstance(x, Vec)
    wants = f"{name} is a {'vector, as in [0.3,-2]' if vector else 'matrix, as in [[2,0],[0,1]]'}"
    if isinstance(value, sp.MatrixBase):
        value = value.tolist()
    if not _is_list(value) or not len(value):
        raise UserError(wants, where=where)
    rows = [list(r) if _is_list(r) else r for r in value]
    if vector:
        rows = [r if isinstance(r, list) else [r] for r in rows]
    if not all(isinstance(r, list) and not any(map(_is_list, r)) for r in rows):
        raise UserError(wants, where=where)
    if len({len(r) for r in rows}) != 1 or not rows[0]:
        raise UserError(f"the rows of {name} differ in length", where=where)
    if vector and len(rows[0]) != 1:
        raise UserError(wants, where=where)
    made = filled((len(rows), len(rows[0])), None)
    for i, row in enumerate(rows):
        for j, v in enumerate(row):
            made[i, j] = entry(v, name, where)
    if any(isinstance(v, mpmath.mpf) for v in made.flat):
        made = numbers(made)
    return _symmetric(made, name, where) if T(x) == x else made


def _symmetric(a: Value, name: str, where: str) -> Value:
    if a.shape[0] != a.shape[1]:
        said = f"{name} has {a.shape[0]} rows and {a.shape[1]} columns"
        raise UserError(said, where=where, why=f"{name} is a symmetric matrix")
    largest = max(abs(v) for v in a.flat)
    for i, j in zip(*np.triu_indices(len(a), 1), strict=True):
        if abs(a[i, j] - a[j, i]) > largest * _SKEW.numerator / _SKEW.denominator:
            raise UserError(
                f"{name} is not symmetric", where=where,
                why=f"its entries [{i + 1},{j + 1}] and [{j + 1},{i + 1}] are "
                f"{float(a[i, j]):g} and {float(a[j, i]):g}",
            )  # fmt: skip
        a[i, j] = a[j, i] = a[i, j] if a[i, j] == a[j, i] else (a[i, j] + a[j, i]) / 2
    return a


def number(value: Any) -> Any:
    """An entry at the precision in force."""
    if isinstance(value, Fraction):
        return mpmath.mpf(value.numerator) / value.denominator
    return value


def numbers(value: Value) -> Value:
    """A value at the precision in force."""
    if not isinstance(value, np.ndarray):
        return number(value)
    made = filled(value.shape, None)
    for place in np.ndindex(value.shape):
        made[place] = number(value[place])
    return made


def learn_sizes(
    values: Sequence[tuple[str, Expr, Value, str]], sizes: dict[Expr, int], where: str
) -> None:
    """The sizes that (name, symbol, value, domain) tell; they must agree with one another."""
    for name, x, value, domain in values:
        for length, size in zip(getattr(value, "shape", ()), shape_of(x) or (), strict=False):
            free = sorted(sp.sympify(size).free_symbols, key=str)
            if len(free) == 1:
                sizes.setdefault(free[0], length - int(size.subs(free[0], 0)))
            if not set(free) <= set(sizes):
                continue
            should = int(sp.sympify(size).subs(sizes))
            if length != should or should < 1:
                known = ", ".join(f"{k} = {v}" for k, v in sizes.items())
                shape = " × ".join(map(str, getattr(value, "shape", ())))
                raise UserError(
                    f"{name} has shape {shape}, which does not fit", where=where,
                    why=f"{name} is in {domain}" + (f", and {known}" if known else ""),
                )  # fmt: skip


def named_sizes(family: Family, at: Mapping[str, Any], where: str) -> dict[Expr, int]:
    """The sizes that are given by name, such as d=3."""
    from blrgen.read.sizes import size_symbols

    taken = {p.name for p in (*family.natural, *family.working, *family.fixed)}
    found: dict[Expr, int] = {}
    for s in size_symbols(family):
        if s.name in at and s.name not in taken:
            value = entry(at[s.name], s.name, where)
            if value != int(value) or value < 1:
                raise UserError(f"{s.name} is a size: a whole number from 1", where=where)
            found[s] = int(value)
    return found


def check_names(
    names: Sequence[str], at: Mapping[str, Any], optional: Sequence[str], shapes: Mapping[str, str],
    where: str,
) -> None:  # fmt: skip
    """Every name is given, and nothing else."""
    missing = [n for n in names if n not in at]
    extra = sorted(set(at) - {*names, *optional})
    if missing or extra:
        said = [f"missing: {', '.join(missing)}"] if missing else []
        said += [f"not a parameter: {', '.join(extra)}"] if extra else []
        example = ",".join(f"{n}={shapes.get(n, '…')}" for n in names)
        known = did_you_mean(extra[0], names) if extra and not missing else ""
        raise UserError("; ".join(said), where=where, how=f"give {example}", why=known)


def spelled(x: Expr) -> str:
    """How a value of this rank is written."""
    shape = shape_of(x)
    return "…" if shape is None else "[…,…]" if isinstance(x, Vec) else "[[…,…],[…,…]]"


def check_domain(here: Instance, p: Parameter, where: str) -> None:
    """Refuse a value outside its domain; what it depends on is there already."""
    if is_inside(here, p.symbol, p.domain):
        return
    value = here.value(p.symbol)
    said = "its value" if isinstance(value, np.ndarray) else f"{p.name} = {float(value):g}"
    why = f"{p.name} is in {p.domain.text}"
    if p.domain.kind in ("spd", "-spd") and p.domain.lower is None:
        sign = "positive" if p.domain.kind == "spd" else "negative"
        why += f": symmetric and {sign} definite"
    raise UserError(f"{said.replace('its', p.name + ': its')} is outside its domain", where=where,
                    why=why)  # fmt: skip
