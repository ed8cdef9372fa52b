"""What is compared with what: each peer's settings, and its names for our hyperparameters.

Everything here is data.  A `Case` says how a public implementation is called, which of our
recipes it is, and where each of our hyperparameters is found among its settings:

    "lr"                  that setting
    "1-alpha"             one minus that setting
    "0.01"                a constant
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass, field

LIMIT = 1e-12
DROPOUT_SEED = 3000  # torch.manual_seed(DROPOUT_SEED + t) before the mask of step t
IVON_SEED = 1000  # torch.manual_seed(IVON_SEED + t) before the draws of step t


@dataclass(frozen=True)
class Case:
    """One public implementation, with one choice of settings, against one recipe."""

    name: str
    peer: str
    recipe: str
    settings: Mapping[str, object]
    hyper: Mapping[str, str]
    problem: str = "minibatch"  # minibatch | full | near (full, from NEAR) | separate | ridge
    end: bool = False  # only the last step is compared: the peer gives an end point
    same: bool = True  # False: a setting that is *not* our formula, and must be seen to differ
    every: int = 1  # which steps are compared: the first four and every so many
    keep: int = 50  # how many steps are
    note: str = ""
    masks: bool = False  # the peer draws masks, and they are recorded with its trajectory
    extra: tuple[str, ...] = field(default=())  # states compared besides the mean, at the end

    def hyperparameters(self) -> dict[str, float]:
        """Our hyperparameters, read off the peer's settings."""
        return {ours: self._value(theirs) for ours, theirs in sorted(self.hyper.items())}

    def _value(self, text: str) -> float:
        if text.startswith("1-"):
            return 1 - self._value(text[2:])
        value = self.settings.get(text, text)
        return float(value)  # type: ignore[arg-type]

    def minibatch(self, t: int) -> int | None:
        """The minibatch of step t; None for all examples."""
        return t if self.problem == "minibatch" else None

    def steps(self) -> list[int]:
        """The steps compared, counted from 1."""
        if self.end:
            return [self.keep]
        return [t for t in range(1, self.keep + 1) if t <= 4 or t % self.every == 0]


SGD = {"rho": "lr"}
MOMENTUM = {"rho": "lr", "gamma": "momentum"}
DROPOUT = {"alpha": "alpha", "pi": "pi"}
RMSPROP = {"alpha": "lr", "beta": "1-decay", "c": "eps"}
ADAM = {"alpha": "lr", "beta1": "b1", "beta2": "b2", "c": "eps"}

TORCH = (
    Case(
        "torch-gradient-descent", "torch.optim.SGD", "gradient-descent",
        {"lr": 0.3}, SGD, problem="full",
    ),
    Case("torch-sgd", "torch.optim.SGD", "sgd", {"lr": 0.2}, SGD),
    Case(
        "torch-momentum", "torch.optim.SGD", "momentum",
        {"lr": 0.05, "momentum": 0.9}, MOMENTUM,
        note="dampening 0: buf ← γ buf + g, and the first buf = g is ours from u = 0",
    ),
    Case(
        "torch-rmsprop", "torch.optim.RMSprop", "rmsprop",
        {"lr": 0.02, "alpha": 0.95, "eps": 1e-2},
        {"alpha": "lr", "beta": "1-alpha", "c": "eps"},
        note="torch's alpha is the decay, our β one minus it; eps after the root",
    ),
    Case(
        "torch-rmsprop-defaults", "torch.optim.RMSprop", "rmsprop",
        {"lr": 0.01, "alpha": 0.99, "eps": 1e-8},
        {"alpha": "lr", "beta": "1-alpha", "c": "eps"},
    ),
    Case(
        "torch-adam", "torch.optim.Adam", "adam",
        {"lr": 0.05, "b1": 0.8, "b2": 0.95, "eps": 1e-2}, ADAM,
        note="betas=(b1, b2); eps is added to √s/√(1 − β₂ᵗ), outside the root",
    ),
    Case(
        "torch-adam-defaults", "torch.optim.Adam", "adam",
        {"lr": 0.001, "b1": 0.9, "b2": 0.999, "eps": 1e-8}, ADAM,
    ),
    Case(
        "torch-dropout", "torch.nn.functional.dropout", "dropout",
        {"alpha": 0.25, "pi": 0.75}, DROPOUT, masks=True,
        note="its weights are πm and its rate is πα: the same points, the same steps",
    ),
    Case(
        "torch-dropout-sparse", "torch.nn.functional.dropout", "dropout",
        {"alpha": 0.1, "pi": 0.3}, DROPOUT, masks=True,
    ),
    Case(
        "torch-inverted-dropout", "torch.nn.functional.dropout", "inverted-dropout",
        {"alpha": 0.2, "pi": 0.75}, DROPOUT, masks=True,
        note="the weights and the rate as torch has them",
    ),
)  # fmt: skip

OPTAX = (
    Case("optax-sgd", "optax.sgd", "sgd", {"lr": 0.2}, SGD),
    Case(
        "optax-momentum", "optax.sgd", "momentum", {"lr": 0.05, "momentum": 0.9}, MOMENTUM,
        note="nesterov False",
    ),
    Case(
        "optax-rmsprop", "optax.rmsprop", "rmsprop",
        {"lr": 0.02, "decay": 0.95, "eps": 1e-2, "eps_in_sqrt": False}, RMSPROP,
        note="eps_in_sqrt=False is √s + c; initial_scale 0",
    ),
    Case(
        "optax-rmsprop-eps-in-root", "optax.rmsprop", "rmsprop",
        {"lr": 0.02, "decay": 0.95, "eps": 1e-2, "eps_in_sqrt": True}, RMSPROP,
        same=False, note="optax's default, √(s + eps): another formula",
    ),
    Case(
        "optax-adam", "optax.adam", "adam",
        {"lr": 0.05, "b1": 0.8, "b2": 0.95, "eps": 1e-2, "eps_root": 0.0}, ADAM,
        note="eps outside the root; eps_root 0",
    ),
    Case(
        "optax-adam-eps-root", "optax.adam", "adam",
        {"lr": 0.05, "b1": 0.8, "b2": 0.95, "eps": 0.0, "eps_root": 1e-2}, {**ADAM, "c": "1e-2"},
        same=False, note="the constant inside the root: another formula",
    ),
)  # fmt: skip

IVON_HYPER = {
    "alpha": "lr", "beta1": "beta1", "beta2": "beta2", "delta": "weight_decay",
    "N": "ess", "h0": "hess_init", "c": "clip_radius",
}  # fmt: skip
# hess_init: ivon-opt rounds it to torch's default float32, so it is one that float32 holds.
IVON_COMMON = {
    "lr": 0.1, "ess": 40.0, "hess_init": 0.75, "beta1": 0.8, "beta2": 0.95, "weight_decay": 0.02,
}  # fmt: skip
IVON_SWITCHES: dict[str, tuple[object, object]] = {
    "hess_approx": ("price", "gradsq"),
    "debias": (True, False),
    "rescale_lr": (True, False),
    "clip_radius": (math.inf, 0.05),
    "mc_samples": (1, 2),
}
IVON_MARKS = ("gradsq", "raw", "unscaled", "clip", "mc2")


def _ivon_cases() -> tuple[Case, ...]:
    """All 2⁵ settings; the name lists the switches that are off their first value."""
    cases = []
    for bits in itertools.product((0, 1), repeat=len(IVON_SWITCHES)):
        settings = {k: v[b] for (k, v), b in zip(IVON_SWITCHES.items(), bits, strict=True)}
        marks = [mark for mark, b in zip(IVON_MARKS, bits, strict=True) if b]
        case = Case(
            "-".join(["ivon", *marks]), "ivon.IVON",
            "ivon-gradsq" if settings["hess_approx"] == "gradsq" else "ivon",
            {**IVON_COMMON, **settings}, IVON_HYPER, every=5, extra=("h",),
            note="one randn(numel) a group and draw; h is never debiased",
        )  # fmt: skip
        cases.append(case)
    return tuple(cases)


IVON = _ivon_cases()

SKLEARN = tuple(
    Case(
        f"sklearn-ridge-{alpha}", "sklearn.linear_model.Ridge", "ridge",
        {"alpha": alpha, "solver": solver}, {"delta": "alpha"}, problem="ridge", keep=1,
        note="fit_intercept False; alpha is our δ, both without a factor N",
    )
    for alpha, solver in ((0.05, "cholesky"), (1.0, "cholesky"), (20.0, "svd"))
)  # fmt: skip

SCIPY = (
    Case(
        "scipy-newton-dogleg", "scipy.optimize.minimize", "newton",
        {"method": "dogleg", "initial_trust_radius": 1e3, "max_trust_radius": 1e4}, {},
        problem="near", keep=5,
        note="in a trust region that never binds, the dogleg step is −H⁻¹g; 5 steps converge",
    ),
    Case(
        "scipy-newton-1d", "scipy.optimize.newton", "newton", {}, {}, problem="separate",
        note="20 problems in one dimension, on ℓ′ with fprime ℓ″; ours with a diagonal H",
    ),
    Case(
        "scipy-laplace", "scipy.optimize.root", "laplace",
        {"method": "hybr", "tol": 1e-15}, {}, problem="near", extra=("S",), end=True,
        note="∇ℓ = 0 by MINPACK; ours after 50 steps, with S = ∇²ℓ there",
    ),
)  # fmt: skip

CASES = TORCH + OPTAX + IVON + SKLEARN + SCIPY
