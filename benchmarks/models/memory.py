"""Memory that steps take beyond the data: `python -m benchmarks.models.memory`.

Each case is a process of its own: a step on few rows compiles everything, then the data are
made, the mark of the most memory is put back (Linux, /proc/self/clear_refs), and two steps are
taken.  What the mark has risen by since then, less what numbers are kept in any case, is held
against what theory allows.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.models.emitted import model_class

MEGABYTE = 1 << 20
BATCH = 500  # rows of a step over some
Made = tuple[Any, int, str]  # the model, the bytes that it may take, in words


def mixture(N: int, target: str) -> Made:
    """Rows × labels and a megabyte."""
    x = np.random.default_rng(0).normal(size=(N, 8))
    start = {"mu": x[:8], "pi": np.full(8, 1 / 8), "S": np.broadcast_to(np.eye(8), (8, 8, 8))}
    made = model_class("gaussian-mixture-full-em", "em", target)(x=x, K=8, start=start)
    return made, 8 * N * 8 + MEGABYTE, "8 N K + 1 MB"


def mean_field(N: int, target: str) -> Made:
    """The same by mean field."""
    x = np.random.default_rng(0).integers(0, 2, (N, 16)).astype(float)
    made = model_class("bernoulli-mixture", "vmp", target)(x=x, K=8)
    return made, 8 * N * 8 + MEGABYTE, "8 N K + 1 MB"


def chain(T: int, target: str) -> Made:
    """Evidence, forward and a scale for each place; whole arrays keep some more, none T K K."""
    x = np.random.default_rng(0).poisson(5, T).astype(float)
    made = model_class("hmm-poisson-em", "em", target)(x=x, K=16)
    places = 2 if target == "numba" else 8
    return made, 8 * T * (16 * places + 3) + MEGABYTE, f"{places} times 8 T K and 24 T + 1 MB"


def topics(D: int, target: str) -> Made:
    """Tables of words and topics, chunks have some too: no topics of a document's words."""
    rng, V, K = np.random.default_rng(0), 5000, 20
    made = model_class("lda", "svi", target, inner=20)(
        w=rng.integers(0, V, 150 * D), c=np.ones(150 * D), L=np.full(D, 150),
        alpha=np.full(K, 0.1), eta=np.full(V, 0.05),
    )  # fmt: skip
    batch = 2 * 8 * 150 * min(D, BATCH)
    return made, 12 * 8 * V * K + batch + MEGABYTE, "12 times 8 V K, the batch's words + 1 MB"


CASES: dict[str, tuple[Callable[[int, str], Made], int, int]] = {
    "Gaussian mixture, N=200000 d=8 K=8": (mixture, 200_000, 500),
    "Bernoulli mixture, N=200000 d=16 K=8": (mean_field, 200_000, 500),
    "Poisson chain, T=100000 K=16": (chain, 100_000, 500),
    "LDA, D=4000 with 150 words each": (topics, 4_000, 10),
}


def stepped(model: Any, rows: int) -> None:
    """Two steps; over some rows where that is what steps are."""
    for _ in range(2):
        if hasattr(model, "delay"):
            model.step(np.arange(min(rows, BATCH)))
        else:
            model.step()


def peak() -> tuple[int, int]:
    """Bytes in memory now, and the most that there were."""
    lines = Path("/proc/self/status").read_text().splitlines()
    found = {x.split(":")[0]: int(x.split()[1]) * 1024 for x in lines if x.startswith("Vm")}
    return found["VmRSS"], found["VmHWM"]


def child(title: str, target: str) -> None:
    """One case; prints the bytes taken, those allowed, and why."""
    make, rows, few = CASES[title]
    stepped(make(few, target)[0], few)
    model, allowed, words = make(rows, target)
    Path("/proc/self/clear_refs").write_text("5")
    before, _ = peak()
    stepped(model, rows)
    print(peak()[1] - before, allowed, words)


def main() -> int:
    """Every case, each in a process of its own; exit code 1 where one takes more."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--target", default="numba")
    parser.add_argument("--only", default="", metavar="WORD")
    parser.add_argument("--child", default="", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(options.child, options.target)
        return 0
    missed = False
    for title in CASES:
        if options.only.lower() not in title.lower():
            continue
        call = [sys.executable, "-m", "benchmarks.models.memory", "--child", title]
        done = subprocess.run([*call, "--target", options.target], text=True, capture_output=True)
        if done.returncode:
            print(f"{title:40s} {done.stderr.strip().splitlines()[-1]}")
            missed = True
            continue
        taken, allowed, words = done.stdout.strip().split(" ", 2)
        missed |= int(taken) > int(allowed)
        verdict = "pass" if int(taken) <= int(allowed) else "MISS"
        print(f"{title:40s} {options.target:6s} {int(taken) / MEGABYTE:8.2f} MB of "
              f"{int(allowed) / MEGABYTE:8.2f} ({words})  {verdict}")  # fmt: skip
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
