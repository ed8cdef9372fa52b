"""A logistic regression in groups to its optimum: emitted sweeps, and numpyro's SVI.

    python -m benchmarks.mixtures.by_numpyro [STEPS]

The same model, data and family of q.  What is not the same: numpyro's gradients are of one draw
of all unknowns a step, taken by Adam with a step size that falls tenfold every half of the run;
ours are exact but for nodes, and natural.  Both on one thread, the processor's time, without
what compiling takes; how far numpyro's q is from the optimum is by our objective.
"""

from __future__ import annotations

import os
import sys
import time
from typing import Any

import numpy as np

from benchmarks.models.emitted import model_class

Array = Any
RATE, EVERY = 0.01, 500


def problem(N: int = 100_000, p: int = 20, K: int = 100) -> dict[str, Any]:
    """As in `groups`."""
    rng = np.random.default_rng(0)
    X, g = rng.standard_normal((N, p)), rng.integers(0, K, N)
    level = X @ rng.standard_normal(p) / 4 + rng.standard_normal(K)[g]
    return {"y": (rng.random(N) < 1 / (1 + np.exp(-level))).astype(float), "X": X, "g": g, "K": K}


def ours(data: dict[str, Any]) -> tuple[Any, list[tuple[float, float]]]:
    """The class at rest, and (seconds, objective) after every step."""
    kind = model_class("logistic-regression-groups", "ncvmp")
    kind(**data).step()  # compiled
    opt, spent, found = kind(**data), 0.0, []
    for _ in range(20):
        start = time.process_time()
        opt.step()
        spent += time.process_time() - start
        found.append((spent, float(opt.objective())))
    return opt, found


def theirs(data: dict[str, Any], steps: int) -> list[tuple[float, dict[str, Array]]]:
    """(seconds, parameters of q by our names) after every so many steps."""
    one = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    os.environ["XLA_FLAGS"] = one  # of threads; before JAX begins
    import jax
    import jax.numpy as jnp
    import numpyro
    import numpyro.distributions as of
    from numpyro.distributions import constraints
    from numpyro.infer import SVI, TraceMeanField_ELBO

    y, X = (jnp.asarray(data[x], jnp.float32) for x in ("y", "X"))
    g, K, p = jnp.asarray(data["g"]), data["K"], data["X"].shape[1]
    above = {"constraint": constraints.positive}

    def model() -> None:
        tau = numpyro.sample("tau", of.Gamma(1.0, 1.0))
        w = numpyro.sample("w", of.MultivariateNormal(jnp.zeros(p), jnp.eye(p)))
        b = numpyro.sample("b", of.Normal(0.0, tau**-0.5).expand([K]).to_event(1))
        numpyro.sample("y", of.Bernoulli(logits=X @ w + b[g]).to_event(1), obs=y)

    def guide() -> None:
        a, r = (numpyro.param(x, 1.0, **above) for x in ("a", "r"))
        numpyro.sample("tau", of.Gamma(a, r))
        root = numpyro.param("root", jnp.eye(p) / 10, constraint=constraints.lower_cholesky)
        m = numpyro.param("m", jnp.zeros(p))
        numpyro.sample("w", of.MultivariateNormal(m, scale_tril=root))
        spread = numpyro.param("spread", jnp.ones(K) / 10, **above)
        numpyro.sample("b", of.Normal(numpyro.param("level", jnp.zeros(K)), spread).to_event(1))

    adam = numpyro.optim.Adam(lambda t: RATE * 0.1 ** (2 * t / steps))
    svi = SVI(model, guide, adam, TraceMeanField_ELBO())
    state, update = svi.init(jax.random.PRNGKey(0)), jax.jit(svi.update)
    jax.block_until_ready(update(state))  # compiled
    spent, found = 0.0, []
    for _ in range(steps // EVERY):
        start = time.process_time()
        for _ in range(EVERY):
            state, _ = update(state)
        jax.block_until_ready(state)
        spent += time.process_time() - start
        q = {k: np.asarray(x, dtype=float) for k, x in svi.get_params(state).items()}
        S = np.linalg.inv(q["root"] @ q["root"].T)
        found.append((spent, {"b_m": q["level"], "b_v": q["spread"] ** 2, "w_m": q["m"],
                              "w_S": (S + S.T) / 2, "tau_a": q["a"], "tau_b": q["r"]}))  # fmt: skip
    return found


def main(steps: int = 12_000) -> None:
    """Seconds, and how far from the optimum."""
    data = problem()
    rest, steps_of_ours = ours(data)
    least = float(rest.objective())
    print("ours      s, below the optimum:", *(f"{t:.2f} {least - x:.1e};"
          for t, x in steps_of_ours[:8]))  # fmt: skip
    shown = []
    for spent, q in theirs(data, steps):
        rest.state = q
        shown.append(f"{spent:.2f} {least - float(rest.objective()):.1e};")
    print("numpyro   s, below the optimum:", *shown)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
