"""Full covariance against the bare LAPACK solver, and ridge regression against scikit-learn.

posv overwrites what it is given: its copies are made ahead of the clock, in the order that
LAPACK wants, so that nothing but the solver is timed.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np

from benchmarks import arrays, bars
from benchmarks.cases import Case
from benchmarks.emitted import loaded
from benchmarks.prepare import Timed
from benchmarks.setup import BAR, OURS, Setup
from benchmarks.timing import Stepper

COLUMNS = 100  # of the regression


def posv(case: Case, timed: Timed) -> Setup:
    """A whole step at dimension `case.size`, its Hessian well conditioned."""
    curvature, gradient = _system(case)
    ours, optimizer, given = _stepping(timed, timed.path, curvature, gradient)
    steppers = {OURS: ours} | _posv(curvature, gradient)
    bar = bars.stepper(timed, optimizer, given, {}, case.threads)
    return Setup(steppers | ({BAR: bar} if bar is not None else {}), case.size, blas=True)


def small(case: Case, timed: Timed) -> Setup:
    """A step whose size is a number of its file, the file for any size, and a solver alone."""
    curvature, gradient = _system(case)
    steppers = {
        OURS: _stepping(timed, timed.small, curvature, gradient)[0],
        "for any size": _stepping(timed, timed.path, curvature, gradient)[0],
        "numpy.linalg.solve": Stepper(lambda: np.linalg.solve(curvature, gradient)),
    }
    return Setup(steppers, case.size)


def _system(case: Case) -> tuple[Any, Any]:
    """A well-conditioned Hessian and a gradient."""
    d = case.size
    rng = np.random.default_rng(0)
    root = rng.standard_normal((d, 2 * d)) / np.sqrt(2 * d)
    curvature = np.ascontiguousarray((root @ root.T + np.eye(d)).astype(case.dtype))
    return curvature, arrays.gradient(d, case.dtype)


def _stepping(timed: Timed, path: str, matrix: Any, vector: Any) -> tuple[Stepper, Any, list[Any]]:
    """The steps of an emitted file, its optimizer, and what a step is given."""
    given = [(1.0, vector, matrix)[len(axes)] for _, axes in timed.inputs]
    params = arrays.full(len(vector), vector.dtype.name, 0.25)
    optimizer = getattr(loaded(path), timed.class_name)(params, check_finite=False)
    return Stepper(lambda: optimizer.step(*given)), optimizer, given


def _posv(matrix: Any, vector: Any) -> dict[str, Stepper]:
    if find_spec("scipy") is None:
        return {}
    from scipy.linalg.lapack import get_lapack_funcs

    (solver,) = get_lapack_funcs(("posv",), (matrix, vector))
    a, b = np.empty_like(matrix, order="F"), np.empty_like(vector)

    def before() -> None:
        a[:] = matrix
        b[:] = vector

    return {"posv": Stepper(lambda: solver(a, b, overwrite_a=1, overwrite_b=1), before)}


def ridge(case: Case, timed: Timed) -> Setup:
    """A regression of `case.size` rows, from the data to the weights."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((case.size, COLUMNS)).astype(case.dtype)
    y = (X @ rng.standard_normal(COLUMNS) + rng.standard_normal(case.size)).astype(case.dtype)
    params = arrays.full(COLUMNS, case.dtype, 0.0)
    optimizer = getattr(loaded(timed.path), timed.class_name)(params, check_finite=False)
    steppers = {OURS: Stepper(lambda: optimizer.step(X, y))}
    bar = bars.stepper(timed, optimizer, [X, y], {}, case.threads)
    steppers |= {BAR: bar} if bar is not None else {}
    if find_spec("sklearn") is not None:
        from sklearn.linear_model import Ridge

        for solver, copy in (("cholesky", False), ("auto", False), ("auto", True)):
            model = Ridge(alpha=1.0, fit_intercept=False, copy_X=copy, solver=solver)
            title = f"scikit-learn, {solver}" + (", copy_X" if copy else "")
            steppers[title] = _fit(model, X, y)
    return Setup(steppers, case.size, blas=True)


def _fit(model: Any, X: Any, y: Any) -> Stepper:
    return Stepper(lambda: model.fit(X, y))
