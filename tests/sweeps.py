"""Sweeps: one question put to every recipe, family, model, target, dtype …

A test marked `sweep(n)` is one.  It is over the parameter with the most values; `make test`
asks it of a sample: one in n of its cases, and so many more that any two values that other
parameters of few values take together are in it.  The other cases are marked `rest`, and
`make full` runs them as well.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping
from itertools import combinations
from typing import Any
from zlib import crc32

import pytest
from hypothesis import settings

SAMPLE = [False]  # whether the rest is left out; known before any test is imported
SHARE = 3  # of so many drawn examples a sample has one
FEW = 6  # a parameter with more values than that, or hardly fewer than cases, is swept over too
Case = Mapping[str, Hashable]


def sampled(cases: Mapping[str, Case], n: int) -> set[str]:
    """The names of the cases that stand for all.

    Names are taken in the order of their check sums, so that the choice has nothing to do with
    what a case is about, and hardly changes where one is added.
    """
    order = sorted(cases, key=lambda name: (crc32(name.encode()), name))
    names = _few(cases.values())
    kept: list[str] = []
    seen: set[Hashable] = set()
    for name in order:
        met = {(some, tuple(cases[name][x] for x in some)) for some in names}
        if met - seen:
            seen |= met
            kept.append(name)
    left = (name for name in order if name not in kept)
    while len(kept) * n < len(cases):
        kept.append(next(left))
    return set(kept)


def _few(cases: Collection[Case]) -> list[tuple[str, ...]]:
    """The parameters of few values, in pairs; one alone where there is only one."""
    values: dict[str, set[Hashable]] = {}
    for case in cases:
        for name, value in case.items():
            values.setdefault(name, set()).add(value)
    _, *others = sorted(values, key=lambda name: -len(values[name]))
    most = min(FEW, len(cases) // 3)
    few = [name for name in others if len(values[name]) <= most]
    return list(combinations(few, 2)) or [(name,) for name in few]


def mark_the_rest(items: Iterable[pytest.Item]) -> None:
    """Mark what no sample holds."""
    sweeps: dict[str, dict[str, pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("sweep") and hasattr(item, "callspec"):
            sweeps.setdefault(item.nodeid.split("[")[0], {})[item.name] = item
    for named in sweeps.values():
        n = max(item.get_closest_marker("sweep").args[0] for item in named.values())
        stay = sampled({name: _parameters(item) for name, item in named.items()}, n)
        for name in named.keys() - stay:
            named[name].add_marker("rest")


def examples(most: int, **more: Any) -> settings:
    """So many examples drawn by Hypothesis, and its share of them where a sample is run."""
    return settings(max_examples=-(-most // SHARE) if SAMPLE[0] else most, **more)


def _parameters(item: pytest.Item) -> Case:
    """Parameters by name; of a value that is no plain one, which of the values it is."""
    spec = item.callspec  # type: ignore[attr-defined]
    plain = (str, int, float, type, type(None))
    return {
        name: value if isinstance(value, plain) else ("", spec.indices[name])
        for name, value in spec.params.items()
    }
