"""Cost against size of what the tool does itself: long losses, vectors, families, recipes."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from benchmarks.growth import Curve, Plot, Said
from blrgen.errors import UserError

TERMS = (1, 2, 5, 10, 20, 50, 100, 200)
COMPONENTS = (10, 100, 1000, 10_000, 100_000)
VECTORS = ("categorical", "dirichlet", "multinomial")
MIXED, SIDES = (5, 10, 20), (10, 20, 50, 100, 200, 300)  # components of a mixture, their dimension
ROUNDS = 3  # of what takes no longer than PATIENCE
PATIENCE = 0.5  # seconds
Points = dict[str, list[tuple[float, float]]]


def of_components(said: Said, sizes: Sequence[int] = COMPONENTS) -> Plot:
    """Milliseconds a step, on one thread, of rules that couple the components of one vector."""
    import numba
    import numpy as np

    from blrgen.api import derive
    from blrgen.program.lower import lower
    from blrgen.program.types import SCALAR

    found: Points = {}
    threads = numba.get_num_threads()
    numba.set_num_threads(1)
    for family in VECTORS:
        derivation = derive(family)
        made, inputs = derivation.compile("numba"), lower(derivation.rule).of("input")
        for size in sizes:
            said(f"{family}, {size:g} components")
            opt: Any = made(np.full(size, 0.5), rho=1e-9)
            given = [1e-3 if v.type == SCALAR else np.full(size, 1e-3) for v in inputs]
            opt.step(*given)  # compiled
            seconds = best(lambda: opt.step(*given), 30)  # noqa: B023
            found.setdefault(family, []).append((size, 1e3 * seconds))
    numba.set_num_threads(threads)
    return _plot("vectors", "components", "ms a step", found)


def of_mixtures(
    said: Said, counts: Sequence[int] = MIXED, dimensions: Sequence[int] = SIDES
) -> Plot:
    """Milliseconds a step of Newton methods that repel one another: a curve a number of them."""
    from benchmarks.mixtures.__main__ import problem
    from blrgen.api import derive

    found: Points = {}
    made = derive("mixture:gaussian-full", ["delta"]).compile("numba")
    for count in counts:
        for d in dimensions:
            said(f"{count} components in {d} dimensions")
            m, S, pi, *given = problem(count, d)
            opt: Any = made(m, S=S, pi=pi, rho=1e-9)
            opt.step(*given)  # compiled
            seconds = best(lambda: opt.step(*given), 5)  # noqa: B023
            found.setdefault(f"K = {count}", []).append((d, 1e3 * seconds))
    return _plot("a mixture by --delta", "dimension", "ms a step", found)


def of_terms(said: Said, terms: Sequence[int] = TERMS) -> Plot:
    """Milliseconds to derive, to emit and to compile, against the terms of a loss."""
    found: Points = {}
    stages(1)  # imports
    for count in terms:
        said(f"a loss of {count} terms")
        for stage, seconds in stages(count).items():
            found.setdefault(stage, []).append((count, 1e3 * seconds))
    return _plot("a loss of many terms", "terms", "ms", found)


def _plot(title: str, x: str, y: str, found: Points) -> Plot:
    curves = tuple(Curve(label, tuple(points)).fitted for label, points in found.items())
    return Plot(title, x, y, curves)


def stages(terms: int) -> dict[str, float]:
    """Seconds of each stage for a sum of so many different terms."""
    import numpy as np

    from blrgen.api import derive

    loss = "+".join(f"tanh({k + 1}*theta)" for k in range(terms))
    derivation = derive("gaussian-diag", ["delta"], loss=loss)
    optimizer = new_class(derivation.source("numba"))(np.zeros(64))
    return {
        "derivation": best(lambda: derive("gaussian-diag", ["delta"], loss=loss)),
        "emission": best(lambda: derivation.source("numba")),
        "first step, compiled": best(optimizer.step, 1),
    }


def new_class(source: str) -> Any:
    """The class of a source as one that was never compiled before."""
    from blrgen.emit.compile import compile_class

    return compile_class(f"{source}# {time.time()}\n")


def of_names(said: Said) -> list[Plot]:
    """Milliseconds to derive and to emit, for every family and every recipe."""
    from blrgen.read.family import list_families
    from blrgen.read.recipe import read_recipes

    return [
        by_name("families", list_families(), said),
        by_name("recipes", read_recipes(), said),
    ]


def by_name(title: str, names: Iterable[str], said: Said) -> Plot:
    """The slowest first; what cannot be emitted has its derivation alone."""
    from blrgen.api import derive

    found: dict[str, dict[str, float]] = {}
    for name in names:
        said(name)
        derivation = derive(name)
        found[name] = {"derivation": best(lambda: derive(name))}  # noqa: B023
        try:
            found[name]["emission"] = best(lambda: derivation.source("numba"))  # noqa: B023
        except UserError:
            continue
    ordered = sorted(found, key=lambda x: -sum(found[x].values()))
    curves = []
    for stage in ("derivation", "emission"):
        points = [(k, 1e3 * found[x][stage]) for k, x in enumerate(ordered) if stage in found[x]]
        curves.append(Curve(stage, tuple(points)))
    return Plot(title, "", "ms", tuple(curves), tuple(ordered))


def best(action: Callable[[], Any], rounds: int = ROUNDS) -> float:
    """Seconds of the best round; what takes long has fewer."""
    gc.collect()
    found: list[float] = []
    while len(found) < rounds and sum(found) < PATIENCE:
        began = time.perf_counter()
        action()
        found.append(time.perf_counter() - began)
    return min(found)
