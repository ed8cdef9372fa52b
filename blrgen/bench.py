"""Emitted optimizers against public ones: the same gradients, in one run, interleaved.

`PEERS` is the table of who does the same as which recipe; nothing else here knows a
recipe's name.  A stepper is a function of no arguments that makes one step.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np

from blrgen.api import derive
from blrgen.core import Derivation
from blrgen.errors import UserError

Stepper = Callable[[], object]
HEADINGS = ("recipe", "elements", "emitted ns", "against", "their ns", "times faster")
_ROUND = 0.05  # seconds that one round lasts at least


def _torch(name: str, **settings: Any) -> Callable[[np.ndarray], Stepper]:
    def make(g: np.ndarray) -> Stepper:
        import torch

        parameter = torch.nn.Parameter(torch.zeros(g.size))
        parameter.grad = torch.from_numpy(g.copy())
        opt = getattr(torch.optim, name)([parameter], **settings)
        return opt.step  # type: ignore[no-any-return]

    return make


def _optax(name: str, **settings: Any) -> Callable[[np.ndarray], Stepper]:
    def make(g: np.ndarray) -> Stepper:
        import jax
        import optax

        rule = getattr(optax, name)(**settings)

        @jax.jit  # type: ignore[untyped-decorator]
        def step(m: Any, state: Any, g: Any) -> Any:
            change, state = rule.update(g, state, m)
            return optax.apply_updates(m, change), state

        m, gradient = jax.numpy.zeros(g.size), jax.numpy.asarray(g)
        held = [m, rule.init(m)]

        def once() -> None:
            held[:] = jax.block_until_ready(step(*held, gradient))

        return once

    return make


def _ivon(**settings: Any) -> Callable[[np.ndarray], Stepper]:
    def make(g: np.ndarray) -> Stepper:
        import ivon
        import torch

        parameter = torch.nn.Parameter(torch.zeros(g.size))
        gradient = torch.from_numpy(g.copy())
        opt = ivon.IVON([parameter], **settings)

        def once() -> None:
            with opt.sampled_params(train=True):
                parameter.grad = gradient
            opt.step()

        return once

    return make


# recipe → (peer as shown, the module it needs, how to make it)
PEERS: dict[str, tuple[tuple[str, str, Callable[[np.ndarray], Stepper]], ...]] = {
    "sgd": (
        ("torch SGD", "torch", _torch("SGD", lr=1e-3)),
        ("optax sgd", "optax", _optax("sgd", learning_rate=1e-3)),
    ),
    "momentum": (
        ("torch SGD", "torch", _torch("SGD", lr=1e-3, momentum=0.9)),
        ("optax sgd", "optax", _optax("sgd", learning_rate=1e-3, momentum=0.9)),
    ),
    "rmsprop": (
        ("torch RMSprop", "torch", _torch("RMSprop", lr=1e-3)),
        ("optax rmsprop", "optax", _optax("rmsprop", learning_rate=1e-3)),
    ),
    "adam": (
        ("torch Adam, fused", "torch", _torch("Adam", lr=1e-3, fused=True)),
        ("optax adam", "optax", _optax("adam", learning_rate=1e-3)),
    ),
    "ivon": (("ivon-opt", "ivon", _ivon(lr=0.1, ess=1000.0)),),
}


def missing() -> list[str]:
    """Modules of peers that are not installed."""
    needed = sorted({module for peers in PEERS.values() for _, module, _ in peers})
    return [module for module in needed if find_spec(module) is None]


def lines(what: Sequence[str], sizes: Sequence[int], rounds: int) -> Iterator[tuple[str, ...]]:
    """One row for each recipe, size and peer."""
    absent = set(missing())
    for name in what or PEERS:
        derivation = derive(name)
        _check(derivation, name)
        peers = [p for p in PEERS.get(name, ()) if p[1] not in absent]
        for size in sizes:
            g = np.random.default_rng(0).standard_normal(size, dtype=np.float32)
            steppers = {"": _emitted(derivation, "numba", g)}
            steppers["the same in NumPy"] = _emitted(derivation, "numpy", g)
            steppers |= {title: make(g) for title, _, make in peers}
            best = measured(steppers, rounds)
            ours = best.pop("")
            for title, theirs in best.items():
                nanoseconds = (f"{seconds / size * 1e9:.3f}" for seconds in (ours, theirs))
                mine, other = nanoseconds
                yield name, str(size), mine, title, other, f"{theirs / ours:.2f}"


def measured(steppers: dict[str, Stepper], rounds: int) -> dict[str, float]:
    """Seconds a step of each: the best of several interleaved rounds."""
    repeats = {}
    for title, step in steppers.items():
        step()  # compiles
        start = time.perf_counter()
        step()
        repeats[title] = max(1, int(_ROUND / max(1e-7, time.perf_counter() - start)))
    best = dict.fromkeys(steppers, float("inf"))
    for _ in range(rounds):
        for title, step in steppers.items():
            start = time.perf_counter()
            for _ in range(repeats[title]):
                step()
            best[title] = min(best[title], (time.perf_counter() - start) / repeats[title])
    return best


def _check(derivation: Derivation, name: str) -> None:
    arrays = derivation.rule.of("state", "input", "data")
    if any(q.rank not in ("elementwise", "scalar") for q in arrays):
        raise UserError(
            f"{name} cannot be timed here",
            why="its state has vectors or matrices: these benchmarks step element by element",
            how="choose an elementwise recipe, such as " + ", ".join(PEERS),
        )


def _emitted(derivation: Derivation, target: str, g: np.ndarray) -> Stepper:
    """One step of the emitted class, its draw included where the rule has one."""
    opt = derivation.compile(target, "float32")(np.zeros_like(g))
    inputs = [g.copy() if k == 0 else np.abs(g) for k, _ in enumerate(derivation.rule.of("input"))]
    if not hasattr(opt, "draw"):
        return lambda: opt.step(*inputs)
    rng = np.random.default_rng(0)

    def once() -> None:
        opt.draw(rng)
        opt.step(*inputs)

    return once
