"""What classes over lists call: the support functions of a target without arrays."""

from __future__ import annotations

import math
from collections.abc import Mapping
from copy import copy, deepcopy
from random import Random
from typing import Any


def _listed(params: Any) -> list[Any]:
    """Return one list or several."""
    return params if params and isinstance(params[0], list) else [params]


def _views(name: str, given: Any, params: Any, finite: bool = False) -> list[Any]:
    """Return lists of numbers; refuse what does not fit."""
    found, like = _listed(given), _listed(params)
    if [len(x) for x in found] != [len(x) for x in like]:
        raise ValueError(f"{name} is not as long as its parameters")
    if finite and not all(math.isfinite(y) for x in found for y in x):
        raise ValueError(f"{name} is not finite; nothing has been changed")
    return found


def _held(name: str, params: Any) -> Any:
    """Return the lists to update."""
    return params if _views(name, params, params) else []


def _shaped(flat: list[Any], params: Any) -> Any:
    return flat if _listed(params) is params else flat[0]


_lent = _shaped


def _typed(like: Any, *numbers: float) -> list[tuple[float, ...]]:
    """Return numbers as the last argument of a kernel."""
    return [numbers] if numbers else []


def _generator(rng: Any, other: str = "") -> Random:
    """Return the generator; refuse what is none."""
    if not isinstance(rng, Random):
        raise TypeError("pass rng=random.Random(seed)")
    return rng


def _normals(rng: Random, like: Any) -> list[float]:
    return [rng.gauss(0, 1) for _ in like]


def _logistics(rng: Random, like: Any, location: float = 0.0, scale: float = 1.0) -> list[float]:
    us = [max(rng.random(), 1e-300) for _ in like]
    return [location + scale * (math.log(u) - math.log1p(-u)) for u in us]


def _bernoullis(rng: Random, like: Any, chance: float) -> list[float]:
    return [float(rng.random() < chance) for _ in like]


def _noise(name: str, given: Any, rng: Any, params: Any, law: Any, *more: Any) -> list[Any]:
    """Return a copy of the noise that was given, or draw it."""
    if given is not None:
        return [x[:] for x in _views(name, given, params, more[0])]
    return [law(_generator(rng), x, *more[1:]) for x in _listed(params)]


def _deviation(precision: list[float]) -> list[float]:
    return [1 / math.sqrt(x) for x in precision]


def _one_minus_power(x: float, t: int) -> float:
    return -math.expm1(t * math.log(x or 1e-30))


def _fits(name: str, x: Any, domain: str) -> None:
    """Refuse a number outside its domain."""
    low, high = map(float, domain[1:-1].split(","))
    if not (low <= x <= high and (x > low or domain[0] == "[") and (x < high or domain[-1] == "]")):
        raise ValueError(f"{name} = {x!r} is outside {domain}")


def _set(opt: Any, name: str, value: Any, domains: Mapping[str, str]) -> None:
    """Set an attribute, a number in its domain."""
    if domains.get(name):
        _fits(name, value, domains[name])
    elif "check_finite" in vars(opt) and name not in vars(opt):
        raise AttributeError(f"{type(opt).__name__}.{name} cannot be set")
    vars(opt)[name] = value


def _load(opt: Any, saved: Any, first: str, domains: Mapping[str, str], **left: Any) -> None:
    """Take all of what was saved; where something is wrong, none of it."""
    if saved.keys() != opt.state_dict().keys():
        raise ValueError("the saved state is of another rule")
    trial, found = copy(opt), deepcopy(dict(saved))
    values = found.pop(first)
    for name, x in found.pop("hyperparameters").items():
        setattr(trial, name, x)
    for name, x in found.items():
        vars(trial)[f"_{name}" if f"_{name}" in vars(trial) else name] = x
    held = _listed(opt.params)
    for own, new in zip(held, _views(first, values, held), strict=True):
        own[:] = new
    vars(opt).update(vars(trial))


def _told(opt: Any, numbers: Mapping[str, str]) -> str:
    return f"{type(opt).__name__}({', '.join(f'{x}={getattr(opt, x)!r}' for x in numbers)})"
