"""The emitted optimizers against the public implementations, run now: `make peers`.

    python tests/peers/live.py            or python -m tests.peers.live

Prints a row a recipe, peer, setting and target; exits 1 when one is over the limit.
"""

from __future__ import annotations

import sys
import time
from importlib.metadata import version
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.peers import public, trajectories
from tests.peers.adapters import CASES, LIMIT, Case

PACKAGES = ("torch", "optax", "jax", "ivon-opt", "scikit-learn", "scipy", "numpy")
HEAD = ("recipe", "peer", "settings", "class", "difference", "limit", "")
Row = tuple[str, ...]


def settings_of(case: Case) -> str:
    """The settings in which cases of one peer differ: IVON's switches, or all of them."""
    if case.peer == "ivon.IVON":
        return case.name.removeprefix("ivon").strip("-").replace("-", " ") or "defaults"
    return " ".join(f"{k}={v}" for k, v in case.settings.items()) or case.problem


def rows_of(case: Case, noise: np.ndarray) -> list[tuple[Row, bool]]:
    """One row a class: what was compared, how far apart, and whether that is as it should be."""
    theirs = public.run(case)
    noise = theirs["z"] if case.masks else noise
    limit = f"{LIMIT:.0e}" if case.same else ">1e-03"
    rows: list[tuple[Row, bool]] = []
    for label, find in trajectories.classes(case).items():
        try:
            gap = trajectories.compared(case, trajectories.emitted(case, find(), noise), theirs)
        except Exception as error:  # one class that cannot run must not hide the others
            shown, good = f"{type(error).__name__}: {error}"[:90], False
        else:
            shown, good = f"{gap:.1e}", gap <= LIMIT if case.same else 1e-3 < gap < 1e3
        verdict = "pass" if good else "FAIL"
        rows.append(
            ((case.recipe, case.peer, settings_of(case), label, shown, limit, verdict), good)
        )
    return rows


def table(rows: list[Row]) -> str:
    """Columns of equal width."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(HEAD))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )


def worst(found: list[tuple[Row, bool]]) -> list[str]:
    """The largest difference of each recipe, over the rows that must agree."""
    largest: dict[str, float] = {}
    for row, _ in found:
        if row[5].startswith(">"):
            continue
        try:
            value = float(row[4])
        except ValueError:
            value = float("inf")
        largest[row[0]] = max(largest.get(row[0], 0.0), value)
    return [f"  {name:18} {value:.1e}" for name, value in sorted(largest.items())]


def main() -> int:
    began = time.perf_counter()
    print(", ".join(f"{name} {version(name)}" for name in PACKAGES) + "\n")
    noise = public.ivon_noise(2)
    found = [row for case in CASES for row in rows_of(case, noise)]
    print(table([HEAD, *(row for row, _ in found)]))
    print("\nrows marked >1e-03 are settings of another formula, which must be told apart")
    print("\nlargest difference per recipe")
    print("\n".join(worst(found)))
    failed = sum(not good for _, good in found)
    seconds = time.perf_counter() - began
    print(f"\n{len(found) - failed} of {len(found)} pass, {failed} fail, in {seconds:.0f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
