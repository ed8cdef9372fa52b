"""One emitted step of every scalar and vector family with a parameter far out, by many digits.

A parameter on the whole line is put to 0, ±1e-300 and ±1000, one on a half-line to 1e-6 and
1e6 from its end, one between two ends to 1e-6 from either; the others stay inside.
"""

from __future__ import annotations

import random
from functools import cache
from typing import Any

import mpmath
import numpy as np
import pytest
import sympy as sp

import blrgen
from blrgen.algebra.nodes import has_nodes
from blrgen.core import Family, Parameter, Rule
from blrgen.emit import emit
from blrgen.emit.compile import compile_class
from blrgen.geometry.points import interior_points, parameter_points
from blrgen.read.family import list_families, read_family
from blrgen.rule.expand import expanded
from blrgen.value.arithmetic import EXTENDED
from blrgen.value.digits import evaluate_at
from blrgen.value.instance import Instance

SCALAR = [
    name
    for name in list_families()
    if (f := read_family(name)).elementwise and f.components is None
]  # fmt: skip
VECTORS = [name for name in list_families() if read_family(name).components is not None]
RHO = 0.25


@cache
def derived(name: str) -> Any:
    return blrgen.derive(read_family(name).path)  # by its path: a recipe may have the name


def exactly(x: float) -> Any:
    return sp.Rational(*float(x).as_integer_ratio())


def far(p: Parameter, point: dict[Any, Any]) -> list[float]:
    """Values of a parameter near its ends and far out."""
    low, high = (sp.sympify(s if e is None else e).subs(point)
                 for e, s in ((p.domain.lower, -sp.oo), (p.domain.upper, sp.oo)))  # fmt: skip
    if low.is_infinite and high.is_infinite:
        return [0.0, 1e-300, -1e-300, 1000.0, -1000.0]
    if high.is_infinite:
        return [float(low) + 1e-6, float(low) + 1e6]
    if low.is_infinite:
        return [float(high) - 1e-6, float(high) - 1e6]
    return [float(low + (high - low) * s) for s in (1e-6, 1 - 1e-6)]


def places(family: Family) -> list[dict[Any, float]]:
    """Interior values of all parameters, one of them far out."""
    kept = family.working or family.natural
    inner = {k: float(v) for k, v in interior_points(family, 1)[0].items()}
    fixed = {p.symbol: inner[p.symbol] for p in family.fixed}
    middle = parameter_points((*family.fixed, *kept), 2)[1]
    start = fixed | {p.symbol: float(middle[p.symbol]) for p in kept}
    return [start | {p.symbol: x} for p in kept for x in far(p, start)]


def by_digits(rule: Rule, values: dict[Any, Any]) -> dict[str, Any]:
    """The assignments in order, at fifty digits where they have closed forms."""
    known = dict(values)
    found: dict[str, Any] = {}
    for a in rule.assignments:
        e = sp.sympify(a.expr)
        point = {s: known[s] for s in e.free_symbols}
        value, _ = evaluate_at(e, point, 15 if has_nodes(e) else 40)
        found[a.name] = value
        for other in rule.assignments:
            for s in sp.sympify(other.expr).free_symbols:
                if s.name == a.name:
                    known[s] = value
    return found


@pytest.mark.sweep(8)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", SCALAR)
def test_one_step(name: str, dtype: Any) -> None:
    summed = any(has_nodes(sp.sympify(a.expr)) for a in derived(name).rule.assignments)
    if summed and dtype is np.float32:
        pytest.skip("its rule is summed: once is enough")
    _steps(name, "numpy", dtype)


@pytest.mark.parametrize("name", ["bernoulli-sign", "gamma", "gaussian"])
def test_one_compiled_step(name: str) -> None:
    _steps(name, "numba", np.float64)


def _steps(name: str, target: str, dtype: Any) -> None:
    d = derived(name)
    family, rule = d.family, d.rule
    made = compile_class(emit(d, target))
    kept = family.working or family.natural
    draw = random.Random(name)
    inputs = [dtype(draw.uniform(-0.01, 0.01)) for _ in rule.of("input")]
    for place in places(family):
        arrays = {p.name: np.array([place[p.symbol]], dtype) for p in kept}
        if any(not np.isfinite(a).all() for a in arrays.values()):
            continue
        values = {p.symbol: exactly(arrays[p.name][0]) for p in kept}
        constants = {p.name: place[p.symbol] for p in family.fixed}
        constants = {k: int(v) if float(v).is_integer() else v for k, v in constants.items()}
        for q in rule.of("hyper"):
            value = constants.get(q.name, RHO if q.name == "rho" else q.default)
            values[q.symbol] = exactly(dtype(float(value)))
        values |= {q.symbol: exactly(x) for q, x in zip(rule.of("input"), inputs, strict=True)}
        wanted = by_digits(rule, values)
        after = {p.name: wanted[f"{p.name}_next"] for p in kept}
        opt = made(np.full(1, 0.5, dtype), rho=RHO, **constants)
        saved = opt.state_dict()
        saved |= {k: [a] if isinstance(saved[k], list) else a for k, a in arrays.items()}
        opt.load_state_dict(saved)
        tiny = float(np.finfo(dtype).tiny)
        try:
            with np.errstate(all="ignore"):  # what leaves the domain may be a root of −1
                opt.step(*[np.array([x], dtype) for x in inputs])
        except ValueError as refused:
            lost = any(0 < abs(x) < tiny for x in after.values())  # too small for the type
            assert lost or _outside(kept, after, place), (place, str(refused))
            continue
        if _outside(kept, after, place):
            continue  # a Gaussian's step: its scale is looked at where it is used
        for key, exact in after.items():
            got = float(np.ravel(opt.state_dict()[key])[0])
            if 0 < abs(exact) < tiny:
                continue
            bound = 1e4 * float(np.finfo(dtype).eps)
            assert abs(got - exact) <= bound * abs(exact), (place, key, got, mpmath.nstr(exact))


@pytest.mark.sweep(6)
@pytest.mark.parametrize("count", [3, 4])
@pytest.mark.parametrize("name", VECTORS)
def test_one_step_of_a_vector(name: str, count: int) -> None:
    """One component far out; a step to what no number holds is refused in words."""
    d = derived(name)
    rule, made = d.rule, compile_class(emit(d, "numpy"))
    assert d.family.components is not None
    sizes = {s: count for s in d.family.components.free_symbols}
    shapes = {q.name: Instance(sizes, {}).whole(q.symbol.size) if q.rank == "elementwise" else 0
              for q in rule.of("state", "input")}  # fmt: skip
    draw = random.Random(name)
    kept = [p for p in (d.family.working or d.family.natural) if shapes[p.name]]
    for p in kept:
        low = sp.sympify(-sp.oo if p.domain.lower is None else p.domain.lower)
        ends = [0.0, 1e-300, 1000.0, -1000.0] if low.is_infinite else [low + 1e-6, low + 1e6]
        for x in map(float, ends):
            values: dict[str, Any] = {
                q.name: [1 + k / 4 for k in range(shapes[q.name])] if shapes[q.name] else 1.0
                for q in rule.of("state")
            }
            values[p.name][1] = x
            inputs: dict[str, Any] = {}
            for q in rule.of("input"):
                drawn = [draw.uniform(-0.01, 0.01) for _ in range(max(shapes[q.name], 1))]
                inputs[q.name] = drawn if shapes[q.name] else drawn[0]
            _vector_step(d, made, values, inputs, sizes)


def _vector_step(
    d: Any, made: Any, values: dict[str, Any], inputs: dict[str, Any], sizes: dict[Any, int]
) -> None:
    hyper = {q.name: float(q.default) for q in d.rule.of("hyper")} | {"rho": RHO}
    names = {k: list(map(mpmath.mpf, v)) if isinstance(v, list) else mpmath.mpf(v)
             for k, v in (values | inputs | hyper).items()}  # fmt: skip
    with mpmath.workdps(1000):  # e^−1000 beside 1
        wanted = {k: Instance(sizes, names, EXTENDED).value(e) for k, e in expanded(d.rule).items()}
    main, *others = values
    whole = {k: int(v) if k != "rho" and v.is_integer() else v for k, v in hyper.items()}
    opt = made(np.array(values[main]), **whole)
    for k in others:
        setattr(opt, k, values[k])
    try:
        with np.errstate(all="ignore"):
            opt.step(*map(np.array, inputs.values()))
    except ValueError as refused:
        assert "nothing has been changed" in str(refused)
        lows = {p.name: p.domain.lower for p in d.family.working or d.family.natural}
        flat = [(k, x) for k, v in wanted.items() for x in (v if isinstance(v, list) else [v])]
        left = any(lows[k] is not None and x <= lows[k] for k, x in flat)
        assert left or any(abs(x) > float(np.finfo(float).max) for _, x in flat), values
        return
    for k, exact in wanted.items():
        got = np.ravel(opt.state_dict()[k])
        exact = exact if isinstance(exact, list) else [exact]
        largest = max(map(abs, exact))
        for g, e in zip(got, exact, strict=True):
            assert abs(float(g) - e) <= 1e4 * 2.0**-52 * largest, (values, k, g, e)


def _outside(kept: Any, after: dict[str, Any], place: dict[Any, float]) -> bool:
    """Whether the exact step leaves a domain."""
    for p in kept:
        low, high = (sp.sympify(s if e is None else e).subs(place)
                     for e, s in ((p.domain.lower, -sp.oo), (p.domain.upper, sp.oo)))  # fmt: skip
        value = sp.Float(after[p.name], 40)
        if not (low < value < high):
            return True
    return False
