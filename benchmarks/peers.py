"""Public optimizers as steppers on given gradients, each as a good user of it writes it.

`PEERS` says who does the same as which recipe: nothing else here knows a recipe's name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from benchmarks import arrays
from benchmarks.timing import Stepper

Array = Any
Make = Callable[[Sequence[Array]], Stepper]


@dataclass(frozen=True)
class Peer:
    """A title, the module it needs, how to make it, and the dtypes it computes in."""

    title: str
    module: str
    make: Make
    dtypes: tuple[str, ...] = ("float32", "float64")
    largest: int = 10**12  # elements beyond which it takes too long to be measured


def _tensors(g: Sequence[Array]) -> list[Any]:
    import torch

    made = []
    for one in g:
        parameter = torch.nn.Parameter(torch.from_numpy(arrays.full(one.size, one.dtype.name, 0.0)))
        parameter.grad = torch.from_numpy(arrays.copied(one))
        made.append(parameter)
    return made


def torch_optimizer(name: str, **settings: Any) -> Make:
    """`torch.optim.NAME(...).step()`."""

    def make(g: Sequence[Array]) -> Stepper:
        import torch

        return Stepper(getattr(torch.optim, name)(_tensors(g), **settings).step)

    return make


def optax_rule(name: str, **settings: Any) -> Make:
    """An optax rule, compiled; the arrays it updates are donated, as its users do."""

    def make(g: Sequence[Array]) -> Stepper:
        import jax
        import optax

        jax.config.update("jax_enable_x64", True)
        rule = getattr(optax, name)(**settings)

        def step(m: Any, state: Any, g: Any) -> Any:
            change, state = rule.update(g, state, m)
            return optax.apply_updates(m, change), state

        compiled = jax.jit(step, donate_argnums=(0, 1))
        gradient = [jax.numpy.asarray(one) for one in g]
        m = [jax.numpy.zeros_like(one) for one in gradient]
        held = [m, rule.init(m)]

        def once() -> None:
            held[:] = jax.block_until_ready(compiled(*held, gradient))

        return Stepper(once)

    return make


def ivon_opt(**settings: Any) -> Make:
    """`ivon.IVON`: a sample, the gradient there, the step."""

    def make(g: Sequence[Array]) -> Stepper:
        import ivon

        parameters = _tensors(g)
        gradients = [p.grad for p in parameters]
        optimizer = ivon.IVON(parameters, **settings)

        def once() -> None:
            with optimizer.sampled_params(train=True):
                for p, gradient in zip(parameters, gradients, strict=True):
                    p.grad = gradient
            optimizer.step()

        return Stepper(once)

    return make


def torch_bayesbinn(stale: bool, rho: float = 0.1, tau: float = 1.0, lam0: float = 0.0) -> Make:
    """The arithmetic of the published BayesBiNN.py on given gradients: one sample, β = 0.

    θ = tanh((λ + ½ log(u/(1 − u)))/τ);  s = (1 − θ² + ε)/(τ(1 − μ² + ε));
    G ← βG + (1 − β)(N s∘g + r(λ − λ₀));  λ ← λ − ρG/(1 − βᵗ).  μ is tanh λ, and `stale` that of
    the λ of the step before, as there.  Its copies between vectors and parameters are left out.
    """

    def make(g: Sequence[Array]) -> Stepper:
        import torch

        gradients, lams = _started(g)
        moments, means = [[torch.zeros_like(lam) for lam in lams] for _ in range(2)]
        prior, N, reweight, beta, steps = lam0, 1.0, 1.0, 0.0, [0]

        @torch.no_grad()  # type: ignore[untyped-decorator,unused-ignore]
        def once() -> None:
            steps[0] += 1
            for k, g in enumerate(gradients):
                lam = lams[k]
                noise = torch.rand_like(lam)
                theta = torch.tanh((torch.log(noise / (1 - noise)) / 2 + lam) / tau)
                mu = means[k] if stale else torch.tanh(lam)
                scale = (1 - theta * theta + 1e-10) / tau / (1 - mu * mu + 1e-10)
                change = torch.zeros_like(lam).add_(scale * g).mul(N) + reweight * (lam - prior)
                moments[k] = beta * moments[k] + (1 - beta) * change
                lams[k] = lam - rho * moments[k] / (1 - beta ** steps[0])
                if stale:
                    means[k] = torch.tanh(lam)

        return Stepper(once)

    return make


def torch_bayesbinn_in_place(stale: bool, rho: float = 0.1, tau: float = 1.0) -> Make:
    """The same step as quick as torch can be made: in place, one temporary for each factor."""

    def make(g: Sequence[Array]) -> Stepper:
        import torch

        gradients, lams = _started(g)
        before = [one.clone() for one in lams]
        thetas = [torch.empty_like(one) for one in lams]

        @torch.no_grad()  # type: ignore[untyped-decorator,unused-ignore]
        def once() -> None:
            for lam, old, theta, g in zip(lams, before, thetas, gradients, strict=True):
                theta.uniform_().logit_(eps=1e-7).mul_(0.5).add_(lam).div_(tau).tanh_()
                mu = torch.tanh(old if stale else lam)
                scale = torch.addcmul(torch.ones(()), theta, theta, value=-1)
                scale.div_(torch.addcmul(torch.ones(()), mu, mu, value=-1))
                if stale:
                    old.copy_(lam)
                lam.mul_(1 - rho).addcmul_(scale, g, value=-rho / tau)

        return Stepper(once)

    return make


def _started(g: Sequence[Array]) -> tuple[list[Any], list[Any]]:
    """Gradients as tensors, and natural parameters that are zero."""
    import torch

    gradients = [torch.from_numpy(arrays.copied(one)) for one in g]
    return gradients, [torch.zeros_like(one) for one in gradients]


_ADAM, _OPTAX = {"lr": 1e-3}, {"learning_rate": 1e-3}
_RMS_OPTAX = {"learning_rate": 1e-3, "decay": 0.99}
_IVON = {"lr": 0.1, "ess": 1000.0}

PEERS: dict[str, tuple[Peer, ...]] = {
    "gradient-descent": (
        Peer("torch fused", "torch", torch_optimizer("SGD", lr=1e-3, fused=True)),
    ),
    "sgd": (
        Peer("torch fused", "torch", torch_optimizer("SGD", lr=1e-3, fused=True)),
        Peer("torch", "torch", torch_optimizer("SGD", lr=1e-3)),
        Peer("optax", "optax", optax_rule("sgd", **_OPTAX)),
    ),
    "momentum": (
        Peer("torch fused", "torch", torch_optimizer("SGD", lr=1e-3, momentum=0.9, fused=True)),
        Peer("torch", "torch", torch_optimizer("SGD", lr=1e-3, momentum=0.9)),
        Peer("optax", "optax", optax_rule("sgd", momentum=0.9, **_OPTAX)),
    ),
    "rmsprop": (
        Peer("torch", "torch", torch_optimizer("RMSprop", lr=1e-3)),
        Peer("optax", "optax", optax_rule("rmsprop", **_RMS_OPTAX)),
    ),
    "adam": (
        Peer("torch fused", "torch", torch_optimizer("Adam", fused=True, **_ADAM)),
        Peer("torch", "torch", torch_optimizer("Adam", **_ADAM)),
        Peer("optax", "optax", optax_rule("adam", **_OPTAX)),
    ),
    "ivon": (Peer("ivon-opt", "ivon", ivon_opt(**_IVON)),),
    "ivon-gradsq": (Peer("ivon-opt", "ivon", ivon_opt(hess_approx="gradsq", **_IVON)),),
    "bayesbinn": (
        Peer("torch as published", "torch", torch_bayesbinn(stale=False)),
        Peer("torch in place", "torch", torch_bayesbinn_in_place(stale=False)),
    ),
    "bayesbinn-stale": (
        Peer("torch as published", "torch", torch_bayesbinn(stale=True)),
        Peer("torch in place", "torch", torch_bayesbinn_in_place(stale=True)),
    ),
}
MODULES = ("torch", "optax", "ivon", "sklearn", "scipy", "matplotlib")


def missing() -> list[str]:
    """Modules that are not installed, of those that the benchmark can use."""
    return [module for module in MODULES if find_spec(module) is None]


def of(recipe: str, size: int, dtype: str) -> list[Peer]:
    """The installed peers of a recipe that can take such arrays."""
    return [
        p
        for p in PEERS.get(recipe, ())
        if find_spec(p.module) is not None and dtype in p.dtypes and size <= p.largest
    ]
