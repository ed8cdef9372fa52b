"""Expressions that are read, at numbers: for comparing what is read with NumPy."""

from __future__ import annotations

import ast
import functools
import math
import operator
from typing import Any

import numba
import numpy as np
import scipy.linalg
import scipy.linalg.lapack

from blrgen.validate.reading.graph import Graph
from blrgen.validate.reading.interpret import in_doubles
from blrgen.validate.reading.machine import Machine
from blrgen.validate.reading.module import module
from blrgen.validate.reading.values import Array, Cond, Num, Scope, Whole

SIZE = 3
IMPORTS = (
    "import numpy as np\nimport math, functools, operator, numba\n"
    "import scipy.linalg, scipy.linalg.lapack\n"
)
NAMES = {"np": np, "math": math, "functools": functools, "operator": operator, "numba": numba,
         "scipy": scipy}  # fmt: skip


def numbers() -> dict[str, Any]:
    """x in (0, 1), a matrix, a positive definite one, a number."""
    rng = np.random.default_rng(5)
    X = rng.standard_normal((SIZE, SIZE))
    S = X @ X.T + np.eye(SIZE)
    x, y = rng.uniform(0.1, 0.9, (2, SIZE))
    return {"x": x, "y": y, "X": X, "S": S, "rho": 0.3}


def machine() -> tuple[Machine, Scope]:
    mc = Machine(Graph(), generic=False, decide=lambda c: None, matrix=True)
    scope = module(mc, ast.parse(IMPORTS))
    for name, v in numbers().items():
        if isinstance(v, float):
            scope.names[name] = Num(mc.graph.symbol(name))
            continue
        data = np.empty(v.shape, dtype=object)
        for k in np.ndindex(*v.shape):
            data[k] = mc.graph.symbol(f"{name}{list(k)}")
        scope.names[name] = Array(data)
    return mc, scope


def point() -> dict[str, float]:
    out = {}
    for name, v in numbers().items():
        for k in np.ndindex(*np.shape(v)):
            out[f"{name}{list(k)}" if k else name] = float(np.asarray(v)[k])
    return out


def in_numbers(mc: Machine, x: Any) -> Any:
    """What was read, at the point."""
    if isinstance(x, Whole):
        return x.value
    if isinstance(x, Num | Cond):
        return in_doubles([x.node], point())[x.node.index]
    memo = in_doubles(list(x.data.reshape(-1)), point())
    return np.array([memo[n.index] for n in x.data.reshape(-1)], dtype=float).reshape(x.data.shape)
