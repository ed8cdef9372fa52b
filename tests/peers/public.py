"""The public implementations, run on our problems: {step: mean} and what else a case names.

Each package is imported where it is used, so that this file loads without any of them.
"""

from __future__ import annotations

import contextlib
import warnings
from typing import Any

import numpy as np

from tests.peers import problems
from tests.peers.adapters import DROPOUT_SEED, IVON_SEED, Case

Record = dict[str, np.ndarray]  # "m": one row a compared step; "h", "S": at the last of them


def run(case: Case) -> Record:
    """The peer's trajectory for this case."""
    record = RUNNERS[case.peer](case)
    assert len(record["m"]) == len(case.steps()), case.name
    return record


def _torch(case: Case) -> Record:
    import torch

    kind = {"torch.optim.SGD": torch.optim.SGD, "torch.optim.RMSprop": torch.optim.RMSprop,
            "torch.optim.Adam": torch.optim.Adam}[case.peer]  # fmt: skip
    settings: dict[str, Any] = dict(case.settings)
    if "b1" in settings:
        settings["betas"] = (settings.pop("b1"), settings.pop("b2"))
    theta = torch.nn.Parameter(torch.tensor(problems.START))
    optimizer = kind([theta], **settings)
    kept = []
    for t in range(1, case.keep + 1):
        g = problems.gradient(theta.detach().numpy(), case.minibatch(t))
        theta.grad = torch.tensor(g)
        optimizer.step()
        if t in case.steps():
            kept.append(theta.detach().numpy().copy())
    return {"m": np.array(kept)}


def _dropout(case: Case) -> Record:
    """torch's inverted dropout of the weights, its masks, its chain rule and its SGD."""
    import torch

    alpha, pi = (float(case.settings[k]) for k in ("alpha", "pi"))  # type: ignore[arg-type]
    share = pi if case.recipe == "dropout" else 1.0  # its weights are πm
    w = torch.nn.Parameter(share * torch.tensor(problems.START))
    optimizer = torch.optim.SGD([w], lr=share * alpha)
    kept, masks = [], []
    for t in range(1, case.keep + 1):
        torch.manual_seed(DROPOUT_SEED + t)
        theta = torch.nn.functional.dropout(w, 1 - pi)
        masks.append((theta != 0).numpy().astype(float))
        optimizer.zero_grad()
        theta.backward(torch.tensor(problems.gradient(theta.detach().numpy(), case.minibatch(t))))
        optimizer.step()
        if t in case.steps():
            kept.append(w.detach().numpy() / share)
    return {"m": np.array(kept), "z": np.array(masks)}


def _optax(case: Case) -> Record:
    import jax

    jax.config.update("jax_enable_x64", True)
    import jax.numpy as jnp
    import optax

    settings: dict[str, Any] = dict(case.settings)
    kind = {"optax.sgd": optax.sgd, "optax.rmsprop": optax.rmsprop, "optax.adam": optax.adam}
    optimizer = kind[case.peer](settings.pop("lr"), **settings)
    theta = jnp.asarray(problems.START)
    state = optimizer.init(theta)
    kept = []
    for t in range(1, case.keep + 1):
        g = problems.gradient(np.asarray(theta), case.minibatch(t))
        updates, state = optimizer.update(jnp.asarray(g), state, theta)
        theta = optax.apply_updates(theta, updates)
        if t in case.steps():
            kept.append(np.array(theta))
    assert kept[-1].dtype == np.float64
    return {"m": np.array(kept)}


def ivon_noise(samples: int) -> np.ndarray:
    """The draws IVON makes, (steps, samples, parameters), in the parameters' own precision."""
    import torch

    out = np.empty((problems.STEPS, samples, problems.PARAMETERS))
    for t in range(1, problems.STEPS + 1):
        torch.manual_seed(IVON_SEED + t)
        for k in range(samples):
            out[t - 1, k] = torch.randn(problems.PARAMETERS, dtype=torch.float64).numpy()
    return out


def _ivon(case: Case) -> Record:
    import ivon
    import torch

    theta = torch.nn.Parameter(torch.tensor(problems.START))
    settings: dict[str, Any] = dict(case.settings)
    optimizer = ivon.IVON([theta], **settings)
    kept = []
    for t in range(1, case.keep + 1):
        torch.manual_seed(IVON_SEED + t)
        for _ in range(settings["mc_samples"]):
            with optimizer.sampled_params(train=True):
                theta.grad = torch.tensor(problems.gradient(theta.detach().numpy(), t))
        optimizer.step()
        if t in case.steps():
            kept.append(theta.detach().numpy().copy())
    return {"m": np.array(kept), "h": optimizer.param_groups[0]["hess"].numpy().copy()}


def _ridge(case: Case) -> Record:
    from sklearn.linear_model import Ridge

    model = Ridge(fit_intercept=False, tol=1e-15, **dict(case.settings))
    model.fit(problems.RIDGE_X, problems.RIDGE_Y)
    return {"m": model.coef_[None, :].copy()}


def _minimize(case: Case) -> Record:
    from scipy.optimize import minimize

    settings: dict[str, Any] = dict(case.settings)
    trace: list[np.ndarray] = []
    minimize(
        problems.loss, problems.NEAR, jac=problems.gradient, hess=problems.hessian,
        method=settings.pop("method"), callback=lambda x: trace.append(np.array(x)),
        options={**settings, "gtol": 0.0, "maxiter": case.keep},
    )  # fmt: skip
    return {"m": np.array(trace)[[t - 1 for t in case.steps()]]}


def _root(case: Case) -> Record:
    from scipy.optimize import root

    settings: dict[str, Any] = dict(case.settings)
    found = root(problems.gradient, problems.NEAR, jac=problems.hessian, **settings)
    return {"m": found.x[None, :].copy(), "S": problems.hessian(found.x)}


def _newton(case: Case) -> Record:
    """Its iterates are where it asks for the derivative; it is stopped before it is content."""
    from scipy.optimize import newton

    asked: list[np.ndarray] = []

    def curvature(x: np.ndarray) -> np.ndarray:
        asked.append(np.array(x))
        return problems.separate_curvature(x)

    with contextlib.suppress(RuntimeError), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        newton(problems.separate_gradient, problems.START, curvature, tol=1e-300, maxiter=51)
    return {"m": np.array(asked)[case.steps()]}


RUNNERS = {
    "torch.optim.SGD": _torch,
    "torch.optim.RMSprop": _torch,
    "torch.optim.Adam": _torch,
    "torch.nn.functional.dropout": _dropout,
    "optax.sgd": _optax,
    "optax.rmsprop": _optax,
    "optax.adam": _optax,
    "ivon.IVON": _ivon,
    "sklearn.linear_model.Ridge": _ridge,
    "scipy.optimize.minimize": _minimize,
    "scipy.optimize.newton": _newton,
    "scipy.optimize.root": _root,
}
