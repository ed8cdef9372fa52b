"""Every shipped model that has a class: loops and whole arrays come to the same, run as Python."""

import re
from pathlib import Path

import numpy as np
import pytest

from blrgen.emit.model.file import text
from blrgen.program.model.lower import lower
from blrgen.read.model.reader import read_model
from blrgen.rule.model.derive import derive_model
from tests.emit.tree.running import names_of_numpy

MODELS = Path(__file__).parents[3] / "models"
R = np.random.default_rng(5)
N = 12
PLANE = R.normal(size=(N, 2)) + np.where(np.arange(N) < 5, 2, -1)[:, None]
LINE = PLANE[:, 0].copy()
COUNTS = np.abs(PLANE).round()[:, 0] * 2
X = R.normal(size=(N, 3))
Y = X @ np.array([1.0, -1.0, 0.5]) + 0.3 * R.normal(size=N)
DRAWS = R.multinomial(5, [0.2, 0.3, 0.5], size=N).astype(float)
V = {"V0": np.eye(2), "nu0": 3.0}
TOPICS = {"w": R.integers(0, 4, 10), "c": np.ones(10), "L": np.array([3, 4, 3]),
          "alpha": np.full(2, 0.5), "eta": np.full(4, 0.4)}  # fmt: skip
SPACE = {"F": 0.9 * np.eye(2), "B": np.ones((2, 1)), "H": np.eye(2), "Q": np.eye(2),
         "R": np.eye(2), "S1": np.eye(2)}  # fmt: skip
CASES = {
    ("bernoulli-mixture-em", "em"): {"x": (PLANE > 0) * 1.0, "K": 2},
    ("bernoulli-mixture", "vmp"): {"x": (PLANE > 0) * 1.0, "K": 2},
    ("beta-bernoulli", "conjugate"): {"x": (LINE > 0) * 1.0},
    ("dirichlet-multinomial", "conjugate"): {"x": DRAWS, "n": np.full(N, 5.0)},
    ("exponential-mixture", "vmp"): {"x": np.abs(LINE), "K": 2},
    ("factor-analysis-em", "em"): {"x": X, "q": 1},
    ("factor-analysis", "vmp"): {"x": X, "q": 1},
    ("gamma-mixture", "em"): {"x": np.abs(LINE) + 0.1, "K": 2},
    ("gamma-poisson", "conjugate"): {"x": COUNTS, "e": np.ones(N)},
    ("gaussian-mixture-diag-em", "em"): {"x": PLANE, "K": 2},
    ("gaussian-mixture-full-em", "em"): {"x": PLANE, "K": 2},
    ("gaussian-mixture-full", "vmp"): {"x": PLANE, "K": 2, **V},
    ("gaussian-mixture-full", "svi"): {"x": PLANE, "K": 2, **V},
    ("gaussian-mixture-tied", "vmp"): {"x": PLANE, "K": 2, "B0": np.eye(2), **V},
    ("hmm-categorical-em", "em"): {"x": R.integers(0, 3, N), "K": 2, "V": 3},
    ("hmm-gaussian-em", "em"): {"x": LINE, "K": 2},
    ("hmm-gaussian", "vmp"): {"x": LINE, "K": 2},
    ("hmm-categorical-many-em", "em"): {"x": R.integers(0, 3, N), "K": 2, "V": 3, "T": [4, 1, 7]},
    ("hmm-gaussian-many", "vmp"): {"x": LINE, "K": 2, "T": [4, 1, 7]},
    ("hmm-poisson", "vmp"): {"x": COUNTS, "K": 2},
    ("inverse-wishart", "conjugate"): {"x": PLANE, "Psi0": np.eye(2), "nu0": 4.0},
    ("lda", "vmp"): TOPICS,
    ("lda", "svi"): TOPICS,
    ("linear-regression-ard", "vmp"): {"X": X, "y": Y},
    ("linear-regression", "vmp"): {"X": X, "y": Y},
    ("multinomial-mixture", "vmp"): {"x": DRAWS, "c": np.full(N, 5.0), "K": 2},
    ("normal-gamma", "conjugate"): {"x": LINE},
    ("normal-normal", "conjugate"): {"x": LINE},
    ("normal-wishart", "conjugate"): {"x": PLANE, **V},
    ("poisson-mixture-em", "em"): {"x": COUNTS, "K": 2},
    ("ppca", "em"): {"x": X, "q": 1},
    ("ridge", "conjugate"): {"X": X, "y": Y},
    ("state-space", "conjugate"): {"y": PLANE, "u": np.ones((N, 1)), **SPACE},
    ("state-space-em", "em"): {"y": PLANE, "u": X[:, :1], "p": 2},
    ("student-t-regression", "vmp"): {"X": X, "y": Y},
}


def as_python(source: str) -> dict:
    """A file's names, its functions not compiled."""
    source = re.sub(r"from numba import .*", "", source)
    space = {"njit": lambda **_: lambda f: f, "get_num_threads": lambda: 2, "__name__": "emitted"}
    space["overload"] = lambda *_, **__: lambda f: f
    exec(compile(source, "emitted", "exec", dont_inherit=True), space)
    known = names_of_numpy()  # special functions that only compiled code can run
    space |= {x: f for x, f in known.items() if x in space and x.startswith("_")}
    return space


@pytest.mark.sweep(12)
@pytest.mark.parametrize(("name", "algorithm"), CASES)
def test_loops_and_arrays_agree(name, algorithm):
    model = read_model((MODELS / f"{name}.model").read_text(), name)
    program = lower(derive_model(model, algorithm))
    data = CASES[name, algorithm]
    before = {k: np.array(v) for k, v in data.items()}
    found = []
    for target in ("numpy", "numba"):
        with np.errstate(all="ignore"):
            fitted = as_python(text(program, target))[program.name](**data, seed=3)
            run = fitted.run(steps=3, tol=0.0)
            found.append((run["trace"], [fitted.posterior(p.node) for p in program.posteriors]))
    (one, first), (two, second) = found
    np.testing.assert_allclose(one, two, rtol=1e-9)
    for a, b in zip(first, second, strict=True):
        pairs = zip(a.values(), b.values(), strict=True) if isinstance(a, dict) else [(a, b)]
        for x, y in pairs:
            np.testing.assert_allclose(x, y, rtol=1e-6, atol=1e-9)
    for k, v in before.items():
        np.testing.assert_array_equal(data[k], v)
