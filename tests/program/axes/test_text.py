"""The notation: what is read is what was written."""

from fractions import Fraction

import pytest

from blrgen.errors import InternalError
from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a
from blrgen.program.axes.text import expression, listing, program, text


@pytest.mark.parametrize(
    "source",
    [
        "x[n,i] - mu[z[n],i]",
        "1/2 * a[t-1] + b[u+1]",
        "c[last(it),0]",
        "[i == j] * [z[n] == k]",
        "sum((n,i), x[n,i]**2)",
        "max(a, b) + max(k, c[k])",
        "-lse(k, lp[k]) / size(N)",
        "solve(S[k,i,j], x[k,i])",
        "select(a < b, a, b)",
        "draw(normal, key, n, i)",
    ],
)
def test_an_expression_reads_as_it_is_written(source: str) -> None:
    read = expression(source, "nikjtu")
    assert text(read) == source
    assert expression(text(read), "nikjtu") == read


def test_what_a_line_means() -> None:
    made = program("n:N, i,j:d", "x[N,d]", "C[i,j]: sym = sum(n, x[n,i] * x[n,j])", "C")
    (let,) = made.body
    product = n.Mul((a.ref("x", "n", "i"), a.ref("x", "n", "j")))
    assert let == a.Let("C", ("i", "j"), a.Red("sum", ("n",), product), "sym")
    assert made.letters == (a.Letter("n", "N"), a.Letter("i", "d"), a.Letter("j", "d"))


def test_a_recurrence() -> None:
    made = program(
        "t:9 down", "b[9]",
        """
        for t:
            x[t] = first(b[t]), init(2), 1/2 * x[t+1]
            e[t] = x[t] < 1
            until(e[t])
        """,
        "x",
    )  # fmt: skip
    (seq,) = made.body
    assert isinstance(seq, a.Seq)
    assert (seq.letter, seq.stop, len(seq.body)) == ("t", "e", 2)
    x, _ = seq.body
    assert isinstance(x, a.Let)
    assert (x.first, x.init) == (a.ref("b", "t"), n.TWO)
    assert x.expr == n.Mul((n.Const(Fraction(1, 2)), a.Ref("x", (a.Lag("t", 1),))))
    assert made.letter("t") == a.Letter("t", 9, down=True)


def test_what_is_given() -> None:
    made = program("w:W under d by ptr, d:D", "z[N] in K, S[K,d,d] spd, seed key, c", "s = c", "s")
    assert made.given == (
        a.Quantity("z", ("N",), labels="K"),
        a.Quantity("S", ("K", "d", "d"), "spd"),
        a.Quantity("seed", key=True),
        a.Quantity("c"),
    )
    assert made.letters[0] == a.Letter("w", "W", "d", "ptr")


def test_a_listing_has_everything() -> None:
    made = program("k:K", "m[K], g[K]", "m_next[k] = m[k] - g[k]", writes="m = m_next")
    assert listing(made) == (
        "letter k: K\ngiven m[K]\ngiven g[K]\n"
        "m_next[k] = m[k] - g[k]\nwrite m = m_next\n"
    )  # fmt: skip


def test_what_is_no_notation_is_refused() -> None:
    with pytest.raises(InternalError, match="not an expression: lambda"):
        expression("lambda: 1")
    with pytest.raises(InternalError, match="not a quantity"):
        program("k:K", "m[K", "x = 1")
