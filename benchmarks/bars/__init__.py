"""The bar: for each recipe the kernel that a person writes by hand, as well as it can be.

| module | what it does |
|---|---|
| `adam` | Adam; √(1 − β₂ᵗ) is taken to the numerator: one square root and one division an element |
| `bayesbinn` | BayesBiNN: λ ← (1 − ρ) λ − ρ (s g − λ₀), s = (1 − θ²)/(τ(1 − tanh² λ)) = |
| `bayesbinn_stale` | BayesBiNN as published: tanh of the λ of the step before |
| `bernoulli_exact` | The exact rule for a sign: λ ← (1 − ρ) λ − ½ρ (ℓ₊ − ℓ₋) |
| `common` | What kernels by hand share: how they are compiled, and from which size on threads pay |
| `dense` | What kernels by hand with a full covariance share: LAPACK called without a detour |
| `dropout` | Dropout at θ = z∘m: m ← m − (α/π) z g |
| `elementary` | e^x − 1 written so that a loop over it is vectorised |
| `gradient_descent` | Gradient descent: θ ← θ − ρ g |
| `iblr` | iBLR, full covariance: S ← S + ρ G + ½ρ² G S⁻¹ G, m ← m − ρ S⁻¹ g with the old S |
| `inverted_dropout` | Inverted dropout at θ = z∘w/π: w ← w − (α/π) z g |
| `ivon` | IVON at θ = m + ε/√(N(h + δ)), curvature by parts: ĥ = √(N(h + δ)) ε g |
| `ivon_gradsq` | IVON at θ = m + ε/√(N(h + δ)), curvature from the squared gradient: ĥ = N g² |
| `laplace` | Laplace, one iteration, full covariance |
| `momentum` | Heavy ball: u ← γ u + g, θ ← θ − ρ u |
| `natural_gradient` | Natural gradient in mean and variance: m ← m − ρ v g, v ← |
| `newton` | Newton, full covariance |
| `ogn` | OGN: s ← (1 − ρ) s + ρ (h + δ), m ← m − ρ g/s with the new s |
| `ogn_batch` | OGN in means: s ← (1 − ρ) s + ρ h, m ← m − ρ (g + δ m)/(s + δ) with the new s |
| `online_newton` | Online Newton, full covariance |
| `ridge` | Ridge regression: S = XᵀX + δI, m = S⁻¹ Xᵀ y |
| `rmsprop` | RMSprop: s ← (1 − β) s + β g², m ← m − α g/(√s + c) |
| `sgd` | SGD: θ ← θ − ρ g |
| `ste` | STE: the gradient at sign λ moves λ |
| `vadam` | Vadam: Adam at θ = m + ε/√(N(s + δ)), with δ m in the gradient average and δ for c |
| `vogn` | VOGN: OGN at θ = m + ε/√s |
| `vogn_batch` | VOGN in means: OGN in means at θ = m + ε/√(N(s + δ)) |
| `von` | VON, full covariance |
| `von_diag` | VON, diagonal: s ← (1 − ρ) s + ρ h, m ← m − ρ g/s with the new s |
| `vprop` | Vprop: RMSprop at θ = m + ε/√(N(s + δ)), with δ m added to the gradient |

Not made by the engine and not used by it: what is emitted is measured against these, and
a test holds both to the same numbers.  A module has the recipe's name and a function
`step`; its arguments are the rule's own names (states and inputs as flat arrays, updated in
place; hyperparameters and the step count `t` as floats) and `threads`.  A rule that
evaluates the loss elsewhere has `draw` beside it, which writes `theta`.

The form is the same everywhere: one serial loop over a stretch, what depends on the step
alone computed before it, everything typed as the arrays are; and the same loop over one
stretch for each thread, once there is enough to do.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from benchmarks import arrays
from benchmarks.prepare import Timed
from benchmarks.timing import Stepper

Array = Any


def module(recipe: str) -> Any:
    """The module of a recipe, or None."""
    name = recipe.replace("-", "_")
    if not name.isidentifier() or name in ("common", "dense", "elementary"):
        return None
    found = f"{__name__}.{name}"
    return import_module(found) if find_spec(found) is not None else None


def stepper(
    timed: Timed,
    optimizer: Any,
    inputs: list[Array],
    noise: Mapping[str, Array],
    threads: int,
    held: Mapping[str, Array] | None = None,
) -> Stepper | None:
    """Draw and step by hand, from the state the emitted optimizer has now.

    `held` are arrays to work on instead of copies: where arrays lie in memory decides up to a
    tenth of the time, so that two kernels are compared on the very same ones.
    """
    found = module(timed.name)
    if found is None:
        return None
    values = started(timed, optimizer)
    values |= {name: x for (name, _), x in zip(timed.inputs, inputs, strict=True)} | dict(noise)
    values["threads"] = threads
    if timed.probe:
        values[timed.probe] = arrays.copied(values[timed.states[0]])
    values |= held or {}
    step, counted = bound(found.step, values)
    draw, _ = bound(found.draw, values) if timed.probe else ((lambda: None), None)

    def once() -> None:
        draw()
        counted[0] += 1
        step()

    return Stepper(once, values=values)


def started(timed: Timed, optimizer: Any) -> dict[str, Any]:
    """States (copies) and hyperparameters of an emitted optimizer, by name."""
    saved = optimizer.state_dict()
    values: dict[str, Any] = {}
    for name in timed.states:
        kept = saved[name]
        values[name] = [arrays.copied(x) for x in kept] if isinstance(kept, list) else kept.copy()
        if isinstance(kept, list) and len(kept) == 1:
            values[name] = values[name][0]
    return values | {name: getattr(optimizer, name) for name in timed.hypers}


def bound(
    function: Callable[..., Any], values: dict[str, Any]
) -> tuple[Callable[[], None], list[int]]:
    """The function with its arguments given by name; steps are counted in the list."""
    names = list(inspect.signature(function).parameters)
    arguments = [values.get(name, 0) for name in names]
    counted = [0]
    at = names.index("t") if "t" in names else None

    def call() -> None:
        if at is not None:
            arguments[at] = counted[0]
        function(*arguments)

    return call, counted
