"""Cost against size: parameters, dimensions, components, terms of a loss, families, recipes.

What is timed per element must stay flat until an array leaves a cache; what is timed per
step grows as the solver's cube; deriving and emitting grow with the length of the loss.
Behind a curve stands p of time ~ size^p, fitted to its larger half.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from benchmarks.cases import Case
from benchmarks.machine import TUNABLES, facts

SCHEMA = "blrgen-growth/2"
PARAMETERS = tuple(10**k for k in range(3, 9))
DIMENSIONS = (10, 20, 50, 100, 200, 500, 1000, 2000)
RECIPES, MATRICES = ("sgd", "adam", "ivon"), ("von",)
BUDGET = 0.4  # seconds a case
Said = Callable[[str], None]
Result = dict[str, Any]


@dataclass(frozen=True)
class Curve:
    """Points of one line; `exponent` is p of y ~ x^p over the larger half."""

    label: str
    points: tuple[tuple[float, float], ...]
    exponent: float | None = None

    @property
    def fitted(self) -> Curve:
        """With its exponent, where there are points enough."""
        larger = self.points[(len(self.points) - 1) // 2 :] if len(self.points) > 3 else ()
        if not larger:
            return self
        x, y = ([math.log(p[k]) for p in larger] for k in (0, 1))
        middle = sum(x) / len(x)
        slope = sum((a - middle) * b for a, b in zip(x, y, strict=True))
        return replace(self, exponent=round(slope / sum((a - middle) ** 2 for a in x), 2))


@dataclass(frozen=True)
class Plot:
    """Axes and curves, both logarithmic; with `names`, x counts these from 0."""

    title: str
    x: str
    y: str
    curves: tuple[Curve, ...]
    names: tuple[str, ...] = ()


def growth(
    threads: Sequence[int], said: Said = lambda text: None, what: Sequence[str] = ()
) -> dict[str, Any]:
    """All plots, or those of some recipes, as a document."""
    from benchmarks.growth_tool import of_components, of_mixtures, of_names, of_terms

    made = of_sizes(threads, said, what or (*RECIPES, *MATRICES))
    if not what:
        made += [of_components(said), of_mixtures(said), of_terms(said), *of_names(said)]
    return {
        "schema": SCHEMA,
        "machine": facts(),
        "allocator": TUNABLES,
        "plots": [asdict(p) for p in made],
    }


def of_sizes(threads: Sequence[int], said: Said, names: Sequence[str]) -> list[Plot]:
    """Nanoseconds a parameter, and milliseconds a step of a full covariance."""
    from benchmarks.prepare import prepared
    from benchmarks.run import run

    timed = {name: prepared(name) for name in names}
    cases = [
        Case("size", name, size, "float32", count)
        for name in names
        for count in threads
        for size in PARAMETERS
        if timed[name].elementwise
    ]
    cases += [
        Case("posv", name, d, "float64", 1)
        for name in names
        for d in DIMENSIONS
        if not timed[name].elementwise
    ]

    def heard(result: Result) -> None:
        said(f"{result['what']} {result['size']:g}, threads: {result['threads']}")

    results = run(cases, timed, lambda c: c.what, 60, BUDGET, heard)
    return [(elements if timed[name].elementwise else steps)(name, results) for name in names]


def elements(name: str, results: Iterable[Result]) -> Plot:
    """Nanoseconds an element against the number of elements, for every number of threads."""
    own = [r for r in results if (r["experiment"], r["what"]) == ("size", name)]
    return Plot(f"{name}, float32", "parameters", "ns a parameter", _curves(own, 1e9))


def steps(name: str, results: Iterable[Result]) -> Plot:
    """Milliseconds a step against the dimension."""
    own = [r | {"elements": 1} for r in results if (r["experiment"], r["what"]) == ("posv", name)]
    curves = tuple(c.fitted for c in _curves(own, 1e3))
    return Plot(f"{name}, full covariance", "dimension", "ms a step", curves)


def _curves(results: list[Result], unit: float) -> tuple[Curve, ...]:
    """A curve for each title and number of threads, through the sizes that could be measured."""
    points: dict[str, list[tuple[float, float]]] = {}
    several = len({r["threads"] for r in results}) > 1
    for r in sorted(results, key=lambda r: (int(r["threads"]), int(r["size"]))):
        more = f", {r['threads']} thread{'s' * (r['threads'] > 1)}" if several else ""
        for title, found in r.get("times", {}).items():
            point = r["size"], found["best"] / r["elements"] * unit
            points.setdefault(title + more, []).append(point)
    return tuple(Curve(title, tuple(p)) for title, p in points.items())


def table(plot: Result) -> tuple[list[tuple[str, ...]], tuple[str, ...]]:
    """Rows and headings of a plot: a row a curve, or a row a name."""
    curves = plot["curves"]
    if plot["names"]:
        at = [dict(c["points"]) for c in curves]
        rows = [(x, *(_number(p.get(k)) for p in at)) for k, x in enumerate(plot["names"])]
        return rows, (f"{plot['title']}: {plot['y']}", *(c["label"] for c in curves))
    places = sorted({x for c in curves for x, _ in c["points"]})
    rows = []
    for c in curves:
        cells = (_number(dict(c["points"]).get(x)) for x in places)
        power = "" if c["exponent"] is None else f"{c['exponent']:.2f}"
        rows.append((c["label"], *cells, power))
    head = (f"{plot['title']}: {plot['y']}", *(f"{x:g}" for x in places))
    return rows, (*head, "p") if any(row[-1] for row in rows) else head


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}"
