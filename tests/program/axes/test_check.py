"""Each rule of the checker, by the smallest program that breaks it."""

import pytest

from blrgen.program.axes.check import TypeMismatch, check
from blrgen.program.axes.text import program

LETTERS = "n:N, k:K, i,j,l:d, t:T, u:T down, w:W under n by ptr"
GIVEN = (
    "x[N,d], mu[K,d], c[K], S[d,d] spd, M[d,d], L[d,d] lower, b[T], z[N] in K, y[N,W], ptr[P], a"
)


def refused(body: str, outs: str = "") -> str:
    with pytest.raises(TypeMismatch) as found:
        check(program(LETTERS, GIVEN, body, outs))
    return str(found.value)


def test_an_index_on_another_axis_shows_both_sides() -> None:
    assert refused("dx[n,k,i] = x[n,i] - mu[i,k]") == (
        "an index runs over another axis than the one it stands on\n"
        "  in           dx[n,k,i] = x[n,i] - mu[i,k]\n"
        "  expression   mu[i,k]\n"
        "  indexed as   (i: d, k: K)\n"
        "  declared     (K, d)"
    )


def test_a_letter_that_ends_nowhere_shows_both_sides() -> None:
    assert refused("dx[n,i] = x[n,i] - mu[k,i]") == (
        "axis k is neither in the result nor reduced\n"
        "  in           dx[n,i] = x[n,i] - mu[k,i]\n"
        "  expression   x[n,i] - mu[k,i]\n"
        "  indexed as   (n, i, k)\n"
        "  result       (n, i)"
    )


@pytest.mark.parametrize(
    ("body", "what"),
    [
        ("s[i] = x[0]", "another axis"),  # one index too few
        ("s[n,i] = mu[ptr[0],i]", "holds no whole numbers"),
        ("s[n] = x[z[n],0]", "another axis"),  # labels of another axis
        ("s[i] = sum(k, x[0,i])", "reduced, but it is not there"),
        ("s[i,j] = chol(M[i,j])", "not known to be spd"),
        ("s[i] = lsolve(S[i,j], x[0,i])", "not known to be lower"),
        ("s[k] = solve(S[i,j], c[k])", "shares no letter"),
        ("s[i] = solve(S[i,i], x[0,i])", "two letters"),
        ("s[j,i] = chol(S[i,j])", "not the last ones"),
        ("s[w] = y[0,w]", "apart from the one it is under"),
        ("s[n,k] = sum(w, y[k,w])", "another axis"),
        ("s[n,k] = [z[n] == i]", "on different axes"),
        ("s = 1\ns = 2", "given a value twice"),
        ("k[n] = x[n,0]", "two of letter, axis and quantity"),
        ("K = sum(k, mu[k,0])", "two of letter, axis and quantity"),
        ("s[i,i] = M[i,i]", "twice on the left"),
        ("s = q", "unknown name"),
        ("s[n,i]: sym = x[n,i]", "only square matrices"),
        ("s[q] = 1", "unknown letter"),
        ("s[n,i] = draw(normal, a, n, i)", "no key"),
        ("s[t] = first(1), b[t]", "on no recurrence"),
        ("for t:\n    s[t] = s[t] + 1", "not made yet"),
        ("for t:\n    s[t] = r[t]\n    r[t] = b[t]", "not made yet"),
        ("for t:\n    s[t] = first(0), s[t+1]", "against its direction"),
        ("for u:\n    s[u] = first(0), s[u-1]", "against its direction"),
        ("for t:\n    s[t] = first(0), s[t-2]", "against its direction"),
        ("for t:\n    s[t] = s[t-1] + 1", "before the first index"),
        ("for t:\n    s[t] = b[t]\n    r[t] = first(0), sum(u, s[u])", "not made yet"),
        ("for t:\n    s[t] = init(0), b[t]\n    r[t] = s[last(t)]", "read inside of it"),
        ("for t:\n    s = sum(t, b[t])\n    r[t] = s + b[t]", "a sum over itself"),
        ("for t:\n    s[t] = 2 * sum(t, b[t])", "not an equation by itself"),
        ("for t:\n    for t:\n        s[t] = 1", "inside of one over the same letter"),
        ("for t:\n    s[t,i] = x[0,i]\n    until(s[t])", "one truth value an index"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(body: str, what: str) -> None:
    assert what in refused(body)


def test_the_same_fits_where_it_may() -> None:
    check(
        program(
            LETTERS,
            GIVEN,
            """
            C[i,j] = chol(S[i,j])
            D[i,j] = linv(C[i,j])
            v[n,i] = solve(S[i,j], x[n,i])
            V[j,n] = solve(S[i,j], x[n,j]) * 0 + 1
            s[n] = sum(w, y[n,w]) + mu[z[n],0]
            for t:
                f[t] = first(0), f[t-1] + g[t-1]
                g[t] = first(b[t]), g[t-1] * f[t]
                total = sum(t, g[t])
            for u:
                h[u] = first(f[u]), h[u+1] + f[u+1]
            e = f[last(t)] + total + h[0]
            """,
            "C, D, v, s, e",
        )
    )


def test_what_is_written_fits_its_array() -> None:
    made = program("i:d, k:K", "m[d]", "s[k] = 1", writes="m = s")
    with pytest.raises(TypeMismatch, match="other axes"):
        check(made)
