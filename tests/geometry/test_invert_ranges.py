"""μ → λ gives λ back over many orders of magnitude, for every family that comes with blrgen.

Parameters are drawn from the declared domains alone, so a family file that is added is
tested as well.
"""

from __future__ import annotations

import random
from typing import Any

import mpmath
import numpy as np
import pytest

from blrgen.algebra.components import Component
from blrgen.algebra.nodes import has_nodes
from blrgen.algebra.tables import filled, table
from blrgen.geometry import Geometry, geometry_of
from blrgen.geometry.inside import bounds
from blrgen.geometry.packed import flat
from blrgen.geometry.sized import Sized
from blrgen.read.family import list_families, read_family
from blrgen.read.sizes import size_symbols
from blrgen.show.geometry import numbers_at
from blrgen.value.arithmetic import REALS
from blrgen.value.instance import Instance

mp = mpmath.mp
DIGITS = 150
# where the mean of T is 1 to all the digits that are kept, λ is no longer in it
REACH = {"bounded": 2.0, "free": 8.0}


def amount(rng: random.Random, reach: float) -> Any:
    return mp.mpf(10) ** mp.mpf(rng.uniform(-reach, reach))


def number(here: Instance, p: Any, rng: random.Random, reach: float) -> Any:
    """A number of the domain, orders of magnitude from its ends."""
    low, high = bounds(here, p.domain)
    if p.domain.whole:
        return (low if low > -mp.inf else 0) + rng.randint(1, 30)
    step = amount(rng, reach)
    if mp.isinf(low) and mp.isinf(high):
        return step * rng.choice((-1, 1))
    if mp.isinf(high):
        return low + step
    return high - step if mp.isinf(low) else low + (high - low) * step / (1 + step)


def cone(n: int, rng: random.Random, reach: float) -> Any:
    """A positive definite matrix with eigenvalues of very different size."""
    draws = np.random.default_rng(rng.randrange(10**6)).normal(size=(n, n))
    turn = np.array([[mp.mpf(float(v)) for v in row] for row in np.linalg.qr(draws)[0]])
    scale = np.array([amount(rng, reach) for _ in range(n)])
    return table((turn * scale) @ turn.T)


def place(g: Geometry, rng: random.Random, reach: float) -> Instance:
    """A point of a family of numbers or matrices."""
    here = Instance({s: 3 for s in size_symbols(g.family)}, {}, REALS)
    for p in (*g.family.fixed, *g.family.natural):
        wide = 0.5 if p in g.family.fixed else reach
        shape = here.shape(p.symbol)
        if shape is None:
            value = number(here, p, rng, wide)
        elif p.domain.kind in ("spd", "-spd"):
            value = cone(shape[0], rng, wide / 2) * (1 if p.domain.kind == "spd" else -1)
            if p.domain.lower is not None:
                value = value + here.like(p.domain.lower, p.symbol)
        else:
            value = filled(shape, mp.mpf(0))
            for k in np.ndindex(shape):
                value[k] = amount(rng, wide / 2) * rng.choice((-1, 1))
        here = here.with_({p.symbol: value})
    return here


def reach_of(g: Geometry) -> float:
    """Supports with ends of both kinds lose λ in the digits of μ when it is large."""
    if any(has_nodes(m) for m in g.mean):
        return 0.5
    kinds = {s.kind for s in g.family.supports}
    return REACH["bounded" if kinds & {"finite", "one-hot", "counts"} else "free"]


def components(
    g: Geometry, rng: random.Random, reach: float
) -> tuple[list[Any], list[Any], dict[str, Any]]:
    """(λ, μ, the constants) of a family of vectors by components."""
    sizes = {s: 4 for s in g.family.components.free_symbols}
    here, point = Instance({}, {}, REALS), dict[str, Any]()
    for p in (*g.family.fixed, *g.family.natural):
        count = int(p.symbol.size.subs(sizes)) if isinstance(p.symbol, Component) else 1
        drawn = [number(here, p, rng, reach) for _ in range(count)]
        point[p.name] = drawn if isinstance(p.symbol, Component) else drawn[0]
    s = Sized(g, sizes, point)
    mean = [
        s.here.vector(e, x.size) if isinstance(x, Component) else s.here.value(e)
        for x, e in zip(g.natural, g.mean, strict=True)
    ]
    natural = [point[x.name] for x in g.natural]
    return natural, mean, {p.name: point[p.name] for p in g.family.fixed}


def entries(value: Any) -> list[Any]:
    return value if isinstance(value, list) else flat(value)


@pytest.mark.sweep(12)
@pytest.mark.parametrize("turn", [0, 1])
@pytest.mark.parametrize("name", list_families())
def test_means_give_their_parameters_back(name: str, turn: int) -> None:
    g = geometry_of(read_family(name))
    rng, reach, tolerance = random.Random(turn), reach_of(g), 1e-12
    if turn and reach < 1:
        pytest.skip("one search by quadrature is enough")
    with mpmath.workdps(DIGITS):
        if g.family.components is not None:
            natural, mean, fixed = components(g, rng, reach)
        else:
            at = place(g, rng, reach)
            natural = [at.value(x) for x in g.natural]
            fixed = {p.name: at.value(p.symbol) for p in g.family.fixed}
            if reach < 1:
                tolerance = 1e-9
                point = dict(zip((x.name for x in g.natural), map(float, natural), strict=True))
                natural = [mp.mpf(v) for v in point.values()]
                mean = numbers_at(g, point | fixed)["mean"]
            else:
                mean = [at.like(m, x) for m, x in zip(g.mean, g.natural, strict=True)]
    found = g.natural_of_mean(mean, fixed)
    assert found.converged, found.reason
    for x, y in zip(found.natural, natural, strict=True):
        top = max(map(abs, entries(y)))
        for a, b in zip(entries(x), entries(y), strict=True):
            size = abs(b) if g.ring.elementwise or g.ring.components else top
            assert abs(a - b) <= tolerance * size
