"""What a class keeps from one step to the next beside the states of the rule.

The comparison is of one step, with the rule's states set to symbols.  Whatever else the
class changes in a step starts the next step with another value: a state that the rule does
not have.  What holds numbers is set to symbols, too, and the step must not depend on it.
What cannot be set (lists that grow, words, what is not reached from the class) is left as
steps on other values have made it (`later_step`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp

from blrgen.algebra.ranks import DIM, T, mat, shape_of, vec
from blrgen.decide.field import Mod
from blrgen.decide.proof import Proof
from blrgen.validate.later_step import later_step
from blrgen.validate.misfit import missing
from blrgen.validate.modes import FieldMode
from blrgen.validate.symbolic.arrays import array
from blrgen.validate.symbolic.linear import NC
from blrgen.validate.symbolic.number import CannotRun, Sym

if TYPE_CHECKING:
    from blrgen.validate.emitted_run import EmittedRun

WHY = (
    "the class changes it in a step and the rule has no such state: only a step from its first "
    "value was compared"
)
NUMBERS = Sym | Mod | int | float


def attributes(opt: Any) -> dict[str, Any]:
    """What an object holds by name, in slots as well."""
    slots = [s for c in type(opt).__mro__ for s in getattr(c, "__slots__", ())]
    held = {s: getattr(opt, s) for s in slots if hasattr(opt, s)}
    return held | getattr(opt, "__dict__", {})


def carried(run: EmittedRun, opt: Any) -> dict[str, Any]:
    """Attributes that could be a state, other than the rule's own, with what they hold now."""
    known = {*run.matching.states, "params", "t"}
    held = attributes(opt)
    own = [x for k in known if k in held for x in _each(held[k])]
    return {k: _now(v, own) for k, v in held.items() if k not in known}


def _each(x: Any) -> list[Any]:
    return list(x) if isinstance(x, list | tuple) else [x]


def _now(x: Any, own: Sequence[Any]) -> Any:
    """What it holds, as text that later changes in place do not reach; without `own` arrays."""
    if isinstance(x, dict):
        return {str(k): _now(v, own) for k, v in x.items()}
    if isinstance(x, list | tuple):
        return [_now(v, own) for v in x]
    if isinstance(x, np.ndarray) and any(
        isinstance(s, np.ndarray) and np.may_share_memory(x, s) for s in own
    ):
        return "the rule's"
    return [str(v) for v in x.reshape(-1)] if isinstance(x, np.ndarray) else str(getattr(x, "e", x))


def changed(run: EmittedRun, opt: Any, before: Mapping[str, Any]) -> dict[str, Any]:
    """What holds something else after the step, or is there only then, with what it holds."""
    after, held = carried(run, opt), attributes(opt)
    return {k: held[k] for k in sorted(after) if k not in before or before[k] != after[k]}


def carried_proofs(run: EmittedRun) -> list[tuple[str, Proof]]:
    """A row for each state of its own on which the step of the class depends."""
    later = cache(lambda: later_step(run))
    names = [name for name in run.carries if not _free(run, name, later)]
    if names:
        return missing(names, WHY)
    return missing(["a later step"], later()) if later() else []


def _free(run: EmittedRun, name: str, later: Callable[[], str]) -> bool:
    """Whether the step computes the rule whatever the attribute holds."""
    if name in run.rule:
        return False
    try:
        found = _from_symbols(run, name)
    except CannotRun:
        found = None
    return not later() if found is None else found


def _from_symbols(run: EmittedRun, name: str) -> bool | None:
    """Whether the step is that of the rule from any value; None where it cannot be set to any."""
    program, opt, params = run.built()
    held = getattr(opt, name, None)
    if held is None:  # made in the first step
        held = run.carries[name]
        held = held.copy() if isinstance(held, np.ndarray | NC) else held
        setattr(opt, name, held)
    arrays = held if isinstance(held, list | tuple) else [held]
    if isinstance(run.mode, FieldMode) or isinstance(held, bool) or not arrays:
        return None
    if all(isinstance(x, np.ndarray | NC) for x in arrays):
        for k, x in enumerate(arrays):
            x[...] = _like(x, name, k)
    elif isinstance(held, NUMBERS):
        setattr(opt, name, _symbol(name))
    else:
        return None
    run.again(opt, params)  # what is set may hold a state of the rule
    run.stepped(program, opt)
    return bool(run.mode.agree(run.after(opt, params), program))


def _like(x: Any, name: str, k: int) -> Any:
    """Symbols in the shape of an array."""
    if isinstance(x, NC):
        rows, columns = shape_of(x.e) or (DIM, DIM)
        name = f"{name}_before_{k}"
        if x.kind == "matrix":
            return NC(mat(name, rows, columns), x.kind)
        made = vec(name, columns if x.kind == "row" else rows)
        return NC(T(made) if x.kind == "row" else made, x.kind)
    return array([_symbol(name, i, k) for i in range(x.size)]).reshape(x.shape)


def _symbol(name: str, i: int = 0, k: int = 0) -> Sym:
    return Sym(sp.Symbol(f"{name}_before_{k}_{i}", real=True))
