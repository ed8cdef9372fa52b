"""Use a generated optimizer as it is meant to be used: import the file, make the class, step.

    blrgen generate adam -o adam.py && python examples/adam_demo.py adam.py

A logistic regression on made-up data, with gradients of minibatches.  The loss
must fall to near the optimum, or this script fails.
"""

from __future__ import annotations

import importlib.util
import inspect
import sys
from pathlib import Path
from types import ModuleType

import numpy as np

SIZE, FEATURES, BATCH, STEPS = 2000, 20, 100, 1000


def load(path: Path) -> ModuleType:
    """Import a source file by its path."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise SystemExit(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def optimizer(module: ModuleType) -> type:
    """The one class of a generated file that has a step."""
    found = [c for _, c in inspect.getmembers(module, inspect.isclass) if hasattr(c, "step")]
    if len(found) != 1:
        raise SystemExit(f"expected one optimizer in {module.__name__}, found {len(found)}")
    return found[0]


def loss(theta: np.ndarray, x: np.ndarray, y: np.ndarray) -> float:
    """Mean logistic loss, log(1 + exp(-y x.theta))."""
    return float(np.mean(np.logaddexp(0.0, -y * (x @ theta))))


def gradient(theta: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Its gradient."""
    return -x.T @ (y / (1.0 + np.exp(y * (x @ theta)))) / len(y)


def main() -> int:
    """Train, and print the loss on the way."""
    if len(sys.argv) != 2:
        raise SystemExit(f"usage: {sys.argv[0]} GENERATED.py")
    rng = np.random.default_rng(0)
    x = rng.standard_normal((SIZE, FEATURES))
    truth = rng.standard_normal(FEATURES)
    y = np.where(rng.random(SIZE) < 1.0 / (1.0 + np.exp(-x @ truth)), 1.0, -1.0)

    make = optimizer(load(Path(sys.argv[1])))
    theta = np.zeros(FEATURES)
    opt = make(theta, alpha=0.02)
    first = loss(theta, x, y)
    for t in range(STEPS):
        if t % 200 == 0:
            print(f"step {t:5}   loss {loss(theta, x, y):.4f}")
        rows = rng.integers(0, SIZE, BATCH)
        opt.step(gradient(theta, x[rows], y[rows]))
    last, best = loss(theta, x, y), loss(truth, x, y)
    print(f"step {STEPS:5}   loss {last:.4f}   (the weights that made the data: {best:.4f})")
    if not last < best + 0.05 * (first - best):
        print("the loss did not fall as it should", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
