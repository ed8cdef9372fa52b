"""Small random data and constants for a model, in the domains that it declares.

Rows are few, so that sums over all values of labels can be written out; sizes differ where
they may, so that an exchanged axis shows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from blrgen.expect.factors.names import axis_of
from blrgen.program.model.values import Array, ModelProgram
from blrgen.read.model.samples import Sample
from blrgen.read.model.values import Const, Domain, Model, Node

TRIALS = 3
CHAINS = 2, 3  # how many in a plate, and how long: all of their paths are gone through


@dataclass(frozen=True)
class Small:
    """Sizes: of rows, of chains, of ragged rows, and of all else, in turn."""

    rows: int = 12
    chain: int = 5
    lengths: tuple[int, ...] = (3, 2)
    others: tuple[int, ...] = (2, 3)


SMALL = Small()


@dataclass(frozen=True)
class Drawn:
    """What a class is given (`given`), and the same as arrays of the index algebra."""

    given: dict[str, Any]
    arrays: dict[str, Any]
    sizes: dict[str, int]
    lengths: dict[str, tuple[int, ...]] = field(default_factory=dict)  # by ragged axis


def drawn(model: Model, program: ModelProgram, seed: int = 0, small: Small = SMALL) -> Drawn:
    """Sizes, data and constants."""
    sizes, lengths = sizes_of(model, small)
    sizes |= {x[0]: 2 for x in (program.nodes.clouds if program.nodes else ()) if x[0] in sizes}
    rng = np.random.default_rng(seed)
    sample = Sample(model, sizes, 1)
    given: dict[str, Any] = {k: np.array(v) for k, v in lengths.items()}
    arrays: dict[str, Any] = {}
    for axis, found in lengths.items():
        there = np.arange(max(found)) < np.array(found)[:, None]
        arrays[f"exists:{axis}"] = there.astype(float)
    for owner, name, domain in _known(model):
        axes = tuple(axis_of(model.plate(x).size) for x in owner.letters)
        fixed = isinstance(owner, Const)
        whole = _array(domain, [sizes[x] for x in axes], sample, rng, fixed=fixed)
        seen = np.ones(whole.shape[: len(axes)])
        if isinstance(owner, Node) and owner.missing:
            seen[(*(0 for _ in axes[:-1]), 1)] = 0
        given[name] = _flat(_holed(whole, seen), axes, lengths)
        if domain.kind in ("one-hot", "labels"):
            arrays[name] = np.eye(_classes(domain, sample))[whole]
        else:
            arrays[name] = whole.astype(float)
        arrays[name] = _there(arrays[name], axes, lengths)
        arrays[f"seen:{name}"] = seen
    for name in program.sizes:
        given[name] = sizes[name]
    return Drawn(given, arrays, sizes, lengths)


def sizes_of(model: Model, small: Small) -> tuple[dict[str, int], dict[str, tuple[int, ...]]]:
    """Every size: few rows, shorter chains of what is unknown, others in turn."""
    sizes, lengths = _along_data(model, small)
    left = other_sizes(model, small)
    return sizes | {x: small.others[k % len(small.others)] for k, x in enumerate(left)}, lengths


def other_sizes(model: Model, small: Small) -> list[str]:
    """Sizes that are none of rows and chains, in the order in which they get theirs."""
    return [x for x in model.sizes if x not in _along_data(model, small)[0]]


def _along_data(model: Model, small: Small) -> tuple[dict[str, int], dict[str, tuple[int, ...]]]:
    """The sizes of rows and chains."""
    chains = {n.chain.letter for n in model.nodes
              if n.chain is not None and n.kind != "observed"}  # fmt: skip
    seen = {x for n in model.nodes if n.kind == "observed" for x in n.letters}
    crossed = {x for n in model.nodes if n.chain is not None and len(n.letters) > 1
               for x in n.letters}  # fmt: skip
    sizes: dict[str, int] = {}
    lengths: dict[str, tuple[int, ...]] = {}
    for p in model.plates:
        axis = axis_of(p.size)
        if not p.size.name:
            sizes[axis] = p.size.number
        elif p.outer:
            around = model.plate(p.outer[-1]).size
            count = len(small.lengths) if around.name else around.number
            lengths[axis] = (small.lengths * count)[:count]
            sizes[axis] = max(lengths[axis])
            sizes[axis_of(around)] = count
        elif p.letter in seen and axis not in sizes:
            sizes[axis] = small.chain if p.letter in chains else small.rows
            if p.letter in crossed:
                sizes[axis] = min(sizes[axis], CHAINS[p.letter in chains])
    return sizes, lengths


def _known(model: Model) -> list[tuple[Const | Node, str, Domain]]:
    """Constants and what is observed, one by one."""
    found: list[tuple[Const | Node, str, Domain]] = [(c, c.name, c.domain) for c in model.constants]
    for n in model.nodes:
        if n.kind == "observed":
            found += [(n, x, y) for x, y in zip(n.names, n.domains, strict=True)]
    return found


def _holed(whole: Any, seen: Any) -> Any:
    """The array with NaN at elements that are missing."""
    if seen.all():
        return whole
    return np.where(seen.reshape((*seen.shape, *(1,) * (whole.ndim - seen.ndim))), whole, np.nan)


def _flat(whole: Any, axes: tuple[str, ...], lengths: dict[str, tuple[int, ...]]) -> Any:
    """A ragged array as the caller gives it: rows behind each other."""
    for k, axis in enumerate(axes):
        if axis in lengths and k > 0:
            first = np.moveaxis(whole, (k - 1, k), (0, 1))
            rows = [x[:n] for x, n in zip(first, lengths[axis], strict=True)]
            return np.moveaxis(np.concatenate(rows), 0, k - 1)
    return whole


def spread(x: Any, array: Array, lengths: Mapping[str, tuple[int, ...]]) -> Any:
    """What lies row behind row as the index algebra reads it: all rows are as long as the longest.

    What is not there repeats the last that is, so that every element is in its domain.
    """
    if array.axes == array.sizes:
        return x
    for k, axis in enumerate(map(str, array.sizes)):
        if k > 0 and axis in lengths:
            own = lengths[axis]
            rows = np.split(np.moveaxis(x, k - 1, 0), np.cumsum(own)[:-1])
            places = [np.minimum(np.arange(max(own)), n - 1) for n in own]
            whole = np.stack([r[p] for r, p in zip(rows, places, strict=True)])
            x = np.moveaxis(whole, (0, 1), (k - 1, k))
    return x


def _there(whole: Any, axes: tuple[str, ...], lengths: dict[str, tuple[int, ...]]) -> Any:
    """The array with 0 where a ragged row has no element."""
    for k, axis in enumerate(axes):
        if axis in lengths and k > 0:
            there = np.arange(whole.shape[k]) < np.array(lengths[axis])[:, None]
            return whole * there.reshape((*there.shape, *(1,) * (whole.ndim - k - 1)))
    return whole


def _classes(domain: Domain, sample: Sample) -> int:
    """How many values a label has."""
    if domain.labels is not None:
        return sample.evaluator.size(domain.labels)
    return sample.evaluator.shape(domain.shape)[0]


def _array(
    domain: Domain, plates: list[int], sample: Sample, rng: np.random.Generator, *, fixed: bool
) -> Any:
    """An element for every place of the plates."""
    made = [_element(domain, sample, rng, fixed) for _ in range(int(np.prod(plates)))]
    return np.array(made).reshape((*plates, *np.shape(made[0])))


def _element(domain: Domain, sample: Sample, rng: np.random.Generator, fixed: bool) -> Any:
    """One value of a domain."""
    evaluator = sample.evaluator
    shape = evaluator.shape(domain.shape)
    match domain.kind:
        case "simplex":
            return rng.dirichlet(np.full(shape[0], 2.0))
        case "one-hot":
            return int(rng.integers(shape[0]))
        case "labels":
            return int(rng.integers(_classes(domain, sample)))
        case "spd":
            a = rng.normal(size=shape)
            return a @ a.T + np.eye(shape[0])
        case "finite":
            return rng.choice([float(x) for x in domain.points], size=shape)
        case "counts":
            most = TRIALS if domain.upper is None else int(sample.end(domain.upper))
            return rng.multinomial(most, np.full(shape[0], 1 / shape[0])).astype(float)
        case "sphere":
            x = rng.normal(size=shape)
            return x / np.linalg.norm(x)
    low, high = (None if e is None else float(sample.end(e)) for e in (domain.lower, domain.upper))
    if domain.whole:
        return _whole(low, high, shape, rng, fixed)
    if low is None and high is None:
        return rng.normal(size=shape)
    if low is not None and high is not None:
        return low + (high - low) * rng.uniform(0.1, 0.9, size=shape)
    away = np.exp(rng.normal(size=shape) / 2)
    return low + away if low is not None else high - away


def _whole(
    low: float | None, high: float | None, shape: Any, rng: np.random.Generator, fixed: bool
) -> Any:
    """Whole numbers; constants among them all the same, as numbers of trials must be."""
    start = 0 if low is None else low
    if fixed:
        return np.full(shape, max(start, TRIALS if high is None else min(TRIALS, high)), float)
    most = 6 if high is None else int(high - start) + 1
    return start + rng.integers(most, size=shape).astype(float)
