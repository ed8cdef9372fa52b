"""How the tool grows: with the terms of a loss, the size of vectors, families and recipes.

Times of derivation, of every program pass, of emission, and of Numba's compilation for losses
of 1 to 200 terms of several kinds; derivation for all families and recipes; run time of vector
rules against their number of components.  Each curve gets the exponent p of time ~ size^p,
fitted to its larger half.  Writes growth.json and growth.svg (growth.png) to build/growth.

    python benchmarks/growth.py [--quick] [--out FOLDER]
"""

from __future__ import annotations

import argparse
import atexit
import importlib.util
import json
import math
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from blrgen.api import derive
from blrgen.emit import emit
from blrgen.errors import UserError
from blrgen.timing import Record

ROOT = Path(__file__).resolve().parent.parent
Curve = dict[int, float]
TERMS = (1, 2, 5, 10, 20, 50, 100, 200)
COMPONENTS = (2, 10, 100, 1000, 10_000)
WIDTH = 4096  # elements of a step whose run time is taken
KINDS: dict[str, Callable[[int], str]] = {
    "powers": lambda k: f"a{k}*theta**{k % 7 + 2}",
    "exp": lambda k: f"exp(-{k + 1}*theta/8)",
    "softplus": lambda k: f"log(1+exp({k}-theta))",
    "log1p": lambda k: f"log(1+c{k}*theta**2)",
    "products": lambda k: f"sin({k + 1}*theta)*exp(-theta**2/{k + 1})",
    "shared": lambda k: f"c{k}*tanh(theta)*exp(theta)/(1+theta**2)**{k % 5 + 1}",
}
COMPILED = ("exp", "softplus")
VECTORS = ("categorical", "dirichlet", "multinomial")


def exponent(curve: Curve) -> float:
    """The slope of log time against log size, over the larger half of the sizes."""
    pairs = [(math.log(n), math.log(t)) for n, t in sorted(curve.items()) if n > 1]
    pairs = pairs[len(pairs) // 2 - 1 :]
    x, y = np.array(pairs).T
    return float(np.polyfit(x, y, 1)[0]) if len(pairs) > 1 else math.nan


def seconds(action: Callable[[], Any], rounds: int = 3) -> float:
    """Best of several."""
    best = math.inf
    for _ in range(rounds):
        start = time.perf_counter()
        action()
        best = min(best, time.perf_counter() - start)
    return best


def loss(kind: str, count: int) -> str:
    return " + ".join(KINDS[kind](k) for k in range(count))


def by_terms(kind: str, counts: Iterable[int]) -> dict[str, Curve]:
    """Derivation, emission and its passes, for losses of more and more terms."""
    curves: dict[str, Curve] = {}
    for count in counts:
        with Record() as record:
            d = derive("gaussian-diag", ["delta"], loss=loss(kind, count))
            emit(d, "numba")
        for line in record.lines:
            if line.seconds is not None and not line.name.startswith(("load", "read recipes")):
                at = curves.setdefault(line.name, {})
                at[count] = at.get(count, 0.0) + line.seconds
    return curves


def loaded(source: str) -> ModuleType:
    """The source as a module of its own, compiled anew."""
    path = Path(tempfile.mkdtemp(prefix="blrgen-growth-")) / "emitted.py"
    path.write_text(source)
    atexit.register(shutil.rmtree, path.parent)
    name = path.parent.name.replace("-", "_")
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise SystemExit(f"{path} cannot be loaded")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def compiled(kind: str, counts: Iterable[int]) -> dict[str, Curve]:
    """Numba's time for the kernel of a step, and a step's time an element and term."""
    curves: dict[str, Curve] = {"Numba compilation": {}, "step, per element and term": {}}
    for count in counts:
        source = emit(derive("gaussian-diag", ["delta"], loss=loss(kind, count)), "numba")
        module = loaded(source)
        made = getattr(module, module.__all__[0])
        opt = made(np.linspace(0.1, 1, WIDTH, dtype=np.float32), rho=1e-3)
        curves["Numba compilation"][count] = seconds(opt.step, 1)
        best = seconds(opt.step, 30)
        curves["step, per element and term"][count] = best / WIDTH / count
    return curves


def by_components(family: str, counts: Iterable[int]) -> Curve:
    """A step of the NumPy class of a vector family, for more and more components."""
    import inspect

    made = derive(family).compile("numpy")
    curve: Curve = {}
    for count in counts:
        opt = made(np.full(count, 0.5), rho=1e-9)
        names = list(inspect.signature(opt.step).parameters)
        inputs = [np.full(count, 1e-3) for _ in names]
        curve[count] = seconds(lambda: opt.step(*inputs), 10)  # noqa: B023
    return curve


def once(names: Iterable[str]) -> dict[str, float]:
    """Seconds of derivation of each; the first derivation loads the engine and is not counted."""
    derive("gaussian")
    found = {}
    for name in names:
        try:
            found[name] = seconds(lambda: derive(name), 1)  # noqa: B023
        except UserError:
            found[name] = math.nan
    return found


def measured(quick: bool) -> dict[str, Any]:
    from blrgen.read.family import list_families
    from blrgen.read.recipe import read_recipes

    counts = TERMS[:6] if quick else TERMS
    by_terms("powers", (1, 2))  # loads what is loaded once
    importlib.import_module("numba.extending")
    data: dict[str, Any] = {"terms": {}, "compiled": {}, "components": {}}
    for kind in KINDS:
        data["terms"][kind] = by_terms(kind, counts)
    for kind in COMPILED[: 1 if quick else None]:
        data["compiled"][kind] = compiled(kind, [n for n in counts if n in (1, 10, 50, 200)])
    for family in VECTORS:
        try:
            data["components"][family] = by_components(family, COMPONENTS)
        except (UserError, TypeError, ValueError) as reason:
            print(f"{family}: not run ({reason})", file=sys.stderr)
    data["families"] = once(list_families())
    data["recipes"] = once(sorted(read_recipes()))
    return data


def exponents(data: dict[str, Any]) -> dict[str, float]:
    """The fitted exponent of every curve that has three sizes or more."""
    groups = {**data["terms"], **{f"{k}, compiled": v for k, v in data["compiled"].items()}}
    groups["components"] = data["components"]
    return {
        f"{group}: {name}": round(exponent(curve), 2)
        for group, curves in groups.items()
        for name, curve in curves.items()
        if len(curve) > 2
    }


def picture(data: dict[str, Any], folder: Path) -> None:
    """Four panels: derivation and emission, passes, compilation, components and families."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 2, figsize=(12, 9))
    (tool, passes), (compile_, last) = axes
    for colour, (kind, curves) in enumerate(data["terms"].items()):
        for name, style in (("derive gaussian-diag", "-"), ("emit numba", "--")):
            label = f"{name.split()[0]}, {kind} ({exponent(curves[name]):.2f})"
            _line(tool, curves[name], label, style, f"C{colour}")
    worst = max(data["terms"], key=lambda kind: max(data["terms"][kind]["emit numba"].values()))
    for name in ("lower", "stable", "expand", "hoist", "cse", "order", "kernels, class"):
        curve = data["terms"][worst][name]
        _line(passes, curve, f"{name} ({exponent(curve):.2f})")
    for kind, curves in data["compiled"].items():
        curve = curves["Numba compilation"]
        _line(compile_, curve, f"Numba, {kind} ({exponent(curve):.2f})")
    for family, curve in data["components"].items():
        _line(last, curve, f"step of {family} ({exponent(curve):.2f})")
    titles = ("terms of a loss", f"passes, {worst}", "compilation of a step", "components K")
    for axis, title in zip(axes.flat, titles, strict=True):
        axis.set(xscale="log", yscale="log", title=title, ylabel="seconds")
        axis.grid(True, which="both", alpha=0.25)
        axis.legend(fontsize=7)
    figure.suptitle("Growth of the tool; in brackets p of time ~ size^p, larger half")
    figure.tight_layout()
    for kind in ("svg", "png"):
        figure.savefig(folder / f"growth.{kind}", dpi=110)


def _line(axis: Any, curve: Curve, label: str, style: str = "-", colour: Any = None) -> None:
    sizes = sorted(curve)
    axis.plot(sizes, [curve[n] for n in sizes], style, color=colour, marker=".", label=label)


def main() -> int:
    """Measure, print the exponents, write the data and the picture."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="up to 50 terms, in half a minute")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "growth")
    options = parser.parse_args()
    data = measured(options.quick)
    data["exponents"] = exponents(data)
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "growth.json").write_text(json.dumps(data, indent=1) + "\n")
    for name, value in data["exponents"].items():
        if name.split(": ")[1] in ("derive gaussian-diag", "emit numba", "Numba compilation"):
            print(f"{value:6.2f}  {name}")
    for group in ("families", "recipes"):
        slow = sorted(data[group].items(), key=lambda x: -x[1])[:3]
        print(f"slowest {group}: " + ", ".join(f"{n} {t * 1e3:.0f} ms" for n, t in slow))
    try:
        picture(data, options.out)
    except ImportError:
        print("matplotlib is not installed: no picture", file=sys.stderr)
    print(f"wrote {options.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
