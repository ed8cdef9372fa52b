"""What an object keeps: attributes in their domains, resuming."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from difflib import get_close_matches
from typing import Any

import numpy as np

from blrgen.runtime.arrays import _listed, _shaped_as


def _set(opt: Any, name: str, value: Any, domains: Mapping[str, str]) -> None:
    """Set an attribute, a number in its domain; refuse a name that there is not."""
    held = vars(opt)
    if domains.get(name):
        value = _fitting(name, value, 0.0, domains)
    elif "check_finite" in held and (name not in held or name == "params"):
        raise AttributeError(f"{type(opt).__name__}.{name} cannot be set; {[*domains]} can")
    elif isinstance(held.get(name), list):
        value = _fitting(name, value, held[name], {})
    elif isinstance(held.get(name), np.ndarray):
        _shaped_as(name, value, held[name].shape, held[name])
    held[name] = value


def _set_known(model: Any, name: str, value: Any, domains: Mapping[str, str]) -> None:
    """Set an attribute of a model, a number in its domain; refuse a name that there is not."""
    held = vars(model)
    if name in domains:
        value = _fitting(name, value, 0.0, domains)
    elif name not in held and "state" in held:
        near = ", ".join(get_close_matches(name, held, 1) or domains or ("nothing new",))
        raise AttributeError(f"{type(model).__name__}.{name} cannot be set; {near} can")
    held[name] = value


def _fitting(name: str, x: Any, like: Any, domains: Mapping[str, str]) -> Any:
    """Return a copy of what can stand in the place of another; refuse what cannot."""
    if isinstance(like, dict):
        if odd := like.keys() ^ (x.keys() if isinstance(x, Mapping) else {type(x).__name__}):
            raise ValueError(f"{name} lacks or has too much: {', '.join(sorted(map(str, odd)))}")
        return {key: _fitting(key, x[key], like[key], domains) for key in like}
    if isinstance(like, list):
        if not isinstance(x, list) or len(x) != len(like):
            raise ValueError(f"{name} = {x!r:.60} is no list of {len(like)} arrays")
        return [_fitting(f"{name}[{i}]", x[i], like[i], domains) for i in range(len(x))]
    kind = int | np.integer if isinstance(like, int) else int | np.integer | float | np.floating
    if isinstance(like, np.ndarray):
        _shaped_as(name, x, like.shape, like)
    elif isinstance(x, bool) or not isinstance(x, kind):
        raise TypeError(f"{name} = {x!r} is no {'whole ' * isinstance(like, int)}number")
    domain = domains.get(name.partition("[")[0]) or "(-inf, inf)"
    low, high = map(float, domain[1:-1].split(","))
    above = x >= low if domain[0] == "[" else x > low
    if not np.all(above & (x <= high if domain[-1] == "]" else x < high)):
        raise ValueError(f"{name} = {x!r} is outside {domain}")
    return x.copy() if isinstance(x, np.ndarray) else type(like)(x)


def _load(opt: Any, saved: Any, main: str, domains: Mapping[str, str], **left: Any) -> None:
    """Take all of what was saved; where something is wrong, none of it."""
    like = opt.state_dict() | {k: x if dict(saved or ()).get(k) else {} for k, x in left.items()}
    beside = {"t": "[0, inf)", "draws": "[1, inf)" if like.get("sums") else "[0, 0]"}
    found = _fitting("the saved state", saved, like, {**beside, **domains})
    params = _listed(found.pop(main))
    found |= found.pop("hyperparameters")
    for one in (deepcopy(opt), opt):
        for x, value in zip(_listed(one.params), params, strict=True):
            x[...] = value
        vars(one).update({f"_{k}" if f"_{k}" in vars(one) else k: x for k, x in found.items()})
        getattr(one, "_check_state", bool)()


def _told(opt: Any, numbers: Mapping[str, str]) -> str:
    """Return what an object is: its arrays, its hyperparameters, its steps."""
    shapes = [f"{x.dtype}{[*x.shape]}" for x in _listed(opt.params)]
    values = [f"{name}={getattr(opt, name)!r}" for name in (*numbers, "t")]
    return f"{type(opt).__name__}({', '.join(shapes + values)})"
