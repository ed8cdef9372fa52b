"""Programs drawn by seed, and small ones for each mistake that these have found: run in every way.

Array statements, loops in several orders and in blocks, with known sizes, written out, as the
stages that classes have; and every pass by itself, against what the program means.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from blrgen.emit.compile import load
from blrgen.emit.tree import numba
from blrgen.emit.tree.staged import staged
from blrgen.errors import InternalError
from blrgen.program.axes.prepared import prepared, scheduled
from blrgen.program.axes.text import program
from tests.emit.tree.drawn import REFUSED, held, meant, returned, same
from tests.program.axes.drawn_programs import Drawn, drawn

R = np.random.default_rng(4)
LETTERS = "n,m:N, k,h:K, i,j,l:d, t:T, s:T, u:T down, a,b:2, w,v:W under n by ptr"
GIVEN = (
    "x[N], X[N,d], Q[K,d], c[T], C[T,d], e[K], z[N] in K, S[d,d] spd, B[K,d,d] spd, A[2,d],"
    "ptr[O], y[N,W], Y[d,N,W], q[N,W] in d, o, to[N] in N, of[K] in d, D[d,K,d]"
)
VALUES: dict[str, Any] = {
    "x": R.normal(size=9), "X": R.normal(size=(9, 3)), "Q": R.normal(size=(4, 3)),
    "c": R.normal(size=5), "C": R.normal(size=(5, 3)), "e": R.normal(size=4),
    "z": R.integers(0, 4, 9), "S": np.eye(3) + 0.1, "B": np.eye(3) + R.random((4, 1, 1)),
    "A": R.normal(size=(2, 3)), "ptr": np.array([0, 2, 3, 6, 7, 9, 10, 12, 15, 16]),
    "y": R.normal(size=16), "Y": R.normal(size=(3, 16)), "q": R.integers(0, 3, 16), "o": 0.5,
    "to": R.integers(0, 9, 9), "of": R.integers(0, 3, 4), "D": R.normal(size=(3, 4, 3)),
}  # fmt: skip
SIZES = {"N": 9, "K": 4, "d": 3, "T": 5, "W": 16}


@pytest.mark.parametrize("seed", range(450))
@pytest.mark.sweep(30)
def test_programs_drawn_by_seed(seed: int) -> None:
    held(drawn(seed, equations=1 + seed % 6), seed)


def small(body: str, outs: str, letters: str = LETTERS) -> Drawn:
    """A program of what is given here."""
    given = GIVEN if "w" in letters else GIVEN.replace("y[N,W], Y[d,N,W], q[N,W] in d, ", "")
    made = program(letters, given, body, outs)
    return Drawn(made, VALUES, SIZES)


FOUND = {
    "sums by label in blocks are cleared row by row":
        ("r[h,k] = sum(n, [z[n] == k] * x[n] * e[h])", "r"),
    "rows of different lengths behind another axis":
        ("r[i,n,w] = Y[i,n,w] * x[n] + e[0]\nf[i] = sum((n,w), r[i,n,w] * y[n,w])", "r, f"),
    "rows of different lengths are added up where they lie":
        ("r[n,v] = sum((w,a,i), Y[i,n,w] * A[a,i]) * y[n,v]", "r"),
    "turns over rows of different lengths are not taken together":
        ("r[k] = sum((n,w), Y[0,n,w] * y[n,w]) * e[k]\nf[i] = sum((n,w), Y[i,n,w] * y[n,w])",
         "r, f"),
    "labels have no rows of their own":
        ("f = sum((n,w), [n == 2] * y[n,w])", "f"),
    "what is said of rows before a recurrence inside of them":
        ("for n:\n  for w:\n    r[n,w] = init(sum(i, X[n,i])), r[n,w-1] / 2 + y[n,w]", "r"),
    "running values of all rows":
        ("for t:\n  r[t,n,w] = init(x[n]), tanh(r[t-1,n,w] + c[t] * y[n,w])", "r"),
    "the last place is that of a recurrence":
        ("for s:\n  r[i,s] = init(1), tanh(r[i,s-1] + C[s,i])\n"
         "f = lse((s,i,l), C[s,i] * r[l,last(s)])", "f"),
    "the last place is read behind a loop around the recurrence":
        ("for n:\n  for w:\n    r[n,w] = init(1), tanh(r[n,w-1] + y[n,w])\n"
         "f[m] = r[m,last(w)] + r[2,last(w)]", "f"),
    "a recurrence that ends early in a loop, read behind it":
        ("for k:\n  for t:\n    r[k,t] = init(0), r[k,t-1] + c[t]**2 + e[k]\n"
         "    stop[k,t] = r[k,t] > 5/4\n    until(stop[k,t])\n"
         "f[h] = r[h,last(t)] * e[h] + r[0,last(t)]", "f"),
    "one of two recurrences over a letter":
        ("for t:\n  r[t] = init(0), r[t-1] + c[t]**2\n  stop[t] = r[t] > 5/4\n  until(stop[t])\n"
         "for t:\n  g[t] = init(0), g[t-1] / 2 + c[t]\nf = r[last(t)] + g[last(t)]", "f"),
    "the last value of what nothing changes":
        ("for u:\n  r[u] = 1/2\nf[i] = r[last(u)] * S[i,i]", "f"),
    "a recurrence that ends at its first index":
        ("for t:\n  r[t] = first(o), r[t-1] + 1\n  f = sum(t, r[t])\n"
         "  stop[t] = r[t] > 1/4\n  until(stop[t])\ng = r[last(t)]", "f, g"),
    "a backward one that ends at its first index":
        ("for u:\n  r[u] = first(o), r[u+1] + 1\n  f = sum(u, r[u])\n"
         "  stop[u] = r[u] > 1/4\n  until(stop[u])\ng = r[last(u)]", "f, g"),
    "what a recurrence that may end early adds up is not counted":
        ("r[t] = o\nfor t:\n  f = sum(t, r[t])\n  stop[t] = c[t] > c[1] - 1/9\n"
         "  until(stop[t])", "f"),
    "a recurrence in a loop begins anew at each place":
        ("for i:\n  for t:\n    r[i] = max(t, C[t,i])\n    f[i,k] = sum(t, C[t,i] * e[k])", "r, f"),
    "first values in loops over rows of different lengths":
        ("for t:\n  r[t] = first(lse((n,w), c[t] + y[n,w])),"
         " r[t-1] / 2 + sum((n,w), y[n,w]**2)", "r"),
    "first values of what has not the recurrence's letter":
        ("for t:\n  r[i,t] = first(1), sum(m, X[m,i]) + r[i,t-1] / 2", "r"),
    "what a recurrence makes for its first index alone":
        ("for i:\n  for t:\n    r[t,i] = first(1), g[i,t-1] / 2\n"
         "    g[i,t] = first(max((l,k), c[t] * Q[k,l])), r[t,i] + 1", "r"),
    "one entry of the values before has a name of its own":
        ("for u:\n  r[i,u] = first(1), r[0,u+1] / 2 + C[u,i]", "r"),
    "a row without places has no largest":
        ("r[n] = max(w, y[n,w] * 0 - 1) + lse(w, y[n,w])\nf = max((n,w), y[n,w])", "f"),
    "sums by label in a recurrence begin anew at each index":
        ("for t:\n  g[k] = sum(n, [z[n] == k] * x[n])\n"
         "  r[t,k] = init(0), r[t-1,k] / 2 + c[t] * g[k]", "r"),
    "what is added up by label is read in parts of the rows":
        ("g[m] = sum(n, [to[n] == m] * x[n])\nf = lse((n,i), g[n] * X[n,i])", "f"),
    "right sides lie as linear algebra has them":
        ("g[a,i] = sum((n,w), [q[n,w] == i] * y[n,w] * A[a,0])\n"
         "f[i] = solve(S[i,j], g[1,i])", "f"),
    "sums over a loop around rows of different lengths":
        ("for a:\n  r[n] = sum((a,w), A[a,0] * y[n,w])\n"
         "  f = sum((a,n,w), A[a,1] * y[n,w])", "r, f"),
    "what a recurrence adds up of what does not vary":
        ("g[i,t] = c[t]\nfor t:\n  r = sum((t,i), g[i,t] * c[t])\n"
         "  f = sumlog((t,i), 1 + g[i,t]**2)", "r, f"),
    "sums by label of the letter of a loop around a recurrence that may end early":
        ("for k:\n  for t:\n    g[k,t] = sum(n, [z[n] == k] * x[n]) + c[t]\n"
         "    r[k,t] = first(1), g[k,t] / 2 + r[k,t-1]\n    stop[k,t] = g[k,t] > 1/3\n"
         "    until(stop[k,t])\nf[k] = r[k,last(t)]", "f"),
    "a place before of what another recurrence has made":
        ("for u:\n  r[u] = init(1), r[u+1] / 2 + c[u]\nfor t:\n  f[t] = first(1), r[t-1] * c[t]",
         "f"),
    "the first value of what a later one begins with":
        ("for u:\n  r[u] = first(o), c[u]\n  stop[u] = c[u] < 9\n  until(stop[u])\n"
         "for t:\n  f[t] = init(r[last(u)]), f[t-1] / 2 + c[t]", "f"),
    "labels on both sides of a letter":
        ("f[i] = sum(k, D[of[k],k,of[k]] * Q[k,i])", "f"),
    "two rows of one place":
        ("r = lse((n,v,w), y[n,v] * y[n,w])\nf[n,v] = lse(w, y[n,v] * y[n,w], x[n])", "r, f"),
    "a row is one again behind a recurrence along it":
        ("for n:\n  for w:\n    r[n,w] = init(0), r[n,w-1] / 2 + y[n,w]\n"
         "  f[n] = sum(w, r[n,w] * y[n,w])", "f"),
    "what is made of a sum over a recurrence":
        ("for t:\n  r = sum((t,i), S[0,i] * o * C[t,0])\n  g[t] = init(0), g[t-1] + c[t]", "r, g"),
    "a value before the first index, made in the loop around":
        ("for k:\n  for t:\n    r[k,t] = init(sum(i, Q[k,i])), r[k,t-1] / 2 + c[t]", "r"),
    "rows that others are read beside are not taken in parts":
        ("r[n,i] = max(X[n,i], X[3,i]) * x[n]\nf[n] = sum(m, max(x[m], x[n]))", "r, f"),
    "half of a form is all of it":
        ("r[n] = sum((i,j), X[n,i] * S[j,i] * X[n,j])\n"
         "f[n] = sum((i,j), X[n,j] * B[1,i,j] * X[n,i])", "r, f"),
    "sums over what does not vary":
        ("r[h] = o\nf = sumlog((h,i), r[h] + S[i,0]**2)\ng[t] = lse((h,k), r[h] + e[k] * c[t])\n"
         "p[t] = lse(h, r[h], c[t])", "f, g, p"),
    "a matrix that is the same at all places":
        ("r[t,s,i,j]: spd = S[i,j]\nf[t,s,i,j] = chol(r[t,s,i,j])", "f"),
    "diagonals are not copied in blocks":
        ("f = lse((n,i), B[z[n],i,i] * x[n])", "f", "n:N, k:K, i:d"),
    "sizes are those of what is kept":
        ("for b:\n  r[b,j] = init(0), r[b-1,j] / 2 + A[b,j]\nf[n,l] = r[last(b),l] * x[n]", "f"),
}  # fmt: skip


@pytest.mark.parametrize("name", FOUND)
def test_what_they_have_found(name: str) -> None:
    held(small(*FOUND[name]))


@pytest.mark.parametrize(
    ("body", "what"),
    [
        ("r[i] = sum(n, [q[n] == i] * x[n])", "a sum by label"),
        ("g[k] = e[k]**2\nr[n] = g[z[n]]", "what labels choose of g"),
        ("for k:\n  r[k] = init(0), r[k-1] + e[k]", "a recurrence over k"),
        ("r[k] = draw(normal, key, k)", "a draw"),
        ("r[k,j] = solve(B[k,i,j], Q[k,j])", "a stack of matrices"),
        ("r[k,w] = y[k,w]", "rows of different lengths under k"),
    ],
)
def test_what_has_no_entries_is_refused_by_name(body: str, what: str) -> None:
    made = program(
        "n:N, k:4, i,j:3" + (", w:W under k by ptr" if "[k,w]" in body else ""),
        "x[N], e[4], Q[4,3], B[4,3,3] spd, z[N] in 4, q[N] in 3, y[4,W], ptr[O], key key",
        body, "r",
    )  # fmt: skip
    with pytest.raises(InternalError, match=f"{what}.* {REFUSED}"):
        prepared(made, {3, 4})


def test_labels_may_stand_on_what_is_given() -> None:
    made = program("n:N, k:4", "e[4], x[N], z[N] in 4", "r = sum(n, e[z[n]] * x[n])", "r")
    values = {"e": VALUES["e"], "x": VALUES["x"], "z": VALUES["z"]}
    held(Drawn(made, values, {"N": 9}))
    assert prepared(made, {4}).lets


@pytest.mark.parametrize("seed", range(0, 60, 4))
@pytest.mark.sweep(15)
def test_some_of_them_compiled(seed: int) -> None:
    """The stages that classes have."""
    d = drawn(seed, equations=3)
    plan = scheduled(d.program)
    made = staged(plan, "run")
    run = load(numba.text(made)).run
    same("compiled", returned(d, run, made[-1], plan.program.outs), meant(d))
