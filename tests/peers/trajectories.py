"""The same trajectories from our side: hand-written references and emitted classes.

Both return what `public.run` returns, so that a comparison is one subtraction.
"""

from __future__ import annotations

import importlib.util
import inspect
import math
import sys
from collections.abc import Callable, Mapping
from functools import cache, partial
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from tests.peers import problems
from tests.peers.adapters import Case

ROOT = Path(__file__).parents[2]
TARGETS = ("numpy", "numba")
Record = dict[str, np.ndarray]


@cache
def load(path: Path) -> ModuleType:
    """The module in that file, by path: generated files are no package."""
    if not path.exists():
        raise FileNotFoundError(f"{path.relative_to(ROOT)} is not there")
    name = f"by_path_{path.parent.name}_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def difference(ours: Record, theirs: Mapping[str, np.ndarray]) -> float:
    """The largest |ours − theirs| over a step's (or state's) largest |theirs|."""
    worst = 0.0
    for name in sorted(ours.keys() & theirs.keys()):
        for a, b in zip(np.atleast_2d(ours[name]), np.atleast_2d(theirs[name]), strict=True):
            gap = float(np.max(np.abs(a - b)) / np.max(np.abs(b)))
            worst = max(worst, gap if math.isfinite(gap) else math.inf)
    return worst


def compared(case: Case, ours: Record, theirs: Mapping[str, np.ndarray]) -> float:
    """`difference`, after checking that all that the case names is there on both sides."""
    for name in ("m", *case.extra):
        assert name in ours and name in theirs, f"{case.name}: {name} is missing"
    return difference(ours, theirs)


@cache
def _archive(package: str) -> dict[str, np.ndarray]:
    with np.load(Path(__file__).parent / "recorded" / f"{package}.npz") as arrays:
        return dict(arrays)


def recorded(case: Case) -> Record:
    """What `record.py` kept of this case."""
    prefix = f"{case.name}/"
    archive = _archive(case.name.split("-")[0])
    return {k.removeprefix(prefix): v for k, v in archive.items() if k.startswith(prefix)}


def noise_of(case: Case) -> np.ndarray:
    """The draws of a recorded run: its masks, or IVON's noise."""
    return recorded(case)["z"] if case.masks else recorded_noise()


def recorded_noise() -> np.ndarray:
    """The draws of the recorded IVON runs: (steps, samples, parameters)."""
    return _archive("ivon")["noise"]


def start(case: Case) -> np.ndarray:
    """Where the case's trajectory begins."""
    if case.problem == "near":
        return problems.NEAR.copy()
    if case.problem == "ridge":
        return np.zeros(problems.PARAMETERS)
    return problems.START.copy()


def inputs(case: Case, theta: np.ndarray, t: int, names: tuple[str, ...]) -> dict[str, np.ndarray]:
    """What a step function asks for, by name, evaluated at theta."""
    values: dict[str, Callable[[], np.ndarray]] = {
        "g": lambda: problems.gradient(theta, case.minibatch(t)),
        "H": lambda: problems.hessian(theta),
        "X": lambda: problems.RIDGE_X,
        "y": lambda: problems.RIDGE_Y,
    }
    if case.problem == "separate":
        values["g"] = lambda: problems.separate_gradient(theta)
        values["H"] = lambda: np.diag(problems.separate_curvature(theta))
    return {name: values[name]() for name in names if name in values}


# ── hand-written references ────────────────────────────────────────────────────────────


def reference(case: Case, noise: np.ndarray | None = None) -> Record:
    """The trajectory of tests/reference/; those that draw go through functions of their own."""
    if case.peer == "ivon.IVON":
        assert noise is not None
        return _ivon(case, noise)
    hand = load(ROOT / "tests" / "reference" / f"{case.recipe.replace('-', '_')}.py")
    if case.masks:
        assert noise is not None
        return _masked(case, hand, noise)
    step = hand.step
    names = tuple(inspect.signature(step).parameters)
    d = problems.PARAMETERS
    state: dict[str, Any] = {
        name: start(case) if name == "m" else np.eye(d) if name == "S" else np.zeros(d)
        for name in names
        if name in ("m", "u", "s", "S")
    }
    kept = []
    for t in range(1, case.keep + 1):
        given = inputs(case, state["m"], t, names)
        counter = {"t": t} if "t" in names else {}
        out = step(**state, **given, **case.hyperparameters(), **counter)
        state = dict(zip(state, out if isinstance(out, tuple) else (out,), strict=True))
        if t in case.steps():
            kept.append(state["m"].copy())
    ends = {k: state[k] for k in case.extra}
    return {"m": np.array(kept), **ends}


def _masked(case: Case, hand: ModuleType, masks: np.ndarray) -> Record:
    """A reference with a mask a step: the loss is probed where it draws."""
    x, kept, hyper = start(case), [], case.hyperparameters()
    scaled = {k: v for k, v in hyper.items() if k in inspect.signature(hand.draw).parameters}
    for t, z in enumerate(masks, start=1):
        g = problems.gradient(hand.draw(x, z, **scaled), case.minibatch(t))
        x = hand.step(x, g, z, **hyper)
        if t in case.steps():
            kept.append(x.copy())
    return {"m": np.array(kept)}


def _ivon(case: Case, noise: np.ndarray) -> Record:
    """IVON's 32 settings through the two references, written for one draw and all switches on.

    No bias correction is t = ∞; an unscaled rate is α/(h₀ + δ); no clipping is c = ∞.  Two
    draws enter through the ε that gives their mean estimate at the mean gradient.
    """
    folder = ROOT / "tests" / "reference"
    price, gradsq = load(folder / "ivon.py"), load(folder / "ivon_gradsq.py")
    hyper, set_to = case.hyperparameters(), case.settings
    delta, N = hyper["delta"], hyper["N"]
    if not set_to["rescale_lr"]:
        hyper["alpha"] /= hyper["h0"] + delta
    m, u, h = start(case), np.zeros(problems.PARAMETERS), np.full(problems.PARAMETERS, hyper["h0"])
    kept = []
    for t in range(1, case.keep + 1):
        clock = t if set_to["debias"] else math.inf
        draws = [price.draw(m, h, eps, delta, N) for eps in noise[t - 1][: set_to["mc_samples"]]]
        gs = [problems.gradient(theta, t) for theta in draws]
        g = np.mean(gs, axis=0)
        if set_to["hess_approx"] == "gradsq" and len(gs) == 1:
            m, u, h = gradsq.step(m, u, h, g, clock, **hyper)
        else:
            if set_to["hess_approx"] == "gradsq":
                eps = N * np.mean(np.square(gs), axis=0) / (np.sqrt(N * (h + delta)) * g)
            else:
                eps = np.mean([e * gi for e, gi in zip(noise[t - 1], gs, strict=False)], axis=0) / g
            m, u, h = price.step(m, u, h, g, eps, clock, **hyper)
        if t in case.steps():
            kept.append(m.copy())
    return {"m": np.array(kept), "h": h}


# ── emitted classes ────────────────────────────────────────────────────────────────────


def classes(case: Case) -> dict[str, Callable[[], type]]:
    """How to come by the classes that the case is about: label → a function that gives one.

    Those committed under generated/, one a target; for a setting that the committed IVON
    does not have, the one that its approximations derive and compile to.
    """
    if case.peer == "ivon.IVON" and not (case.settings["debias"] and case.settings["rescale_lr"]):
        return {"compiled": lambda: derived_class(case)}
    return {target: partial(emitted_class, case.recipe, target) for target in TARGETS}


def emitted_class(recipe: str, target: str) -> type:
    """The one class with a `step` in generated/RECIPE_TARGET.py."""
    module = load(ROOT / "generated" / f"{recipe.replace('-', '_')}_{target}.py")
    found = [
        value
        for _, value in sorted(vars(module).items())
        if inspect.isclass(value) and value.__module__ == module.__name__ and hasattr(value, "step")
    ]
    assert len(found) == 1, f"{module.__name__}: one class with a step, not {found}"
    return found[0]


def ivon_approximations(settings: Mapping[str, object]) -> list[str]:
    """The road to one of ivon-opt's settings: the ivon recipe's, less what is switched off."""
    from blrgen.read.recipe import read_recipes

    off = {
        "bias-correction": not settings["debias"],
        "rescale": not settings["rescale_lr"],
        "clip": settings["clip_radius"] == math.inf,
    }
    road = read_recipes()["ivon"].approximations
    missing = sorted({*off, "hessian"} - {name for name, _ in road})
    assert not missing, f"the ivon recipe has no {missing}: {road}"
    flags = []
    for name, value in road:
        if off.get(name, False):
            continue
        if name == "hessian" and settings["hess_approx"] == "gradsq":
            value = "squared-gradient"
        flags.append(name if value is None else f"{name}={value}")
    return flags


def derived_class(case: Case) -> type:
    """The class for an IVON setting, through the public Python interface."""
    return _derived(tuple(ivon_approximations(case.settings)))


@cache
def _derived(approximations: tuple[str, ...]) -> type:
    import blrgen
    from blrgen.read.recipe import read_recipes

    compiled = blrgen.derive(read_recipes()["ivon"].family, list(approximations)).compile()
    assert inspect.isclass(compiled)
    return compiled


def emitted(case: Case, kind: type, noise: np.ndarray | None = None) -> Record:
    """The trajectory of an emitted class: parameters in place, hyperparameters as keywords."""
    params = start(case)
    opt: Any = kind(params, **_accepted(kind, case))
    names = tuple(inspect.signature(kind.step).parameters)[1:]  # type: ignore[attr-defined]
    kept = []
    for t in range(1, case.keep + 1):
        if hasattr(opt, "draw"):
            assert noise is not None
            _draws(case, opt, t, noise)
        else:
            opt.step(**inputs(case, params, t, names))
        if t in case.steps():
            kept.append(params.copy())
    ends = {k: np.array(_state(opt, k)).reshape(-1) for k in case.extra}
    return {"m": np.array(kept), **{k: _shaped(v) for k, v in ends.items()}}


def _draws(case: Case, opt: Any, t: int, noise: np.ndarray) -> None:
    if case.masks:
        theta = opt.draw(z=noise[t - 1].copy())
        opt.step(problems.gradient(np.array(theta), case.minibatch(t)))
        return
    samples = noise[t - 1][: case.settings.get("mc_samples", 1)]
    if len(samples) == 1:
        theta = opt.draw(eps=samples[0].copy())
        opt.step(problems.gradient(np.array(theta), case.minibatch(t)))
        return
    for eps in samples:
        theta = opt.draw(eps=eps.copy())
        opt.observe(problems.gradient(np.array(theta), case.minibatch(t)))
    opt.step()


def _accepted(kind: type, case: Case) -> dict[str, float]:
    """The case's hyperparameters; a clip at ∞ may be left out by a class that has no clip."""
    accepts = inspect.signature(kind).parameters
    hyper = case.hyperparameters()
    return {k: v for k, v in hyper.items() if k in accepts or not _idle(k, v, case)}


def _idle(name: str, value: float, case: Case) -> bool:
    """Whether the setting switches off the only thing this hyperparameter is for."""
    return name == "c" and value == math.inf and case.peer == "ivon.IVON"


def _shaped(flat: np.ndarray) -> np.ndarray:
    d = problems.PARAMETERS
    return flat.reshape(d, d) if flat.size == d * d and flat.size != d else flat


def _state(opt: Any, name: str) -> Any:
    """A state by name, through state_dict: the public way to it."""
    values = opt.state_dict()
    assert name in values, f"state_dict has {sorted(values)}, not {name}"
    return values[name]
