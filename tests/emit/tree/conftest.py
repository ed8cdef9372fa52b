"""Programs in which every rule of the schedule is at work, and ways to run them."""

import math
from itertools import permutations
from typing import Any

import numpy as np
import pytest
import scipy.special as ss

from blrgen.emit.tree import numba, support
from blrgen.emit.tree.functions import functions
from blrgen.program.axes import nodes as a
from blrgen.program.axes.interpret import interpret
from blrgen.program.axes.prepared import scheduled
from blrgen.program.axes.schedule import Schedule
from blrgen.program.axes.text import program

R = np.random.default_rng(5)


def spd(*shape: int) -> np.ndarray:
    """Positive definite matrices."""
    root = R.normal(size=(*shape, shape[-1]))
    return root @ root.swapaxes(-1, -2) + shape[-1] * np.eye(shape[-1])


def mixture() -> tuple[a.Program, dict[str, Any]]:
    made = program(
        "n:N, k:K, i,j:d", "x[N,d], mu[K,d], P[K,d,d] lower, lc[K]",
        """
        dx[n,k,i] = x[n,i] - mu[k,i]
        y[n,k,i] = sum(j, P[k,i,j] * dx[n,k,j])
        lp[n,k] = lc[k] - 1/2 * sum(i, y[n,k,i]**2)
        total[n] = lse(k, lp[n,k])
        r[n,k] = exp(lp[n,k] - total[n])
        nk[k] = sum(n, r[n,k])
        s1[k,i] = sum(n, r[n,k] * x[n,i])
        s2[k,i,j]: sym = sum(n, r[n,k] * x[n,i] * x[n,j])
        L = sum(n, total[n])
        """,
        "nk, s1, s2, L, r",
    )  # fmt: skip
    return made, {
        "x": R.normal(size=(11, 3)), "mu": R.normal(size=(2, 3)),
        "P": np.linalg.cholesky(spd(2, 3)), "lc": R.normal(size=2),
    }  # fmt: skip


def logistic() -> tuple[a.Program, dict[str, Any]]:
    made = program(
        "n:N, i,j:d", "X[N,d], y[N], w[d]",
        """
        z[n] = sum(j, X[n,j] * w[j])
        p[n] = logistic(z[n])
        e[n] = p[n] - y[n]
        f = sum(n, softplus(z[n]) - y[n] * z[n])
        g[i] = sum(n, e[n] * X[n,i])
        q[i] = sum(n, (e[n] * X[n,i])**2)
        H[i,j]: sym = sum(n, p[n] * (1 - p[n]) * X[n,i] * X[n,j])
        """,
        "f, g, q, H",
    )  # fmt: skip
    x = {"X": R.normal(size=(12, 4)), "y": R.integers(0, 2, 12).astype(float)}
    return made, {**x, "w": R.normal(size=4)}


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


def documents() -> tuple[a.Program, dict[str, Any]]:
    """Rows of different lengths, a fixed point in each, sums by label."""
    made = program(
        "d:D, w:W under d by ptr, v:V, k:K, it:3",
        "ptr[P], ids[D,W] in V, c[D,W], b[V,K], alpha, g0[D,K]",
        """
        for d:
            for it:
                th[d,it,k] = exp(digamma(g[d,it-1,k]) - digamma(sum(k, g[d,it-1,k])))
                z[d,w,it] = sum(k, b[ids[d,w],k] * th[d,it,k])
                g[d,it,k] = init(g0[d,k]), alpha + th[d,it,k] * sum(w, c[d,w] / z[d,w,it] * b[ids[d,w],k])
        gam[d,k] = g[d,last(it),k]
        ss[v,k] = sum((d,w), [ids[d,w] == v] * c[d,w] * b[ids[d,w],k] * gam[d,k])
        """,
        "gam, ss",
    )  # fmt: skip
    return made, {
        "ptr": np.array([0, 3, 3, 5]), "ids": np.array([0, 1, 3, 2, 1]),
        "c": R.integers(1, 4, 5).astype(float), "b": R.random((4, 2)), "alpha": 0.1,
        "g0": np.ones((3, 2)),
    }  # fmt: skip


def filtering() -> tuple[a.Program, dict[str, Any]]:
    """A Kalman filter and its smoother, with `solve`."""
    made = program(
        "t:T, u:T down, i,j,l:n, a,b:m",
        "y[T,m], F[n,n], Q[n,n] spd, H[m,n], O[m,m] spd, m0[n], P0[n,n] spd",
        """
        for t:
            mp[t,i] = first(m0[i]), sum(l, F[i,l] * x[t-1,l])
            B[t,i,j] = first(0), sum(l, F[i,l] * C[t-1,l,j])
            Pp[t,i,j]: spd = first(P0[i,j]), Q[i,j] + sum(l, B[t,i,l] * F[j,l])
            e[t,a] = y[t,a] - sum(i, H[a,i] * mp[t,i])
            G[t,a,j] = sum(i, H[a,i] * Pp[t,i,j])
            S[t,a,b]: spd = O[a,b] + sum(j, G[t,a,j] * H[b,j])
            K[t,a,j] = solve(S[t,a,b], G[t,a,j])
            r[t,a] = solve(S[t,a,b], e[t,a])
            x[t,i] = mp[t,i] + sum(a, K[t,a,i] * e[t,a])
            C[t,i,j]: sym = Pp[t,i,j] - sum(a, K[t,a,i] * G[t,a,j])
            f[t] = logdet(S[t,a,b]) + sum(a, r[t,a] * e[t,a])
        L = -1/2 * sum(t, f[t])
        for u:
            J[u,i,j] = first(0), solve(Pp[u+1,i,l], B[u+1,i,j])
            xs[u,i] = first(x[u,i]), x[u,i] + sum(l, J[u,l,i] * (xs[u+1,l] - mp[u+1,l]))
            E[u,l,j] = first(0), sum(i, (Cs[u+1,l,i] - Pp[u+1,l,i]) * J[u,i,j])
            Cs[u,i,j]: sym = first(C[u,i,j]), C[u,i,j] + sum(l, J[u,l,i] * E[u,l,j])
        """,
        "x, C, L, xs, Cs",
    )  # fmt: skip
    return made, {
        "y": R.normal(size=(6, 2)), "F": R.normal(size=(3, 3)) / 2, "Q": spd(3) / 9,
        "H": R.normal(size=(2, 3)), "O": spd(2), "m0": R.normal(size=3), "P0": spd(3),
    }  # fmt: skip


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


PROGRAMS = {
    f.__name__: f()
    for f in (mixture, logistic, chain, documents, filtering, effects, coupled, newton)
}


def names_of_numpy() -> dict[str, Any]:
    """What files import and hold, for running them as plain Python."""
    known = {x: f for x, f in vars(support).items() if x.startswith("_") and callable(f)}
    special = {"_digamma": ss.digamma, "_sigmoid": ss.expit, "_loggamma": ss.gammaln}
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
    real = next(x.dtype for x in values.values() if getattr(x, "dtype", np.dtype(int)).kind == "f")
    out = {k: np.array(v) if np.ndim(v) else v for k, v in values.items()}
    for x in p.outs:
        shape = [of[y] if isinstance(of[y], int) else sizes[of[y]] for y in made[x].letters]
        out[x] = np.full(shape, 9.0, real)
    return {x: out.get(x, sizes.get(x)) for x in (*f.arrays, *f.wholes, *f.reals)}


def _under(p: a.Program, sizes: tuple, i: int) -> bool:
    return i + 1 < len(sizes) and any(x.under and x.size == sizes[i + 1] for x in p.letters)


def plain(plan: Schedule, values: dict[str, Any], **sizes: int) -> dict[str, Any]:
    """The printed functions run as Python."""
    made = functions(plan, "run")
    space = names_of_numpy()
    exec("\n".join(map(numba.function, made)), space)
    given = arguments(plan, made[-1], values, sizes)
    with np.errstate(all="ignore"):
        space["run"](*given.values())
    p = plan.program
    return {x: given[x] for x in (*p.outs, *(y for y, _ in p.writes))}


def orders(p: a.Program, most: int = 60) -> list[tuple[str, ...]]:
    """Orders of the letters that are over no recurrence, as many as are worth trying."""

    def recurrences(body: tuple) -> list[str]:
        return [x for s in body if isinstance(s, a.Seq) for x in (s.letter, *recurrences(s.body))]

    fixed = tuple(recurrences(p.body))
    rest = [x.name for x in p.letters if x.name not in fixed]
    found = [(*fixed, *x) for x in permutations(rest) if _ragged_last(p, x)]
    return found[:: max(1, len(found) // most)]


def _ragged_last(p: a.Program, order: tuple[str, ...]) -> bool:
    return all(
        not x.under or x.under not in order or order.index(x.under) < order.index(x.name)
        for x in p.letters if x.name in order
    )  # fmt: skip


@pytest.fixture(params=list(PROGRAMS))
def case(request: pytest.FixtureRequest) -> tuple[a.Program, dict[str, Any], dict[str, Any]]:
    """A program, what it is given, and what it means."""
    made, values = PROGRAMS[request.param]
    return made, values, interpret(made, values)


__all__ = ["PROGRAMS", "orders", "plain", "scheduled"]
