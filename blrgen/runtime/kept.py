"""What an object keeps: attributes in their domains, resuming, one thread at a time."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy, deepcopy
from difflib import get_close_matches
from threading import Thread, current_thread
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from blrgen.runtime.arrays import _listed

OWNERS = WeakKeyDictionary[Any, Thread]()  # the thread that uses an object


def _mine(opt: Any) -> Any:
    """Return the parameters, to the one thread that uses the object while it lives."""
    me = current_thread()
    if OWNERS.get(opt) is not me and "check_finite" in vars(opt):
        if (owner := OWNERS.setdefault(opt, me)) is not me and owner.is_alive():
            raise RuntimeError("another thread uses it; copy.copy(it) hands it to this one")
        OWNERS[opt] = me
    return opt.params


def _set(opt: Any, name: str, value: Any, domains: Mapping[str, str]) -> None:
    """Set an attribute, a number in its domain; refuse a name that there is not."""
    held = vars(opt)
    like = held.get(name)
    if domains.get(name):
        value = _fitting(name, value, 0.0, domains[name])
    elif "check_finite" in held and (name not in held or name == "params"):
        near = ", ".join(get_close_matches(name, held, 1) or domains)
        raise AttributeError(f"{type(opt).__name__}.{name} cannot be set; {near} can")
    elif isinstance(like, list):
        value = _fitting(name, value, like, "")
    elif isinstance(like, np.ndarray):
        kinds = [(type(x), np.shape(x), getattr(x, "dtype", None)) for x in (value, like)]
        value = value if kinds[0] == kinds[1] else _fitting(name, value, like, "")
    held[name] = value


def _set_known(model: Any, name: str, value: Any, domains: Mapping[str, str]) -> None:
    """Set an attribute of a model, a number in its domain; refuse a name that there is not."""
    held = vars(model)
    if name in domains:
        value = _fitting(name, value, 0.0, domains[name])
    elif name not in held and "state" in held:
        near = ", ".join(get_close_matches(name, held, 1) or domains or ("nothing new",))
        raise AttributeError(f"{type(model).__name__}.{name} cannot be set; {near} can")
    held[name] = value


def _fitting(name: str, x: Any, like: Any, domain: Any) -> Any:
    """Return a copy of what can stand in the place of another; refuse what cannot."""
    if isinstance(like, dict | list):
        if not isinstance(x, Mapping if isinstance(like, dict) else list):
            raise TypeError(f"{name} is a {type(x).__name__}, not a {type(like).__name__}")
        own, wanted = (v if isinstance(v, Mapping) else dict(enumerate(v)) for v in (x, like))
        for said, names in ("lacks", wanted.keys() - own), ("has unknown", own.keys() - wanted):
            if names:
                raise ValueError(f"{name} {said} {', '.join(sorted(map(str, names)))}")
        inner = domain if isinstance(domain, Mapping) else dict.fromkeys(wanted, domain)
        told = (lambda k: f"{name}[{k}]") if isinstance(like, list) else str
        found = {k: _fitting(told(k), own[k], wanted[k], inner[k]) for k in wanted}
        return found if isinstance(like, dict) else list(found.values())
    kind, other = ((getattr(v, "dtype", "a number"), np.shape(v)) for v in (like, x))
    if isinstance(like, np.ndarray):
        if type(x) is not np.ndarray or kind != other:
            raise ValueError(f"{name} is {other}, but here it must be {kind}")
    elif not isinstance(x, np.floating | np.integer | int | float) or isinstance(x, bool):
        raise TypeError(f"{name} = {x!r} is no number")
    low, high = map(float, (domain or "(-inf, inf)")[1:-1].split(","))
    inside = ((x > low) | (domain[:1] == "[") & (x == low)) & (x < high)
    if not np.all(inside | (domain[-1:] == "]") & (x == high)):
        raise ValueError(f"{name} = {x!r} is outside {domain}")
    if isinstance(like, int) and x != int(x):
        raise ValueError(f"{name} = {x!r} is no whole number")
    return x.copy() if isinstance(x, np.ndarray) else type(like)(x)


def _load(opt: Any, saved: Any, numbers: Any, kept: Mapping[str, Any], **left: Any) -> None:
    """Take all of what was saved; where something is wrong, none of it."""
    like = opt.state_dict() | {name: x if saved.get(name) else {} for name, x in left.items()}
    domains = {"t": "[0, inf)", "hyperparameters": numbers}
    domains |= {name.lstrip("_"): domain for name, domain in kept.items()}
    found = _fitting("the saved state", saved, like, domains)
    if bool(found.get("sums")) != bool(found.get("draws")):
        raise ValueError("of the saved sums and draws one is empty and the other is not")
    values = _listed(found.pop(next(iter(kept))))
    found |= found.pop("hyperparameters")
    trial = copy(opt)
    vars(trial)["params"] = deepcopy(opt.params)
    for one in (trial, opt):
        rest = np.concatenate([x.ravel() for x in values])
        for array in _listed(one.params):
            array[...], rest = rest[: array.size].reshape(array.shape), rest[array.size :]
        vars(one).update({f"_{k}" if f"_{k}" in kept else k: x for k, x in found.items()})
        getattr(one, "_check_state", bool)()


def _told(opt: Any, numbers: Mapping[str, str]) -> str:
    """Return what an object is: its arrays, its hyperparameters, its steps."""
    arrays = _listed(opt.params)
    shapes = [f"{x.dtype}{list(x.shape)}" for x in arrays[:3]] + ["…"] * (len(arrays) > 3)
    values = [f"{name}={getattr(opt, name)!r}" for name in (*numbers, "t")]
    return f"{type(opt).__name__}({', '.join(shapes + values)})"
