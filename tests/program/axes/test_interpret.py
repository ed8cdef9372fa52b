"""The meaning of each node, against NumPy written out by hand."""

import numpy as np
import pytest
from scipy.special import logsumexp

from blrgen.errors import InternalError
from blrgen.program.axes.check import check
from blrgen.program.axes.interpret import interpret
from blrgen.program.axes.text import program

R = np.random.default_rng(3)
LETTERS = "n:N, k:K, i,j,l:d, t:T, u:T down"


def run(given: str, body: str, outs: str, letters: str = LETTERS, sizes=None, **values):
    made = program(letters, given, body, outs)
    check(made)
    return interpret(made, values, sizes)


def test_letters_broadcast_by_name() -> None:
    x, y = R.normal(size=(4, 3)), R.normal(size=(2, 3))
    out = run("x[N,d], y[K,d]", "s[k,n,i] = x[n,i] * y[k,i] - 2", "s", x=x, y=y)
    assert np.array_equal(out["s"], x[None] * y[:, None] - 2)


def test_reductions() -> None:
    x = R.normal(size=(4, 3))
    out = run(
        "x[N,d]",
        "s = sum((n,i), x[n,i])\nm[i] = max(n, x[n,i])\ne[n] = lse(i, x[n,i])\n"
        "p[n] = sumlog(i, exp(x[n,i]))",
        "s, m, e, p", x=x,
    )  # fmt: skip
    assert np.allclose(out["s"], x.sum(), rtol=1e-14)
    assert np.array_equal(out["m"], x.max(0))
    assert np.allclose(out["e"], logsumexp(x, 1), rtol=1e-14)
    assert np.allclose(out["p"], x.sum(1), rtol=1e-13)


def test_a_sum_of_nothing_but_minus_infinity() -> None:
    out = run("x[d]", "e = lse(i, x[i])", "e", x=np.full(3, -np.inf))
    assert out["e"] == -np.inf


def test_diagonals_labels_and_counts() -> None:
    m, z, x = R.normal(size=(3, 3)), np.array([1, 0, 1, 2]), R.normal(size=4)
    out = run(
        "m[d,d], z[N] in d, x[N]",
        "f = sum(i, m[i,i])\ng[n] = m[z[n],0]\ns[i] = sum(n, [z[n] == i] * x[n]) / size(N)\n"
        "e[i,j] = [i == j]",
        "f, g, s, e", m=m, z=z, x=x,
    )  # fmt: skip
    assert np.isclose(out["f"], np.trace(m), rtol=1e-14)
    assert np.array_equal(out["g"], m[z, 0])
    assert np.allclose(out["s"], np.bincount(z, x) / 4, rtol=1e-14)
    assert np.array_equal(out["e"], np.eye(3))


def test_linear_algebra_is_batched() -> None:
    root = R.normal(size=(2, 3, 3))
    s = root @ root.swapaxes(1, 2) + np.eye(3)
    b = R.normal(size=(4, 2, 3))
    out = run(
        "S[K,d,d] spd, b[N,K,d]",
        """
        C[k,i,j] = chol(S[k,i,j])
        D[k,i,j] = linv(C[k,i,j])
        x[n,k,i] = solve(S[k,i,j], b[n,k,i])
        y[n,k,i] = lsolve(C[k,i,j], b[n,k,i])
        z[n,k,i] = ltsolve(C[k,i,j], b[n,k,i])
        I[k,i,l] = solve(S[k,i,j], S[k,i,l])
        h[k] = logdet(S[k,i,j]) / 2
        """,
        "C, D, x, y, z, I, h", S=s, b=b,
    )  # fmt: skip
    c = np.linalg.cholesky(s)
    assert np.allclose(out["C"], c, rtol=1e-14)
    assert np.allclose(out["D"] @ c, np.eye(3), atol=1e-14)
    assert np.allclose(np.einsum("kij,nkj->nki", s, out["x"]), b, rtol=1e-12)
    assert np.allclose(np.einsum("kij,nkj->nki", c, out["y"]), b, rtol=1e-12)
    assert np.allclose(np.einsum("kji,nkj->nki", c, out["z"]), b, rtol=1e-12)
    assert np.allclose(out["I"], np.eye(3), atol=1e-13)
    assert np.allclose(out["h"], np.linalg.slogdet(s)[1] / 2, rtol=1e-13)


def test_a_recurrence_forward_and_one_that_reads_it_backward() -> None:
    b = R.normal(size=6)
    out = run(
        "b[T]",
        """
        for t:
            f[t] = first(b[t]), b[t] + f[t-1] / 2
            p[t] = init(1), p[t-1] * 2
        for u:
            s[u] = first(f[u]), f[u] - s[u+1] * f[u+1]
        e = p[last(t)] + s[last(u)]
        """,
        "f, p, s, e", b=b,
    )  # fmt: skip
    f = [b[0]]
    for x in b[1:]:
        f.append(x + f[-1] / 2)
    s = [f[-1]]
    for t in range(4, -1, -1):
        s.insert(0, f[t] - s[0] * f[t + 1])
    assert np.allclose(out["f"], f, rtol=1e-14)
    assert np.array_equal(out["p"], 2.0 ** np.arange(1, 7))
    assert np.allclose(out["s"], s, rtol=1e-14)
    assert np.isclose(out["e"], 64 + s[0], rtol=1e-14)


def test_a_sum_inside_of_a_recurrence_adds_up_as_it_goes() -> None:
    b = R.normal(size=(5, 2))
    body = "for t:\n    x[t,k] = init(0), x[t-1,k] + b[t,k]\n    s[k] = sum(t, x[t,k])"
    out = run("b[T,K]", body, "s", b=b)
    assert np.allclose(out["s"], b.cumsum(0).sum(0), rtol=1e-13)


def test_an_iteration_ends_where_it_says() -> None:
    body = """
    for n:
        for t:
            x[n,t] = init(c[n]), (x[n,t-1] + c[n] / x[n,t-1]) / 2
            small[n,t] = abs(x[n,t]**2 - c[n]) < 0.001
    r[n] = x[n,last(t)]
    """
    c = np.array([2.0, 9.0])
    full = run("c[N]", body, "r", sizes={"T": 30}, c=c)
    assert np.allclose(full["r"], np.sqrt(c), rtol=1e-15)
    one = "for t:\n    x[t] = init(2), (x[t-1] + 2 / x[t-1]) / 2\n"
    one += "    e[t] = abs(x[t]**2 - 2) < 0.1\n    until(e[t])\nr = x[last(t)]"
    assert run("c[N]", one, "r", sizes={"T": 30}, c=c)["r"] == (1.5 + 2 / 1.5) / 2


def test_an_iteration_inside_of_a_recurrence_ends_for_each_index_by_itself() -> None:
    body = """
    for n:
        for t:
            x[n,t] = init(c[n]), x[n,t-1] / 2
            small[n,t] = x[n,t] < 1
            until(small[n,t])
        r[n] = x[n,last(t)]
    """
    out = run("c[N]", body, "r", sizes={"T": 30}, c=np.array([6.0, 1.5, 10.0]))
    assert np.array_equal(out["r"], [0.75, 0.75, 0.625])


def test_ragged_axes() -> None:
    ptr, y, z = np.array([0, 3, 3, 5]), R.normal(size=5), np.array([0, 1, 1, 0, 1])
    out = run(
        "ptr[P], y[N,W], z[N,W] in K, c[N]",
        "m[n,w] = y[n,w] * c[n]\ns[n] = sum(w, m[n,w])\na = sum((n,w), y[n,w])\n"
        "h[k] = sum((n,w), [z[n,w] == k] * y[n,w])",
        "m, s, a, h", letters="n:N, k:K, w:W under n by ptr", sizes={"K": 2},
        ptr=ptr, y=y, z=z, c=np.array([1.0, 2.0, 3.0]),
    )  # fmt: skip
    assert np.allclose(out["m"], y * [1, 1, 1, 3, 3], rtol=1e-15)
    assert np.allclose(out["s"], [y[:3].sum(), 0, 3 * y[3:].sum()], rtol=1e-14)
    assert np.isclose(out["a"], y.sum(), rtol=1e-14)
    assert np.allclose(out["h"], np.bincount(z, y), rtol=1e-14)


def test_what_is_written_is_the_new_value_and_the_old_is_left() -> None:
    made = program("k:K", "m[K]", "m_next[k] = m[k] / 2", writes="m = m_next")
    m = np.ones(3)
    assert np.array_equal(interpret(made, {"m": m})["m"], m / 2)
    assert np.array_equal(m, np.ones(3))


def test_a_claim_that_is_not_so_is_an_error() -> None:
    with pytest.raises(InternalError, match="not sym"):
        run("m[d,d]", "s[i,j]: sym = m[i,j]", "s", m=R.normal(size=(3, 3)))


def test_sizes_that_disagree_are_an_error() -> None:
    with pytest.raises(InternalError, match="axis d, not 3"):
        run("x[d], y[d]", "s[i] = x[i] + y[i]", "s", x=np.ones(3), y=np.ones(4))


def test_a_place_outside_of_its_axis_is_an_error() -> None:
    with pytest.raises(InternalError, match="outside of axis"):
        run("b[T]", "s[t] = b[t-1]", "s", b=np.ones(3))
