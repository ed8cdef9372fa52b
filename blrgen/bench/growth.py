"""Cost against size: parameters, dimensions, terms of a loss.  Curves as data, then a picture.

What is timed per element must stay flat until an array leaves a cache; what is timed per
step grows as the solver's cube; deriving and emitting grow with the length of the loss.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from blrgen.bench.cases import Case
from blrgen.bench.machine import TUNABLES, facts
from blrgen.bench.picture import OTHER, STYLES, saved
from blrgen.bench.setup import OURS

SCHEMA = "blrgen-growth/1"
PARAMETERS = tuple(10**k for k in range(3, 9))
DIMENSIONS = (10, 20, 50, 100, 200, 500, 1000, 2000)
TERMS = (1, 2, 5, 10, 20, 50, 100, 200)
RECIPES, MATRICES = ("sgd", "adam", "ivon"), ("von",)
BUDGET = 0.4  # seconds a case
Said = Callable[[str], None]


@dataclass(frozen=True)
class Curve:
    """Points of one line."""

    label: str
    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Plot:
    """Axes and curves, both axes logarithmic."""

    title: str
    x: str
    y: str
    curves: tuple[Curve, ...]


def growth(threads: Sequence[int], said: Said = lambda text: None) -> dict[str, Any]:
    """All plots, as a document."""
    made = [*of_sizes(threads, said), of_terms(said)]
    return {
        "schema": SCHEMA,
        "machine": facts(),
        "allocator": TUNABLES,
        "plots": [asdict(p) for p in made],
    }


def of_sizes(threads: Sequence[int], said: Said) -> list[Plot]:
    """Nanoseconds a parameter, and milliseconds a step of a full covariance."""
    from blrgen.bench.prepare import prepared
    from blrgen.bench.run import run

    timed = {name: prepared(name) for name in (*RECIPES, *MATRICES)}
    cases = [
        Case("size", name, size, "float32", count)
        for name in RECIPES
        for count in threads
        for size in PARAMETERS
    ]
    cases += [Case("posv", name, d, "float64", 1) for name in MATRICES for d in DIMENSIONS]

    def heard(result: dict[str, Any]) -> None:
        said(f"{result['what']} {result['size']:g}, threads: {result['threads']}")

    results = run(cases, timed, lambda c: c.what, 60, BUDGET, heard)
    plots = [elements(name, count, results) for name in RECIPES for count in threads]
    return plots + [steps(name, results) for name in MATRICES]


def elements(name: str, threads: int, results: Iterable[dict[str, Any]]) -> Plot:
    """Nanoseconds an element against the number of elements."""
    own = [
        r for r in results if (r["experiment"], r["what"], r["threads"]) == ("size", name, threads)
    ]
    title = f"{name}, {threads} thread{'s' if threads > 1 else ''}"
    return Plot(title, "parameters", "ns a parameter", _curves(own, 1e9))


def steps(name: str, results: Iterable[dict[str, Any]]) -> Plot:
    """Milliseconds a step against the dimension."""
    own = [r | {"elements": 1} for r in results if (r["experiment"], r["what"]) == ("posv", name)]
    return Plot(f"{name}, full covariance", "dimension", "ms a step", _curves(own, 1e3))


def _curves(results: list[dict[str, Any]], unit: float) -> tuple[Curve, ...]:
    """A curve for each title, through the sizes that could be measured."""
    points: dict[str, list[tuple[float, float]]] = {}
    for r in sorted(results, key=lambda r: int(r["size"])):
        for title, found in r.get("times", {}).items():
            points.setdefault(title, []).append((r["size"], found["best"] / r["elements"] * unit))
    return tuple(Curve(title, tuple(p)) for title, p in points.items())


def of_terms(said: Said, terms: Sequence[int] = TERMS) -> Plot:
    """Milliseconds to derive, to emit and to compile, against the terms of a loss."""
    found: dict[str, list[tuple[float, float]]] = {}
    stages(1)  # imports
    for count in terms:
        said(f"a loss of {count} terms")
        for stage, seconds in stages(count).items():
            found.setdefault(stage, []).append((count, 1e3 * seconds))
    curves = tuple(Curve(stage, tuple(points)) for stage, points in found.items())
    return Plot("a loss of many terms", "terms", "ms", curves)


def stages(terms: int) -> dict[str, float]:
    """Seconds of each stage for a sum of so many different terms."""
    import numpy as np

    from blrgen.api import derive
    from blrgen.emit.compile import compile_class

    loss = "+".join(f"tanh({k + 1}*theta)" for k in range(terms))
    clock = time.perf_counter
    began = clock()
    derivation = derive("gaussian-diag", ["delta"], loss=loss)
    derived = clock()
    source = derivation.source("numba")
    emitted = clock()
    optimizer = compile_class(source + f"# {began}\n")(np.zeros(64))  # never compiled before
    loaded = clock()
    optimizer.step()
    return {
        "derivation": derived - began,
        "emission": emitted - derived,
        "first step, compiled": clock() - loaded,
    }


def picture(folder: Path, made: dict[str, Any]) -> list[Path]:
    """Write `growth.svg` and `growth.png`; nothing without matplotlib."""
    if find_spec("matplotlib") is None:
        return []
    import matplotlib

    matplotlib.use("agg")
    from matplotlib.figure import Figure

    plots = made["plots"]
    columns = min(4, len(plots))
    rows = -(-len(plots) // columns)
    figure = Figure(figsize=(4.2 * columns, 3.4 * rows), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False).ravel()
    for plot, ax in zip(plots, axes, strict=False):
        _draw(ax, plot)
    for ax in axes[len(plots) :]:
        ax.axis("off")
    return saved(figure, folder, "growth")


def _draw(ax: Any, plot: dict[str, Any]) -> None:
    for curve in plot["curves"]:
        colour, marker = STYLES.get(curve["label"], (None, OTHER[1]))
        x, y = zip(*curve["points"], strict=True)
        ax.plot(
            x, y, color=colour, marker="." if marker in "|xP" else marker, markersize=5,
            linewidth=2 if curve["label"] == OURS else 1.2, label=curve["label"],
        )  # fmt: skip
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.yaxis.set_major_formatter("{x:g}")
    ax.yaxis.set_minor_formatter("")
    ax.set_xlabel(plot["x"], fontsize=9)
    ax.set_ylabel(plot["y"], fontsize=9)
    ax.set_title(plot["title"], fontsize=10)
    ax.grid(color="#e6e6e6", linewidth=0.7)
    ax.legend(fontsize=7, frameon=False)
