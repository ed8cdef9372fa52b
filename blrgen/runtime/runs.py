"""Runs of a model until its objective rests, and resuming them."""

from __future__ import annotations

import math
from collections.abc import Container, Mapping
from copy import deepcopy
from typing import Any

import numpy as np

from blrgen.runtime.arrays import Array
from blrgen.runtime.ends import _all_finite, _noted, _stay_definite
from blrgen.runtime.handed import _in_domain, _state_in_domains
from blrgen.runtime.kept import _fitting
from blrgen.runtime.unbounded import _ended, _grows, _near_ends, _without_bound

MOST_STEPS = 10000  # of a run that is given no number


def _most_steps(steps: int | None, tol: float) -> int:
    """Return how many steps a run takes at most; refuse what is no number of them."""
    _fitting("tol", tol, 0.0, {"tol": "[0, inf)"})
    return MOST_STEPS if steps is None else int(_fitting("steps", steps, 0, {"steps": "[0, inf)"}))


def _run_steps(model: Any, nodes: Any, steps: int | None, tol: float) -> dict[str, Any]:
    """Take steps until the objective rests, or so many; each step's objective is of its start.

    No step lowers the objective: one that does by more than rounding is taken back, as is one
    that is not finite, and the run ends there.
    """
    most = _most_steps(steps, tol)
    trace: list[float] = []
    before, reason = dict(model.state), "steps"
    while True:
        objective, state, flags = model._swept()
        if trace and not objective >= trace[-1] - _slack(trace[-1], model):
            reason = _ended(objective, model, nodes, before)
            model.state = before
            break
        if trace and (objective == math.inf or _grows(model)):
            model.state, reason = before, "unbounded"
            break
        trace.append(objective)
        if len(trace) > 1 and abs(trace[-1] - trace[-2]) < tol * (1 + abs(trace[-1])):
            reason = "unbounded" if _without_bound(model, nodes) else _rest(model, nodes, flags)
            break
        if len(trace) > most:
            break
        if reason := _stopped(model, objective, state, nodes):
            break
        before, reason = dict(model.state), "steps"
        model._take(state, flags)
    return _report(model, trace, reason)


def _rest(model: Any, nodes: Any, flags: Mapping[str, Array]) -> str:
    """Return why the objective rests: at points where their steps are no numbers it need not.

    Nothing says where a point is that stays because a component is empty, and the objective is
    the same beside it; of a system or a matrix without an inverse it is not.
    """
    points = {x: domain for parts in nodes.values() for x, _, domain in parts.values()}
    names = [x for x in points if np.any(flags.get(f"{x}_kept", False))]
    if not names:
        return "converged"
    here, levels = dict(model.state), []
    part, rng = float(np.finfo(model.dtype).eps) ** 0.25, np.random.default_rng(0)
    own = {x: here[x] for x in names}
    for x in (x for x in names if points[x] == "R"):
        most = np.abs(here[x]).max() or 1.0
        own[x] = most * rng.uniform(0.5, 1.5, np.shape(here[x]))
    for sign in (part, -part):
        moved = {x: here[x] + sign * flags[f"{x}_kept"] * own[x] for x in names}
        model.state = here | {x: np.asarray(y, here[x].dtype) for x, y in moved.items()}
        levels.append(model.objective())
    model.state = here
    apart = abs(levels[0] - levels[1])
    return "converged" if apart <= _slack(levels[0], model) else "not finite"


def _stopped(
    model: Any, objective: float, state: dict[str, Array], nodes: Any, ahead: bool = False
) -> str:
    """Return why a step cannot be taken, or nothing; a note says it too.

    Matrices that would be singular stay in `state` where they are, with a note, unless the
    objective grows without bound towards them.  A step that looks `ahead` asks what the objective
    is behind it where a number is at an end; a run sees that by itself.
    """
    own = dict(model.state)
    reason = "" if _all_finite(objective, state) else _ended(math.nan, model, nodes, own)
    if not reason:
        notes: list[dict[str, str]] = []
        held = _stay_definite(state, own, nodes, notes)
        singular = any(held[x] is not y for x, y in state.items())
        endless = singular and _without_bound(model, nodes)
        model.state = held
        near = ahead and _near_ends(model)
        if endless or (near and _grows(model)):
            reason = "unbounded"
        elif near and not math.isfinite(level := model.objective()):
            reason = _ended(level, model, nodes, own)
        model.state = own
        state |= held
        model.notes += [] if reason else [x for x in notes if x not in model.notes]
    if reason:
        grows = "the objective grows without bound"
        said = {"unbounded": grows, "rounding": "it is rounding alone"}.get(reason, "not finite")
        _noted(model.notes, reason, "", f"no step is taken: {said}", True)
    return reason


def _report(model: Any, trace: list[float], reason: str) -> dict[str, Any]:
    """Return what a run says at its end."""
    return {
        "steps": len(trace) - 1,
        "converged": reason == "converged",
        "reason": reason,
        "objective": trace[-1],
        "trace": trace,
        "notes": deepcopy(model.notes),
    }


def _slack(objective: float, model: Any) -> float:
    """Return by how much rounding may lower an objective: 10⁻⁹ of it, of single precision 10⁻⁴."""
    return float(np.finfo(model.dtype).eps ** 0.575 * (1 + abs(objective)))


def _told_of(model: Any) -> str:
    """Return what an object is: its sizes, its type, its steps."""
    sizes = [f"{name}={size}" for name, size in model.sizes.items()]
    parts = [*sizes, str(np.dtype(model.dtype)), f"t={model.t}"]
    return f"{type(model).__name__}({', '.join(parts)})"


def _saved(model: Any) -> dict[str, Any]:
    """Return copies of all that a run goes on from."""
    saved = {
        "state": {name: np.array(x) for name, x in model.state.items()},
        "t": model.t,
        "rng": deepcopy(model.rng.bit_generator.state),
        "notes": deepcopy(model.notes),
    }
    return saved | ({"shift": deepcopy(model.shift)} if hasattr(model, "shift") else {})


def _like(
    what: str, found: Any, here: Mapping[str, Any], levels: Container[str] = ()
) -> dict[str, Array]:
    """Return copies of saved arrays; refuse other names, shapes, types, and what is not finite.

    Of `levels`, which are logarithms, −∞ is a value like others.
    """
    if not isinstance(found, Mapping) or set(found) != set(here):
        names = ", ".join(map(str, found)) if isinstance(found, Mapping) else repr(found)[:80]
        raise ValueError(f"saved {what}: {names}; here it must be {', '.join(here)}")
    for name, own in here.items():
        if type(found[name]) is not np.ndarray:
            raise TypeError(f"saved {name} is no array: {type(found[name]).__name__}")
        wanted, given = ((x.dtype, x.shape) for x in (np.asarray(own), found[name]))
        if wanted != given:
            raise ValueError(f"saved {name} is {given}, but here it must be {wanted}")
        least = found[name] == -np.inf if name in levels else False
        if not (np.isfinite(found[name]) | least).all():
            raise ValueError(f"saved {name} is not finite")
    return {name: np.array(found[name]) for name in here}


def _generator_of(model: Any, saved: Any) -> np.random.Generator:
    """Return a generator that goes on from what was saved."""
    rng = deepcopy(model.rng)
    try:
        rng.bit_generator.state = deepcopy(saved)
    except (TypeError, ValueError, KeyError, OverflowError, AttributeError) as error:
        raise ValueError("saved rng is no state of the generator that is used here") from error
    return rng  # type: ignore[no-any-return]


def _go_on(
    model: Any,
    saved: Mapping[str, Any],
    nodes: Mapping[str, Mapping[str, Any]],
    kept: Mapping[str, str] | None = None,
) -> None:
    """Go on from what was saved; refuse what does not fit with nothing changed.

    `kept` are domains of what a state has beside parameters of nodes, from the first step on.
    """
    beside = kept or {}
    current = _saved(model)
    if not isinstance(saved, Mapping) or set(saved) != set(current):
        names = ", ".join(map(str, saved)) if isinstance(saved, Mapping) else repr(saved)[:80]
        raise ValueError(f"saved: {names}; here it must be {', '.join(current)}")
    levels = {name for name, domain in beside.items() if domain.startswith("[-oo")}
    state = _like("state", saved["state"], current["state"], levels)
    _state_in_domains("saved ", state, nodes, model.sizes)
    shift = _like("shift", saved.get("shift", {}), current.get("shift", {}))
    t, notes = saved["t"], saved["notes"]
    if isinstance(t, bool) or not isinstance(t, int | np.integer) or t < 0:
        raise ValueError(f"saved t = {t!r} is no number of steps")
    for name, domain in beside.items() if t else ():
        _in_domain(f"saved {name}", state[name], domain, model.sizes)
    if not isinstance(notes, list) or not all(isinstance(x, Mapping) for x in notes):
        raise TypeError(f"saved notes are no list of notes: {type(notes).__name__}")
    for name, amount in shift.items():
        if name in state and not np.array_equal(amount, model.shift[name]):
            state[name] = np.asarray(state[name] + (amount - model.shift[name]))
    rng = _generator_of(model, saved["rng"])
    model.state, model.t, model.rng, model.notes = state, int(t), rng, deepcopy(notes)
