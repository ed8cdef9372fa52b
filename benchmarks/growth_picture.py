"""Cost against size as a picture: a panel a plot, names as rows."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.picture import OTHER, STYLES, saved
from benchmarks.setup import OURS

COLUMNS = 3
LINES = ("-", "--", ":")  # one thread, two, more
COLOURS = (
    "#0b6e4f", "#d1495b", "#30638e", "#edae49", "#7d53a2", "#444444", "#8c564b", "#17becf",
    "#bcbd22", "#e377c2", "#7f7f7f", "#98df8a",
)  # fmt: skip
HEIGHT = 0.155  # inches a name
CROWDED, LINE = 4, 0.06  # curves whose names need room; of a panel, for each


def picture(folder: Path, made: dict[str, Any]) -> list[Path]:
    """Write `growth.svg` and `growth.png`; nothing without matplotlib."""
    if find_spec("matplotlib") is None:
        return []
    import matplotlib

    matplotlib.use("agg")
    from matplotlib.figure import Figure

    drawn = [p for p in made["plots"] if p["curves"]]
    curves = [p for p in drawn if not p["names"]]
    named = [p for p in drawn if p["names"]]
    rows = -(-len(curves) // COLUMNS)
    longest = max((len(p["names"]) for p in named), default=0)
    below = 0.9 + HEIGHT * longest if named else 0.0
    figure = Figure(figsize=(4.4 * COLUMNS, 3.3 * rows + below), layout="constrained")
    parts = figure.subfigures(2, 1, height_ratios=[3.3 * rows, below]) if named else [figure]
    if curves:
        axes = parts[0].subplots(rows, COLUMNS, squeeze=False).ravel()
        for plot, ax in zip(curves, axes, strict=False):
            _draw(ax, plot)
        for ax in axes[len(curves) :]:
            ax.axis("off")
    if named:
        for plot, ax in zip(
            named, parts[-1].subplots(1, len(named), squeeze=False)[0], strict=True
        ):
            _rows(ax, plot)
    figure.suptitle("Cost against size; p of time ~ size^p, over the larger half", fontsize=11)
    return saved(figure, folder, "growth")


def _draw(ax: Any, plot: dict[str, Any]) -> None:
    titles = list(dict.fromkeys(c["label"].split(", ")[0] for c in plot["curves"]))
    threads: dict[str, int] = {}
    for curve in plot["curves"]:
        title = curve["label"].split(", ")[0]
        line = LINES[min(threads.get(title, 0), len(LINES) - 1)]
        threads[title] = threads.get(title, 0) + 1
        plain = COLOURS[titles.index(title) % len(COLOURS)], OTHER[1]
        colour, marker = STYLES.get(title, plain)
        power = (
            ""
            if curve["exponent"] is None
            else f", p = {curve['exponent']:.1f}".replace("-0.0", "0.0")
        )
        ax.plot(
            *zip(*curve["points"], strict=True), line, color=colour,
            marker="." if marker in "|xP" else marker, markersize=4,
            linewidth=2 if title == OURS else 1.2, label=curve["label"] + power,
        )  # fmt: skip
    ax.set_xscale("log")
    _logarithmic(ax, ax.yaxis, [y for c in plot["curves"] for _, y in c["points"]])
    ax.set_xlabel(plot["x"], fontsize=9)
    ax.set_ylabel(plot["y"], fontsize=9)
    if len(plot["curves"]) > CROWDED:  # room above for the names
        low, high = ax.get_ylim()
        share = min(0.5, LINE * len(plot["curves"]))
        ax.set_ylim(low, high * (high / low) ** (share / (1 - share)))
    ax.legend(fontsize=7, frameon=False, loc="upper left" if _rising(plot) else "best")
    _finished(ax, plot)


def _rising(plot: dict[str, Any]) -> bool:
    return any(c["exponent"] is not None for c in plot["curves"])


def _rows(ax: Any, plot: dict[str, Any]) -> None:
    """A row a name, the slowest on top."""
    for curve, colour in zip(plot["curves"], COLOURS, strict=False):
        places, values = zip(*curve["points"], strict=True)
        ax.plot(values, places, ".", color=colour, markersize=7, label=curve["label"])
    ax.set_xscale("log")
    _logarithmic(ax, ax.xaxis, [y for c in plot["curves"] for _, y in c["points"]])
    ax.set_yticks(range(len(plot["names"])), plot["names"], fontsize=7)
    ax.set_ylim(len(plot["names"]) - 0.4, -0.6)
    ax.set_xlabel(plot["y"], fontsize=9)
    ax.legend(fontsize=8, frameon=False, loc="lower right")
    _finished(ax, plot)


def _logarithmic(ax: Any, axis: Any, values: list[float]) -> None:
    """A logarithmic axis with numbers on it, 1, 2 and 5 where there are few decades."""
    from matplotlib.ticker import LogLocator

    if axis is ax.yaxis:
        ax.set_yscale("log")
    few = max(values) < 200 * min(values)
    axis.set_major_locator(LogLocator(10, subs=(1, 2, 5) if few else (1,), numticks=20))
    axis.set_major_formatter("{x:g}")
    axis.set_minor_formatter("")


def _finished(ax: Any, plot: dict[str, Any]) -> None:
    ax.tick_params(labelsize=8 if not plot["names"] else 7)
    ax.set_title(plot["title"], fontsize=10)
    ax.grid(color="#e6e6e6", linewidth=0.7)
    ax.set_axisbelow(True)
