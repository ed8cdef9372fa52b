"""Results as a picture: how much of the roofline everybody reaches, one panel a thread count.

Of every elementwise case at the largest size measured, the time of a pass over its arrays
divided by the time of a step: 1 is memory itself.  Drawn only where matplotlib is there.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.cases import Case
from benchmarks.report import FIELDS
from benchmarks.setup import BAR, OURS, ROOF

# title as it begins → colour, marker
STYLES = {
    OURS: ("#0b6e4f", "o"),
    BAR: ("#888888", "|"),
    "torch fused": ("#d1495b", "s"),
    "torch": ("#edae49", "D"),
    "optax": ("#30638e", "^"),
    "ivon-opt": ("#7d53a2", "v"),
    "the same in NumPy": ("#bbbbbb", "x"),
    ROOF: ("#000000", "."),
    "posv": ("#d1495b", "s"),
}
OTHER = ("#444444", "P")


def picture(folder: Path, made: dict[str, Any]) -> list[Path]:
    """Write `roofline.svg` and `roofline.png`; nothing without matplotlib or without cases."""
    panels = reached(made["results"])
    if find_spec("matplotlib") is None or not panels:
        return []
    import matplotlib

    matplotlib.use("agg")
    from matplotlib.figure import Figure

    rows = max(len(p) for p in panels.values())
    figure = Figure(figsize=(6.5 * len(panels), 1.6 + 0.3 * rows), layout="constrained")
    axes = figure.subplots(1, len(panels), sharex=True, squeeze=False)[0]
    seen: dict[str, Any] = {}
    for (threads, panel), ax in zip(sorted(panels.items()), axes, strict=True):
        _panel(ax, threads, panel, seen)
    figure.legend(
        seen.values(), seen.keys(), loc="outside lower center", ncols=7, frameon=False, fontsize=9
    )
    figure.suptitle("Fraction of the roofline reached: a pass over the same arrays ÷ a step")
    return saved(figure, folder, "roofline")


def saved(figure: Any, folder: Path, name: str) -> list[Path]:
    """The figure as NAME.svg and NAME.png."""
    paths = [folder / f"{name}.svg", folder / f"{name}.png"]
    for path in paths:
        figure.savefig(path, dpi=130)
    return paths


def reached(results: Iterable[dict[str, Any]]) -> dict[int, dict[str, dict[str, float]]]:
    """threads → case → title → fraction of the roofline, at each case's largest size."""
    largest: dict[tuple[str, str, str, int], dict[str, Any]] = {}
    for r in results:
        key = (r["experiment"], r["what"], r["dtype"], r["threads"])
        if ROOF in r.get("times", {}) and r["size"] >= largest.get(key, r)["size"]:
            largest[key] = r
    found: dict[int, dict[str, dict[str, float]]] = {}
    for r in largest.values():
        case = Case(**{k: r[k] for k in FIELDS})
        label = f"{case.title}, {case.dtype.replace('float', 'f')}, {case.size:g}"
        times = {t: x["best"] for t, x in r["times"].items()}
        fractions = {t: times[ROOF] / x for t, x in times.items() if t != ROOF}
        found.setdefault(case.threads, {})[label] = fractions
    return found


def _panel(ax: Any, threads: int, panel: dict[str, dict[str, float]], seen: dict[str, Any]) -> None:
    labels = sorted(panel, key=lambda x: panel[x][OURS])
    for place, label in enumerate(labels):
        for title, fraction in panel[label].items():
            colour, marker = STYLES.get(title, OTHER)
            size = 9 if title == OURS else 10 if title == BAR else 6
            (drawn,) = ax.plot(
                fraction, place, marker, color=colour, markersize=size, linestyle="none",
                markeredgewidth=2 if marker in "|x" else 0, zorder=3 if title == OURS else 2,
            )  # fmt: skip
            seen.setdefault(title, drawn)
    ax.axvline(1, color="black", linewidth=1, zorder=1)
    ax.set_xscale("log")
    ticks = [0.01, 0.03, 0.1, 0.3, 1]
    ax.set_xticks(ticks, [f"{100 * x:g} %" for x in ticks])
    ax.minorticks_off()
    ax.set_yticks(range(len(labels)), labels, fontsize=8)
    ax.set_ylim(-0.6, len(labels) - 0.4)
    ax.grid(axis="both", color="#e6e6e6", linewidth=0.7, zorder=0)
    ax.set_title(f"{threads} thread{'s' if threads > 1 else ''}", fontsize=10)
