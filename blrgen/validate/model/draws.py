"""A class that draws, against the full conditionals of its derivation.

At the values that its state has after some steps, the log joint, and block by block what the
class draws from: parameters of a family, weights of labels, a path by what is known of each label,
a Gaussian by where it takes standard normals.  E[T] under that law is held against E[T] under the
full conditional by plain loops, at the values of all others.  How a family is drawn from is
shown elsewhere, by its moments.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np

from blrgen.decide.proof import NOT_COMPARED, Proof
from blrgen.emit.model.places import python_name
from blrgen.emit.model.samplers import method_of
from blrgen.errors import InternalError
from blrgen.expect.blocks.values import Block
from blrgen.program.model.blocks import member_of
from blrgen.program.model.values import Array, Draw, ModelProgram
from blrgen.rule.model.values import ModelDerivation
from blrgen.validate.model.data import Drawn
from blrgen.validate.model.emitted import OBJECTIVE, at_ends, compared
from blrgen.validate.model.laws import Law, law_of, law_of_state, statistic
from blrgen.value.indexed import Values

STEPS = 2
SAMPLERS = "_drawn_"  # how their names begin
MOST_PATHS = 4096


def compare_draws(
    d: ModelDerivation, program: ModelProgram, kind: Callable[..., Any], data: Drawn
) -> tuple[tuple[str, Proof], ...]:
    """The log joint, and every block in its turn."""
    blocks = {u.block.name: u.block for u in d.updates}
    found: list[tuple[str, Proof]] = []
    with np.errstate(all="ignore"):
        model = kind(**{python_name(k): x for k, x in data.given.items()}, seed=1)
        model.run(STEPS)
        wanted = at_ends(_values(program, model, data), d.expected_joint)
        gap = _far(np.array(wanted), model.objective())
        found.append(("log joint", _shown("the log joint of the values", gap)))
        for draw in program.draws:
            block, values = blocks[draw.node], _values(program, model, data)
            claim = f"the law that {draw.node} is drawn from is its full conditional"
            law = law_of(d.model, block, values)
            try:
                means = _means(d, draw, block, model, values)
            except InternalError as reason:
                found.append((draw.node, Proof(NOT_COMPARED, claim, str(reason))))
                continue
            found.append((draw.node, _shown(claim, _gap(law, means))))
    return tuple(found)


def _shown(claim: str, gap: float) -> Proof:
    """Equal or not, where there are numbers to compare."""
    if gap != gap:
        return Proof(NOT_COMPARED, claim, "plain loops give ∞ − ∞ here")
    return compared(claim, gap, OBJECTIVE)


def _values(program: ModelProgram, model: Any, data: Drawn) -> Values:
    """Data and the values that the state has, as the index algebra reads them."""
    if data.lengths:
        raise InternalError("rows of different lengths")
    arrays = dict(data.arrays)
    for draw in program.draws:
        for part in draw.parts:
            arrays[part.parameter] = _whole(part.array, model.state[part.array.name], model.sizes)
    return Values(arrays, data.sizes)


def _whole(array: Array, x: Any, sizes: Mapping[str, int]) -> Any:
    """Labels as one-hot rows."""
    if array.labels == "":
        return np.asarray(x, dtype=float)
    count = array.labels if isinstance(array.labels, int) else sizes[str(array.labels)]
    return np.eye(count)[x]


def _gap(law: Law, means: Mapping[str, Any]) -> float:
    """The largest difference of means."""
    return float(np.max([_far(law.means[name], x) for name, x in means.items()]))


def _far(wanted: Any, x: Any) -> float:
    """The largest difference, relative to the size of the largest number; NaN if that is none."""
    if not np.isfinite(wanted).all():
        return np.nan
    gap = np.abs(wanted - x).max(initial=0) / (1 + np.abs(wanted).max(initial=0))
    return float(gap) if np.isfinite(gap) else np.inf


def _means(
    d: ModelDerivation, draw: Draw, block: Block, model: Any, values: Values
) -> Mapping[str, Any]:
    """E[T] under what the class draws from; the state then has the values that were drawn."""
    method = getattr(model, method_of(draw))
    if draw.law == "states":
        return _of_normals(draw, block, model, values, method)
    with _recorded(method) as calls:
        method()
    (_, name, args) = min(calls, key=lambda x: x[0])
    if draw.law == "path":
        return _of_paths(draw, block, values, *args[1:4])
    if draw.law == "labels":
        level = args[1] - args[1].max(axis=-1, keepdims=True)
        weights = np.exp(level)
        (part,) = block.parts
        return {part.statistic.name: weights / weights.sum(axis=-1, keepdims=True)}
    working = member_of(d.model, block).working
    first = 1 if name.endswith("_parts") else 2
    state = dict(zip(working, args[first : first + len(working)], strict=True))
    means = law_of_state(d.model, block, state, values).means
    told = all(np.isfinite(x).all() for x in state.values())
    if told and not all(np.isfinite(x).all() for x in means.values()):
        raise InternalError("the law has a parameter at an end of its domain")
    return means


@contextmanager
def _recorded(method: Any) -> Iterator[list[tuple[int, str, tuple[Any, ...]]]]:
    """Calls of functions that draw, with their arguments, in the order in which they begin."""
    names = method.__func__.__globals__
    own = {x: f for x, f in names.items() if x.startswith(SAMPLERS) and callable(f)}
    calls: list[tuple[int, str, tuple[Any, ...]]] = []

    def recording(name: str, f: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any) -> Any:
            calls.append((len(calls), name, args))
            return f(*args)

        return call

    names |= {x: recording(x, f) for x, f in own.items()}
    try:
        yield calls
    finally:
        names |= own


def _of_normals(
    draw: Draw, block: Block, model: Any, values: Values, method: Callable[[], None]
) -> dict[str, Any]:
    """Of a value that is linear in standard normals: at their mean, and one off at a time."""
    (part,) = draw.parts
    array, rng = part.array.name, model.rng
    shape = model.state[array].shape
    seen = []
    for z in (np.zeros(shape), *(s * x.reshape(shape) for x in np.eye(int(np.prod(shape)))
                                 for s in (1.0, -1.0))):  # fmt: skip
        vars(model)["rng"] = SimpleNamespace(standard_normal=lambda _, z=z: z)
        method()
        seen.append(values.also({part.parameter: np.array(model.state[array])}))
    vars(model)["rng"] = rng
    method()
    count = len(seen) // 2
    weights = [1.0 - count, *[0.5] * (2 * count)]
    return _over(block, weights, seen)


def _of_paths(
    draw: Draw, block: Block, values: Values, forward: Any, moves: Any, pointers: Any = None
) -> dict[str, Any]:
    """Every path of one chain, with its probability."""
    (part,) = draw.parts
    T, K = forward.shape[-2:]
    if forward.ndim != 2 or pointers is not None or K**T > MOST_PATHS:
        raise InternalError("more than one chain, or too many paths")
    step = np.asarray(moves).reshape(K, K)
    weights, seen = [], []
    for path in product(range(K), repeat=T):
        p = 1.0
        for t in reversed(range(T)):
            own = forward[t] if t == T - 1 else forward[t] * step[:, path[t + 1]]
            p *= own[path[t]] / own.sum()
        weights.append(p)
        seen.append(values.also({part.parameter: np.eye(K)[list(path)]}))
    return _over(block, weights, seen)


def _over(block: Block, weights: list[float], seen: list[Values]) -> dict[str, Any]:
    """Means of all statistics over points."""
    pairs = list(zip(weights, seen, strict=True))
    return {p.statistic.name: sum(w * statistic(x, p.statistic) for w, x in pairs)
            for p in block.parts}  # fmt: skip
