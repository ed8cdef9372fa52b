"""Points inside the domains of a family, at concrete sizes of its vectors and matrices."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
import sympy as sp

from blrgen.algebra.ranks import T, shape_of
from blrgen.core import Domain, Family, Support
from blrgen.read.sizes import size_symbols
from blrgen.value.instance import Instance

Expr = Any
Array = Any  # numpy.ndarray
NEAR = 3  # turns from which on scalars stand near the ends of their domains


def sizes_at(family: Family, k: int) -> dict[Expr, int]:
    """Every size symbol as small as makes the vectors and matrices k (or K − 1 = k) across."""
    sizes = dict.fromkeys(size_symbols(family), k)
    ranked = [p.symbol for p in (*family.natural, *family.working, *family.fixed)]
    for x in (*ranked, *family.variables):
        for size in shape_of(x) or ():
            rest = sp.expand(size - sum(size.free_symbols))
            for s in size.free_symbols:
                sizes[s] = max(sizes[s], k - int(rest)) if rest.is_Integer else sizes[s]
    return sizes


def point_inside(family: Family, sizes: Mapping[Expr, int], turn: int = 0) -> Instance:
    """A point inside the natural domains and the constants', at these sizes."""
    here = Instance(sizes, {})
    for i, p in enumerate((*family.fixed, *family.natural)):
        here = here.with_({p.symbol: _inside(p.domain, p.symbol, here, i, turn)})
    return here


def random_like(x: Expr, sizes: Mapping[Expr, int], turn: int) -> Array:
    """A direction of the rank and shape of x; symmetric where x is."""
    rng = _generator(str(x), turn)
    shape = shape_of(x)
    if shape is None:
        return np.float64(rng.uniform(-1, 1))
    drawn = rng.uniform(-1, 1, size=_concrete(shape, sizes))
    return (drawn + drawn.T) / 2 if T(x) == x else drawn


def _generator(name: str, turn: int) -> Any:
    return np.random.default_rng(zlib.crc32(f"{name} {turn}".encode()))


def _concrete(shape: tuple[Expr, Expr], sizes: Mapping[Expr, int]) -> tuple[int, int]:
    return (int(sp.sympify(shape[0]).subs(sizes)), int(sp.sympify(shape[1]).subs(sizes)))


def _inside(domain: Domain | Support, x: Expr, here: Instance, i: int, turn: int) -> Array:
    rng = _generator(str(i), turn)
    shape = shape_of(x)
    if shape is None:
        usual = (1.3 + 0.6 * turn + 0.25 * i, 2.0)[turn % 2] + 0.1 * i
        return _between(domain, here, usual if turn < NEAR else 0.01 * (turn - NEAR + 1))
    rows, columns = _concrete(shape, here.sizes)
    if domain.kind not in ("spd", "-spd"):
        return rng.uniform(-0.8, 0.8, size=(rows, columns))
    a = rng.uniform(-0.6, 0.6, size=(rows, rows))
    shift = 0.0 if domain.lower is None else here.like(domain.lower, x)
    positive = a @ a.T + np.eye(rows) * (0.9 + 0.2 * turn)
    return shift + (-positive if domain.kind == "-spd" else positive)


def _between(domain: Domain | Support, here: Instance, step: float) -> Array:
    low, high = (
        edge if domain_edge is None else float(here.value(domain_edge))
        for edge, domain_edge in ((-np.inf, domain.lower), (np.inf, domain.upper))
    )
    if np.isinf(low) and np.isinf(high):
        return np.float64(step - 1)
    if np.isinf(high):
        return np.float64(low + step)
    if np.isinf(low):
        return np.float64(high - step)
    return np.float64(low + (high - low) * step / (1 + step))


def sign_at_size_one(e: Expr, family: Family) -> int:
    """The sign of a matrix at a point of the domain where every size is one."""
    here = variables_inside(family, point_inside(family, sizes_at(family, 1)), 0)
    return int(np.sign(here.value(e).reshape(-1)[0]))


def variables_inside(family: Family, here: Instance, turn: int) -> Instance:
    """The variables too, at a point of their supports."""
    for i, (x, support) in enumerate(zip(family.variables, family.supports, strict=True)):
        here = here.with_({x: _inside(support, x, here, i, turn)})
    return here
