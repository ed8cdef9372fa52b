"""Values of the engine's expressions as numbers and NumPy arrays, for tests only.

Columns are (d, 1) arrays and matrices (d, d) ones; elementwise quantities are (d,) arrays
or plain numbers.  Written apart from the engine's own evaluators on purpose.
"""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import scipy.special
import sympy as sp

from blrgen.algebra.ranks import T, logdet, trace

Expr = Any
HERE = Path(__file__).resolve().parent
_FUNCTIONS: dict[str, Any] = {
    "exp": np.exp, "log": np.log, "tanh": np.tanh, "cosh": np.cosh, "sinh": np.sinh,
    "erf": scipy.special.erf, "sign": np.sign, "Abs": np.abs, "Max": np.maximum,
    "loggamma": scipy.special.gammaln,
    "multigammaln": lambda x, d: scipy.special.multigammaln(x, int(d)),
    "Min": np.minimum, "gamma": scipy.special.gamma, "cos": np.cos, "sin": np.sin,
    "polygamma": lambda n, x: scipy.special.polygamma(int(n), x),
}  # fmt: skip


def value(x: Expr, env: Mapping[str, Any]) -> Any:
    """The value of x, with the names in `env` (and "d" for the dimension)."""
    x = sp.sympify(x)
    if x.is_Symbol:
        return env[x.name]
    if x is sp.oo:
        return math.inf
    if (x.is_number and not x.args) or x.is_Rational:
        return float(x)
    if isinstance(x, T):
        inner = value(x.args[0], env)
        return inner.T if np.ndim(inner) == 2 else inner
    if isinstance(x, trace):
        return float(np.trace(np.atleast_2d(value(x.args[0], env))))
    if isinstance(x, logdet):
        return float(np.linalg.slogdet(value(x.args[0], env))[1])
    args = [value(a, env) for a in x.args]
    if x.is_Add:
        square = [a for a in args if np.ndim(a) == 2 and a.shape[0] == a.shape[1]]
        if square:
            eye = np.eye(square[0].shape[0])
            args = [a * eye if np.ndim(a) == 0 else a for a in args]
        return sum(args[1:], args[0])
    if x.is_Mul:
        product = args[0]
        for a in args[1:]:
            product = product @ a if np.ndim(product) == 2 and np.ndim(a) == 2 else product * a
        return product
    if x.is_Pow:
        base, power = args
        if np.ndim(base) == 2:
            return np.linalg.matrix_power(base, int(power))
        return np.power(base, int(power)) if x.exp.is_Integer and int(power) >= 0 else base**power
    return _FUNCTIONS[type(x).__name__](*args)


def spd(rng: np.random.Generator, d: int) -> np.ndarray:
    """A random symmetric positive definite matrix."""
    a = rng.standard_normal((d, d + 2))
    return a @ a.T / d + 0.4 * np.eye(d)


def symmetric(rng: np.random.Generator, d: int) -> np.ndarray:
    """A random symmetric matrix."""
    a = rng.standard_normal((d, d))
    return (a + a.T) / 2


def reference(name: str) -> ModuleType:
    """The hand-written algorithm of that name."""
    return load(HERE / "reference" / f"{name}.py")


def load(path: Path) -> ModuleType:
    """A module by its path."""
    spec = importlib.util.spec_from_file_location(f"loaded_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@cache
def _nodes(points: int) -> Any:
    return np.polynomial.hermite_e.hermegauss(points)


def gauss_hermite(f: Any, mean: float, variance: float, points: int = 96) -> float:
    """E[f(θ)] for θ ~ N(mean, variance)."""
    x, w = _nodes(points)
    return float(np.sum(w * f(mean + math.sqrt(variance) * x)) / math.sqrt(2 * math.pi))
