"""The models that ship and that no package has, each beside its mathematics by hand."""

from __future__ import annotations

import numpy as np

from tests.peers.models import by_hand
from tests.peers.models.cases import Case, definite

HAND, SCIPY = "by hand", "scipy.optimize"


def with_steps() -> list[Case]:
    """The same start, and every step."""
    rng = np.random.default_rng(21)
    side = rng.random(90) < 0.4
    bits = (rng.random((90, 5)) < np.where(side, 0.2, 0.7)[:, None]) * 1.0
    counts = rng.poisson(np.where(side, 2.0, 8.0)) * 1.0
    first = {"pi": np.array([0.3, 0.7]), "p": rng.uniform(0.2, 0.8, (2, 5)),
             "rate": np.array([1.0, 4.0])}  # fmt: skip
    lengths = [20, 1, 35, 4]
    line = rng.normal(np.where(rng.random(60) < 0.5, 0.0, 2.5), 0.7)
    q = {"pi": np.array([2.0, 1.5]), "P": np.array([[8.0, 2.0], [3.0, 5.0]]),
         "m": np.array([0.5, 2.0]), "kappa": np.array([3.0, 4.0]),
         "a": np.array([4.0, 5.0]), "b": np.array([2.0, 3.0])}  # fmt: skip
    normals = {k: q[k] for k in ("m", "kappa", "a", "b")}
    T, u = 25, rng.normal(size=(25, 1))
    y = np.cumsum(rng.normal(size=(T, 2)), 0) * 0.4 + rng.normal(size=(T, 2)) * 0.5 + u
    states = {
        "F": np.array([[0.8, 0.1], [0.0, 0.7]]), "B": np.array([[0.5], [0.2]]),
        "H": np.array([[1.0, 0.0], [0.3, 1.0]]), "Q": definite(rng, 1, 2)[0] * 0.5,
        "R": definite(rng, 1, 2)[0], "m1": np.zeros(2), "S1": np.eye(2),
    }  # fmt: skip
    return [
        Case("mixture of Bernoullis, EM", "bernoulli-mixture-em", "--em", HAND,
             {"x": bits, "K": np.array(2)}, {k: first[k] for k in ("pi", "p")}, 12,
             lambda: by_hand.bernoulli_mixture(bits, first, 12),
             {"points.pi": "pi", "points.p": "p"}, 1e-10),
        Case("mixture of Poissons, EM", "poisson-mixture-em", "--em", HAND,
             {"x": counts, "K": np.array(2)}, {k: first[k] for k in ("pi", "rate")}, 12,
             lambda: by_hand.poisson_mixture(counts, first, 12),
             {"points.pi": "pi", "points.rate": "rate"}, 1e-10),
        Case("hidden Markov with priors, sequences", "hmm-gaussian-many", "--vmp", HAND,
             {"x": line, "T": np.array(lengths) * 1.0, "K": np.array(2)},
             {"pi": {"alpha": q["pi"]}, "P": {"alpha": q["P"]}, "mu,tau": normals}, 10,
             lambda: by_hand.states_of_many(line, lengths, q, 10),
             {"posterior.pi.alpha": "pi", "posterior.P.alpha": "P", "posterior.mu,tau.m": "m",
              "posterior.mu,tau.kappa": "kappa", "posterior.mu,tau.a": "a",
              "posterior.mu,tau.b": "b"}, 1e-10),
        Case("state space with control, EM", "state-space-em", "--em", HAND,
             {"y": y, "u": u, "p": np.array(2)}, dict(states), 10,
             lambda: by_hand.controlled_states(y, u, states, 10),
             {f"points.{k}": k for k in states}),
    ]  # fmt: skip


def at_the_end() -> list[Case]:
    """The largest value of the bound, and where it is."""
    rng = np.random.default_rng(22)
    x = rng.gamma(2.5, 0.6, 30)
    y = rng.multinomial(12, [0.5, 0.3, 0.2], size=4) * 1.0
    X, g = rng.normal(size=(30, 2)), np.arange(30) % 3
    u = X @ [0.9, -1.1] + np.array([-1.0, 0.3, 0.8])[g]
    yes = (rng.random(30) < 1 / (1 + np.exp(-u))) * 1.0
    walk = rng.poisson(np.exp(1 + np.cumsum(rng.normal(size=12)) * 0.4)) * 1.0
    return [
        Case("optimum, shape and rate", "gamma-shape", "--ncvmp", SCIPY, {"x": x}, {}, 200,
             lambda: by_hand.shape_and_rate(x),
             {"posterior.rate.a": "a", "posterior.rate.b": "b"}, 1e-6),
        Case("optimum, logistic-normal", "logistic-normal", "--ncvmp", SCIPY,
             {"y": y, "n": np.full(4, 12.0)}, {}, 40, lambda: by_hand.shares_of_counts(y),
             {"posterior.eta.m": "m"}, 1e-6),
        Case("optimum, logistic in groups", "logistic-regression-groups", "--ncvmp", SCIPY,
             {"X": X, "y": yes, "g": g * 1.0, "K": np.array(3)}, {}, 400,
             lambda: by_hand.grouped(X, yes, g, 3),
             {"posterior.w.m": "w", "posterior.b.m": "b", "posterior.b.v": "v"}, 1e-5),
        Case("optimum, counts on a walk", "poisson-random-walk", "--ncvmp", SCIPY, {"y": walk}, {},
             400, lambda: by_hand.counts_on_a_walk(walk),
             {"posterior.h.m": "m", "posterior.h.v": "v", "posterior.tau.b": "b"}, 1e-7),
    ]  # fmt: skip


def hand_cases() -> list[Case]:
    """Every comparison."""
    return [*with_steps(), *at_the_end()]
