"""How the tool grows with the terms of a loss, stage by stage and pass by pass.

Times of derivation, of every program pass, of emission, and of Numba's compilation for losses
of 1 to 200 terms of several kinds.  Each curve gets the exponent p of time ~ size^p, fitted to
its larger half.  Writes growth.json and growth.svg (growth.png) to build/growth.  What is
emitted, vectors, families and recipes are in `python -m benchmarks --growth`.

    python -m benchmarks.terms [--quick] [--out FOLDER]
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Callable, Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.growth import SCHEMA, Curve, Plot, table
from benchmarks.growth_picture import picture
from benchmarks.growth_tool import TERMS, best, new_class
from benchmarks.machine import facts
from benchmarks.report import save
from blrgen.api import derive
from blrgen.emit import emit
from blrgen.text.table import table as laid_out
from blrgen.timing import Record

ROOT = Path(__file__).resolve().parent.parent
Points = dict[int, float]
WIDTH = 4096  # elements of a step whose run time is taken
SLOWEST = 8  # stages and passes that are drawn
KINDS: dict[str, Callable[[int], str]] = {
    "powers": lambda k: f"a{k}*theta**{k % 7 + 2}",
    "exp": lambda k: f"exp(-{k + 1}*theta/8)",
    "softplus": lambda k: f"log(1+exp({k}-theta))",
    "log1p": lambda k: f"log(1+c{k}*theta**2)",
    "products": lambda k: f"sin({k + 1}*theta)*exp(-theta**2/{k + 1})",
    "shared": lambda k: f"c{k}*tanh(theta)*exp(theta)/(1+theta**2)**{k % 5 + 1}",
}
COMPILED = ("exp", "softplus")
STAGES = {"derive gaussian-diag": "derivation", "emit numba": "emission"}


def loss(kind: str, count: int) -> str:
    """A sum of so many terms of a kind."""
    return " + ".join(KINDS[kind](k) for k in range(count))


def by_terms(kind: str, counts: Iterable[int]) -> dict[str, Points]:
    """Milliseconds of every stage and pass, for losses of more and more terms."""
    curves: dict[str, Points] = {}
    for count in counts:
        with Record() as record:
            emit(derive("gaussian-diag", ["delta"], loss=loss(kind, count)), "numba")
        for line in record.lines:
            if line.seconds is not None and not line.name.startswith(("load", "read recipes")):
                at = curves.setdefault(line.name, {})
                at[count] = at.get(count, 0.0) + 1e3 * line.seconds
    return curves


def compiled(kind: str, counts: Iterable[int]) -> tuple[Points, Points]:
    """Numba's milliseconds for the kernel of a step; a step's nanoseconds an element and term."""
    compilation, steps = dict[int, float](), dict[int, float]()
    for count in counts:
        source = emit(derive("gaussian-diag", ["delta"], loss=loss(kind, count)), "numba")
        opt = new_class(source)(np.linspace(0.1, 1, WIDTH, dtype=np.float32), rho=1e-3)
        compilation[count] = 1e3 * best(opt.step, 1)
        steps[count] = 1e9 * best(opt.step, 30) / WIDTH / count
    return compilation, steps


def curve(label: str, points: Points) -> Curve:
    """The points in order, with the exponent of their larger half."""
    return Curve(label, tuple(sorted(points.items()))).fitted


def measured(counts: tuple[int, ...], kinds: tuple[str, ...]) -> list[Plot]:
    """Derivation and emission of all kinds, the passes of each, compilation of some."""
    by_terms("powers", (1, 2))  # loads what is loaded once
    importlib.import_module("numba.extending")
    found = {kind: by_terms(kind, counts) for kind in KINDS}
    plots = [
        Plot(title, "terms", "ms", tuple(curve(kind, at[stage]) for kind, at in found.items()))
        for stage, title in STAGES.items()
    ]
    some = tuple(n for n in counts if n in (1, 10, 50, 200))
    made = {kind: compiled(kind, some) for kind in kinds}
    for k, (title, unit) in enumerate(
        (("compilation", "ms"), ("a step", "ns an element and term"))
    ):
        curves = tuple(curve(kind, both[k]) for kind, both in made.items())
        plots.append(Plot(title, "terms", unit, curves))
    for kind, at in found.items():
        slow = sorted((x for x in at if x not in STAGES), key=lambda x: -at[x][counts[-1]])
        curves = tuple(curve(name, at[name]) for name in slow[:SLOWEST])
        plots.append(Plot(f"stages and passes, {kind}", "terms", "ms", curves))
    return plots


def main() -> int:
    """Measure, print the tables, write the data and the picture."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="up to 50 terms, in half a minute")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "growth")
    options = parser.parse_args()
    quick = (TERMS[:6], COMPILED[:1])
    plots = measured(*(quick if options.quick else (TERMS, COMPILED)))
    made: dict[str, Any] = {
        "schema": SCHEMA,
        "machine": facts(),
        "plots": [asdict(p) for p in plots],
    }
    for plot in made["plots"]:
        print(laid_out(*table(plot)) + "\n")
    save(options.out, made, "growth.json")
    if not picture(options.out, made):
        print("matplotlib is not installed: no picture", file=sys.stderr)
    print(f"wrote {options.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
