"""Programs whose loops are easily wrong, and ways to run what is printed."""

import math
from collections.abc import Callable
from itertools import permutations
from typing import Any

import numpy as np
import scipy.special as ss

from blrgen.emit.tree import numba
from blrgen.emit.tree.functions import functions
from blrgen.program.axes import nodes as a
from blrgen.program.axes.schedule import Schedule
from blrgen.program.axes.text import program
from blrgen.runtime import loops, stacks

R = np.random.default_rng(5)


def chain() -> tuple[a.Program, dict[str, Any]]:
    """Forward and backward over a hidden chain, with both kinds of sums over it."""
    made = program(
        "t:T, u:T down, j,k:K", "P[T,K], A[K,K], p[K]",
        """
        for t:
            w[t,k] = first(p[k] * P[t,k]), P[t,k] * sum(j, al[t-1,j] * A[j,k])
            s[t] = sum(k, w[t,k])
            al[t,k] = w[t,k] / s[t]
        L = sumlog(t, s[t])
        for u:
            v[u,k] = first(0), P[u+1,k] * be[u+1,k] / s[u+1]
            be[u,j] = first(1), sum(k, A[j,k] * v[u,k])
            ga[u,k] = al[u,k] * be[u,k]
            xi[u,j,k] = first(0), al[u,j] * A[j,k] * v[u,k]
            both[j,k] = sum(u, xi[u,j,k])
        one[k] = sum(u, ga[u,k])
        """,
        "al, L, ga, both, one",
    )  # fmt: skip
    a_ = R.dirichlet(np.ones(3), 3)
    return made, {"P": R.random((7, 3)), "A": a_, "p": np.full(3, 1 / 3)}


def effects() -> tuple[a.Program, dict[str, Any]]:
    """An effect for each label, gathered and summed by label."""
    made = program(
        "n:N, g:G", "y[N], z[N] in G, b[G], s",
        """
        e[n] = y[n] - b[z[n]]
        db[g] = sum(n, [z[n] == g] * e[n]) - s * b[g]
        best = max(n, e[n])
        """,
        "db, best",
    )  # fmt: skip
    y, b = R.normal(size=9), R.normal(size=3)
    return made, {"y": y, "z": R.integers(0, 3, 9), "b": b, "s": 0.3}


def coupled() -> tuple[a.Program, dict[str, Any]]:
    """A step that needs a sum over all of it, in place."""
    made = program(
        "i:d", "m[d], v[d], g[d], lr",
        """
        norm = sum(i, g[i]**2)
        v_next[i] = 0.9 * v[i] + 0.1 * g[i]**2
        m_next[i] = m[i] - lr * g[i] / sqrt(v_next[i] + norm)
        """,
        writes="m = m_next, v = v_next",
    )  # fmt: skip
    g = R.normal(size=5)
    return made, {"m": R.normal(size=5), "v": R.random(5), "g": g, "lr": 0.1}


def newton() -> tuple[a.Program, dict[str, Any]]:
    """The root of each number, as near as is asked."""
    made = program(
        "n:N, t:20", "c[N], eps",
        """
        for n:
            for t:
                x[n,t] = init(c[n]), (x[n,t-1] + c[n] / x[n,t-1]) / 2
                near[n,t] = abs(x[n,t]**2 - c[n]) < eps
        r[n] = x[n,last(t)]
        """,
        "r",
    )  # fmt: skip
    return made, {"c": R.random(4) + 1, "eps": 1e-3}


SMALL = {f.__name__: f() for f in (chain, effects, coupled, newton)}


def names_of_numpy() -> dict[str, Any]:
    """What files import and hold, for running them as plain Python."""
    known = {x: f for x, f in vars(loops).items() if x.startswith("_") and callable(f)}
    special = {
        "_digamma": ss.digamma,
        "_digamma_many": ss.digamma,
        "_trigamma": lambda x: ss.polygamma(1, x),
        "_sigmoid": ss.expit,
        "_loggamma": ss.gammaln,
        "_solved_or_nan": stacks._solved_or_nan,
    }
    for x in ("exp", "log", "log1p", "expm1", "tanh", "sinh", "cosh"):
        special[f"_{x}"] = getattr(np, x)
    aside = {"SUMS": None, "ASIDE": None, "Array": None, "prange": range}
    return {**known, **special, **aside, "njit": lambda **_: lambda f: f, "np": np, "math": math}


def arguments(plan: Schedule, f: Any, values: dict[str, Any], sizes: dict[str, int]) -> dict:
    """Copies of what is given, and outs full of 9."""
    p = plan.program
    of = {x.name: x.size for x in p.letters}
    for q in p.given:
        at = [s for i, s in enumerate(q.sizes) if not _under(p, q.sizes, i)]
        for s, n in zip(at, np.shape(values[q.name]), strict=True):
            sizes.setdefault(s, n)
    made = {s.name: s for s in p.lets}
    found = (x.dtype for x in values.values() if getattr(x, "dtype", np.dtype(int)).kind == "f")
    real = next(found, np.dtype(float))
    out = {k: np.array(v) if np.ndim(v) else v for k, v in values.items()}
    for x in p.outs:
        shape = [of[y] if isinstance(of[y], int) else sizes[of[y]]
                 for y in p.flat(made[x].letters)]  # fmt: skip
        out[x] = np.full(shape, 9.0, real)
    for put in p.assembled:
        stored = [x for i, x in enumerate(put.sizes) if not _under(p, put.sizes, i)]
        shape = [x if isinstance(x, int) else sizes[x] for x in stored]
        out.setdefault(put.name, np.full(shape, 9.0, real))
    return {x: out.get(x, sizes.get(x)) for x in (*f.arrays, *f.wholes, *f.reals)}


def _under(p: a.Program, sizes: tuple, i: int) -> bool:
    return i + 1 < len(sizes) and any(x.under and x.size == sizes[i + 1] for x in p.letters)


def plain(
    plan: Schedule,
    values: dict[str, Any],
    change: Callable[[str], str] = str,
    **sizes: int,
) -> dict[str, Any]:
    """The printed functions, perhaps changed, run as Python."""
    made = functions(plan, "run")
    space = names_of_numpy()
    exec(change("\n".join(map(numba.function, made))), space)
    given = arguments(plan, made[-1], values, sizes)
    with np.errstate(all="ignore"):
        space["run"](*given.values())
    p = plan.program
    put = (x.name for x in p.assembled)
    return {x: given[x] for x in (*p.outs, *(y for y, _ in p.writes), *put)}


def orders(p: a.Program, most: int = 60) -> list[tuple[str, ...]]:
    """Orders of the letters that are over no recurrence, as many as are worth trying."""

    def recurrences(body: tuple) -> list[str]:
        return [x for s in body if isinstance(s, a.Seq) for x in (s.letter, *recurrences(s.body))]

    fixed = tuple(recurrences(p.body))
    rest = [x.name for x in p.letters if x.name not in fixed]
    found = [(*fixed, *x) for x in permutations(rest) if _ragged_last(p, x)]
    return found[:: max(1, len(found) // most)]


def near(found: dict[str, Any], wanted: dict[str, Any]) -> None:
    """Every result, to 1e-12 of its largest entry."""
    assert set(found) == set(wanted)
    for name, value in wanted.items():
        scale = np.max(np.abs(value), initial=1e-300)
        np.testing.assert_allclose(found[name], value, rtol=1e-12, atol=1e-12 * scale, err_msg=name)


def _ragged_last(p: a.Program, order: tuple[str, ...]) -> bool:
    return all(
        not x.under or x.under not in order or order.index(x.under) < order.index(x.name)
        for x in p.letters if x.name in order
    )  # fmt: skip
