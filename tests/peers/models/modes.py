"""Modes and maxima that packages find by methods of their own."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tests.peers.models import public
from tests.peers.models.cases import Array, Case

SHAPES = "plate n in N\nparam a in (0, oo)\nparam b in (0, oo)\nx[n] ~ beta(a, b) observed\n"
CIRCLE = "plate n in N\nparam u in R\nparam v in R\nx[n] ~ von-mises(u, v) observed\n"


def weights(X: Array, y: Array, kind: str) -> public.Run:
    """The mode of a regression's weights under a standard Gaussian prior."""
    from sklearn.linear_model import LogisticRegression, PoissonRegressor

    if kind == "logistic":
        made = LogisticRegression(C=1.0, fit_intercept=False, tol=1e-12, solver="newton-cholesky")
    else:  # its loss is a mean over rows
        made = PoissonRegressor(
            alpha=1 / len(y), fit_intercept=False, tol=1e-12, solver="newton-cholesky"
        )
    return public.Run((), {"w": made.fit(X, y).coef_.ravel()})


def shapes(x: Array) -> public.Run:
    """The maximum of a beta's likelihood."""
    from scipy import stats

    a, b, *_ = stats.beta.fit(x, floc=0, fscale=1)
    return public.Run((), {"a": np.asarray(a), "b": np.asarray(b)})


def direction(x: Array) -> public.Run:
    """The same on the circle: κ (cos m, sin m)."""
    from scipy import stats

    kappa, mean, _ = stats.vonmises.fit(x, fscale=1)
    return public.Run((), {"u": kappa * np.cos(mean), "v": kappa * np.sin(mean)})


def mode_cases() -> list[Case]:
    """Points without a closed form, coupled."""
    rng = np.random.default_rng(21)
    X = rng.normal(size=(60, 3))
    u = X @ [0.9, -1.1, 0.3]
    yes = (rng.random(60) < 1 / (1 + np.exp(-u))) * 1.0
    counts = rng.poisson(np.exp(u)) * 1.0
    part, angle = rng.beta(2.0, 5.0, 80), rng.vonmises(1.0, 3.0, 80)

    def case(
        name: str, model: str, peer: str, data: dict[str, Array], theirs: Callable[[], public.Run],
        *points: str, **more: str,
    ) -> Case:  # fmt: skip
        places = {f"points.{x}": x for x in points}
        options = ("--point", "w") if points == ("w",) else ()
        return Case(name, model, "--em", peer, data, {}, 2, theirs, places, 1e-6, False,
                    options, **more)  # fmt: skip

    return [
        case("mode, logistic-regression", "logistic-regression", "scikit-learn",
             {"X": X, "y": yes}, lambda: weights(X, yes, "logistic"), "w"),
        case("mode, poisson-regression", "poisson-regression", "scikit-learn",
             {"X": X, "y": counts}, lambda: weights(X, counts, "poisson"), "w"),
        case("maximum, beta", "shapes", "scipy.stats", {"x": part}, lambda: shapes(part),
             "a", "b", source=SHAPES),
        case("maximum, von Mises", "circle", "scipy.stats", {"x": angle},
             lambda: direction(angle), "u", "v", source=CIRCLE),
    ]  # fmt: skip
