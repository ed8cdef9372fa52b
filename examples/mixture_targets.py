"""Mixtures of ten Gaussians on four targets in two dimensions, and how far each is from it.

    python examples/mixture_targets.py [FOLDER]      needs matplotlib

A double banana, ten Gaussians, tails with corners, a star of five arms.  Each is fitted by the
derived rule with the retraction; KL(q‖p) is by a fine grid, which no fit has seen.  Writes
mixture_targets.png, and mixture_targets.json with the numbers.
"""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np

from blrgen.api import derive
from blrgen.fitting.loss import Target, target
from blrgen.fitting.run import Run, candidate_of
from blrgen.fitting.start import first_state
from blrgen.read.family import read_family

FAMILY = "gaussian-full"
COMPONENTS, STEPS, SEED = 10, 150, 0
CENTRES = (
    (2.2, -3.7), (-7.3, -7.7), (5.0, 6.6), (1.7, 3.7), (0.7, 7.0), (5.1, -7.5), (5.7, -7.4),
    (3.7, -5.2), (5.8, 0.7), (-3.2, -1.2),
)  # fmt: skip


def double_banana() -> str:
    """A ridge of Rosenbrock's function, seen with noise 0.3, under a normal prior."""
    ridge = "log((1 - theta1)**2 + 100*(theta2 - theta1**2)**2)"
    return f"(theta1**2 + theta2**2)/2 + ({ridge} - log(30))**2/(2*0.09)"


def ten_gaussians() -> str:
    """Equal ones, of variance 1."""
    parts = [f"exp(-((theta1 - ({a}))**2 + (theta2 - ({b}))**2)/2)" for a, b in CENTRES]
    return f"-log({' + '.join(parts)})"


def kinked_tails() -> str:
    """Two independent Laplace variables."""
    return "abs(theta1) + abs(theta2)"


def star() -> str:
    """Five arms, long and thin."""
    arms = []
    for k in range(5):
        c, s = (round(f(2 * math.pi * k / 5), 6) for f in (math.cos, math.sin))
        along, across = f"({c})*theta1 + ({s})*theta2", f"({c})*theta2 - ({s})*theta1"
        arms.append(f"exp(-({along} - 3)**2/4.5 - ({across})**2/0.08)")
    return f"-log({' + '.join(arms)})"


# name, loss, half the side of the picture, half the side of the grid
TARGETS = (
    ("double banana", double_banana(), 2.2, 8.0),
    ("ten Gaussians", ten_gaussians(), 11.0, 16.0),
    ("tails with corners", kinked_tails(), 4.0, 24.0),
    ("star of five arms", star(), 8.0, 14.0),
)


def fitted(loss: str, seed: int = SEED, steps: int = STEPS) -> tuple[Any, Any, Target]:
    """(who integrates, what a run came to, the loss)."""
    d = derive(f"mixture:{FAMILY}", ["retraction"])
    t = target(loss, read_family(FAMILY), {})
    candidate = candidate_of(d, t, seed)
    run = Run(d, candidate)
    return candidate, run.to_rest(first_state(d, candidate, t, COMPONENTS, seed), steps, 1e-8), t


def divergence(candidate: Any, state: dict[str, Any], t: Target, half: float) -> float:
    """KL(q‖p) by a grid: Σ q (log q − log p) with both summing to one on it."""
    line = np.linspace(-half, half, 1601)
    points = np.stack(np.meshgrid(line, line, indexing="ij"), -1).reshape(-1, 2)
    log_p, log_q = -t(points), candidate.values(points, state)
    log_p, log_q = (x - np.logaddexp.reduce(x) for x in (log_p, log_q))
    there = np.isfinite(log_p)  # a single point of the grid may be one where the density is zero
    log_p, log_q = log_p[there], log_q[there]
    return float(np.sum(np.exp(log_q) * (log_q - log_p)))


def main(folder: Path) -> None:
    """Fit, print, draw."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib.figure import Figure

    figure, numbers = Figure(figsize=(13, 6.8)), []
    for column, (name, loss, half, wide) in enumerate(TARGETS):
        candidate, found, t = fitted(loss)
        gap = divergence(candidate, found.state, t, wide)
        numbers.append({"target": name, "objective": found.objective, "kl": gap,
                        "steps": found.steps})  # fmt: skip
        print(numbers[-1], flush=True)
        line = np.linspace(-half, half, 301)
        points = np.stack(np.meshgrid(line, line, indexing="ij"), -1).reshape(-1, 2)
        for row, log in enumerate((-t(points), candidate.values(points, found.state))):
            axes = figure.add_subplot(2, 4, 1 + column + 4 * row)
            height = np.exp(log - log.max()).reshape(301, 301).T
            axes.contourf(line, line, height, levels=np.linspace(0.02, 1, 12), cmap="viridis")
            axes.set(xticks=[], yticks=[], title=name if not row else f"KL {gap:.4f}")
            axes.set_aspect("equal")
            if row:
                m, share = found.state["m"], found.state["pi"]
                axes.scatter(*m.T, s=120 * share + 4, c="crimson", marker="+")
    figure.tight_layout()
    figure.savefig(folder / "mixture_targets.png", dpi=80)
    (folder / "mixture_targets.json").write_text(json.dumps(numbers, indent=1) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
